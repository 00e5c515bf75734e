"""DistanceBounds: what is known about the counterfactual distance of one input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["DistanceBounds"]


@dataclass(frozen=True, eq=False)
class DistanceBounds:
    """A lower and an upper bound on the counterfactual distance cfd(x) (definition 1).

    Attributes
    ----------
    lower
        Proved: no counterfactual is nearer than this.
    upper
        The distance of ``witness``; infinite where none was found.
    exact
        Whether the two differ by no more than ``tolerance * max(1, upper)``. Where the nearest
        points of another class form an open set, cfd is an infimum that no point attains: then
        ``lower`` is the infimum, and the witness lies just past it.
    witness
        A counterfactual at distance ``upper``, asked of the model; None where none was found.
    seconds
        How long it took.
    method
        How the bounds were found.
    reason
        Why they are not exact; empty where they are.
    tolerance
        What ``exact`` means: as asked for, plus what the rounding of a model in single precision
        may do to its border. ``lower`` holds in spite of that rounding.
    """

    lower: float
    upper: float
    exact: bool
    witness: Any
    seconds: float
    method: str
    reason: str = ""
    tolerance: float = 1e-5

    def __repr__(self) -> str:
        if self.exact:
            return f"cfd = {self.upper:.6g} ({self.method}, {self.seconds:.2g} s)"
        return f"{self.lower:.6g} <= cfd <= {self.upper:.6g} ({self.method}: {self.reason})"
