"""ReLU networks: mixed-integer programmes on growing balls around the input.

A unit whose input cannot change sign near x needs no yes-or-no variable, and the nearer we look,
the fewer units can.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.boundary import past_boundary
from counterset.exact.growing_balls import (
    MUCH_TOO_LARGE,
    Best,
    Look,
    farthest,
    look_in_growing_balls,
)
from counterset.exact.networks.encoding import Encoding, lead_and_gradient
from counterset.exact.networks.models import ReluNetwork
from counterset.exact.norms import Norm
from counterset.exact.problem import COARSE, DOUBLE_ROUNDOFF, Answer, Problem

__all__ = ["solve_network"]

#: How much the ball grows when it is proved empty.
GROWTH = 1.6
#: The first ball, relative to the distance that the slope at the input suggests.
FIRST_RADIUS = 1.1
#: What is asked for beyond a tie, relative to the radius, if the model does not confirm a point.
CLEARER_LEADS = (1e-6, 1e-5, 1e-4, 1e-3)
METHOD = "mixed-integer programme of a {}"


def solve_network(
    network: ReluNetwork, problem: Problem, norm: Norm, start: Matrix | None
) -> Answer:
    """Give the distance, or bounds on it when the time is up.

    Parameters
    ----------
    start
        A counterfactual that is known already.
    """
    network = replace(network, roundoff=max(network.roundoff, problem.roundoff))
    best = Best(problem)
    best.offer(start)
    own = int(np.flatnonzero(network.labels == problem.label)[0])
    scores = network.scores(problem.x[None, :])[0]
    others = [int(k) for k in np.argsort(-scores, kind="stable") if k != own]
    classes = [_Class(network, problem, norm, other, own, best) for other in others]
    lower = min(best.upper, *(each.at_least() for each in classes))
    lower = min(lower, best.upper)  # which the later classes may have bettered
    reason = "the solver stopped at its tolerance"
    if problem.clock.over:
        reason = "the time was up"
    elif network.roundoff > DOUBLE_ROUNDOFF:
        reason = COARSE
    none_exists = best.witness is None and np.isinf(lower)
    blur = max(each.blur for each in classes)
    method = METHOD.format("ReLU network" if len(network.layers) > 1 else "linear model")
    return Answer(lower, best.witness, method, reason, bool(none_exists), blur)


class _Class:
    """The distance to one other class."""

    def __init__(
        self,
        network: ReluNetwork,
        problem: Problem,
        norm: Norm,
        other: int,
        own: int,
        best: Best,
    ) -> None:
        self._network, self._problem, self._norm, self._best = network, problem, norm, best
        self._classes = other, own
        self.blur = 0.0

    def at_least(self) -> float:
        """Give a lower bound; better the best if there is a nearer point."""
        radius = self._first_radius()
        far = farthest(self._problem, self._norm)
        return look_in_growing_balls(self._look, self._best, radius, GROWTH, far)

    def _look(self, radius: float) -> Look:
        seen = self._look_once(radius)
        while not seen.empty and MUCH_TOO_LARGE * self._best.upper < radius:
            if self._problem.clock.over:
                break
            radius = self._best.upper
            seen = Look(max(seen.lower, self._look_once(radius).lower), empty=False)
        return seen

    def _look_once(self, radius: float) -> Look:
        encoding = Encoding(self._network, self._problem, self._norm, self._classes, radius)
        solution = encoding.solve()
        seen = Look(solution.lower, solution.empty)
        first = solution.point
        if first is not None:
            self.blur = radius * max(encoding.blur(first), encoding.blur(self._problem.x))
        for share in CLEARER_LEADS:
            if solution.point is None:
                break
            if self._confirm(encoding, solution.point):
                if first is not None and solution.point is not first:
                    self._confirm(encoding, first)  # now that a witness shows the way on
                break
            # The point lies where units switch, so that no slope tells the way on.
            encoding.raise_lead(share)
            solution = encoding.solve()
        return seen

    def _confirm(self, encoding: Encoding, point: Matrix) -> bool:
        """Offer the nearest point past the boundary that the model confirms."""
        ways = encoding.ways_on(point)
        if self._best.witness is not None:
            ways.append(self._best.witness - point)
        witness = past_boundary(self._problem, point, ways)
        self._best.offer(witness)
        return witness is not None

    def _first_radius(self) -> float:
        """Guess from the slope at the input how far the boundary is."""
        norm = self._norm
        if norm.kind == "l0":
            return float(np.max(norm.weights, initial=0.0))
        lead, gradient = lead_and_gradient(self._network, self._problem.x, self._classes)
        paid = (self._problem.high > self._problem.low) & (norm.weights > 0)
        rates = np.sqrt(norm.weights) if norm.kind == "l2" else norm.weights
        slopes = np.abs(gradient[paid]) / rates[paid]
        order = {"l1": np.inf, "l2": 2, "linf": 1}[norm.kind]  # of the dual norm
        slope = float(np.linalg.norm(slopes, ord=order)) if len(slopes) else 0.0
        return max(FIRST_RADIUS * abs(lead) / slope, 1e-6) if slope > 0 else 1.0
