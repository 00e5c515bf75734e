"""Errors as answers: a status, a sentence, and where in the request the fault is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.serve.refusals import FieldError, RefusedError, ServerBusyError

__all__ = [
    "MOST_FAULTS",
    "Json",
    "add_error_handlers",
    "error_answer",
    "field_error",
    "shortened",
]

#: An answer lists the first 20 faults of a request.
MOST_FAULTS = 20
#: Texts of a request are repeated up to their 100th letter.
LONGEST_TEXT = 100
#: A whole number beyond 1e30 is told to be too large, and not repeated digit by digit.
LARGEST_NUMBER = 10**30


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
        field_error(each["msg"], None, ".".join(map(str, each["loc"][1:])), each.get("input"))
        for each in error.errors()[:MOST_FAULTS]
    ]
    first = details[0]
    told = f"The request cannot be used: {first['field'] or 'the body'}: {first['problem']}."
    return error_answer(422, told, details)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = str(error.detail)
    if error.status_code == 404 and told == "Not Found":
        told = "There is nothing at this address. /openapi.json describes what there is."
    elif error.status_code == 405:
        told = f"{shortened(request.method)} is not allowed at this address."
    return error_answer(error.status_code, told, headers=error.headers)
