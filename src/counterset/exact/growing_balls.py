"""Looking in growing balls: near the input, every solver's task is smaller.

A ball that is proved to hold no counterfactual makes its radius a lower bound, and the ball grows;
if it holds one, the nearest in it is the nearest of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem

__all__ = ["MUCH_TOO_LARGE", "Best", "Look", "farthest", "look_in_growing_balls"]

#: Balls more than so many times too large are looked into again: tolerances are part of the ball.
MUCH_TOO_LARGE = 2.0


@dataclass(eq=False)
class Best:
    """The nearest counterfactual so far."""

    problem: Problem
    witness: Matrix | None = None
    upper: float = np.inf

    def offer(self, witness: Matrix | None) -> None:
        """Keep a confirmed counterfactual if it is nearer than the best."""
        if witness is None:
            return
        length = float(self.problem.lengths(witness[None, :])[0])
        if length < self.upper:
            self.witness, self.upper = witness, length


@dataclass(frozen=True)
class Look:
    """What a look into a ball has proved: no counterfactual in it is nearer than ``lower``.

    ``empty`` says that it holds none at all.
    """

    lower: float
    empty: bool


def look_in_growing_balls(
    look: Callable[[float], Look], best: Best, first: float, growth: float, farthest: float
) -> float:
    """Give a lower bound on the distance; infinite if it is proved that nothing is there.

    Parameters
    ----------
    look
        Looks into a ball of a radius and offers ``best`` what it finds.
    first
        The first radius.
    farthest
        A radius that covers the domain.
    """
    radius, proved = first, 0.0
    while not best.problem.clock.over:
        # Only what beats the best so far matters.
        radius = min(radius, best.upper, farthest)
        seen = look(radius)
        if not seen.empty:
            return max(proved, min(seen.lower, radius))
        if radius >= farthest:
            return np.inf
        proved = max(proved, min(seen.lower, radius))
        if radius >= best.upper:
            break
        radius *= growth
    return proved


def farthest(problem: Problem, norm: Norm) -> float:
    """Give a radius beyond which the box has no points."""
    reach = np.maximum(problem.high - problem.x, problem.x - problem.low)
    with np.errstate(invalid="ignore"):
        costs = np.where(norm.weights > 0, norm.costs(reach), 0.0)
    return float(norm.length(norm.total(costs)))
