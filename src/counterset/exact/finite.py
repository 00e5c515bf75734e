"""Finite domains: points in the order of their distance, and the first that flips."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

import numpy as np

from counterset.arrays import Matrix
from counterset.exact.domains import Grid, Points
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exceptions import UnsupportedDistanceError

__all__ = ["nearest_first", "solve_finite"]

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


def nearest_first(problem: Problem, domain: Points | Grid) -> Iterator[tuple[Matrix, Matrix]]:
    """Give batches of points and their distances, ascending throughout."""
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
    yield from _best_first(problem, problem.norm, values)


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
    problem: Problem, norm: Norm, values: list[Matrix]
) -> Iterator[tuple[Matrix, Matrix]]:
    """Build the combinations of a grid in the order of their cost, none before its turn."""
    ordered, costs = _by_cost(problem.x, norm, values)
    combinations = _cheapest_combinations(costs, largest=norm.kind == "linf")
    for size in _batch_sizes():
        picked = list(itertools.islice(combinations, size))
        if not picked:
            return
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


def _cheapest_combinations(costs: list[list[float]], largest: bool) -> Iterator[tuple[int, ...]]:
    """Give one place per feature, in ascending order of the sum (or largest) of their costs.

    Each combination is made from one only, by raising its last raised feature or one after it, so
    that none is made twice and none before it is needed.
    """

    def total(places: tuple[int, ...]) -> float:
        parts = [costs[i][place] for i, place in enumerate(places)]
        return max(parts) if largest else sum(parts)

    first = (0,) * len(costs)
    waiting = [(total(first), first, 0)]
    while waiting:
        _, places, last = heapq.heappop(waiting)
        yield places
        for i in range(last, len(costs)):
            if places[i] + 1 < len(costs[i]):
                raised = (*places[:i], places[i] + 1, *places[i + 1 :])
                heapq.heappush(waiting, (total(raised), raised, i))
