"""Grid: the step in which people speak of a number, and the values that are multiples of it.

A model finds 3,913.27 as good as 3,900. A person can act on the second only. So every number has a
step, learned from the training column or declared, and counterfactuals take multiples of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from counterset._base.arrays import Vector
from counterset.tables.spread import usual_range

__all__ = ["Grid", "learn_step"]

#: A step holds a column if 95 of 100 values that are not 0 are multiples of it: a few odd entries
#: do not change how people speak of the others.
NEARLY_ALL = 0.95
#: A number is spoken of with about 3 significant digits of its usual range.
SIGNIFICANT_DIGITS = 3
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

    Examples
    --------
    Three times 0.1 is another float than 0.3:

    >>> Grid(0.1).snap(np.array([0.3001, 2.0, -0.01])).tolist()
    [0.3, 2.0, 0.0]
    >>> Grid(0.25).ends(np.array([0.3]), np.array([1.6]))
    (array([0.5]), array([1.5]))
    """

    step: float

    @cached_property
    def ratio(self) -> tuple[float, float]:
        """The step as two whole numbers, above and below the line; (0, 1) for no grid."""
        decimal = Decimal(repr(self.step)).normalize()
        exponent = decimal.as_tuple().exponent
        below = 10 ** max(-exponent, 0) if isinstance(exponent, int) else 1
        return float(decimal * below), float(below)

    def snap(self, codes: Vector) -> Vector:
        """Return the nearest values of the grid; a missing value stays missing."""
        above, below = self.ratio
        # Whole numbers are multiplied without rounding, and the division rounds to the nearest.
        return codes if not above else np.rint(codes * below / above) * above / below + 0.0

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
        above, below = self.ratio
        with np.errstate(invalid="ignore"):  # infinite ends stay infinite
            count = np.rint(codes * below / above)
            snapped = count * above / below + 0.0
            moved = np.where(sign * (snapped - codes) < 0, count + sign, count) * above / below
        result: Vector = np.where(np.isinf(codes), codes, moved + 0.0)
        return result if result.ndim else result[()]


def learn_step(codes: Vector, *, significant_only: bool = False) -> float:
    """Return the step in which people speak of a column's numbers.

    That is the coarsest power of ten of which nearly all values are multiples, and no less than
    what gives three significant digits to the usual range.

    Parameters
    ----------
    codes
        The numbers of the column; missing ones are passed over.
    significant_only
        Whether to pass over what the values are multiples of.

    Examples
    --------
    Amounts, ages, and measurements with many digits:

    >>> learn_step(np.array([500.0, 1200.0, 800.0])), learn_step(np.arange(18.0, 70.0))
    (100.0, 1.0)
    >>> learn_step(np.random.default_rng(0).normal(170, 10, 500))
    0.1
    """
    known = codes[~np.isnan(codes)]
    told = known[known != 0]  # 0 is a multiple of every step
    if not len(told):
        return 1.0
    low, high = usual_range(known)
    spread = high - low if high > low else float(np.abs(told).max())
    least = math.floor(math.log10(spread)) + 1 - SIGNIFICANT_DIGITS
    exponent = least if significant_only else _held_by(told, least)
    return float(Decimal(1).scaleb(exponent)) if abs(exponent) <= LARGEST_POWER else 0.0


def _held_by(values: Vector, least: int) -> int:
    """Return the exponent of the coarsest power of ten that holds nearly all values.

    Parameters
    ----------
    least
        The finest exponent that matters.
    """
    coarsest = math.floor(math.log10(float(np.abs(values).max())))
    for exponent in range(min(coarsest, LARGEST_POWER), max(least, -LARGEST_POWER), -1):
        held = Grid(float(Decimal(1).scaleb(exponent))).snap(values) == values
        if np.mean(held) >= NEARLY_ALL:
            return exponent
    return least
