"""Errors: why a request is refused, and the answer that says so.

Each answer has a status, a sentence, and where in the request the fault is.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from email.message import Message
from itertools import accumulate
from typing import Any, NoReturn, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from counterset.exceptions import CountersetError, InvalidInputError, NoCounterfactualError

__all__ = [
    "MOST_FAULTS",
    "FieldError",
    "Json",
    "Problem",
    "RefusedError",
    "ServerBusyError",
    "StrictRoute",
    "TooSlowError",
    "add_error_handlers",
    "error_answer",
    "field_error",
    "parse_json",
    "shortened",
]

#: An answer lists the first 20 faults of a request.
MOST_FAULTS = 20
#: Texts of a request are repeated up to their 100th letter.
LONGEST_TEXT = 100
#: A whole number beyond 1e30 is called too large, and not repeated digit by digit.
LARGEST_NUMBER = 10**30
#: From keys of requests that older clients send to those that took their place.
RENAMED = {"ways": "options", "anchored": "strategy", "limits": "constraints", "way": "direction"}

#: What is wrong with one field of a request: where it is, and what is allowed.
FieldError: TypeAlias = Mapping[str, Any]


class RefusedError(CountersetError):
    """A request that is refused.

    Attributes
    ----------
    status
        The HTTP status.
    details
        What is wrong with which field.
    """

    status = 422

    def __init__(self, message: str, details: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.details = list(details)


class ServerBusyError(RefusedError):
    """Too many requests wait already."""

    status = 503


class TooSlowError(RefusedError):
    """A request took too long."""

    status = 504


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    instance: int | None = Field(description="The position of the instance.")
    field: str | None
    problem: str
    got: str | float | int | bool | None
    allowed: dict[str, Any] | None = Field(description="What it may hold, as a JSON schema.")


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    details: list[FieldProblem]


class Json(JSONResponse):
    """An answer in JSON; ASCII, so that every text of a request can be repeated in it."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def error_answer(
    status: int,
    message: str,
    details: Sequence[FieldError] = (),
    headers: Mapping[str, str] | None = None,
) -> Json:
    """Return the answer to a request that failed.

    Examples
    --------
    >>> error_answer(404, "There is no such page.").body
    b'{"error":"There is no such page.","details":[]}'
    """
    return Json({"error": message, "details": list(details)}, status, headers)


def field_error(
    problem: str,
    instance: int | None = None,
    field: str | None = None,
    got: Any = None,
    allowed: Any = None,
) -> FieldError:
    """Return what is wrong with one field, with the keys that all such errors have.

    Examples
    --------
    >>> field_error("must be a number", 3, "age", [1])["got"]
    'a list'
    """
    return {
        "instance": instance,
        "field": None if field is None else shortened(field),
        "problem": problem,
        "got": shortened(got),
        "allowed": allowed,
    }


def shortened(value: Any) -> Any:
    """Return a value to repeat in an answer: a text up to a length, of a list only its kind."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}..."
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        return "a number that is too large"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def add_error_handlers(app: FastAPI) -> None:
    """Make every error of an app an answer of one form."""
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(InvalidInputError, _unusable)
    app.add_exception_handler(NoCounterfactualError, _unusable)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    later = {"Retry-After": "1"} if isinstance(error, ServerBusyError) else None
    return error_answer(error.status, str(error), error.details, later)


def _unusable(_: Request, error: Exception) -> Response:
    return error_answer(422, str(error))


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [
        field_error(_problem(each), None, ".".join(map(str, each["loc"][1:])), each.get("input"))
        for each in error.errors()[:MOST_FAULTS]
    ]
    first = details[0]
    message = f"The request is invalid: {first['field'] or 'the body'}: {first['problem']}."
    return error_answer(422, message, details)


def _problem(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, as pydantic says it or more plainly."""
    if error["type"] != "extra_forbidden":
        return str(error["msg"])
    new = RENAMED.get(str(error["loc"][-1]))
    return "unknown key" if new is None else f"unknown key; use {new!r}"


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = str(error.detail)
    if error.status_code == 404 and message == "Not Found":
        message = "There is nothing at this address. /openapi.json lists all addresses."
    elif error.status_code == 405:
        message = f"{shortened(request.method)} is not allowed at this address."
    return error_answer(error.status_code, message, headers=error.headers)


#: Requests have at most 6 levels: times in lists of allowed values. Some code that reads values
#: calls itself for each level, and Python bounds the depth of calls.
MOST_LEVELS = 20
#: An object has a key for each column at most. Each unknown key is an error to list: 10,000 of
#: them take some 50 ms.
MOST_KEYS = 10_000

# One that is not closed ends with the text: else each quote in it would be tried as its beginning.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def parse_json(body: bytes) -> Any:
    """Return what a JSON text holds.

    NaN, infinity, numbers that are too large for a float, and duplicate keys are refused: the
    standard has no such numbers, and of two values for one key one would be lost. The time grows
    linearly with the length of the text.

    Examples
    --------
    >>> parse_json(b'{"instances": [[1, null]]}')
    {'instances': [[1, None]]}
    >>> parse_json(b"[NaN]")
    Traceback (most recent call last):
        ...
    counterset.exceptions.InvalidInputError: Invalid JSON: NaN is not allowed; use null.
    """
    _check_levels(body)
    try:
        return json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except InvalidInputError:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInputError(f"Invalid JSON: {error.msg}, {where}.") from None
    except UnicodeDecodeError:
        raise InvalidInputError("Invalid JSON: the text is not UTF-8.") from None
    except ValueError:  # Python reads whole numbers of up to 4300 digits
        raise InvalidInputError("Invalid JSON: a number has too many digits.") from None


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


def _check_levels(body: bytes) -> None:
    """Refuse lists and objects that are nested too deeply, before they are read."""
    # Most bodies have fewer brackets than they may have levels.
    if body.count(b"[") + body.count(b"{") <= MOST_LEVELS:
        return
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MOST_LEVELS:
        raise InvalidInputError(
            f"Invalid JSON: lists and objects may be nested at most {MOST_LEVELS} levels deep."
        )


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInputError(f"Invalid JSON: {name} is not allowed; use null.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidInputError(f"Invalid JSON: the number {text[:20]} is too large.")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_KEYS:
        raise InvalidInputError(
            f"Invalid JSON: an object may have at most {MOST_KEYS} keys, got {len(pairs)}."
        )
    read = dict(pairs)
    if len(read) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidInputError(f"Invalid JSON: an object has the key {twice[:100]!r} twice.")
    return read
