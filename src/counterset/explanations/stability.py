"""Stability: how many slightly changed copies of an input keep each of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from counterset._base.arrays import Counts, Vector

__all__ = ["Stability"]


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
    moved : float
        The mean distance from the input to the copies; NaN if there are none.
    differences : mapping
        How much the copies differ from the input on average, in the units of each number, by its
        name.

    Examples
    --------
    >>> import numpy as np
    >>> stability = Stability(copies=20, kept=np.array([19, 20]), same=18, moved=0.05)
    >>> print(stability)
    option 1: kept by 19 of 20 near copies
    option 2: kept by 20 of 20 near copies
    the same options, and no others: 18 of 20 near copies
    >>> stability.shares
    array([0.95, 1.  ])
    """

    copies: int
    kept: Counts
    same: int
    moved: float
    differences: Mapping[str, float] = field(default_factory=dict)

    @property
    def shares(self) -> Vector:
        """For each option, the share of the copies that keep it; NaN if there are no copies."""
        return self.kept / (self.copies or float("nan"))

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
            "same": self.same,
            "moved": self.moved if self.copies else None,
            "differences": dict(self.differences),
        }

    def __str__(self) -> str:
        if not self.copies:
            return "no near copy of the same class was found"
        lines = [
            f"option {rank}: kept by {kept} of {self.copies} near copies"
            for rank, kept in enumerate(self.kept.tolist(), start=1)
        ]
        return "\n".join(
            [*lines, f"the same options, and no others: {self.same} of {self.copies} near copies"]
        )
