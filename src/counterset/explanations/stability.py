"""Stability: how many slightly changed copies of an input keep each of its options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv

from counterset._base.arrays import Counts, Vector

__all__ = ["Stability", "least_shares"]


@dataclass(frozen=True, eq=False)
class Stability:
    """What was measured on slightly changed copies of an input; it proves nothing.

    Two options are the same if they change the same features: numbers, times and ordinals in the
    same direction, and categories to the same value. How far numbers move is not compared.

    Attributes
    ----------
    copies : int
        The number of copies that were compared. All are of the input's class; fewer than were
        asked for where not enough such copies were found.
    kept : ndarray of shape (n,)
        For each option of the input, in the order of the explanation, the number of copies for
        which it is found again.
    same : int
        The number of copies that have all of the input's options and no others.
    covered : int
        The number of copies whose nearest option is one of the input's.
    moved : float
        The mean distance from the input to the copies; NaN if there are none.
    differences : mapping
        How much the copies differ from the input on average, in the units of each number, by its
        name.

    Examples
    --------
    >>> import numpy as np
    >>> kept = np.array([19, 20])
    >>> stability = Stability(copies=20, kept=kept, same=18, covered=20, moved=0.05)
    >>> print(stability)
    option 1: kept by 19 of 20 near copies (95% sure: at least 78%)
    option 2: kept by 20 of 20 near copies (95% sure: at least 86%)
    the nearest option of the copy is one of these: 20 of 20 near copies
    the same options, and no others: 18 of 20 near copies
    >>> stability.shares
    array([0.95, 1.  ])
    """

    copies: int
    kept: Counts
    same: int
    covered: int
    moved: float
    differences: Mapping[str, float] = field(default_factory=dict)

    @property
    def shares(self) -> Vector:
        """For each option, the share of the copies that keep it; NaN if there are no copies."""
        return self.kept / (self.copies or float("nan"))

    @property
    def least_shares(self) -> Vector:
        """For each option, the share of all such copies that keep it at least, 95 % sure."""
        return least_shares(self.kept, self.copies)

    @property
    def share(self) -> float:
        """The share of the copies that have the same options and no others; NaN without copies."""
        return self.same / (self.copies or float("nan"))

    def of_nearest(self, count: int) -> Stability:
        """Return the same for the nearest options only; ``same`` is still about all of them."""
        return replace(self, kept=self.kept[:count])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON; ``moved`` is None if there are no copies."""
        return {
            "copies": self.copies,
            "kept": self.kept.tolist(),
            "least_shares": self.least_shares.tolist() if self.copies else None,
            "same": self.same,
            "covered": self.covered,
            "moved": self.moved if self.copies else None,
            "differences": dict(self.differences),
        }

    def __str__(self) -> str:
        if not self.copies:
            return "no near copy of the same class was found"
        each = zip(self.kept.tolist(), self.least_shares.tolist(), strict=True)
        lines = [
            f"option {rank}: kept by {kept} of {self.copies} near copies "
            f"(95% sure: at least {math.floor(100 * least)}%)"
            for rank, (kept, least) in enumerate(each, start=1)
        ]
        lines += [
            f"{what}: {count} of {self.copies} near copies"
            for what, count in (
                ("the nearest option of the copy is one of these", self.covered),
                ("the same options, and no others", self.same),
            )
        ]
        return "\n".join(lines)


#: What is said of all such copies is wrong in at most one of 20 draws of copies.
CONFIDENCE = 0.95


def least_shares(kept: Counts, count: int) -> Vector:
    """Return bounds below the shares of all copies that keep an option, 95 % sure each.

    The one-sided bound of Clopper and Pearson: the smallest share with which so many copies of
    ``count`` are kept in at least 5 % of all draws.

    Examples
    --------
    >>> import numpy as np
    >>> least_shares(np.array([20, 10, 0]), 20).round(2)
    array([0.86, 0.3 , 0.  ])
    """
    if not count:
        return np.full(len(kept), np.nan)
    least = betaincinv(np.maximum(kept, 1), count - kept + 1, 1 - CONFIDENCE)
    return np.where(kept > 0, least, 0.0)
