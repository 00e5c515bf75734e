"""Categories: features with a list of values, without an order or with one.

The code of a value is its position in the list.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Indices, Labels, Mask, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature, TrainingColumns, range_of

__all__ = ["Category", "OneHotGroup", "Ordinal"]

#: A column with more than 2000 values is taken for an identifier: no value says anything about
#: another row.
MOST_VALUES = 2000
#: A message lists the first 8 values of a feature, which fit on two lines.
SHOWN_VALUES = 8


@dataclass(frozen=True)
class Category(Feature):
    """A feature with a list of values that have no order; a ``binary`` one has two.

    Attributes
    ----------
    blank
        What stands for a missing value in a column of objects: None, NaN or NA.
    """

    values: tuple[Any, ...] = ()
    seen: tuple[float, ...] = ()
    blank: Any = None

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.kind in ("categorical", "binary")

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, kind, column = training.name, training.kind, training.first
        values = _values_of(column, name) if training.order is None else training.order
        if kind == "binary" and len(values) > 2:
            raise InvalidInputError(
                f"Feature {name!r} is declared binary, but has the values {_list(values)}. Declare "
                f"it categorical."
            )
        codes = _positions(column, values, name, training.what)
        missing = np.isnan(codes)
        feature = cls(
            name,
            "binary" if kind == "categorical" and len(values) == 2 else kind,
            training.positions,
            column.dtype,
            *range_of(codes),
            step=1.0,
            can_be_missing=bool(missing.any()),
            values=values,
            seen=tuple(np.unique(codes[~missing]).tolist()),
            blank=_blank_of(column),
        )
        return feature, codes

    @property
    def is_category(self) -> bool:
        return True

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        return _positions(frame.iloc[:, self.columns[0]], self.values, self.name, what)

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        dtype, values = self.dtype, self.values
        positions = np.where(np.isnan(codes), -1, codes).astype(np.intp)
        if isinstance(dtype, pd.CategoricalDtype) and list(dtype.categories) == list(values):
            return [pd.Series(pd.Categorical.from_codes(positions, dtype=dtype))]
        held = np.empty(len(values) + 1, dtype=object)
        held[:-1] = values
        held[-1] = self.blank if types.is_object_dtype(dtype) else np.nan
        if types.is_extension_array_dtype(dtype) and not self.is_time:
            held[-1] = pd.NA
        return [pd.Series(held[positions], dtype=object).astype(dtype)]

    def ends(self, low: float, high: float) -> tuple[float, float]:
        inside = [code for code in self.seen if low <= code <= high]
        return (min(inside), max(inside)) if inside else (np.inf, -np.inf)

    def _value_of(self, code: float) -> Any:
        return self.values[int(code)]

    def _code_of(self, value: Any) -> float:
        return float(self.values.index(value))

    def _unknown(self, value: Any) -> str:
        return f"Feature {self.name!r} has no value {value!r}. Its values are {_list(self.values)}."

    def _content(self) -> str:
        return f"{len(self.values)} values: {_list(self.values)}" if self.values else "no values"


@dataclass(frozen=True)
class Ordinal(Category):
    """A feature with a list of values from least to most: it moves step by step, as numbers do."""

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.kind == "ordinal"

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, order, dtype = training.name, training.order, training.first.dtype
        if order is not None and any(order.count(value) > 1 for value in order):
            raise InvalidInputError(
                f"The order of {name!r} names a value twice: {_list(order)}. Name each value once."
            )
        if order is None and not (isinstance(dtype, pd.CategoricalDtype) and dtype.ordered):
            raise InvalidInputError(
                f"The order of the ordinal feature {name!r} is not known. Declare it: "
                f"Schema(ordinal={{{name!r}: [...]}}) with its values from least to most."
            )
        return super().learn(training)

    @property
    def is_category(self) -> bool:
        return False

    def hold(self, codes: Vector) -> Vector:
        """Move codes to the nearest ones that the training data has.

        The model may not know a value that no training row has.
        """
        if not self.seen or len(self.seen) == len(self.values):
            return super().hold(codes)
        seen = np.array(self.seen)
        nearest = seen[np.searchsorted((seen[1:] + seen[:-1]) / 2, codes)]
        return np.where(np.isnan(codes), np.nan, nearest)


def _values_of(column: pd.Series, name: str) -> tuple[Any, ...]:
    """Return the different values of a column, sorted if they can be."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        found = list(column.dtype.categories)
    else:
        try:
            found = list(dict.fromkeys(column.dropna().tolist()))
        except TypeError:
            raise InvalidInputError(
                f"Feature {name!r} holds values that are neither numbers nor categories "
                f"(such as lists). Turn them into columns of their own, or leave them out."
            ) from None
        with suppress(TypeError):  # values that do not compare keep their order of appearance
            found = sorted(found)
    if len(found) > MOST_VALUES:
        raise InvalidInputError(
            f"Feature {name!r} has {len(found)} different values, as a name or an "
            f"identifier would. Leave it out, or group its values."
        )
    return tuple(found)


def _positions(column: pd.Series, values: tuple[Any, ...], name: str, what: str) -> Vector:
    """Return the position of each cell among the values; NaN where one is missing."""
    missing = column.isna().to_numpy()
    try:
        cells = pd.Index(column.astype(object), dtype=object)
        codes = pd.Index(values, dtype=object).get_indexer(cells)
    except TypeError:  # a list, say, is no value
        codes = np.array([_position(cell, values) for cell in column])
    unknown = (codes < 0) & ~missing
    if unknown.any():
        row = int(unknown.argmax())
        raise InvalidInputError(
            f"{what} has {column.iloc[row]!r} in feature {name!r}, row {row}, which is not one of "
            f"its known values {_list(values)}. Pass one of them, or fit on rows that have it."
        )
    return np.where(missing, np.nan, codes).astype(np.float64)


def _position(cell: Any, values: tuple[Any, ...]) -> int:
    """Return the position of one cell among the values, -1 if it is none of them."""
    return values.index(cell) if isinstance(cell, Hashable) and cell in values else -1


def _blank_of(column: pd.Series) -> Any:
    """Return the first missing value of a column of objects, None if there is none."""
    if not types.is_object_dtype(column.dtype):
        return None
    return next(iter(column[column.isna()]), None)


def _list(values: Sequence[Any]) -> str:
    """List the first few values, for a message."""
    shown = ", ".join(repr(value) for value in values[:SHOWN_VALUES])
    return shown if len(values) <= SHOWN_VALUES else f"{shown}, ... ({len(values)} in all)"


#: The value of a row without a 1 in any column of the group.
NONE_OF_THEM = "none of them"


@dataclass(frozen=True)
class OneHotGroup(Category):
    """A category in several columns: its values are their names, and one for "none of them"."""

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.is_one_hot

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, positions = training.name, training.positions
        if len(positions) < 2:
            raise InvalidInputError(
                f"The one-hot group {name!r} has {len(positions)} columns. Name at least two; a "
                f"single column of 0 and 1 is a feature of its own."
            )
        members = training.frame.iloc[:, list(positions)]
        dtypes = set(members.dtypes)
        if len(dtypes) > 1:
            raise InvalidInputError(
                f"The columns of the one-hot group {name!r} have several dtypes: "
                f"{sorted(map(str, dtypes))}. Convert them to one dtype."
            )
        codes = _hot_positions(members, name, training.what)
        feature = cls(
            name,
            training.kind,
            positions,
            dtypes.pop(),
            low=0.0,
            high=float(len(positions)),
            step=1.0,
            values=(*map(str, members.columns), NONE_OF_THEM),
            seen=tuple(np.unique(codes).tolist()),
        )
        return feature, codes

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        return _hot_positions(frame.iloc[:, list(self.columns)], self.name, what)

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        return [
            pd.Series((codes == i).astype(np.float64)).astype(self.dtype)
            for i in range(len(self.columns))
        ]


def _hot_positions(members: pd.DataFrame, name: str, what: str) -> Vector:
    """Return the position of the 1 in each row; the number of columns if there is none."""
    try:
        hot = members.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        hot = np.full(members.shape, np.nan)
    wrong: Mask = ~np.isin(hot, (0, 1)).all(axis=1) | (hot.sum(axis=1) > 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidInputError(
            f"{what} is not one-hot in the group {name!r}, row {row}: each row holds at most one 1 "
            f"and otherwise 0, got {members.iloc[row].to_dict()}. Encode the row again."
        )
    position: Indices = hot.argmax(axis=1)
    return np.where(hot.any(axis=1), position, members.shape[1]).astype(np.float64)
