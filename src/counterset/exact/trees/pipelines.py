"""Tree ensembles behind scalers and encoders: their splits, in the units of the columns.

A split on a scaled value is a split on the column itself, at the last number that is scaled to at
most the cut. ``last_at_most`` finds that number by bisection, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas.api import types
from scipy.sparse import issparse

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.exact.preprocessing import Preprocessing, value_codes
from counterset.exact.problem import Problem
from counterset.exact.trees.models import LEAF, Tree, TreeEnsemble, own_encoder, read_trees
from counterset.tables.features.number import numpy_dtype

__all__ = ["TreePipeline", "last_at_most", "read_tree_pipeline"]

#: The first bracket around a straight line's estimate is 2**-44 of its size: wider than rounding by
#: a few hundred steps, so that it holds the answer of nearly every scaler.
GUESS_WIDTH = 2.0**-44


def last_at_most(
    function: Callable[[Vector], Vector], bounds: Vector, low: Vector, high: Vector, whole: Mask
) -> Vector:
    """Find the largest doubles, or whole numbers, with ``function(value) <= bound``.

    Parameters
    ----------
    function
        From ``(n,)`` numbers to ``(n,)`` numbers, each by itself and none falling.
    bounds, low, high
        The bound of each, and the finite ends between which to search.
    whole
        Which of the arguments are whole numbers.

    Returns
    -------
    last
        ``-inf`` where even the low end exceeds the bound, ``inf`` where the high end does not.

    Examples
    --------
    >>> low, high = np.zeros(2), np.full(2, 10.0)
    >>> last_at_most(lambda v: v / 3, np.array([1.5, 1.0]), low, high, np.array([True, False]))
    array([4., 3.])
    """
    at_low, at_high = function(low), function(high)
    never, always = at_low > bounds, at_high <= bounds
    bracket = _Bracket(function, bounds, low, high, whole)
    with np.errstate(all="ignore"):
        guess = low + (bounds - at_low) * ((high - low) / (at_high - at_low))
        width = GUESS_WIDTH * (np.abs(guess) + np.abs(bounds))
    for value in (guess - width, guess + width):
        bracket.probe(np.nan_to_num(value))
    while (open_ends := bracket.open & ~never & ~always).any():
        bracket.halve(open_ends)
    last: Vector = np.where(never, -np.inf, np.where(always, np.inf, bracket.low))
    return last


class _Bracket:
    """The ends between which each answer lies: at ``low`` or above, below ``high``."""

    def __init__(
        self,
        function: Callable[[Vector], Vector],
        bounds: Vector,
        low: Vector,
        high: Vector,
        whole: Mask,
    ) -> None:
        self._function, self._bounds, self._whole = function, bounds, whole
        self.low, self.high = low.copy(), high.copy()

    @property
    def open(self) -> Mask:
        """Where there are numbers between the ends."""
        gap: Mask = np.where(
            self._whole, self.high - self.low > 1, np.nextafter(self.low, np.inf) < self.high
        ).astype(bool)
        return gap

    def probe(self, values: Vector) -> None:
        """Move one of the ends to a value between them."""
        values = np.where(self._whole, np.floor(values), values)
        inside = (values > self.low) & (values < self.high)
        values = np.where(inside, values, self.low)
        left = self._function(values) <= self._bounds
        self.low = np.where(inside & left, values, self.low)
        self.high = np.where(inside & ~left, values, self.high)

    def halve(self, which: Mask) -> None:
        """Probe the middle one of the whole numbers, or of the doubles, between the ends."""
        first, last = _rank(self.low), _rank(self.high)
        middle = _unrank(first // 2 + last // 2 + (first & last & 1))
        middle = np.where(self._whole, (self.low + self.high) / 2, middle)
        self.probe(np.where(which, middle, self.low))


def _rank(values: Vector) -> NDArray[np.int64]:
    """Return the rank of each double in ascending order: that of the next is higher by 1."""
    bits = (values + 0.0).view(np.int64)  # + 0.0: there is one zero
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def _unrank(ranks: NDArray[np.int64]) -> Vector:
    bits = np.where(ranks >= 0, ranks, np.iinfo(np.int64).min - ranks)
    return bits.astype(np.int64).view(np.float64)


#: Doubles can tell whole numbers apart up to 2**53.
LARGEST_WHOLE = 2.0**53
#: Without bounds, the cuts of a float column are searched up to 1e100 in double precision and 1e37
#: in single: far beyond data, and still with room for a scaler before floats overflow.
LARGEST_DOUBLE = 1e100
LARGEST_SINGLE = 1e37


@dataclass(frozen=True, eq=False)
class TreePipeline:
    """A tree ensemble, and the steps of a pipeline before it.

    Attributes
    ----------
    ensemble
        With splits of the columns that the last step makes.
    before
        The steps before it.
    gaps_are_missing
        Whether the trees take the zeros of a sparse matrix for missing values.
    """

    ensemble: TreeEnsemble
    before: Preprocessing = field(default_factory=Preprocessing)
    gaps_are_missing: bool = False

    def in_features(self, problem: Problem) -> TreeEnsemble | None:
        """Return the ensemble with splits of the table's features; None if there is none."""
        table, before = problem.model.table, self.before
        if not before.steps and all(
            feature.values is None and feature.columns == (i,)
            for i, feature in enumerate(table.features)
        ):
            return self.ensemble
        features = before.features_of(table)
        if features is None:
            return None
        if self.gaps_are_missing and issparse(before.made(problem, problem.x[None, :])):
            return None
        try:
            seen = before.columns_of(problem, problem.x[None, :])
        except (TypeError, ValueError):
            return None  # columns that are not numbers: the trees split categories themselves
        if seen.shape[1] != len(features):
            return None
        translation = _Translation(self, problem, features)
        return translation.ensemble() if translation.knows_categories() else None


class _Translation:
    """Translates splits of columns into splits of features.

    ``features`` has the feature of each column that the trees see.
    """

    def __init__(self, pipeline: TreePipeline, problem: Problem, features: Indices) -> None:
        self._pipeline, self._problem, self._features = pipeline, problem, features
        self._of_values = np.array(
            [feature.values is not None for feature in problem.model.table.features]
        )
        self._known: dict[int, tuple[Vector, Matrix]] = {}

    def ensemble(self) -> TreeEnsemble:
        """Return the ensemble with splits of features."""
        ensemble = self._pipeline.ensemble
        inner = [tree.left != LEAF for tree in ensemble.trees]
        splits = np.concatenate(
            [
                np.column_stack([tree.feature[i], tree.cut[i]])
                for tree, i in zip(ensemble.trees, inner, strict=True)
            ]
        )
        unique, positions = np.unique(splits, axis=0, return_inverse=True)
        columns, cuts = unique[:, 0].astype(np.intp), unique[:, 1]
        of_values = self._of_values[self._features[columns]]
        new_cuts = np.full(len(cuts), np.nan)
        numbers = np.flatnonzero(~of_values)
        new_cuts[numbers] = self._cuts(columns[numbers], cuts[numbers])
        sets = self._sets(columns, cuts, np.flatnonzero(of_values))
        trees, start = [], 0
        for tree, own in zip(ensemble.trees, inner, strict=True):
            count = int(own.sum())
            trees.append(
                self._tree(tree, own, positions.ravel()[start : start + count], new_cuts, sets)
            )
            start += count
        return replace(ensemble, trees=trees)

    def _tree(
        self, tree: Tree, inner: Mask, splits: Indices, cuts: Vector, sets: dict[int, int]
    ) -> Tree:
        """Translate one tree; ``splits`` are positions of its splits in ``cuts`` and ``sets``."""
        feature, cut = tree.feature.copy(), tree.cut.astype(np.float64)
        feature[inner] = self._features[tree.feature[inner]]
        cut[inner] = cuts[splits]
        left_values = {
            int(node): sets[int(split)]
            for node, split in zip(np.flatnonzero(inner), splits, strict=True)
            if int(split) in sets
        } | {node: self._set_of_node(tree, node) for node in tree.left_values}
        return replace(tree, feature=feature, cut=cut, left_values=left_values)

    def _sets(self, columns: Indices, cuts: Vector, which: Indices) -> dict[int, int]:
        """Return the set of values that each split of a category sends to the left."""
        sets = {}
        for i in which:
            codes, seen = self._values(int(self._features[columns[i]]))
            left = codes[seen[:, columns[i]] <= cuts[i]]
            sets[int(i)] = sum(1 << int(code) for code in left)
        return sets

    def _values(self, feature: int) -> tuple[Vector, Matrix]:
        """Return the codes of a feature's values, and the columns that the trees see of them."""
        if feature not in self._known:
            problem, codes = self._problem, value_codes(self._problem, feature)
            rows = np.tile(problem.x, (len(codes), 1))
            rows[:, feature] = codes
            self._known[feature] = codes, self._pipeline.before.columns_of(problem, rows)
        return self._known[feature]

    def knows_categories(self) -> bool:
        """Return whether the trees know all values of the categories that they split."""
        for tree in self._pipeline.ensemble.trees:
            if not self._of_values[self._features[tree.feature[list(tree.left_values)]]].all():
                return False  # numbers that the trees split as categories
        used = np.unique(
            np.concatenate(
                [tree.feature[tree.left != LEAF] for tree in self._pipeline.ensemble.trees]
            )
        )
        return not any(
            np.isnan(self._values(int(self._features[column]))[1][:, column]).any()
            for column in used
            if self._of_values[self._features[column]]
        )

    def _set_of_node(self, tree: Tree, node: int) -> int:
        """Return the set of values that a node's own set of codes sends to the left."""
        column = tree.feature[node]
        codes, seen = self._values(int(self._features[column]))
        return sum(
            1 << int(code)
            for code, value in zip(codes, seen[:, column], strict=True)
            if tree.left_values[node] >> int(value) & 1
        )

    def _cuts(self, columns: Indices, cuts: Vector) -> Vector:
        """Find the largest number that each split of a column sends to the left."""
        if not self._pipeline.before.steps or len(cuts) == 0:
            return cuts
        problem = self._problem
        features = self._features[columns]
        low, high = np.transpose([_range(problem, int(i)) for i in features])

        def column_of(values: Vector) -> Vector:
            rows = np.tile(problem.x, (len(values), 1))
            rows[np.arange(len(values)), features] = values
            seen: Matrix = self._pipeline.before.columns_of(problem, rows)
            return np.asarray(seen[np.arange(len(values)), columns])

        return last_at_most(column_of, cuts, low, high, problem.integer[features])


def _range(problem: Problem, feature: int) -> tuple[float, float]:
    """Return the ends between which the cuts of a number matter."""
    dtype = numpy_dtype(problem.model.table.features[feature].dtype)
    if types.is_integer_dtype(dtype):
        held = np.iinfo(dtype)
        end = (max(-LARGEST_WHOLE, held.min), min(LARGEST_WHOLE, held.max))
    elif problem.integer[feature]:
        end = (-LARGEST_WHOLE, LARGEST_WHOLE)
    else:
        largest = LARGEST_DOUBLE if dtype == np.float64 else LARGEST_SINGLE
        end = (-largest, largest)
    return max(problem.low[feature], end[0]), min(problem.high[feature], end[1])


def read_tree_pipeline(model: Any) -> TreePipeline | None:
    """Read a tree ensemble, also at the end of a pipeline of scalers and encoders; else None."""
    before, last = Preprocessing.of(model)
    ensemble = read_trees(last)
    if ensemble is None:
        return None
    own = own_encoder(last)
    if own is not None:
        before = Preprocessing((*before.steps, own))
    gaps = type(last).__module__.startswith("xgboost")
    return TreePipeline(ensemble, before, gaps) if before.is_known else None
