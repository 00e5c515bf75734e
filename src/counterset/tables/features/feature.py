"""Feature: the base class of all kinds of columns, and the grid of values to propose.

A model finds 3,913.27 as good as 3,900. A person can act on the second only. So every number has a
step, learned from the training column or declared, and counterfactuals take multiples of it. A
step is for what is proposed to a person: training rows and inputs keep their own values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.schema import Kind
from counterset.tables.spread import usual_range
from counterset.tables.wording import Wording, readable

__all__ = ["Feature", "Grid", "TrainingColumns", "learn_grid", "range_of"]

#: A step holds a column if 95 of 100 values that are not 0 are multiples of it: a few odd entries
#: do not change how people speak of the others.
NEARLY_ALL = 0.95
#: A number is spoken of with about 3 significant digits of its usual range, but with no fewer than
#: 2 of its own: 0.37, 42 and 3,900 can live in one column.
DIGITS_OF_RANGE, DIGITS_OF_VALUE = 3, 2
#: The finest step is for all but the smallest tenth of the values, and is used if it is at least
#: 100 times finer than the other: values near 0 that are mere chance, as a normal column has them,
#: get no digits of their own. Of fewer than 20 values it cannot be told.
SMALLEST, LEAST_FINER, ENOUGH_TO_TELL = 0.1, 2, 20
#: Float64 holds the powers of ten up to 1e22 exactly; steps finer than 1e-22, or coarser than 1e22,
#: are not learned.
LARGEST_POWER = 22


@dataclass(frozen=True)
class Grid:
    """The multiples of a step, as the floats nearest to their decimal notation.

    Attributes
    ----------
    step
        The distance between two values; 0 for no grid: every number is a value.
    finest
        The distance between the smallest values, where these need a finer one: both are powers of
        ten then, and a value has two significant digits in between. 0: all have the same step.

    Examples
    --------
    Three times 0.1 is another float than 0.3:

    >>> Grid(0.1).snap(np.array([0.3001, 2.0, -0.01])).tolist()
    [0.3, 2.0, 0.0]
    >>> Grid(0.25).ends(np.array([0.3]), np.array([1.6]))
    (array([0.5]), array([1.5]))
    >>> Grid(10.0, finest=0.01).snap(np.array([0.3712, 42.19, 3913.27])).tolist()
    [0.37, 42.0, 3910.0]
    """

    step: float
    finest: float = 0.0

    @cached_property
    def is_uniform(self) -> bool:
        """Whether one step holds everywhere."""
        return not 0 < self.finest < self.step

    @cached_property
    def ratio(self) -> tuple[float, float]:
        """The step as two whole numbers, above and below the line; (0, 1) for no grid."""
        return _as_ratio(self.step)

    def ratio_at(self, codes: Vector) -> tuple[Any, Any]:
        """Return the step around each number, as two whole numbers, above and below the line."""
        if self.is_uniform:
            return self.ratio
        bounds, ratios = self._ladder
        above, below = ratios[:, np.searchsorted(bounds, np.abs(codes), side="right")]
        return above, below

    @cached_property
    def _ladder(self) -> tuple[Vector, Matrix]:
        """The size from which each step but the first holds on, and the steps, finest first."""
        first, last = (round(math.log10(each)) for each in (self.finest, self.step))
        exponents = range(first, last + 1)
        bounds = np.array([float(f"1e{each + DIGITS_OF_VALUE}") for each in exponents[:-1]])
        return bounds, np.array([_as_ratio(float(f"1e{each}")) for each in exponents]).T

    def snap(self, codes: Vector) -> Vector:
        """Return the nearest values of the grid; a missing value stays missing."""
        if not self.step:
            return codes
        above, below = self.ratio_at(codes)
        # Whole numbers are multiplied without rounding, and the division rounds to the nearest.
        snapped: Vector = np.rint(codes * below / above) * above / below + 0.0
        return snapped

    def ends(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return the smallest and the largest value of the grid between two numbers each.

        Where there is none in between, the smallest is above the largest. Takes single numbers
        too.
        """
        if not self.step:
            return low, high
        return self._move(low, 1), self._move(high, -1)

    def _move(self, codes: Vector, sign: int) -> Vector:
        """Return the nearest values that are not below (sign 1) or not above (-1) numbers."""
        above, below = self.ratio_at(codes)
        with np.errstate(invalid="ignore"):  # infinite ends stay infinite
            count = np.rint(codes * below / above)
            snapped = count * above / below + 0.0
            moved = np.where(sign * (snapped - codes) < 0, count + sign, count) * above / below
        result: Vector = np.where(np.isinf(codes), codes, moved + 0.0)
        return result if result.ndim else result[()]


def learn_grid(codes: Vector, *, significant_only: bool = False) -> Grid:
    """Return the steps in which people speak of a column's numbers.

    The step is the coarsest power of ten of which nearly all values are multiples, and no less
    than what gives three significant digits to the usual range. Where many values are so small
    that this leaves them fewer than two digits, they have a finer one, down to the column's own
    precision.

    Parameters
    ----------
    codes
        The numbers of the column; missing ones are passed over.
    significant_only
        Whether to pass over what the values are multiples of.

    Examples
    --------
    Amounts, ages, measurements with many digits, and ratios of which some are amounts:

    >>> learn_grid(np.array([500.0, 1200.0, 800.0])), learn_grid(np.arange(18.0, 70.0))
    (Grid(step=100.0, finest=0.0), Grid(step=1.0, finest=0.0))
    >>> random = np.random.default_rng(0)
    >>> learn_grid(random.normal(170, 10, 500))
    Grid(step=0.1, finest=0.0)
    >>> learn_grid(np.append(random.random(400), random.uniform(100, 3000, 100)))
    Grid(step=10.0, finest=0.01)
    """
    known = codes[~np.isnan(codes)]
    spoken = np.abs(known[known != 0])  # 0 is a multiple of every step
    if not len(spoken):
        return Grid(1.0)
    low, high = usual_range(known)
    spread = high - low if high > low else float(spoken.max())
    least = math.floor(math.log10(spread)) + 1 - DIGITS_OF_RANGE
    exponent = least
    if not significant_only:
        exponent = _held_by(spoken, range(math.floor(math.log10(spoken.max())), least, -1), least)
    if abs(exponent) > LARGEST_POWER:
        return Grid(0.0)
    small = float(np.quantile(spoken, SMALLEST))
    finest = max(math.floor(math.log10(small)) + 1 - DIGITS_OF_VALUE, -LARGEST_POWER)
    few = len(spoken) < ENOUGH_TO_TELL
    if few or exponent > least or finest > exponent - LEAST_FINER:
        return Grid(float(f"1e{exponent}"))
    if not significant_only:
        finest = _held_by(spoken, range(exponent, finest, -1), finest)
    return Grid(float(f"1e{exponent}"), 0.0 if finest == exponent else float(f"1e{finest}"))


def _held_by(values: Vector, exponents: range, otherwise: int) -> int:
    """Return the first exponent whose power of ten holds nearly all values."""
    for exponent in exponents:
        if abs(exponent) > LARGEST_POWER:
            continue
        held = Grid(float(f"1e{exponent}")).snap(values) == values
        if np.mean(held) >= NEARLY_ALL:
            return exponent
    return otherwise


def _as_ratio(step: float) -> tuple[float, float]:
    decimal = Decimal(repr(step)).normalize()
    exponent = decimal.as_tuple().exponent
    below = 10 ** max(-exponent, 0) if isinstance(exponent, int) else 1
    return float(decimal * below), float(below)


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
        :class:`~counterset.tables.features.feature.Grid`; else 0.
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
    def can_have_range(self) -> bool:
        """Whether its values have an order and are more than two."""
        return self.kind in ("continuous", "integer", "ordinal")

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
    def dtype_range(self) -> tuple[float, float]:
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
                f"{difference!r}. Leave the feature out if it may move freely."
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
