"""Refusals: why a request is not answered. Nothing here needs the packages of a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from counterset.exceptions import CountersetError

__all__ = ["FieldError", "RefusedError", "ServerBusyError", "TooSlowError"]

#: What is wrong with one field of a request: where it is, and what would do.
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
