"""Checks of parameters. Each error names the parameter, what it must be, and what was passed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from counterset._base.arrays import Matrix, Vector, unmasked
from counterset.exceptions import InvalidInputError

__all__ = [
    "check_at_least",
    "check_between",
    "check_count",
    "check_flag",
    "check_list",
    "check_mapping",
    "check_number",
    "check_positive",
    "check_type",
    "numbers",
    "read_distances",
    "read_pair",
    "read_weights",
]


def check_count(value: object, name: str, least: int = 1) -> None:
    """Check that a value is a whole number of at least 1, or of at least ``least``."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not _is_number(value) or value < least:
        raise InvalidInputError(
            f"{name} must be a whole number of at least {least}, got {value!r}."
        )


def check_flag(value: object, name: str) -> None:
    """Check that a value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False, got {value!r}.")


def check_type(name: str, value: object, kind: Any, allowed: str) -> None:
    """Check that a parameter is of a type, or has the methods of a protocol."""
    # A class has the methods of its objects: NearestCandidates is meant as NearestCandidates().
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidInputError(f"{name} must be {allowed}, got {value!r}.")


def check_number(value: object, name: str) -> None:
    """Check that a value is a finite number."""
    if not _is_number(value):
        raise InvalidInputError(f"{name} must be a finite number, got {value!r}.")


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


def check_list(value: object, name: str, of: str = "names") -> None:
    """Check that a value is a list, an array or a set, and not a single text."""
    if isinstance(value, str | bytes):
        raise InvalidInputError(
            f"{name} takes a list of {of}, got the text {value!r}. Put it in brackets."
        )
    shape = getattr(value, "shape", (0,))
    if isinstance(value, Mapping) or not isinstance(value, Collection) or len(shape) != 1:
        raise InvalidInputError(f"{name} takes a list of {of}, got {value!r}.")


def check_mapping(value: object, name: str, to: str) -> None:
    """Check that a value is a mapping from names."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"{name} takes a mapping from names to {to}, such as {{'age': ...}}, got {value!r}."
        )


def numbers(values: Any) -> Matrix:
    """Return values as a new float array, or an array of one NaN if they are not numbers.

    A check for finite numbers then refuses both.
    """
    try:
        return np.array(unmasked(values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
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
    distances = numbers(answer)
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
        matrix = np.asarray(unmasked(rows), dtype=np.float64)
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
