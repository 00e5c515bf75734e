"""Numbers: continuous and integer features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Matrix, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature, TrainingColumns, range_of
from counterset.tables.schema import Kind

__all__ = ["Number", "decode_numbers", "numpy_dtype"]

#: float64 holds every whole number below this one, and not every one above it.
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True)
class Number(Feature):
    """A number, which is its own code; an ``integer`` one is whole, whatever its dtype."""

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.kind in ("continuous", "integer")

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, kind, dtype = training.name, training.kind, training.first.dtype
        codes = _read(training.first, name, training.what)
        _check_exact(codes, dtype, kind, name)
        feature = cls(
            name,
            kind,
            training.positions,
            dtype,
            *range_of(codes),
            step=1.0 if kind == "integer" else 0.0,
            can_be_missing=bool(np.isnan(codes).any()),
        )
        return feature, codes

    @property
    def is_number(self) -> bool:
        exact = isinstance(self.dtype, np.dtype) and (
            self.dtype == np.float64 or self.dtype.kind in "iu"
        )
        return exact and not self.can_be_missing

    @property
    def float_dtype(self) -> np.dtype[Any]:
        held = numpy_dtype(self.dtype)
        short = isinstance(held, np.dtype) and held.kind == "f"
        return held if short else super().float_dtype

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        codes = _read(frame.iloc[:, self.columns[0]], self.name, what)
        held = self.snap(codes)  # in single precision, 0.1 is another number
        if types.is_integer_dtype(self.dtype):
            least, most = self.ends(-np.inf, np.inf)
            wrong = (codes != held) & ~np.isnan(codes) | (codes < least) | (codes > most)
            if wrong.any():
                row = int(wrong.argmax())
                raise InvalidInputError(
                    f"{what} has {codes[row]} in feature {self.name!r}, row {row}, which its dtype "
                    f"in the training data, {self.dtype}, cannot hold, or no float holds exactly. "
                    f"Pass whole numbers in its range and below 2**53, or fit on floats."
                )
        return held

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        if self.is_number:
            return [decode_numbers(codes, self.dtype)]
        if types.is_integer_dtype(self.dtype):
            codes = np.rint(codes)
        missing = np.isnan(codes)
        if missing.any() and types.is_extension_array_dtype(self.dtype):
            return [pd.Series(codes).astype("Float64").mask(missing).astype(self.dtype)]
        return [pd.Series(codes).astype(self.dtype)]

    def snap(self, codes: Vector) -> Vector:
        if self.step:
            return super().snap(codes)
        held = numpy_dtype(self.dtype)
        if held in (np.float64, object):
            return codes
        if types.is_integer_dtype(held):
            return np.rint(codes)
        single: Vector = codes.astype(held).astype(np.float64)
        return single

    def ends(self, low: float, high: float) -> tuple[float, float]:
        whole = types.is_integer_dtype(self.dtype)
        if self.step or whole:
            low, high = float(np.ceil(low)), float(np.floor(high))
        if whole:
            limits, exact = np.iinfo(numpy_dtype(self.dtype)), LARGEST_EXACT - 1
            low, high = max(low, float(limits.min), -exact), min(high, float(limits.max), exact)
        return low, high

    def _value_of(self, code: float) -> Any:
        return round(code) if self.step else code

    def _code_of(self, value: Any) -> float:
        return float(value)

    def _unknown(self, value: Any) -> str:
        return f"Feature {self.name!r} holds numbers, got {value!r}."


def decode_numbers(codes: Matrix, dtype: np.dtype[Any]) -> Labels:
    """Return numbers in a numpy dtype of floats or of whole numbers; any number of axes."""
    return (np.rint(codes) if dtype.kind in "iu" else codes).astype(dtype)


def numpy_dtype(dtype: Any) -> Any:
    """Return the numpy dtype of a column's numbers: int64 for pandas' Int64.

    Examples
    --------
    >>> numpy_dtype(pd.Int64Dtype()), numpy_dtype(np.dtype("float32"))
    (dtype('int64'), dtype('float32'))
    """
    return getattr(dtype, "numpy_dtype", dtype)


def _read(column: pd.Series, name: str, what: str) -> Vector:
    """Read a column of numbers, NaN where one is missing."""
    try:
        if not types.is_numeric_dtype(column.dtype) and any(isinstance(v, str) for v in column):
            raise TypeError("text that reads as a number would come back as another text")
        codes = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} is not numeric in feature {name!r} (dtype {column.dtype}), where numbers "
            f"were expected. Convert it, or fit on data where it is a category."
        ) from None
    infinite = np.isinf(codes)
    if infinite.any():
        raise InvalidInputError(
            f"{what} has an infinite value in feature {name!r}, row {infinite.argmax()}. "
            f"Cap or drop it."
        )
    return codes


def _check_exact(codes: Vector, dtype: Any, kind: Kind, name: str) -> None:
    """Check that codes stand for the training column's numbers without loss."""
    if types.is_integer_dtype(dtype) and (np.abs(codes) >= LARGEST_EXACT).any():
        raise InvalidInputError(
            f"Feature {name!r} has whole numbers beyond 2**53, as an identifier would, which "
            f"cannot be computed with exactly. Leave it out, or declare it categorical."
        )
    fractions = np.flatnonzero(codes % 1 > 0)
    if kind == "integer" and len(fractions):
        raise InvalidInputError(
            f"Feature {name!r} is declared integer, but has {codes[fractions[0]]} in row "
            f"{fractions[0]} of the training data. Declare it continuous."
        )
