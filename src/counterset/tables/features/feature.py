"""Feature: what the features of every kind have in common.

Inside the library, a value of a feature is a float, its code. A number is its own code, a time is
its microseconds since 1970, a value of a category is its position among the category's values,
and a missing value is NaN.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Mask, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.grid import Grid
from counterset.tables.schema import Kind
from counterset.tables.wording import Wording, readable

__all__ = ["Feature", "TrainingColumns", "range_of"]


@dataclass(frozen=True)
class TrainingColumns:
    """The training columns of one feature, and what is known before its values are read.

    Attributes
    ----------
    name
        The feature's name.
    frame
        The training data.
    positions
        The positions of the feature's columns in the frame.
    kind
        The kind that the user declared, or that follows from the dtype.
    order
        The values of an ordinal from least to most, if the user declared them.
    is_one_hot
        Whether the user declared a one-hot group.
    is_flag
        Whether the column holds the numbers 0 and 1 only, and the user declared no kind.
    step
        The step that the user declared, or None.
    special
        The codes that the user declared to be no numbers.
    """

    name: str
    frame: pd.DataFrame
    positions: tuple[int, ...]
    kind: Kind
    order: tuple[Any, ...] | None = None
    is_one_hot: bool = False
    is_flag: bool = False
    step: float | None = None
    special: tuple[float, ...] = ()

    #: How messages name the data.
    what = "The training data"

    @property
    def first(self) -> pd.Series:
        """The feature's first column, the only one unless it is a one-hot group."""
        return self.frame.iloc[:, self.positions[0]]


@dataclass(frozen=True)
class Feature(ABC):
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
    step
        The difference between two neighbouring codes that counterfactuals take; 0 if every number
        will do.
    finest_step
        The same between the smallest codes, where they need a finer one, see
        :class:`~counterset.tables.features.grid.Grid`; else 0.
    can_be_missing
        Whether the training data has missing values here.
    values
        The values that the codes 0, 1, ... of a category or an ordinal stand for, else None.
    seen
        The codes of the values that the training data has, for a category or an ordinal, else
        None.
    special
        Codes of a number that are no numbers: states of their own, as a missing value is.
    wording
        How people speak of it, as the user declared it; None: as its name and values read.
    """

    name: str
    kind: Kind
    columns: tuple[int, ...]
    dtype: Any
    low: float
    high: float
    step: float = 0.0
    can_be_missing: bool = False
    values: tuple[Any, ...] | None = None
    seen: tuple[float, ...] | None = None
    special: tuple[float, ...] = ()
    wording: Wording | None = None
    finest_step: float = 0.0

    @classmethod
    @abstractmethod
    def takes(cls, training: TrainingColumns) -> bool:
        """Whether this class represents such columns."""

    @classmethod
    @abstractmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        """Learn the feature from its training columns; also return their codes, ``(n,)``."""

    @property
    def is_category(self) -> bool:
        """Whether the feature switches between values that have no order."""
        return False

    @property
    def is_number(self) -> bool:
        """Whether float64 holds the column exactly: numpy's numbers, none of them missing."""
        return False

    @property
    def float_dtype(self) -> np.dtype[Any]:
        """The floats among which the column's numbers are: float64, or shorter ones."""
        return np.dtype(np.float64)

    @property
    def usual(self) -> tuple[float, float]:
        """The range of the training codes without extreme ones."""
        return self.low, self.high

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest code that the dtype can hold, infinite if any float."""
        return -np.inf, np.inf

    @property
    def is_time(self) -> bool:
        """Whether the column holds times, whatever kind the user declared."""
        return types.is_datetime64_any_dtype(self.dtype)

    def encode(self, frame: pd.DataFrame, what: str) -> Vector:
        """Return the codes of the feature in a frame that has the training data's columns.

        Parameters
        ----------
        what
            How messages name the frame.
        """
        codes = self._encode(frame, what)
        missing = np.isnan(codes)
        if not self.can_be_missing and missing.any():
            raise InvalidInputError(
                f"{what} misses a value in feature {self.name!r}, row {missing.argmax()}, where "
                f"the training data never did. Fill it in, or fit on rows that miss it too."
            )
        return codes

    @abstractmethod
    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        """Return the codes, NaN for a missing value."""

    @abstractmethod
    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        """Return the feature's columns for these codes, in the training data's dtype."""

    def is_known(self, codes: Vector) -> Mask:
        """Return which codes stand for values: they are neither missing nor special."""
        known = ~np.isnan(codes)
        return known & ~np.isin(codes, self.special) if self.special else known

    def hold(self, codes: Vector) -> Vector:
        """Move codes to the nearest ones that the column can hold."""
        held: Vector = np.rint(codes / self.step) * self.step
        return held

    def snap(self, codes: Vector) -> Vector:
        """Move codes to the nearest ones that counterfactuals take."""
        return self.hold(codes)

    @abstractmethod
    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Return the smallest and the largest code in a range that counterfactuals take."""

    def describe(self, code: float) -> Any:
        """Return the value that a code stands for, for people to read."""
        return "missing" if np.isnan(code) else self._value_of(code)

    @property
    def label(self) -> str:
        """How people call the feature."""
        return readable(self.name) if self.wording is None else self.wording.label

    @property
    def unit(self) -> str:
        """The unit of its numbers, such as "months"; empty if it has none."""
        return "" if self.wording is None else self.wording.unit

    def text_of(self, code: float) -> str:
        """Return the text of a value, without a unit: the declared one, or all its digits."""
        declared = None
        if self.wording is not None:
            declared = self.wording.of_missing if np.isnan(code) else self.wording.text(code)
        return self.format(code) if declared is None else declared

    def format(self, code: float) -> str:
        """Return the value that a code stands for as text, with all its digits."""
        return str(self.describe(code))

    @abstractmethod
    def _value_of(self, code: float) -> Any:
        """Return the value that a code stands for; it is not missing."""

    def code_of(self, value: Any) -> float:
        """Return the code of one value, as users write it in constraints."""
        try:
            code = self._code_of(value)
        except (TypeError, ValueError, OverflowError):
            code = np.nan
        if np.isnan(code):
            raise InvalidInputError(self._unknown(value))
        return code

    @abstractmethod
    def _code_of(self, value: Any) -> float:
        """Return the code of a value; NaN, TypeError or ValueError if it has none."""

    @abstractmethod
    def _unknown(self, value: Any) -> str:
        """Return the message about a value that has no code."""

    def amount_of(self, difference: Any) -> float:
        """Return how far codes may move, from what users write: a number, or a timedelta."""
        try:
            amount = self._amount_of(difference)
        except (TypeError, ValueError, OverflowError):
            amount = np.nan
        if not amount >= 0:
            raise InvalidInputError(
                f"How far {self.name!r} may move must be a {self._amounts} of at least 0, got "
                f"{difference!r}."
            )
        # Part of a unit cannot be taken.
        return (
            float(np.floor(amount / self.resolution) * self.resolution)
            if self.resolution
            else amount
        )

    @property
    def resolution(self) -> float:
        """The smallest difference between two codes that the column can hold; 0 if there is none.

        Counterfactuals may move in coarser steps.
        """
        return self.step

    @cached_property
    def grid(self) -> Grid:
        """The multiples of the step: the codes that counterfactuals take."""
        return Grid(self.step, self.finest_step)

    #: What a user writes for a difference of two values.
    _amounts = "number"

    def _amount_of(self, difference: Any) -> float:
        return float(difference)

    def __str__(self) -> str:
        missing = ", may be missing" if self.can_be_missing else ""
        return f"{self.kind:<12} {self._content()}{missing}"

    def _content(self) -> str:
        """Describe the training values of the feature in a few words."""
        return f"{self.describe(self.low)} to {self.describe(self.high)}"


def range_of(codes: Vector) -> tuple[float, float]:
    """Return the smallest and the largest code; 0 and 0 if all are missing."""
    known = codes[~np.isnan(codes)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
