"""The cells that an ensemble's splits divide a ball into, and the nearest point of each.

All points of a cell fall into the same leaves, so an ensemble is a function of cells. A set of
cells of one feature is stored as an integer whose bit ``j`` stands for cell ``j``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.exact.constraints import Feasible
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem
from counterset.exact.targets import Target
from counterset.exact.trees.models import LEAF, Tree, TreeEnsemble

__all__ = ["Axis", "Leads", "Leaf", "Region", "axes_of", "first_and_last"]

#: Costs are added up in another order here than in distances: a billionth is more than that rounds.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Axis:
    """The cells of one feature: intervals of a number, or the single values of a category.

    Attributes
    ----------
    points
        The value of each cell that is nearest to the input's, ``(cells,)``.
    costs
        The cost of moving there, ``(cells,)``.
    home
        The input's own cell.
    cuts
        For a number, ``(cells - 1,)``: cell ``j`` lies above ``cuts[j - 1]``, up to and including
        ``cuts[j]``. None for values, whose order does not matter.
    starts, stops
        The smallest and the largest value of each cell, ``(cells,)``.
    """

    points: Vector
    costs: Vector
    home: int
    cuts: Vector | None
    starts: Vector
    stops: Vector

    @property
    def all_cells(self) -> int:
        """The set of all cells."""
        return (1 << len(self.points)) - 1

    def cells_left_of(self, tree: Tree, node: int) -> int:
        """Return the set of cells that a node of a tree sends to the left."""
        if self.cuts is None:
            values = tree.left_values[node]
            return sum(1 << j for j, code in enumerate(self.points) if values >> int(code) & 1)
        cut = tree.cut[node]
        if cut >= self.stops[-1]:
            return self.all_cells
        return (1 << int(np.searchsorted(self.cuts, cut, side="right"))) - 1

    def nearest(self, cells: int) -> int:
        """Return the cell of a set that costs least."""
        if cells >> self.home & 1:
            return self.home
        if self.cuts is not None:
            first, last = first_and_last(cells)
            return first if first > self.home else last
        return min((j for j in range(len(self.points)) if cells >> j & 1), key=self.costs.item)

    def cell_of(self, value: float) -> int | None:
        """Return the cell that holds a value; None if none does."""
        if self.cuts is not None:
            return int(np.searchsorted(self.cuts, value, side="left"))
        found = np.flatnonzero(self.points == value)
        return int(found[0]) if len(found) else None


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf: the set of cells that lead to it, for each feature split, and what it adds.

    ``value`` has an entry for each lead, ``(leads,)``.
    """

    cells: dict[int, int]
    value: Vector


@dataclass(frozen=True, eq=False)
class Leads:
    """Sums of leaves that must all be 0 or more, such as the lead of a class over another.

    Attributes
    ----------
    base
        The sums before the leaves are added, ``(leads,)``.
    rounding
        A bound on the error of the model's own sums, ``(leads,)``. If it is 0, whole votes are
        added up without error.
    loses_ties
        Whether a sum of exactly 0 is not enough, ``(leads,)``; only without rounding.
    """

    base: Vector
    rounding: Vector
    loses_ties: Mask

    @classmethod
    def of(cls, target: Target, ensemble: TreeEnsemble) -> Leads:
        """Return what a target asks of the leaves of an ensemble."""
        least = target.least
        sizes = np.abs(target.weights).sum(axis=1)
        # The bound is on the lead of a class over another: two scores.
        rounding = ensemble.rounding * np.maximum(sizes / 2, 1.0)
        if ensemble.rounding > 0:
            rounding = rounding + 4 * np.finfo(np.float64).eps * np.abs(least)
        else:
            least = np.ceil(least)  # of whole votes
        base = target.weights @ ensemble.base - least
        return cls(base, rounding, target.loses_ties & (rounding == 0))


def first_and_last(cells: int) -> tuple[int, int]:
    """Return the first and the last cell of a set.

    Examples
    --------
    >>> first_and_last(0b0110)
    (1, 2)
    """
    return (cells & -cells).bit_length() - 1, cells.bit_length() - 1


def axes_of(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, radius: float = np.inf
) -> list[Axis]:
    """Divide the box around a ball into cells by the splits of an ensemble."""
    inner = [tree.left != LEAF for tree in ensemble.trees]
    pairs = list(zip(ensemble.trees, inner, strict=True))
    features = np.concatenate([tree.feature[i] for tree, i in pairs])
    cuts = np.concatenate([tree.cut[i] for tree, i in pairs])
    reach = norm.reach(radius)
    low = np.maximum(problem.low, problem.x - reach)
    high = np.minimum(problem.high, problem.x + reach)
    axes = []
    for i, feature in enumerate(problem.model.table.features):
        if i in problem.feasible.values:
            in_order = feature.values is None
            axes.append(_axis_of_values(problem, norm, i, norm.to_total(radius), in_order))
            continue
        # Cuts without a value of the column between them are one.
        own = np.unique(_at_most(problem, i, cuts[features == i]))
        own = own[(own >= low[i]) & (own < high[i])]
        axes.append(_axis_of_numbers(problem, norm, i, own, (low[i], high[i])))
    return axes


def _axis_of_numbers(
    problem: Problem, norm: Norm, feature: int, cuts: Vector, ends: tuple[float, float]
) -> Axis:
    low, high = ends
    if low > high:
        return _NO_CELLS
    # The value that is nearest to the input's, which may lie outside.
    x = min(max(problem.x[feature], low), high)
    home = int(np.searchsorted(cuts, x, side="left"))
    lasts, firsts = cuts[:home], _next(problem, feature, cuts[home:])
    points = np.concatenate([lasts, [x], firsts])
    starts, stops = np.append(low, _next(problem, feature, cuts)), np.append(cuts, high)
    return Axis(points, _costs(problem, norm, feature, points), home, cuts, starts, stops)


def _axis_of_values(
    problem: Problem, norm: Norm, feature: int, total: float, in_order: bool
) -> Axis:
    codes = problem.feasible.values[feature]
    costs = _costs(problem, norm, feature, codes)
    inside = costs <= total * (1 + ROUNDING)
    codes, costs = codes[inside], costs[inside]
    if len(codes) == 0:
        return _NO_CELLS
    home = int(np.argmin(costs))
    # Numbers have an order: a cut at each of them leaves the next one to the right.
    return Axis(codes, costs, home, codes[:-1] if in_order else None, codes, codes)


_NO_CELLS = Axis(np.empty(0), np.empty(0), 0, None, np.empty(0), np.empty(0))


def _costs(problem: Problem, norm: Norm, feature: int, points: Vector) -> Vector:
    moves = np.zeros((len(points), len(problem.x)))
    moves[:, feature] = points - problem.x[feature]
    costs: Vector = norm.costs(moves)[:, feature]
    return costs


def _at_most(problem: Problem, feature: int, values: Vector) -> Vector:
    """Return the largest values that the column can hold and that are at most these."""
    if problem.integer[feature]:
        return np.floor(values)
    dtype = problem.model.table.features[feature].dtype
    if dtype == np.float64:
        return values
    held = problem.model.table.features[feature].hold(values)
    lower = np.nextafter(held.astype(dtype), dtype.type(-np.inf)).astype(np.float64)
    return np.where(held <= values, held, lower)


def _next(problem: Problem, feature: int, values: Vector) -> Vector:
    """Return the next larger values that the column can hold."""
    if problem.integer[feature]:
        return values + 1
    dtype = problem.model.table.features[feature].dtype
    if dtype == np.float64:
        return np.nextafter(values, np.inf)
    after: Vector = np.nextafter(values.astype(dtype), dtype.type(np.inf)).astype(np.float64)
    return after


class Region:
    """A ball, divided by an ensemble: the cells of its box, and the leaves that it reaches.

    Attributes
    ----------
    axes
        The cells of each feature.
    trees
        For each tree, the leaves that the ball reaches.
    is_empty
        Whether the ball has no feasible point at all.
    """

    def __init__(self, axes: list[Axis], norm: Norm, radius: float) -> None:
        self.axes, self.norm, self.radius = axes, norm, radius
        self.trees: list[list[Leaf]] = []
        self.is_empty = any(len(axis.points) == 0 for axis in axes)
        self._limit = norm.to_total(radius) * (1 + ROUNDING)

    def add(self, tree: Tree, values: Matrix) -> None:
        """Add a tree; ``values`` are what its leaves add to each lead, ``(nodes, leads)``."""
        leaves = self._walk(tree, values, 0, {}, {})
        self.is_empty |= not leaves  # a tree has a leaf for every point
        self.trees.append(leaves)

    def _walk(
        self,
        tree: Tree,
        values: Matrix,
        node: int,
        cells: dict[int, int],
        costs: dict[int, float],
    ) -> list[Leaf]:
        """Return the leaves below a node that the ball reaches.

        ``cells`` and ``costs`` are the cells of each feature split above the node, and the least
        cost of reaching them.
        """
        if tree.left[node] == LEAF:
            return [Leaf(cells, values[node])]
        feature = int(tree.feature[node])
        axis = self.axes[feature]
        reached = cells.get(feature, axis.all_cells)
        to_left = axis.cells_left_of(tree, node)
        found: list[list[Leaf]] = []
        for child, part in ((tree.left, reached & to_left), (tree.right, reached & ~to_left)):
            if part == reached:
                return self._walk(tree, values, int(child[node]), cells, costs)
            if part == 0:
                continue
            paid = {**costs, feature: float(axis.costs[axis.nearest(part)])}
            if self._total(paid) > self._limit:
                continue
            below = {**cells, feature: part}
            found.append(self._walk(tree, values, int(child[node]), below, paid))
        alone = len(found) == 2 and len(found[0]) == len(found[1]) == 1
        if alone and np.array_equal(found[0][0].value, found[1][0].value):
            return [Leaf(cells, found[0][0].value)]  # equal leaves side by side are one
        return [leaf for leaves in found for leaf in leaves]

    def _total(self, costs: dict[int, float]) -> float:
        return max(costs.values()) if self.norm.kind == "linf" else sum(costs.values())

    def point(self, cells: list[int]) -> Vector:
        """Return the nearest point of a combination of cells, one for each feature."""
        return np.array([axis.points[cell] for axis, cell in zip(self.axes, cells, strict=True)])

    def feasible_in(self, leaves: list[Leaf], feasible: Feasible) -> Feasible:
        """Return the feasible set of the points that fall into leaves."""
        low, high, values = feasible.low.copy(), feasible.high.copy(), dict(feasible.values)
        for i, axis in enumerate(self.axes):
            cells = axis.all_cells
            for leaf in leaves:
                cells &= leaf.cells.get(i, cells)
            inside = [j for j in range(len(axis.points)) if cells >> j & 1]
            if i in values:
                values[i] = axis.points[inside]
            else:
                low[i], high[i] = axis.starts[inside[0]], axis.stops[inside[-1]]
        return replace(feasible, low=low, high=high, values=values)

    def cells_of(self, point: Vector) -> list[int] | None:
        """Return the cells that a point lies in; None if it lies outside."""
        if self.is_empty:
            return None
        cells = [axis.cell_of(value) for axis, value in zip(self.axes, point, strict=True)]
        known = [cell for cell in cells if cell is not None]
        return known if len(known) == len(cells) else None
