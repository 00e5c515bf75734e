"""The cells that an ensemble's cuts divide a box into, and the nearest point of each.

All points of a cell fall into the same leaves, so an ensemble is a function of cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset.arrays import Matrix
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem
from counterset.exact.tree_models import LEAF, Tree, TreeEnsemble

__all__ = ["Axis", "Leaf", "axes_of", "leaves_of"]


@dataclass(frozen=True, eq=False)
class Axis:
    """One feature: cell ``j`` lies above ``cuts[j - 1]``, up to and with ``cuts[j]``.

    Attributes
    ----------
    cuts
        Ascending; ``(m,)`` of them make ``m + 1`` cells.
    points
        The value of each cell that is nearest to the input's.
    costs
        What moving there costs.
    home
        The input's own cell.
    high
        The end of the last cell.
    """

    cuts: Matrix
    points: Matrix
    costs: Matrix
    home: int
    high: float

    def cells_left_of(self, cut: float) -> int:
        """Give how many cells a cut of the ensemble sends to the left."""
        if cut >= self.high:
            return len(self.cuts) + 1
        return int(np.searchsorted(self.cuts, cut, side="right"))


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf within the box: the cells that lead to it, ``first <= cell <= last`` by feature."""

    spans: dict[int, tuple[int, int]]
    values: Matrix


def axes_of(
    ensemble: TreeEnsemble, problem: Problem, norm: Norm, low: Matrix, high: Matrix
) -> list[Axis]:
    """Divide a box by the cuts of an ensemble."""
    inner = [tree.left != LEAF for tree in ensemble.trees]
    features = np.concatenate(
        [tree.feature[i] for tree, i in zip(ensemble.trees, inner, strict=True)]
    )
    cuts = np.concatenate([tree.cut[i] for tree, i in zip(ensemble.trees, inner, strict=True)])
    axes = []
    for feature in range(len(problem.x)):
        # Cuts that no value of the column lies between are one.
        own = np.unique(_at_most(problem, feature, cuts[features == feature]))
        own = own[(own >= low[feature]) & (own < high[feature])]
        axes.append(_axis(problem, norm, feature, own, high[feature]))
    return axes


def _axis(problem: Problem, norm: Norm, feature: int, cuts: Matrix, high: float) -> Axis:
    x = problem.x[feature]
    home = int(np.searchsorted(cuts, x, side="left"))
    lasts, firsts = cuts[:home], _next(problem, feature, cuts[home:])
    points = np.concatenate([lasts, [x], firsts])
    moves = np.zeros((len(points), len(problem.x)))
    moves[:, feature] = points - x
    return Axis(cuts, points, norm.costs(moves)[:, feature], home, high)


def _at_most(problem: Problem, feature: int, values: Matrix) -> Matrix:
    """Give the largest values that the column can hold and that are at most these."""
    if problem.integer[feature]:
        return np.floor(values)
    dtype = problem.model.table.features[feature].dtype
    if dtype == np.float64:
        return values
    held = problem.model.table.features[feature].snap(values)
    lower = np.nextafter(held.astype(dtype), dtype.type(-np.inf)).astype(np.float64)
    return np.where(held <= values, held, lower)


def _next(problem: Problem, feature: int, values: Matrix) -> Matrix:
    """Give the next larger values that the column can hold."""
    if problem.integer[feature]:
        return values + 1
    dtype = problem.model.table.features[feature].dtype
    if dtype == np.float64:
        return np.nextafter(values, np.inf)
    after: Matrix = np.nextafter(values.astype(dtype), dtype.type(np.inf)).astype(np.float64)
    return after


def leaves_of(tree: Tree, axes: list[Axis]) -> list[Leaf]:
    """Give the leaves that cells can fall into; equal leaves side by side are one."""

    def walk(node: int, spans: dict[int, tuple[int, int]]) -> list[Leaf]:
        if tree.left[node] == LEAF:
            return [Leaf(spans, tree.values[node])]
        feature = int(tree.feature[node])
        first, last = spans.get(feature, (0, len(axes[feature].cuts)))
        split = axes[feature].cells_left_of(tree.cut[node])
        if split > last:
            return walk(int(tree.left[node]), spans)
        if split <= first:
            return walk(int(tree.right[node]), spans)
        left = walk(int(tree.left[node]), {**spans, feature: (first, split - 1)})
        right = walk(int(tree.right[node]), {**spans, feature: (split, last)})
        alone = len(left) == len(right) == 1
        if alone and np.array_equal(left[0].values, right[0].values):
            return [Leaf(spans, left[0].values)]
        return left + right

    return walk(0, {})
