"""ReLU networks: mixed-integer programmes on growing balls around the input.

A unit needs a binary variable only if its input can change sign in the ball. The smaller the ball,
the fewer units can.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.boundary import past_boundary
from counterset.exact.growing_balls import (
    OVERSIZE_FACTOR,
    BallResult,
    Incumbent,
    covering_radius,
    search_growing_balls,
)
from counterset.exact.networks.encoding import Encoding, sum_and_gradient
from counterset.exact.networks.models import ReluNetwork
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Columns
from counterset.exact.problem import (
    DOUBLE_ROUNDOFF,
    LOW_PRECISION,
    OUT_OF_TIME,
    Problem,
    SolverResult,
)
from counterset.exact.targets import Target, Targets

__all__ = ["solve_network"]

#: A ball that is proved empty grows by a factor of 1.6. More would overshoot, and large balls are
#: slow; less would take more balls.
GROWTH = 1.6
#: The first ball is 1.1 times the distance that the slope at the input suggests: a little more, so
#: that it holds the boundary if the model is linear there.
FIRST_RADIUS = 1.1
#: Leads required beyond a tie, as moves relative to the radius, if the model does not confirm a
#: point: from the solver's tolerance to a thousandth.
CLEARER_LEADS = (1e-6, 1e-5, 1e-4, 1e-3)
METHOD = "mixed-integer programme of a {}"


def solve_network(
    network: ReluNetwork,
    columns: Columns,
    problem: Problem,
    norm: Norm,
    targets: Targets,
    start: Vector | None,
) -> SolverResult:
    """Find the distance, or bounds on it if the time limit is reached.

    Parameters
    ----------
    columns
        What the network sees.
    targets
        What is wanted of its outputs.
    start
        A known counterfactual, or None.
    """
    network = replace(network, roundoff=max(network.roundoff, problem.roundoff))
    incumbent = Incumbent(problem)
    incumbent.offer(start)
    searches = [
        _TargetSearch(network, columns, problem, norm, target, incumbent) for target in targets.each
    ]
    lower = min([incumbent.upper, *(search.lower_bound() for search in searches)])
    lower = min(lower, incumbent.upper)  # which the searches may have improved
    reason = "the solver stopped at its tolerance"
    if problem.clock.over:
        reason = OUT_OF_TIME
    elif network.roundoff > DOUBLE_ROUNDOFF:
        reason = LOW_PRECISION
    none_exists = incumbent.witness is None and np.isinf(lower)
    blur = max((search.blur for search in searches), default=0.0)
    method = METHOD.format("ReLU network" if len(network.layers) > 1 else "linear model")
    witness, ignored = incumbent.witness, targets.ignored
    return SolverResult(lower, witness, method, reason, bool(none_exists), blur, ignored)


class _TargetSearch:
    """Finds the distance to one target."""

    def __init__(
        self,
        network: ReluNetwork,
        columns: Columns,
        problem: Problem,
        norm: Norm,
        target: Target,
        incumbent: Incumbent,
    ) -> None:
        self._network, self._columns, self._problem = network, columns, problem
        self._norm, self._target, self._incumbent = norm, target, incumbent
        self.blur = 0.0

    def lower_bound(self) -> float:
        """Bound the distance from below; offer what is found to the incumbent."""
        radius = self._first_radius()
        covering = covering_radius(self._problem, self._norm)
        return search_growing_balls(self._search_ball, self._incumbent, radius, GROWTH, covering)

    def _search_ball(self, radius: float) -> BallResult:
        """Search a ball, and smaller ones as long as it was much too large."""
        result = self._search_once(radius)
        while not result.empty and OVERSIZE_FACTOR * self._incumbent.upper < radius:
            if self._problem.clock.over:
                break
            radius = self._incumbent.upper
            lower = max(result.lower, self._search_once(radius).lower)
            result = BallResult(lower, empty=False)
        return result

    def _search_once(self, radius: float) -> BallResult:
        encoding = Encoding(
            self._network, self._columns, self._problem, self._norm, self._target, radius
        )
        solution = encoding.solve()
        result = BallResult(solution.lower, solution.empty)
        first = solution.point
        if first is not None:
            self.blur = radius * max(encoding.blur(first), encoding.blur(self._problem.x))
        for share in CLEARER_LEADS:
            if solution.point is None:
                break
            if self._confirm(encoding, solution.point):
                if first is not None and solution.point is not first:
                    self._confirm(encoding, first)  # now that a witness shows a direction
                break
            # The point lies where units switch, so that no slope leads past the boundary.
            encoding.raise_lead(share)
            solution = encoding.solve()
        return result

    def _confirm(self, encoding: Encoding, point: Vector) -> bool:
        """Offer the nearest point past the boundary that flips; return whether there is one."""
        directions = encoding.directions(point)
        if self._incumbent.witness is not None:
            directions.append(self._incumbent.witness - point)
        witness = past_boundary(self._problem, point, directions)
        self._incumbent.offer(witness)
        return witness is not None

    def _first_radius(self) -> float:
        """Estimate from the slopes at the input how far the boundary is."""
        rows = zip(self._target.weights, self._target.least, strict=True)
        radius = max((self._radius_of(row, float(least)) for row, least in rows), default=1.0)
        problem = self._problem
        outside = np.clip(problem.x, problem.low, problem.high) - problem.x
        return max(radius, FIRST_RADIUS * float(self._norm.of(outside)))

    def _radius_of(self, row: Vector, least: float) -> float:
        norm = self._norm
        if norm.kind == "l0":
            return float(np.max(norm.weights, initial=0.0))
        columns = self._columns
        total, per_column = sum_and_gradient(self._network, columns.start, row)
        if total > least:
            return 1e-6
        gradient = columns.gradient(per_column)
        paid = (self._problem.high > self._problem.low) & (norm.weights > 0)
        slopes = np.abs(gradient[paid]) / norm.rates[paid]
        order = {"l1": np.inf, "l2": 2, "linf": 1}[norm.kind]  # of the dual norm
        slope = float(np.linalg.norm(slopes, ord=order)) if len(slopes) else 0.0
        return max(FIRST_RADIUS * (least - total) / slope, 1e-6) if slope > 0 else 1.0
