"""The nearest counterfactual of a tree ensemble: a descent first, then a proof.

The descent moves two features at a time. With the other features fixed, a lead for every pair of
cells of two features is one matrix product over the leaves. The nearer the counterfactual that it
finds, the smaller is the ball that the constraint programme must search.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Mask, Vector
from counterset.exact.constraints import Feasible
from counterset.exact.milp import Moves
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Clock, Problem, SolverResult
from counterset.exact.sampling import (
    BallResult,
    Incumbent,
    covering_radius,
    past_boundary,
    search_growing_balls,
)
from counterset.exact.targets import Target, targets_of
from counterset.exact.trees.cells import Axis, Leads, Region, axes_of, first_and_last
from counterset.exact.trees.cp_sat import CellProgramme
from counterset.exact.trees.models import TreeEnsemble

__all__ = ["Descent", "solve_trees"]

#: At most 100 steps: the result is only a start for the constraint programme.
MOST_STEPS = 100
#: A step must gain a billionth of the total, or rounding might lead in circles.
LEAST_GAIN = 1e-9
#: Each moved feature is paired with the 40 features that promise most, since all pairs of many
#: features would take too long.
MOST_PARTNERS = 40


class Descent:
    """Moves combinations of cells towards the input while all leads are 0 or more."""

    def __init__(self, region: Region, leads: Leads) -> None:
        self._region = region
        alone = [leaves[0].value for leaves in region.trees if len(leaves) == 1]
        leaves = [leaf for leaves in region.trees if len(leaves) > 1 for leaf in leaves]
        # If a tie is lost, whole votes must be ahead by one: half a vote less makes a tie negative.
        self._base = leads.base + sum(alone) - np.where(leads.loses_ties, 0.5, 0.0)
        self._values = np.array([leaf.value for leaf in leaves]).reshape(-1, len(leads.base))
        self._inside = [
            _membership([leaf.cells.get(i) for leaf in leaves], axis)
            for i, axis in enumerate(region.axes)
        ]

    def leads(self, cells: list[int]) -> bool:
        """Return whether all leads are 0 or more in these cells, one for each feature."""
        held = np.all([each[:, c] for each, c in zip(self._inside, cells, strict=True)], axis=0)
        return bool((self._base + self._values[held].sum(axis=0) >= 0).all())

    def descend(self, cells: list[int], clock: Clock) -> list[int]:
        """Return cells that are no farther, and where all leads are still 0 or more."""
        for _ in range(MOST_STEPS):
            better = self._best_step(cells)
            if better is None or clock.over:
                break
            cells = better
        return cells

    def _best_step(self, cells: list[int]) -> list[int] | None:
        """Find the nearest combination that differs in two features, if one is nearer."""
        axes = self._region.axes
        costs = np.array([axis.costs[cell] for axis, cell in zip(axes, cells, strict=True)])
        held = np.array([each[:, c] for each, c in zip(self._inside, cells, strict=True)])
        lacking = (~held).sum(axis=0)
        best, found = float(self._region.norm.total(costs)) * (1 - LEAST_GAIN), None
        # A nearer combination has a nearer cell in at least one of the features that moved.
        moved = np.flatnonzero(costs > 0)
        partners = np.argsort(-self._weight(held), kind="stable")[:MOST_PARTNERS]
        for f in moved:
            for g in partners:
                if f == g or (g in moved and g < f):
                    continue
                rows = lacking - ~held[f] - ~held[g] == 0
                step = self._nearest_pair(int(f), int(g), rows, costs, best)
                if step is not None:
                    best = step[0]
                    found = list(cells)
                    found[f], found[g] = step[1], step[2]
        return found

    def _weight(self, held: Mask) -> Vector:
        """Return how much the score could change by moving each feature alone, ``(d,)``.

        ``held`` is which leaves hold the current cell of each feature, ``(d, leaves)``.
        """
        lacking = (~held).sum(axis=0)
        near = (lacking[None, :] == 1) & ~held
        gains: Vector = near @ np.abs(self._values).sum(axis=1)
        return gains

    def _nearest_pair(
        self, f: int, g: int, rows: Mask, costs: Vector, best: float
    ) -> tuple[float, int, int] | None:
        """Find the nearest pair of cells of two features where all leads are 0 or more.

        ``rows`` are the leaves that hold the cells of all other features. Returns the total cost
        and the two cells; None if no pair costs less than ``best``.
        """
        axes = self._region.axes
        rest = np.delete(costs, [f, g])
        pairs = axes[f].costs[:, None], axes[g].costs[None, :]
        if self._region.norm.kind == "linf":
            totals = np.maximum(np.maximum(*pairs), rest.max(initial=0.0))
        else:
            totals = np.add(*pairs) + rest.sum()
        near = totals < best
        if not near.any():
            return None
        at_g = self._inside[g][rows].astype(np.float64)
        for base, values in zip(self._base, self._values[rows].T, strict=True):
            weighted = self._inside[f][rows] * values[:, None]
            near &= base + weighted.T @ at_g >= 0
        totals = np.where(near, totals, np.inf)
        pair = np.unravel_index(np.argmin(totals), totals.shape)
        if np.isinf(totals[pair]):
            return None
        return float(totals[pair]), int(pair[0]), int(pair[1])


def _membership(sets: list[int | None], axis: Axis) -> Mask:
    """Return which cells of an axis each set holds, ``(sets, cells)``; None holds all."""
    every = axis.all_cells
    given = [every if each is None else each for each in sets]
    if axis.cuts is None:
        held = [[bool(each >> j & 1) for j in range(len(axis.points))] for each in given]
        return np.array(held, dtype=bool).reshape(-1, len(axis.points))
    ends = np.array([first_and_last(each) for each in given]).reshape(-1, 2)
    cells = np.arange(len(axis.points))
    inside: Mask = (cells >= ends[:, :1]) & (cells <= ends[:, 1:])
    return inside


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
        if problem.feasible.relations:  # the nearest points of cells may not be enough
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
                feasible = region.feasible_in(programme.last_leaves, problem.feasible)
                searched = min(searched, search_box(problem, feasible, radius, self._incumbent))
            # Otherwise it is a lead by the rounded scores only.
            programme.forbid_last()
        return BallResult(0.0, empty=False)


def search_box(problem: Problem, feasible: Feasible, radius: float, incumbent: Incumbent) -> float:
    """Bound the distance to the rows of a box that keep the constraints; offer the nearest.

    The model predicts the same for all rows of the box, and that is what is wanted. The bound is
    infinite if no row within the ball keeps the constraints.
    """
    assert problem.norm is not None, "checked by the solvers"
    inside = problem.within(feasible)
    if feasible.empty is not None:
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
            feasible = region.feasible_in([leaves[i]], problem.feasible)
            radius = min(incumbent.upper, covering_radius(problem, norm))
            lower = min(
                lower, max(float(lengths[i]), search_box(problem, feasible, radius, incumbent))
            )
    none_exists = np.isinf(lower) and incumbent.witness is None
    return SolverResult(lower, incumbent.witness, method, OUT_OF_TIME, bool(none_exists))
