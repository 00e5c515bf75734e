"""Finite domains: points in the order of their distance, and the first that flips."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix
from counterset.distances import ROUNDING
from counterset.exact.domains import Grid, Points
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exceptions import UnsupportedDistanceError

__all__ = ["Reach", "nearest_first", "solve_finite"]

#: Points are built and asked in batches that grow, so that a near answer costs little.
FIRST_BATCH = 64
LARGEST_BATCH = 8192
#: A grid whose distance is not a norm is sorted whole, if it is no larger than this.
LARGEST_SORTED_GRID = 2_000_000
METHOD = "enumeration of a finite domain"


def solve_finite(problem: Problem, domain: Points | Grid) -> Answer:
    """Ask the model about the points from the nearest on, until one flips."""
    reached = 0.0
    for rows, lengths in nearest_first(problem, domain):
        reached = float(lengths[0])
        if problem.clock.over:
            return Answer(reached, None, METHOD, "the time was up")
        for place in np.flatnonzero(problem.flips(rows)):
            if problem.confirms(rows[place]):
                return Answer(float(lengths[place]), rows[place], METHOD)
    return Answer(np.inf, None, METHOD, none_exists=True)


@dataclass
class Reach:
    """How far points of a grid may be built: never past the optimum and epsilon.

    As long as nothing flips, the optimum is no nearer than the next point, so that all within
    epsilon of that one are within epsilon of the optimum too.
    """

    epsilon: float
    limit: float = np.inf

    def found(self, nearest: float) -> None:
        """Note the distance of the nearest counterfactual."""
        self.limit = self._beyond(nearest)

    def until(self, first: float) -> float:
        """Give how far a batch may go that starts at a distance."""
        return min(self._beyond(first), self.limit)

    def _beyond(self, length: float) -> float:
        end = length + self.epsilon
        return end + ROUNDING * max(1.0, end)


def nearest_first(
    problem: Problem, domain: Points | Grid, reach: Reach | None = None
) -> Iterator[tuple[Matrix, Matrix]]:
    """Give batches of points and their distances, ascending throughout.

    With a reach, a grid is built no farther than that allows.
    """
    if isinstance(domain, Points):
        yield from _sorted(problem, domain.matrix)
        return
    values = domain.values_for(problem.x, problem.model.table.names)
    if problem.norm is None:
        if domain.size > LARGEST_SORTED_GRID:
            raise UnsupportedDistanceError(
                f"A grid of {domain.size} points is enumerated from the nearest on, which takes "
                f"l0, l1, l2 or linf. Choose one of them, or a grid of at most "
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


def _sorted(problem: Problem, points: Matrix) -> Iterator[tuple[Matrix, Matrix]]:
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
    problem: Problem, norm: Norm, values: list[Matrix], reach: Reach | None
) -> Iterator[tuple[Matrix, Matrix]]:
    """Build the combinations of a grid in the order of their cost, none before its turn."""
    ordered, costs = _by_cost(problem.x, norm, values)
    combinations = _cheapest_combinations(costs, largest=norm.kind == "linf")
    upcoming = next(combinations, None)
    for size in _batch_sizes():
        if upcoming is None:
            return
        end = np.inf
        if reach is not None:
            first = float(norm.length(upcoming[0]))
            if first > reach.limit:
                return
            end = norm.to_total(reach.until(first))
        picked: list[tuple[int, ...]] = []
        while upcoming is not None and upcoming[0] <= end and len(picked) < size:
            picked.append(upcoming[1])
            upcoming = next(combinations, None)
        places = np.array(picked)
        rows = np.stack([some[places[:, i]] for i, some in enumerate(ordered)], axis=1)
        lengths = problem.lengths(rows)
        # Costs that are added up in another order may be rounded apart.
        order = np.argsort(lengths, kind="stable")
        yield rows[order], lengths[order]


def _by_cost(x: Matrix, norm: Norm, values: list[Matrix]) -> tuple[list[Matrix], list[list[float]]]:
    """Give the values of each feature from the cheapest on, with their costs."""
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
    """Give one place per feature, in ascending order of the sum (or largest) of their costs.

    Each combination is made from one only, by raising its last raised feature or one after it, so
    that none is made twice and none before it is needed. The sum comes with it.
    """

    def total(places: tuple[int, ...]) -> float:
        parts = [costs[i][place] for i, place in enumerate(places)]
        return max(parts) if largest else sum(parts)

    first = (0,) * len(costs)
    waiting = [(total(first), first, 0)]
    while waiting:
        cost, places, last = heapq.heappop(waiting)
        yield cost, places
        for i in range(last, len(costs)):
            if places[i] + 1 < len(costs[i]):
                raised = (*places[:i], places[i] + 1, *places[i + 1 :])
                heapq.heappush(waiting, (total(raised), raised, i))
