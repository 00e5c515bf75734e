"""Reading what users pass: rows of numbers, and which features may change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Mask, Matrix
from counterset.exceptions import InvalidInputError

__all__ = ["MayChange", "changeable_mask", "number_rows"]

#: The features that may change: names, positions or a mask; None: all.
MayChange: TypeAlias = Sequence[str] | Sequence[int] | Sequence[bool] | Mask | None


def number_rows(X: Any, name: str, single: bool = True) -> Matrix:
    """Return rows of finite numbers as a matrix ``(n, d)``.

    Parameters
    ----------
    X
        The rows; with ``single`` also one row, ``(d,)``.
    name
        What error messages call the rows.

    Examples
    --------
    >>> number_rows([1, 2], "x")
    array([[1., 2.]])
    """
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} holds something that is not a number, or rows of different lengths: {error}. "
            f"Exact distances are between rows of numbers."
        ) from error
    if single and rows.ndim == 1:
        rows = rows[None, :]
    if rows.ndim != 2 or rows.shape[1] == 0:
        wanted = "one row of numbers" if single else "rows of numbers, one per input or point"
        raise InvalidInputError(f"{name} must be {wanted}, got shape {rows.shape}.")
    if not np.isfinite(rows).all():
        row, i = np.argwhere(~np.isfinite(rows))[0]
        raise InvalidInputError(
            f"{name} is {rows[row, i]} in feature {i}, row {row}: missing and infinite values have "
            f"no distance. Fill in the value, or leave the row out."
        )
    return rows


def changeable_mask(may_change: MayChange, names: list[str]) -> Mask:
    """Return whether each of the named features may change.

    Examples
    --------
    >>> changeable_mask(["b"], ["a", "b", "c"])
    array([False,  True, False])
    """
    if may_change is None:
        return np.ones(len(names), dtype=bool)
    if isinstance(may_change, str):
        raise InvalidInputError(
            f"may_change takes a list of names, got the text {may_change!r}. Put it in brackets."
        )
    given = list(may_change)
    if given and all(isinstance(item, bool | np.bool_) for item in given):
        if len(given) != len(names):
            raise InvalidInputError(
                f"may_change is a mask of {len(given)} features, but there are {len(names)}: "
                f"{names}. Give True or False for each of them."
            )
        return np.array(given, dtype=bool)
    mask = np.zeros(len(names), dtype=bool)
    for item in given:
        if isinstance(item, str) and item in names:
            mask[names.index(item)] = True
        elif isinstance(item, int | np.integer) and 0 <= item < len(names):
            mask[item] = True
        else:
            raise InvalidInputError(
                f"may_change names an unknown feature {item!r}. Give names or positions of "
                f"{names}, or True or False for each."
            )
    return mask
