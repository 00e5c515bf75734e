"""DistanceBounds: what is known about the counterfactual distance of one input."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["SEARCH", "DistanceBounds"]

#: The method that searches a model that could not be read, and proves nothing.
SEARCH = "search"


@dataclass(frozen=True, eq=False)
class DistanceBounds:
    """A lower and an upper bound on the counterfactual distance cfd(x) (definition 1).

    Attributes
    ----------
    lower
        It is proved that no counterfactual is nearer than this; infinite if there is none at all.
    upper
        The distance of ``witness``; infinite if none was found.
    exact
        Whether the bounds differ by at most ``tolerance * upper``, or it is proved that there is no
        counterfactual. If the region of another class does not include its border, cfd is an
        infimum that no point attains: then ``lower`` is the infimum, and the witness lies just past
        it.
    witness
        A counterfactual at distance ``upper``; None if none was found. The model confirmed it, and
        it keeps the constraints.
    seconds
        How long it took.
    method
        How the bounds were found.
    reason
        Why the bounds are not exact; empty if they are.
    tolerance
        The tolerance that ``exact`` refers to: the one that was asked for, plus how far the
        rounding of a model in single precision may move its decision boundary. ``lower`` holds in
        spite of that rounding.

    Examples
    --------
    >>> DistanceBounds(1.0, 1.0, True, [2.0], 0.01, "by hand")
    cfd = 1 (by hand, 0.01 s)
    >>> DistanceBounds(1.0, 2.5, False, [3.5], 60.0, "by hand", "the time limit was reached")
    1 <= cfd <= 2.5 (by hand: the time limit was reached)
    """

    lower: float
    upper: float
    exact: bool
    witness: Any
    seconds: float
    method: str
    reason: str = ""
    tolerance: float = 1e-5

    @property
    def was_read(self) -> bool:
        """Whether an exact method could read the model; otherwise nothing is proved."""
        return self.method != SEARCH

    @property
    def none_exists(self) -> bool:
        """Whether it is proved that there is no counterfactual in the domain."""
        return self.lower == math.inf

    def __repr__(self) -> str:
        if self.none_exists:
            return f"no counterfactual exists ({self.method}, {self.seconds:.2g} s)"
        if self.exact:
            return f"cfd = {self.upper:.6g} ({self.method}, {self.seconds:.2g} s)"
        return f"{self.lower:.6g} <= cfd <= {self.upper:.6g} ({self.method}: {self.reason})"
