"""Bodies of requests: JSON as its standard has it, and nothing that only Python reads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from email.message import Message
from typing import Any, NoReturn

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from counterset.exceptions import InvalidInputError

__all__ = ["StrictRoute", "parse_json"]


def parse_json(body: bytes) -> Any:
    """Return what a JSON text holds.

    NaN, infinity, numbers that are too large for a float, and keys that appear twice are refused:
    the standard has no such numbers, and of two values for one key one would be lost.

    Examples
    --------
    >>> parse_json(b'{"instances": [[1, null]]}')
    {'instances': [[1, None]]}
    >>> parse_json(b"[NaN]")
    Traceback (most recent call last):
        ...
    counterset.exceptions.InvalidInputError: The body is no JSON: NaN is no number. Write null.
    """
    try:
        return json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except InvalidInputError:
        raise
    except RecursionError:
        raise InvalidInputError("The body is no JSON that is read: it is too deep.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInputError(f"The body is no JSON: {error.msg}, {where}.") from None
    except UnicodeDecodeError:
        raise InvalidInputError("The body is no JSON: it is no UTF-8.") from None
    except ValueError:  # a whole number with thousands of digits
        raise InvalidInputError("The body is no JSON: a number in it is too large.") from None


class StrictRoute(APIRoute):
    """A route that reads JSON strictly, and only what is declared to be JSON.

    A page of another site could send a form or a plain text without being asked for its origin.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            if self.body_field is not None and not _is_json(request.headers.get("content-type")):
                raise HTTPException(415, "Send JSON: Content-Type: application/json.")
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return parse_json(await self.body())
        except InvalidInputError as error:
            # FastAPI lets only its own error through.
            raise HTTPException(422, str(error)) from error


def _is_json(content_type: str | None) -> bool:
    message = Message()
    message["content-type"] = content_type or "application/octet-stream"
    return message.get_content_type() == "application/json"


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInputError(f"The body is no JSON: {name} is no number. Write null.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidInputError(f"The body has a number that is too large: {text[:20]}.")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"The body has the key {twice[:100]!r} twice in one object.")
    return read
