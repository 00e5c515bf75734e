"""Search in growing balls around the input: the smaller the ball, the smaller a solver's task.

A ball that is proved to hold no counterfactual makes its radius a lower bound, and the ball grows.
If it holds one, the nearest in it is the nearest of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem

__all__ = [
    "OVERSIZE_FACTOR",
    "BallResult",
    "Incumbent",
    "covering_radius",
    "search_growing_balls",
]

#: A ball is searched again, as a smaller one, if its radius is more than 2 times the distance found
#: in it: the tolerance of a solver is a part of the radius.
OVERSIZE_FACTOR = 2.0


@dataclass(eq=False)
class Incumbent:
    """The nearest counterfactual so far, and its distance ``upper``."""

    problem: Problem
    witness: Vector | None = None
    upper: float = np.inf

    def offer(self, witness: Vector | None) -> None:
        """Keep a confirmed counterfactual if it is nearer."""
        if witness is None:
            return
        length = float(self.problem.lengths(witness[None, :])[0])
        if length < self.upper:
            self.witness, self.upper = witness, length


@dataclass(frozen=True)
class BallResult:
    """What is proved about a ball: no counterfactual in it is nearer than ``lower``.

    ``empty``: it holds none at all.
    """

    lower: float
    empty: bool


def search_growing_balls(
    search_ball: Callable[[float], BallResult],
    incumbent: Incumbent,
    first: float,
    growth: float,
    covering: float,
) -> float:
    """Return a lower bound on the distance; infinite if it is proved that there is nothing.

    Parameters
    ----------
    search_ball
        Searches the ball of a radius and offers what it finds to the incumbent.
    first
        The first radius.
    growth
        The factor from one radius to the next.
    covering
        A radius that covers the domain.
    """
    radius, proved = first, 0.0
    while not incumbent.problem.clock.over:
        # Only what is nearer than the incumbent matters.
        radius = min(radius, incumbent.upper, covering)
        result = search_ball(radius)
        if not result.empty:
            return max(proved, min(result.lower, radius))
        if radius >= covering:
            return np.inf
        proved = max(proved, min(result.lower, radius))
        if radius >= incumbent.upper:
            break
        radius *= growth
    return proved


def covering_radius(problem: Problem, norm: Norm) -> float:
    """Return a radius beyond which the box has no points."""
    reach = np.maximum(problem.high - problem.x, problem.x - problem.low)
    with np.errstate(invalid="ignore"):
        costs = np.where(norm.weights > 0, norm.costs(reach), 0.0)
    # A little more than the farthest corner, which a solver must not lose by rounding.
    return float(norm.length(norm.total(costs))) * (1 + 1e-9)
