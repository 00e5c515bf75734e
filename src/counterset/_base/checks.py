"""Checks of parameters. Each error names the parameter, what it must be, and what was passed."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exceptions import InvalidInputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "check_at_least",
    "check_between",
    "check_count",
    "check_no_text",
    "check_positive",
    "numbers",
]


def check_count(value: object, name: str) -> None:
    """Check that a value is a whole number of at least 1."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not _is_number(value) or value < 1:
        raise InvalidInputError(f"{name} must be a whole number of at least 1, got {value!r}.")


def check_at_least(value: object, least: float, name: str) -> None:
    """Check that a value is a finite number of at least ``least``."""
    if not _is_number(value) or value < least:
        raise InvalidInputError(f"{name} must be a number of at least {least}, got {value!r}.")


def check_positive(value: object, name: str) -> None:
    """Check that a value is a finite number above 0."""
    if not _is_number(value) or value <= 0:
        raise InvalidInputError(f"{name} must be a number above 0, got {value!r}.")


def check_between(value: object, least: float, most: float, name: str) -> None:
    """Check that a value is a number from ``least`` to ``most``, both included."""
    if not _is_number(value) or not least <= value <= most:
        raise InvalidInputError(f"{name} must be between {least} and {most}, got {value!r}.")


def check_no_text(parameters: DataclassInstance) -> None:
    """Check that no field is a text: it would be read as a list of its letters."""
    for each in fields(parameters):
        value = getattr(parameters, each.name)
        if isinstance(value, str):
            raise InvalidInputError(
                f"{each.name} takes a list of names, got the text {value!r}. Put it in brackets."
            )


def numbers(values: Any) -> Matrix:
    """Return values as a new float array, or an array of one NaN if they are not numbers.

    A check for finite numbers then refuses both.
    """
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([np.nan])


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
