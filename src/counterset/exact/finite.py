"""Finite domains: points in ascending order of distance, and the first that flips."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.distances import ROUNDING
from counterset.exact.domains import Grid, Points
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult
from counterset.exceptions import UnsupportedDistanceError

__all__ = ["Reach", "nearest_first", "solve_finite"]

#: Points are built and classified in batches that grow from 64 to 8192: a near counterfactual is
#: found at little cost, and a far one in few calls of the model.
FIRST_BATCH = 64
LARGEST_BATCH = 8192
#: If the distance is not a norm, a grid is sorted as a whole: up to 2 million points fit in memory.
LARGEST_SORTED_GRID = 2_000_000
METHOD = "enumeration of a finite domain"


def solve_finite(problem: Problem, domain: Points | Grid) -> SolverResult:
    """Classify the points from the nearest on, until one flips."""
    reached = 0.0
    for rows, lengths in nearest_first(problem, domain):
        reached = float(lengths[0])
        if problem.clock.over:
            return SolverResult(reached, None, METHOD, OUT_OF_TIME)
        for i in np.flatnonzero(problem.flips(rows)):
            if problem.confirms(rows[i]):
                return SolverResult(float(lengths[i]), rows[i], METHOD)
    return SolverResult(np.inf, None, METHOD, none_exists=True)


@dataclass
class Reach:
    """How far a grid may be built: never farther than epsilon past the nearest counterfactual.

    As long as nothing flips, the nearest counterfactual is no nearer than the next point. So every
    point within epsilon of the next one is within epsilon of the nearest counterfactual too.
    """

    epsilon: float
    end: float = np.inf

    def found(self, nearest: float) -> None:
        """Set the end from the distance of the nearest counterfactual."""
        self.end = self._beyond(nearest)

    def until(self, first: float) -> float:
        """Return how far a batch may go whose first point is at this distance."""
        return min(self._beyond(first), self.end)

    def _beyond(self, length: float) -> float:
        end = length + self.epsilon
        return end + ROUNDING * end


def nearest_first(
    problem: Problem, domain: Points | Grid, reach: Reach | None = None
) -> Iterator[tuple[Matrix, Vector]]:
    """Yield batches of points and their distances, in ascending order throughout.

    With ``reach``, a grid is built no farther than that allows.
    """
    if isinstance(domain, Points):
        yield from _sorted(problem, domain.matrix)
        return
    values = domain.values_for(problem.x, problem.fixed)
    if problem.norm is None:
        if domain.size > LARGEST_SORTED_GRID:
            raise UnsupportedDistanceError(
                f"A Grid of {domain.size} points is enumerated from the nearest on, which takes "
                f"distance= l0, l1, l2 or linf. Choose one of them, or a Grid of at most "
                f"{LARGEST_SORTED_GRID} points."
            )
        mesh = np.meshgrid(*values, indexing="ij")
        yield from _sorted(problem, np.stack([axis.ravel() for axis in mesh], axis=1))
        return
    yield from _best_first(problem, problem.norm, values, reach)


def _batch_sizes() -> Iterator[int]:
    size = FIRST_BATCH
    while True:
        yield size
        size = min(2 * size, LARGEST_BATCH)


def _sorted(problem: Problem, points: Matrix) -> Iterator[tuple[Matrix, Vector]]:
    lengths = problem.lengths(points)
    order = np.argsort(lengths, kind="stable")
    start = 0
    for size in _batch_sizes():
        part = order[start : start + size]
        if len(part) == 0:
            return
        yield points[part], lengths[part]
        start += size


def _best_first(
    problem: Problem, norm: Norm, values: list[Vector], reach: Reach | None
) -> Iterator[tuple[Matrix, Vector]]:
    """Build the combinations of a grid in ascending order of their cost, as they are needed."""
    ordered, costs = _by_cost(problem.x, norm, values)
    combinations = _cheapest_combinations(costs, largest=norm.kind == "linf")
    upcoming = next(combinations, None)
    for size in _batch_sizes():
        if upcoming is None:
            return
        end = np.inf
        if reach is not None:
            first = float(norm.length(upcoming[0]))
            if first > reach.end:
                return
            end = norm.to_total(reach.until(first))
        picked: list[tuple[int, ...]] = []
        while upcoming is not None and upcoming[0] <= end and len(picked) < size:
            picked.append(upcoming[1])
            upcoming = next(combinations, None)
        positions = np.array(picked)
        rows = np.stack([some[positions[:, i]] for i, some in enumerate(ordered)], axis=1)
        lengths = problem.lengths(rows)
        # Costs that are added up in another order may be rounded differently.
        order = np.argsort(lengths, kind="stable")
        yield rows[order], lengths[order]


def _by_cost(x: Vector, norm: Norm, values: list[Vector]) -> tuple[list[Vector], list[list[float]]]:
    """Sort the values of each feature by cost; return them and their costs."""
    ordered, costs = [], []
    for i, some in enumerate(values):
        moves = np.zeros((len(some), len(x)))
        moves[:, i] = some - x[i]
        cost = norm.costs(moves)[:, i]
        order = np.argsort(cost, kind="stable")
        ordered.append(some[order])
        costs.append(cost[order].tolist())
    return ordered, costs


def _cheapest_combinations(
    costs: list[list[float]], largest: bool
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield combinations in ascending order of the sum (or the largest) of their costs.

    A combination has the position of one value for each feature, and comes with its total cost.
    Each is made from exactly one other, by raising the feature that was raised last or a later
    one. So none is made twice, and none before it is needed.
    """

    def total(positions: tuple[int, ...]) -> float:
        parts = [costs[i][position] for i, position in enumerate(positions)]
        return max(parts) if largest else sum(parts)

    first = (0,) * len(costs)
    waiting = [(total(first), first, 0)]
    while waiting:
        cost, positions, last = heapq.heappop(waiting)
        yield cost, positions
        for i in range(last, len(costs)):
            if positions[i] + 1 < len(costs[i]):
                raised = (*positions[:i], positions[i] + 1, *positions[i + 1 :])
                heapq.heappush(waiting, (total(raised), raised, i))
