"""Tree ensembles: which cells to move to, by constraint programming on growing balls.

The nearer we look, the fewer cuts and leaves there are. A single tree needs no solver: its leaves
are boxes.
"""

from __future__ import annotations

import numpy as np

from counterset.arrays import Matrix
from counterset.exact.balls import Best, Look, look_in_growing_balls
from counterset.exact.cells import Axis, axes_of, leaves_of
from counterset.exact.cp_sat import CellProgramme
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exact.tree_models import TreeEnsemble

__all__ = ["solve_trees"]

GROWTH = 1.4
#: The first ball, relative to the nearest counterfactual that is known.
FIRST_RADIUS = 0.1


def solve_trees(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, start: Matrix | None
) -> Answer:
    """Give the distance, or bounds on it when the time is up.

    Parameters
    ----------
    start
        A counterfactual that is known already; the nearer, the faster.
    """
    axes = axes_of(ensemble, problem, norm, problem.low, problem.high)
    if len(ensemble.trees) == 1:
        return _solve_one_tree(ensemble, problem, norm, axes)
    best = Best(problem)
    best.offer(start)
    own = int(np.flatnonzero(ensemble.labels == problem.label)[0])
    scores = ensemble.scores(problem.x)
    others = [int(k) for k in np.argsort(-scores, kind="stable") if k != own]
    search = _Search(ensemble, problem, norm, best)
    far = float(norm.length(norm.total(np.array([axis.costs.max() for axis in axes]))))
    lowers = [search.at_least(other, own, far) for other in others]
    lower = min([*lowers, best.upper])
    none_exists = best.witness is None and np.isinf(lower)
    method = "constraint programme of a tree ensemble"
    return Answer(lower, best.witness, method, "the time was up", bool(none_exists))


class _Search:
    """Looks for other classes in balls."""

    def __init__(self, ensemble: TreeEnsemble, problem: Problem, norm: Norm, best: Best) -> None:
        self._ensemble, self._problem, self._norm, self._best = ensemble, problem, norm, best

    def at_least(self, other: int, own: int, far: float) -> float:
        """Give a lower bound on the distance to a class; better the best if it can be."""
        first = min(far, self._best.upper) * FIRST_RADIUS

        def look(radius: float) -> Look:
            return self._look(other, own, radius)

        return look_in_growing_balls(look, self._best, first, GROWTH, far)

    def _look(self, other: int, own: int, radius: float) -> Look:
        problem = self._problem
        reach = self._norm.reach(radius)
        low = np.maximum(problem.low, problem.x - reach)
        high = np.minimum(problem.high, problem.x + reach)
        axes = axes_of(self._ensemble, problem, self._norm, low, high)
        programme = CellProgramme(self._ensemble, axes, self._norm, other, own, radius)
        hint = self._best.witness
        while not problem.clock.over:
            found = programme.solve(problem.clock.left, hint)
            if found.cells is None:
                return Look(found.lower, found.empty)
            point = _point(axes, found.cells)
            flips = problem.confirms(point)
            if flips:
                self._best.offer(point)
            if flips or not found.optimal:
                return Look(found.lower, empty=False)
            programme.forbid_last()  # rounded scores said yes, the model says no
        return Look(0.0, empty=False)


def _solve_one_tree(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, axes: list[Axis]
) -> Answer:
    """Move to the nearest leaf that the model decides otherwise."""
    points, totals = [], []
    for leaf in leaves_of(ensemble.trees[0], axes):
        cells = [
            int(np.clip(axis.home, *leaf.spans.get(i, (0, len(axis.cuts)))))
            for i, axis in enumerate(axes)
        ]
        points.append(_point(axes, cells))
        costs = np.array([axis.costs[cell] for axis, cell in zip(axes, cells, strict=True)])
        totals.append(float(norm.total(costs)))
    rows = np.array(points)
    flips = problem.flips(rows)
    method = "leaves of a tree"
    if not flips.any():
        return Answer(np.inf, None, method, none_exists=True)
    nearest = np.flatnonzero(flips)[np.argmin(np.array(totals)[flips])]
    return Answer(float(norm.length(totals[nearest])), rows[nearest], method)


def _point(axes: list[Axis], cells: list[int]) -> Matrix:
    return np.array([axis.points[cell] for axis, cell in zip(axes, cells, strict=True)])
