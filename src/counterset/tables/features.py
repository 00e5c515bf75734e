"""One feature: its kind, its values, and the way from a column to codes and back.

Codes are floats: a number is its own code, a time is its microseconds, a value of a category is
its position among the category's values, and whatever is missing is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Mask, Matrix
from counterset.exceptions import InvalidInputError
from counterset.tables.codecs import (
    decode_numbers,
    decode_times,
    encode_numbers,
    encode_one_hot,
    encode_values,
    microseconds,
    numpy_dtype,
    some_of,
)

__all__ = ["Feature", "Kind", "learn_feature", "learn_one_hot"]

Kind: TypeAlias = Literal["continuous", "integer", "ordinal", "categorical", "binary"]

#: A category of more values than this is taken for an identifier.
MOST_VALUES = 2000
_TIME_STEPS = (86_400_000_000, 1_000_000, 1)  # a day, a second, a microsecond


@dataclass(frozen=True)
class Feature:
    """One feature of the training data.

    Attributes
    ----------
    name
        The column's name; the group's name for one-hot columns.
    kind
        ``continuous``, ``integer`` and ``ordinal`` features move step by step, ``categorical``
        and ``binary`` ones switch.
    columns
        The positions of its columns: one, or several for a one-hot group.
    dtype
        The dtype of its columns.
    low, high
        The range of its codes in the training data.
    values
        The values behind the codes 0, 1, ... of a category or an ordinal.
    step
        The least difference of two codes, 0 for any.
    can_be_missing
        Whether the training data has missing values here.
    seen
        The codes of the values that the training data has, of a category or an ordinal.
    blank
        What stands for a missing value in a column of objects: None, NaN or NA.
    """

    name: str
    kind: Kind
    columns: tuple[int, ...]
    dtype: Any
    low: float
    high: float
    values: tuple[Any, ...] | None = None
    step: float = 0.0
    can_be_missing: bool = False
    seen: tuple[float, ...] | None = None
    blank: Any = None

    @property
    def is_category(self) -> bool:
        """Whether the feature switches between values that have no order."""
        return self.kind in ("categorical", "binary")

    @property
    def is_number(self) -> bool:
        """Whether the column is one of numpy's, of numbers that are exact as floats, all there."""
        exact = isinstance(self.dtype, np.dtype) and (
            self.dtype == np.float64 or self.dtype.kind in "iu"
        )
        return exact and self.values is None and not self.can_be_missing

    @property
    def is_time(self) -> bool:
        """Whether the codes are microseconds."""
        return types.is_datetime64_any_dtype(self.dtype)

    def encode(self, frame: pd.DataFrame, what: str) -> Matrix:
        """Give the codes of the feature's columns in a frame of the same columns."""
        if len(self.columns) > 1:
            return encode_one_hot(frame.iloc[:, list(self.columns)], self.name, what)
        column = frame.iloc[:, self.columns[0]]
        if self.values is not None:
            codes = encode_values(column, self.values, self.name, what)
        else:
            codes = self._check_held(encode_numbers(column, self.dtype, self.name, what), what)
        if not self.can_be_missing and np.isnan(codes).any():
            row = int(np.flatnonzero(np.isnan(codes))[0])
            raise InvalidInputError(
                f"{what} misses a value in feature {self.name!r}, row {row}, where the training "
                f"data never did. Fill it in, or fit on rows that miss it too."
            )
        return codes

    def _check_held(self, codes: Matrix, what: str) -> Matrix:
        """Check that the training data's dtype can hold the numbers; round to its precision."""
        if self.is_time:
            return codes
        held = self.snap(codes)
        if types.is_integer_dtype(self.dtype):
            limits = np.iinfo(numpy_dtype(self.dtype))
            wrong = (codes != held) & ~np.isnan(codes) | (codes < limits.min) | (codes > limits.max)
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise InvalidInputError(
                    f"{what} has {codes[row]} in feature {self.name!r}, row {row}, which its dtype "
                    f"in the training data, {self.dtype}, cannot hold. Pass whole numbers in its "
                    f"range, or fit on a column of floats."
                )
        return held

    def decode(self, codes: Matrix) -> list[pd.Series | Labels]:
        """Give the columns that belong to codes."""
        if self.is_number:
            return [decode_numbers(codes, self.dtype)]
        if len(self.columns) > 1:
            return [
                pd.Series((codes == i).astype(np.float64)).astype(self.dtype)
                for i in range(len(self.columns))
            ]
        missing = np.isnan(codes)
        if self.values is not None:
            return [self._decode_values(codes, missing)]
        if self.is_time:
            return [decode_times(codes, missing, self.dtype)]
        if types.is_integer_dtype(self.dtype):
            codes = np.rint(codes)
        if missing.any() and types.is_extension_array_dtype(self.dtype):
            return [pd.Series(codes).astype("Float64").mask(missing).astype(self.dtype)]
        return [pd.Series(codes).astype(self.dtype)]

    def _decode_values(self, codes: Matrix, missing: Mask) -> pd.Series:
        dtype, values = self.dtype, self.values or ()
        positions = np.where(missing, -1, codes).astype(np.intp)
        if isinstance(dtype, pd.CategoricalDtype) and list(dtype.categories) == list(values):
            return pd.Series(pd.Categorical.from_codes(positions, dtype=dtype))
        held = np.empty(len(values) + 1, dtype=object)
        held[:-1] = values
        held[-1] = self.blank if types.is_object_dtype(dtype) else np.nan
        if types.is_extension_array_dtype(dtype) and not self.is_time:
            held[-1] = pd.NA
        return pd.Series(held[positions], dtype=object).astype(dtype)

    def snap(self, codes: Matrix) -> Matrix:
        """Move codes to the nearest ones that decode without loss.

        An ordinal has gaps where the training data never had a value: the model may not know it.
        """
        if self.step:
            snapped: Matrix = np.rint(codes / self.step) * self.step
            if self.kind == "ordinal" and self.seen and len(self.seen) < len(self.values or ()):
                seen = np.array(self.seen)
                nearest = seen[np.searchsorted((seen[1:] + seen[:-1]) / 2, codes)]
                snapped = np.where(np.isnan(codes), np.nan, nearest)
            return snapped
        held = numpy_dtype(self.dtype)
        if held in (np.float64, object):
            return codes
        if types.is_integer_dtype(held):
            return np.rint(codes)
        single: Matrix = codes.astype(held).astype(np.float64)
        return single

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Give the least and the most code between two that the column can hold."""
        if self.seen is not None:
            inside = [code for code in self.seen if low <= code <= high]
            return (min(inside), max(inside)) if inside else (np.inf, -np.inf)
        step = self.step or (1.0 if types.is_integer_dtype(self.dtype) else 0.0)
        if step:
            low, high = float(np.ceil(low / step) * step), float(np.floor(high / step) * step)
        if types.is_integer_dtype(self.dtype):
            limits = np.iinfo(numpy_dtype(self.dtype))
            low, high = max(low, float(limits.min)), min(high, float(limits.max))
        return low, high

    def describe(self, code: float) -> Any:
        """Give the value behind one code, for people to read."""
        if np.isnan(code):
            return "missing"
        if self.values is not None:
            return self.values[int(code)]
        if self.is_time:
            moment = pd.Timestamp(int(code), unit="us")
            zone = getattr(self.dtype, "tz", None)
            if zone is not None:
                return moment.tz_localize("UTC").tz_convert(zone)
            return moment.date() if self.step == _TIME_STEPS[0] else moment
        return round(code) if self.step == 1 else code

    def code_of(self, value: Any) -> float:
        """Give the code of one value, as users write it in constraints."""
        if self.values is not None:
            if value not in self.values:
                raise InvalidInputError(
                    f"Feature {self.name!r} has no value {value!r}. Its values are "
                    f"{some_of(self.values)}."
                )
            return float(self.values.index(value))
        held = "times" if self.is_time else "numbers"
        try:
            code = self._code_of_time(value) if self.is_time else float(value)
        except (TypeError, ValueError):
            code = np.nan
        if np.isnan(code):
            raise InvalidInputError(f"Feature {self.name!r} holds {held}, got {value!r}.")
        # Single precision holds 0.1 as 0.10000000149: that is the value meant.
        return code if self.step else float(self.snap(np.array([code]))[0])

    def _code_of_time(self, value: Any) -> float:
        moment = pd.Timestamp(value)
        zone = getattr(self.dtype, "tz", None)
        if zone is not None and moment.tzinfo is None:
            moment = moment.tz_localize(zone)
        return float(microseconds(pd.Series([moment]))[0])

    def __str__(self) -> str:
        if self.values is not None:
            seen = f"{len(self.values)} values: {some_of(self.values)}"
        else:
            seen = f"{self.describe(self.low)} to {self.describe(self.high)}"
        return f"{self.kind:<12} {seen}{', may be missing' if self.can_be_missing else ''}"


def learn_feature(
    column: pd.Series, position: int, kind: Kind | None, order: Sequence[Any] | None
) -> tuple[Feature, Matrix]:
    """Learn one feature from its training column; also give the column's codes.

    Parameters
    ----------
    kind, order
        What the user declared: the kind, and the values of an ordinal from least to most.
    """
    name, dtype = str(column.name), column.dtype
    what = "The training data"
    kind = kind or _kind_of(column)
    values: tuple[Any, ...] | None = None
    step = 0.0
    if kind in ("ordinal", "categorical", "binary"):
        values = tuple(order) if order is not None else _values_of(column)
        if len(set(values)) < len(values):
            raise InvalidInputError(
                f"The order of {name!r} names a value twice: {some_of(values)}."
            )
        if order is None and kind == "ordinal" and not _is_ordered(column):
            raise InvalidInputError(
                f"The order of the ordinal feature {name!r} is not known. Declare it: "
                f"Schema(ordinal={{{name!r}: [...]}}) with its values from least to most."
            )
        if kind == "binary" and len(values) > 2:
            raise InvalidInputError(
                f"Feature {name!r} is declared binary, but has the values {some_of(values)}."
            )
        if kind == "categorical" and len(values) == 2:
            kind = "binary"
        codes = encode_values(column, values, name, what)
        step = 1.0
    else:
        codes = encode_numbers(column, dtype, name, what)
        _check_numbers(codes, dtype, kind, name)
        if types.is_datetime64_any_dtype(dtype):
            step = float(next(s for s in _TIME_STEPS if not np.nanmax(np.append(codes % s, 0))))
        elif kind == "integer":
            step = 1.0
    missing = np.isnan(codes)
    known = codes[~missing]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return Feature(
        name,
        kind,
        (position,),
        dtype,
        low,
        high,
        values,
        step,
        bool(missing.any()),
        None if values is None else tuple(np.unique(known).tolist()),
        next(iter(column[missing]), None) if types.is_object_dtype(dtype) else None,
    ), codes


def learn_one_hot(name: str, frame: pd.DataFrame, columns: list[int]) -> tuple[Feature, Matrix]:
    """Learn a group of one-hot columns as one category; its values are the columns' names."""
    if len(columns) < 2:
        raise InvalidInputError(
            f"The one-hot group {name!r} has {len(columns)} columns. Name at least two; a single "
            f"column of 0 and 1 is a feature of its own."
        )
    members = frame.iloc[:, columns]
    dtypes = set(members.dtypes)
    if len(dtypes) > 1:
        raise InvalidInputError(
            f"The columns of the one-hot group {name!r} have several dtypes: "
            f"{sorted(map(str, dtypes))}. Give them one dtype."
        )
    codes = encode_one_hot(members, name, "The training data")
    values = (*map(str, members.columns), "none of them")
    return Feature(
        name,
        "categorical",
        tuple(columns),
        dtypes.pop(),
        0.0,
        float(len(columns)),
        values,
        1.0,
        seen=tuple(np.unique(codes).tolist()),
    ), codes


def _kind_of(column: pd.Series) -> Kind:
    dtype = column.dtype
    if types.is_bool_dtype(dtype):
        return "binary"
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if types.is_integer_dtype(dtype):
        return "integer"
    if types.is_complex_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        raise InvalidInputError(
            f"Feature {column.name!r} has dtype {dtype}, which is not supported. "
            f"Turn it into numbers, or leave it out."
        )
    if types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype):
        return "continuous"
    return "categorical"


def _is_ordered(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def _values_of(column: pd.Series) -> tuple[Any, ...]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        found = list(column.dtype.categories)
    else:
        try:
            found = list(dict.fromkeys(column.dropna().tolist()))
        except TypeError:
            raise InvalidInputError(
                f"Feature {column.name!r} holds values that are neither numbers nor categories "
                f"(such as lists). Turn them into columns of their own, or leave them out."
            ) from None
        with suppress(TypeError):  # values that do not compare keep their order of appearance
            found = sorted(found)
    if len(found) > MOST_VALUES:
        raise InvalidInputError(
            f"Feature {column.name!r} has {len(found)} different values, as a name or an "
            f"identifier would. Leave it out, or group its values."
        )
    return tuple(found)


def _check_numbers(codes: Matrix, dtype: Any, kind: Kind, name: str) -> None:
    """Check that codes stand for the training column's numbers without loss."""
    if types.is_integer_dtype(dtype) and (np.abs(codes) >= 2.0**53).any():
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
