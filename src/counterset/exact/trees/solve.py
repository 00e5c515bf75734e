"""Tree ensembles: which cells to move to, by descent and then by constraint programming.

The smaller the ball, the fewer cuts and leaves it has. So descent from a known counterfactual makes
the ball small first, and the programme proves what is nearest in it. A single tree needs no solver:
its leaves are boxes.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.growing_balls import BallResult, Incumbent, search_growing_balls
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult
from counterset.exact.trees.cells import Lead, Region, axes_of
from counterset.exact.trees.cp_sat import CellProgramme
from counterset.exact.trees.descent import Descent
from counterset.exact.trees.ensembles import TreeEnsemble

__all__ = ["solve_trees"]

#: A ball that is proved empty doubles.
GROWTH = 2.0
#: If no counterfactual is known, the first ball is a twentieth of the domain.
FIRST_RADIUS = 0.05
#: Up to 3 descents, each from where the last one stopped, in a smaller ball with fewer leaves.
DESCENTS = 3


def solve_trees(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    """Find the distance, or bounds on it if the time limit is reached.

    Parameters
    ----------
    start
        A known counterfactual, or None; the nearer, the faster.
    """
    if len(ensemble.trees) == 1:
        return _solve_one_tree(ensemble, problem, norm)
    incumbent = Incumbent(problem)
    incumbent.offer(start)
    own = int(np.flatnonzero(ensemble.labels == problem.label)[0])
    scores = ensemble.scores(problem.x)
    others = [int(k) for k in np.argsort(-scores, kind="stable") if k != own]
    search = _EnsembleSearch(ensemble, problem, norm, incumbent, own)
    lowers = [search.lower_bound(other) for other in others]
    lower = min([*lowers, incumbent.upper])
    none_exists = incumbent.witness is None and np.isinf(lower)
    method = "constraint programme of a tree ensemble"
    return SolverResult(lower, incumbent.witness, method, OUT_OF_TIME, bool(none_exists))


class _EnsembleSearch:
    """Searches balls for other classes than ``own``, the input's."""

    def __init__(
        self, ensemble: TreeEnsemble, problem: Problem, norm: Norm, incumbent: Incumbent, own: int
    ) -> None:
        self._ensemble, self._problem, self._norm = ensemble, problem, norm
        self._incumbent, self._own = incumbent, own
        farthest = np.array([axis.costs.max() for axis in axes_of(ensemble, problem, norm)])
        self._covering = float(norm.length(norm.total(farthest)))

    def lower_bound(self, other: int) -> float:
        """Bound the distance to a class from below; offer what is found to the incumbent."""
        self._descend(other)
        first = min(self._covering * FIRST_RADIUS, self._incumbent.upper)
        if self._incumbent.witness is not None:
            first = self._incumbent.upper

        def search_ball(radius: float) -> BallResult:
            return self._search_ball(other, radius)

        return search_growing_balls(search_ball, self._incumbent, first, GROWTH, self._covering)

    def _region(self, other: int, radius: float) -> tuple[Region, Lead]:
        """Return a ball divided by the ensemble, and how much a class leads there."""
        ensemble, own = self._ensemble, self._own
        axes = axes_of(ensemble, self._problem, self._norm, radius)
        region = Region(axes, self._norm, radius)
        for tree in ensemble.trees:
            region.add(tree, tree.values[:, other] - tree.values[:, own])
        base = float(ensemble.base[other] - ensemble.base[own])
        return region, Lead(base, ensemble.rounding, is_first=other < own)

    def _descend(self, other: int) -> None:
        """Improve the incumbent before anything is proved."""
        for _ in range(DESCENTS):
            if self._incumbent.witness is None or self._problem.clock.over:
                return
            known = self._incumbent.upper
            region, lead = self._region(other, known)
            descent = Descent(region, lead)
            cells = region.cells_of(self._incumbent.witness)
            if cells is None or not descent.leads(cells):  # it is of a third class
                return
            point = region.point(descent.descend(cells, self._problem.clock))
            if self._problem.confirms(point):
                self._incumbent.offer(point)
            if self._incumbent.upper >= known:
                return

    def _search_ball(self, other: int, radius: float) -> BallResult:
        problem = self._problem
        region, lead = self._region(other, radius)
        programme = CellProgramme(region, lead)
        hint = None if self._incumbent.witness is None else region.cells_of(self._incumbent.witness)
        while not problem.clock.over:
            found = programme.solve(problem.clock.left, hint)
            if found.cells is None:
                return BallResult(found.lower, found.empty)
            point = region.point(found.cells)
            flips = problem.confirms(point)
            if flips:
                self._incumbent.offer(point)
            if flips or not found.optimal:
                return BallResult(found.lower, empty=False)
            programme.forbid_last()  # a lead by the rounded scores only
        return BallResult(0.0, empty=False)


def _solve_one_tree(ensemble: TreeEnsemble, problem: Problem, norm: Norm) -> SolverResult:
    """Move to the nearest leaf that the model classifies differently."""
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
        return SolverResult(np.inf, None, method, none_exists=True)
    nearest = np.flatnonzero(flips)[np.argmin(np.array(totals)[flips])]
    return SolverResult(float(norm.length(totals[nearest])), rows[nearest], method)
