"""Tree ensembles: which cells to move to, by descent and then by constraint programming.

The smaller the ball, the fewer cuts and leaves it has. So descent from a known counterfactual makes
the ball small first, and the programme proves what is nearest in it. A single tree needs no solver:
its leaves are boxes. Where the nearest point of leaves breaks a linear relation, a mixed-integer
programme finds the nearest one that does not.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.boundary import past_boundary
from counterset.exact.growing_balls import (
    BallResult,
    Incumbent,
    covering_radius,
    search_growing_balls,
)
from counterset.exact.limits import Limits
from counterset.exact.milp.moves import Moves
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult
from counterset.exact.targets import Target, targets_of
from counterset.exact.trees.cells import Leads, Region, axes_of
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
    count = len(ensemble.trees) if ensemble.averaged else None
    scores = ensemble.scores(problem.x)
    targets = targets_of(problem, ensemble.model, ensemble.labels, scores, count)
    search = _EnsembleSearch(ensemble, problem, norm, incumbent)
    lowers = [search.lower_bound(target) for target in targets.each]
    lower = min([*lowers, incumbent.upper])
    none_exists = incumbent.witness is None and np.isinf(lower)
    method = "constraint programme of a tree ensemble"
    # Leaves with another prediction than what is wanted are ruled out one by one, so nothing of
    # the goal is ignored.
    return SolverResult(lower, incumbent.witness, method, OUT_OF_TIME, bool(none_exists))


class _EnsembleSearch:
    """Searches balls for targets."""

    def __init__(
        self, ensemble: TreeEnsemble, problem: Problem, norm: Norm, incumbent: Incumbent
    ) -> None:
        self._ensemble, self._problem, self._norm = ensemble, problem, norm
        self._incumbent = incumbent
        farthest = np.array([axis.costs.max() for axis in axes_of(ensemble, problem, norm)])
        self._covering = float(norm.length(norm.total(farthest)))
        if problem.limits.relations:  # the nearest points of cells may not be enough
            self._covering = max(self._covering, covering_radius(problem, norm))

    def lower_bound(self, target: Target) -> float:
        """Bound the distance to a target from below; offer what is found to the incumbent."""
        self._descend(target)
        first = min(self._covering * FIRST_RADIUS, self._incumbent.upper)
        if not np.isfinite(first):
            first = 1.0
        if self._incumbent.witness is not None:
            first = self._incumbent.upper

        def search_ball(radius: float) -> BallResult:
            return self._search_ball(target, radius)

        return search_growing_balls(search_ball, self._incumbent, first, GROWTH, self._covering)

    def _region(self, target: Target, radius: float) -> Region:
        """Return a ball divided by the ensemble."""
        axes = axes_of(self._ensemble, self._problem, self._norm, radius)
        region = Region(axes, self._norm, radius)
        if not region.is_empty:
            for tree in self._ensemble.trees:
                region.add(tree, tree.values @ target.weights.T)
        return region

    def _descend(self, target: Target) -> None:
        """Improve the incumbent before anything is proved."""
        for _ in range(DESCENTS):
            if self._incumbent.witness is None or self._problem.clock.over:
                return
            known = self._incumbent.upper
            region = self._region(target, known)
            cells = region.cells_of(self._incumbent.witness)
            if cells is None:
                return
            descent = Descent(region, Leads.of(target, self._ensemble))
            if not descent.leads(cells):  # it is of another class
                return
            point = region.point(descent.descend(cells, self._problem.clock))
            if self._problem.confirms(point):
                self._incumbent.offer(point)
            if self._incumbent.upper >= known:
                return

    def _search_ball(self, target: Target, radius: float) -> BallResult:
        problem = self._problem
        region = self._region(target, radius)
        if region.is_empty:
            return BallResult(radius, empty=True)
        programme = CellProgramme(region, Leads.of(target, self._ensemble), problem)
        hint = None if self._incumbent.witness is None else region.cells_of(self._incumbent.witness)
        searched = np.inf  # a lower bound for what was found and ruled out
        lower = 0.0
        while not problem.clock.over:
            found = programme.solve(problem.clock.left, hint)
            lower = max(lower, found.lower)
            if found.cells is None or lower >= searched:
                empty = found.empty and np.isinf(searched)
                return BallResult(min(lower, searched), empty)
            point = region.point(found.cells)
            flips = problem.confirms(point)
            if flips:
                self._incumbent.offer(point)
            if flips or not found.optimal:
                return BallResult(min(lower, searched), empty=False)
            if problem.reaches(point[None, :])[0]:
                # The nearest point of the leaves breaks a constraint, but another may not.
                limits = region.limits_of(problem.limits, programme.last_leaves)
                searched = min(searched, search_box(problem, limits, radius, self._incumbent))
            # Otherwise it is a lead by the rounded scores only.
            programme.forbid_last()
        return BallResult(0.0, empty=False)


def search_box(problem: Problem, limits: Limits, radius: float, incumbent: Incumbent) -> float:
    """Bound the distance to the rows of a box that keep the constraints; offer the nearest.

    The model predicts the same for all rows of the box, and that is what is wanted. The bound is
    infinite if no row within the ball keeps the constraints.
    """
    assert problem.norm is not None, "checked by the solvers"
    inside = problem.within(limits)
    if limits.empty is not None:
        return np.inf
    solution = Moves(inside, problem.norm, radius).solve()
    if solution.point is not None:
        incumbent.offer(past_boundary(inside, solution.point))
    return np.inf if solution.empty else solution.lower


def _solve_one_tree(ensemble: TreeEnsemble, problem: Problem, norm: Norm) -> SolverResult:
    """Move to the nearest leaf for which the model predicts what is wanted."""
    tree, method = ensemble.trees[0], "leaves of a tree"
    region = Region(axes_of(ensemble, problem, norm), norm, np.inf)
    region.add(
        tree, np.arange(len(tree.left), dtype=np.float64)[:, None]
    )  # so that none are merged
    leaves = region.trees[0]
    cells = [
        [axis.nearest(leaf.cells.get(i, axis.all_cells)) for i, axis in enumerate(region.axes)]
        for leaf in leaves
    ]
    rows = np.array([region.point(each) for each in cells])
    totals = norm.total(
        np.array(
            [[axis.costs[c] for axis, c in zip(region.axes, each, strict=True)] for each in cells]
        )
    )
    lengths, wanted = norm.length(totals), problem.reaches(rows)
    incumbent, lower = Incumbent(problem), np.inf
    for i in np.argsort(totals, kind="stable"):
        if lengths[i] >= min(lower, incumbent.upper):
            break
        if problem.clock.over:
            lower = min(lower, float(lengths[i]))
            break
        if not wanted[i]:
            continue
        if problem.confirms(rows[i]):
            incumbent.offer(rows[i])
            lower = min(lower, float(lengths[i]))
        else:
            limits = region.limits_of(problem.limits, [leaves[i]])
            radius = min(incumbent.upper, covering_radius(problem, norm))
            lower = min(
                lower, max(float(lengths[i]), search_box(problem, limits, radius, incumbent))
            )
    none_exists = np.isinf(lower) and incumbent.witness is None
    return SolverResult(lower, incumbent.witness, method, OUT_OF_TIME, bool(none_exists))
