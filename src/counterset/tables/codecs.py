"""The way from the cells of a column to codes, and back from times.

Codes are floats: a number is its own code, a time is its microseconds, a value of a category is
its position among the category's values, and whatever is missing is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Codes, Labels, Mask, Matrix
from counterset.exceptions import InvalidInputError

__all__ = [
    "decode_numbers",
    "decode_times",
    "encode_numbers",
    "encode_one_hot",
    "encode_values",
    "microseconds",
    "numpy_dtype",
    "some_of",
]


def encode_values(column: pd.Series, values: tuple[Any, ...], name: str, what: str) -> Matrix:
    """Give the positions of a column's cells among the known values."""
    codes = pd.Index(values, dtype=object).get_indexer(pd.Index(column.astype(object)))
    missing = column.isna().to_numpy()
    unknown = (codes < 0) & ~missing
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise InvalidInputError(
            f"{what} has {column.iloc[row]!r} in feature {name!r}, row {row}, which is not one of "
            f"its known values {some_of(values)}."
        )
    encoded: Matrix = np.where(missing, np.nan, codes).astype(np.float64)
    return encoded


def encode_numbers(column: pd.Series, dtype: Any, name: str, what: str) -> Matrix:
    """Read a column of numbers, or of times, as the training data's dtype has it."""
    if types.is_datetime64_any_dtype(dtype):
        if not types.is_datetime64_any_dtype(column.dtype):
            column = pd.Series(pd.to_datetime(column)).astype(dtype)
        if (column.dt.nanosecond > 0).any():
            raise InvalidInputError(
                f"{what} has times finer than a microsecond in feature {name!r}, which cannot be "
                f"computed with exactly. Round them: column.dt.floor('us')."
            )
        return microseconds(column)
    try:
        if not types.is_numeric_dtype(column.dtype) and any(isinstance(v, str) for v in column):
            raise TypeError("text that reads as a number would come back as another text")
        codes = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} is not numeric in feature {name!r} (dtype {column.dtype}), where numbers "
            f"were expected. Convert it, or fit on data where it is a category."
        ) from None
    if np.isinf(codes).any():
        row = int(np.flatnonzero(np.isinf(codes))[0])
        raise InvalidInputError(
            f"{what} has an infinite value in feature {name!r}, row {row}. Cap or drop it."
        )
    return codes


def encode_one_hot(members: pd.DataFrame, name: str, what: str) -> Matrix:
    """Give the position of the 1 in each row of one-hot columns; past the last if there is none."""
    try:
        hot = members.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        hot = np.full(members.shape, np.nan)
    wrong: Mask = ~np.isin(hot, (0, 1)).all(axis=1) | (hot.sum(axis=1) > 1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InvalidInputError(
            f"{what} is not one-hot in the group {name!r}, row {row}: each row holds at most one "
            f"1 and otherwise 0, got {members.iloc[row].to_dict()}."
        )
    position: Codes = hot.argmax(axis=1)
    return np.where(hot.any(axis=1), position, members.shape[1]).astype(np.float64)


def decode_numbers(codes: Matrix, dtype: np.dtype[Any]) -> Labels:
    """Give numbers back in a numpy dtype, of floats or of whole numbers."""
    return (np.rint(codes) if dtype.kind in "iu" else codes).astype(dtype)


def decode_times(codes: Matrix, missing: Mask, dtype: Any) -> pd.Series:
    """Give microseconds back as times of a dtype."""
    whole = np.where(missing, 0, codes).astype(np.int64)
    times = pd.Series(pd.to_datetime(whole, unit="us")).mask(missing)
    zone = getattr(dtype, "tz", None)
    if zone is not None:
        times = times.dt.tz_localize("UTC").dt.tz_convert(zone)
    return times.astype(dtype)


def microseconds(column: pd.Series) -> Matrix:
    """Give times as microseconds since 1970, in UTC."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    missing = column.isna().to_numpy()
    whole = column.to_numpy(dtype="datetime64[us]").astype(np.int64)
    return np.where(missing, np.nan, whole).astype(np.float64)


def numpy_dtype(dtype: Any) -> Any:
    """Give the numpy dtype that holds a column's numbers."""
    return getattr(dtype, "numpy_dtype", dtype)


def some_of(values: Sequence[Any], most: int = 8) -> str:
    """List a few values, for a message."""
    shown = ", ".join(repr(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown}, ... ({len(values)} in all)"
