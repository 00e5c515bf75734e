"""Checks of parameters. Each error names the parameter, what it must be, and what was passed."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from counterset._base.arrays import Matrix, Vector
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
    "read_distances",
    "read_pair",
    "read_weights",
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


def read_weights(weights: Any) -> Vector:
    """Read one weight per feature as a new array that cannot be written to."""
    read = numbers(weights)
    if read.ndim != 1 or not np.all(np.isfinite(read)) or np.any(read < 0):
        raise InvalidInputError(
            f"weights must be one finite, non-negative number per feature, got {weights!r}."
        )
    read.setflags(write=False)
    return read


def read_pair(A: Any, B: Any) -> tuple[Matrix, Matrix]:
    """Read the rows that a distance compares, each one row or several, as float matrices."""
    first, second = _read_rows(A), _read_rows(B)
    if first.shape[1] != second.shape[1]:
        raise InvalidInputError(
            f"A distance compares rows with the same number of features, got "
            f"{first.shape[1]} and {second.shape[1]}. Pass rows of one table."
        )
    return first, second


def read_distances(answer: Any, shape: tuple[int, int]) -> Matrix:
    """Read what a user's distance function returned, and check that these are distances."""
    distances = np.asarray(answer, dtype=np.float64)
    if distances.shape != shape:
        raise InvalidInputError(
            f"A distance function takes (n, d) and (m, d) and returns (n, m): expected shape "
            f"{shape}, got {distances.shape}. Wrap a function of two vectors as "
            f"lambda A, B: scipy.spatial.distance.cdist(A, B, function)."
        )
    if not np.all(distances >= 0) or not np.all(np.isfinite(distances)):
        raise InvalidInputError(
            "The distance function returned a negative, infinite or missing distance. "
            "Distances are finite and at least 0."
        )
    return distances


def _read_rows(rows: Any) -> Matrix:
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "This distance compares numbers, but the rows hold something else. "
            "Use the fitted explainer's distance_ for tables of its kind."
        ) from error
    if matrix.ndim == 1:
        matrix = matrix[None, :]
    if matrix.ndim != 2:
        raise InvalidInputError(f"A distance compares rows, got an array of shape {matrix.shape}.")
    return matrix


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
