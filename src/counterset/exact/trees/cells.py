"""The cells that an ensemble's splits divide a ball into, and the nearest point of each.

All points of a cell fall into the same leaves, so an ensemble is a function of cells. A set of
cells of one feature is stored as an integer whose bit ``j`` stands for cell ``j``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem
from counterset.exact.trees.ensembles import LEAF, Tree, TreeEnsemble

__all__ = ["Axis", "Lead", "Leaf", "Region", "axes_of", "first_and_last"]

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
    high
        The end of the last cell.
    """

    points: Vector
    costs: Vector
    home: int
    cuts: Vector | None
    high: float = np.inf

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
        if cut >= self.high:
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
    """A leaf: the set of cells that lead to it, for each feature split, and the value it adds."""

    cells: dict[int, int]
    value: float


@dataclass(frozen=True)
class Lead:
    """How much another class leads the input's.

    Attributes
    ----------
    base
        The lead before the leaves are added.
    rounding
        A bound on the error of the model's own sum. If it is 0, whole votes are added up without
        error, and the first class wins a tie.
    is_first
        Whether the other class comes before the input's own.
    """

    base: float
    rounding: float
    is_first: bool

    @property
    def loses_ties(self) -> bool:
        """Whether a lead of exactly 0 is not enough."""
        return self.rounding == 0 and not self.is_first


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
        if feature.values is not None:
            axes.append(_axis_of_values(problem, norm, i, norm.to_total(radius)))
            continue
        # Cuts without a value of the column between them are one.
        own = np.unique(_at_most(problem, i, cuts[features == i]))
        own = own[(own >= low[i]) & (own < high[i])]
        axes.append(_axis_of_numbers(problem, norm, i, own, high[i]))
    return axes


def _axis_of_numbers(problem: Problem, norm: Norm, feature: int, cuts: Vector, high: float) -> Axis:
    x = problem.x[feature]
    home = int(np.searchsorted(cuts, x, side="left"))
    lasts, firsts = cuts[:home], _next(problem, feature, cuts[home:])
    points = np.concatenate([lasts, [x], firsts])
    return Axis(points, _costs(problem, norm, feature, points), home, cuts, high)


def _axis_of_values(problem: Problem, norm: Norm, feature: int, total: float) -> Axis:
    x, seen = problem.x[feature], problem.model.table.features[feature].seen
    codes = np.union1d(np.asarray(seen, dtype=np.float64), [x])
    inside = (codes >= problem.low[feature]) & (codes <= problem.high[feature])
    costs = _costs(problem, norm, feature, codes)
    inside &= costs <= total * (1 + ROUNDING)
    codes, costs = codes[inside | (codes == x)], costs[inside | (codes == x)]
    return Axis(codes, costs, int(np.flatnonzero(codes == x)[0]), None)


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
    """

    def __init__(self, axes: list[Axis], norm: Norm, radius: float) -> None:
        self.axes, self.norm, self.radius = axes, norm, radius
        self.trees: list[list[Leaf]] = []
        self._limit = norm.to_total(radius) * (1 + ROUNDING)

    def add(self, tree: Tree, values: Vector) -> None:
        """Add a tree; ``values`` has an entry for each node, ``(nodes,)``, used for the leaves."""
        self.trees.append(self._walk(tree, values, 0, {}, {}))

    def _walk(
        self,
        tree: Tree,
        values: Vector,
        node: int,
        cells: dict[int, int],
        costs: dict[int, float],
    ) -> list[Leaf]:
        """Return the leaves below a node that the ball reaches.

        ``cells`` and ``costs`` are the cells of each feature split above the node, and the least
        cost of reaching them.
        """
        if tree.left[node] == LEAF:
            return [Leaf(cells, float(values[node]))]
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
        if alone and found[0][0].value == found[1][0].value:
            return [Leaf(cells, found[0][0].value)]  # equal leaves side by side are one
        return [leaf for leaves in found for leaf in leaves]

    def _total(self, costs: dict[int, float]) -> float:
        return max(costs.values()) if self.norm.kind == "linf" else sum(costs.values())

    def point(self, cells: list[int]) -> Vector:
        """Return the nearest point of a combination of cells, one for each feature."""
        return np.array([axis.points[cell] for axis, cell in zip(self.axes, cells, strict=True)])

    def cells_of(self, point: Vector) -> list[int] | None:
        """Return the cells that a point lies in; None if it lies outside."""
        cells = [axis.cell_of(value) for axis, value in zip(self.axes, point, strict=True)]
        known = [cell for cell in cells if cell is not None]
        return known if len(known) == len(cells) else None
