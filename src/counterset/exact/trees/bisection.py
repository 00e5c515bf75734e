"""The last number at which a rising function is at most a limit, to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from counterset._base.arrays import Mask, Vector

__all__ = ["last_at_most"]

#: The first bracket around a straight line's estimate is 2**-44 of its size: wider than rounding by
#: a few hundred steps, so that it holds the answer of nearly every scaler.
GUESS_WIDTH = 2.0**-44


def last_at_most(
    function: Callable[[Vector], Vector], limits: Vector, low: Vector, high: Vector, whole: Mask
) -> Vector:
    """Find the largest doubles, or whole numbers, with ``function(value) <= limit``.

    Parameters
    ----------
    function
        From ``(n,)`` numbers to ``(n,)`` numbers, each by itself and none falling.
    limits, low, high
        The limit of each, and the finite ends between which to search.
    whole
        Which of the arguments are whole numbers.

    Returns
    -------
    last
        ``-inf`` where even the low end exceeds the limit, ``inf`` where the high end does not.

    Examples
    --------
    >>> low, high = np.zeros(2), np.full(2, 10.0)
    >>> last_at_most(lambda v: v / 3, np.array([1.5, 1.0]), low, high, np.array([True, False]))
    array([4., 3.])
    """
    at_low, at_high = function(low), function(high)
    never, always = at_low > limits, at_high <= limits
    bracket = _Bracket(function, limits, low, high, whole)
    with np.errstate(all="ignore"):
        guess = low + (limits - at_low) * ((high - low) / (at_high - at_low))
        width = GUESS_WIDTH * (np.abs(guess) + np.abs(limits))
    for value in (guess - width, guess + width):
        bracket.probe(np.nan_to_num(value))
    while (open_ends := bracket.open & ~never & ~always).any():
        bracket.halve(open_ends)
    last: Vector = np.where(never, -np.inf, np.where(always, np.inf, bracket.low))
    return last


class _Bracket:
    """The ends between which each answer lies: at ``low`` or above, below ``high``."""

    def __init__(
        self,
        function: Callable[[Vector], Vector],
        limits: Vector,
        low: Vector,
        high: Vector,
        whole: Mask,
    ) -> None:
        self._function, self._limits, self._whole = function, limits, whole
        self.low, self.high = low.copy(), high.copy()

    @property
    def open(self) -> Mask:
        """Where there are numbers between the ends."""
        gap: Mask = np.where(
            self._whole, self.high - self.low > 1, np.nextafter(self.low, np.inf) < self.high
        ).astype(bool)
        return gap

    def probe(self, values: Vector) -> None:
        """Move one of the ends to a value between them."""
        values = np.where(self._whole, np.floor(values), values)
        inside = (values > self.low) & (values < self.high)
        values = np.where(inside, values, self.low)
        left = self._function(values) <= self._limits
        self.low = np.where(inside & left, values, self.low)
        self.high = np.where(inside & ~left, values, self.high)

    def halve(self, which: Mask) -> None:
        """Probe the middle one of the whole numbers, or of the doubles, between the ends."""
        first, last = _rank(self.low), _rank(self.high)
        middle = _unrank(first // 2 + last // 2 + (first & last & 1))
        middle = np.where(self._whole, (self.low + self.high) / 2, middle)
        self.probe(np.where(which, middle, self.low))


def _rank(values: Vector) -> NDArray[np.int64]:
    """Return the rank of each double in ascending order: that of the next is higher by 1."""
    bits = (values + 0.0).view(np.int64)  # + 0.0: there is one zero
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def _unrank(ranks: NDArray[np.int64]) -> Vector:
    bits = np.where(ranks >= 0, ranks, np.iinfo(np.int64).min - ranks)
    return bits.astype(np.int64).view(np.float64)
