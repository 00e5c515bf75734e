"""Grid: the step in which people speak of a number, and the values that are multiples of it.

A model finds 3,913.27 as good as 3,900. A person can act on the second only. So every number has a
step, learned from the training column or declared, and counterfactuals take multiples of it. A
step belongs to what is proposed to a person: training rows and inputs keep their own values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.tables.spread import usual_range

__all__ = ["Grid", "learn_grid"]

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
