"""Errors as answers: a status, a sentence, and where in the request the fault is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from counterset.exceptions import CountersetError, InvalidInputError, NoCounterfactualError

__all__ = [
    "FieldError",
    "Json",
    "RefusedError",
    "ServerBusyError",
    "TooSlowError",
    "add_error_handlers",
    "error_answer",
]

#: What is wrong with one field of a request: where it is, and what would do.
FieldError = Mapping[str, Any]


class Json(Response):
    """An answer in JSON; ASCII, so that every text of a request can be repeated in it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


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
        {"field": ".".join(map(str, each["loc"][1:])), "problem": each["msg"]}
        for each in error.errors()
    ]
    return error_answer(422, "The request does not have the form that is described.", details)


def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_answer(error.status_code, str(error.detail), headers=error.headers)
