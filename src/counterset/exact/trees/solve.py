"""Tree ensembles: which cells to move to, by descent and then by constraint programming.

The nearer we look, the fewer cuts and leaves there are: descent from a known counterfactual makes
the ball small, and the programme proves what is nearest in it. A single tree needs no solver: its
leaves are boxes.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.growing_balls import Best, Look, look_in_growing_balls
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.exact.trees.cells import Lead, Region, axes_of
from counterset.exact.trees.cp_sat import CellProgramme
from counterset.exact.trees.descent import Descent
from counterset.exact.trees.ensembles import TreeEnsemble

__all__ = ["solve_trees"]

GROWTH = 2.0
#: The first ball where no counterfactual is known, relative to the domain.
FIRST_RADIUS = 0.05
#: Descents, each from where the last one stopped, in a smaller ball.
DESCENTS = 3


def solve_trees(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, start: Matrix | None
) -> Answer:
    """Give the distance, or bounds on it when the time is up.

    Parameters
    ----------
    start
        A counterfactual that is known already; the nearer, the faster.
    """
    if len(ensemble.trees) == 1:
        return _solve_one_tree(ensemble, problem, norm)
    best = Best(problem)
    best.offer(start)
    own = int(np.flatnonzero(ensemble.labels == problem.label)[0])
    scores = ensemble.scores(problem.x)
    others = [int(k) for k in np.argsort(-scores, kind="stable") if k != own]
    search = _Search(ensemble, problem, norm, best, own)
    lowers = [search.at_least(other) for other in others]
    lower = min([*lowers, best.upper])
    none_exists = best.witness is None and np.isinf(lower)
    method = "constraint programme of a tree ensemble"
    return Answer(lower, best.witness, method, "the time was up", bool(none_exists))


class _Search:
    """Looks for other classes in balls."""

    def __init__(
        self, ensemble: TreeEnsemble, problem: Problem, norm: Norm, best: Best, own: int
    ) -> None:
        self._ensemble, self._problem, self._norm = ensemble, problem, norm
        self._best, self._own = best, own
        axes = axes_of(ensemble, problem, norm)
        self._far = float(norm.length(norm.total(np.array([axis.costs.max() for axis in axes]))))

    def at_least(self, other: int) -> float:
        """Give a lower bound on the distance to a class; better the best if it can be."""
        self._descend(other)
        first = min(self._far * FIRST_RADIUS, self._best.upper)
        if self._best.witness is not None:
            first = self._best.upper

        def look(radius: float) -> Look:
            return self._look(other, radius)

        return look_in_growing_balls(look, self._best, first, GROWTH, self._far)

    def _region(self, other: int, radius: float) -> tuple[Region, Lead]:
        ensemble, own = self._ensemble, self._own
        axes = axes_of(ensemble, self._problem, self._norm, radius)
        region = Region(axes, self._norm, radius)
        for tree in ensemble.trees:
            region.add(tree, tree.values[:, other] - tree.values[:, own])
        base = float(ensemble.base[other] - ensemble.base[own])
        return region, Lead(base, ensemble.rounding, is_first=other < own)

    def _descend(self, other: int) -> None:
        """Better the best before anything is proved."""
        for _ in range(DESCENTS):
            if self._best.witness is None or self._problem.clock.over:
                return
            known = self._best.upper
            region, lead = self._region(other, known)
            descent = Descent(region, lead)
            cells = region.cells_of(self._best.witness)
            if cells is None or not descent.leads(cells):  # it is of a third class
                return
            point = region.point(descent.descend(cells, self._problem.clock))
            if self._problem.confirms(point):
                self._best.offer(point)
            if self._best.upper >= known:
                return

    def _look(self, other: int, radius: float) -> Look:
        problem = self._problem
        region, lead = self._region(other, radius)
        programme = CellProgramme(region, lead)
        hint = None if self._best.witness is None else region.cells_of(self._best.witness)
        while not problem.clock.over:
            found = programme.solve(problem.clock.left, hint)
            if found.cells is None:
                return Look(found.lower, found.empty)
            point = region.point(found.cells)
            flips = problem.confirms(point)
            if flips:
                self._best.offer(point)
            if flips or not found.optimal:
                return Look(found.lower, empty=False)
            programme.forbid_last()  # rounded scores said yes, the model says no
        return Look(0.0, empty=False)


def _solve_one_tree(ensemble: TreeEnsemble, problem: Problem, norm: Norm) -> Answer:
    """Move to the nearest leaf that the model decides otherwise."""
    tree = ensemble.trees[0]
    region = Region(axes_of(ensemble, problem, norm), norm, np.inf)
    region.add(tree, np.arange(len(tree.left), dtype=np.float64))  # so that none are merged
    points, totals = [], []
    for leaf in region.trees[0]:
        cells = [
            axis.nearest(leaf.cells.get(i, axis.all_cells)) for i, axis in enumerate(region.axes)
        ]
        points.append(region.point(cells))
        costs = [axis.costs[cell] for axis, cell in zip(region.axes, cells, strict=True)]
        totals.append(float(norm.total(np.array(costs))))
    rows = np.array(points)
    flips = problem.flips(rows)
    method = "leaves of a tree"
    if not flips.any():
        return Answer(np.inf, None, method, none_exists=True)
    nearest = np.flatnonzero(flips)[np.argmin(np.array(totals)[flips])]
    return Answer(float(norm.length(totals[nearest])), rows[nearest], method)
