"""Trees behind a preprocessor: their splits, told in the features of the table.

The trees of a pipeline split columns that scalers and encoders made. A scaler keeps the order of
a number, so a split of its column is a split of the number itself: the cut is found by bisection
on what the scaler really computes, to the last bit. An encoder, and a group of one-hot columns,
make a split of a category into two sets of values, found by asking for each value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from counterset.arrays import Codes, Matrix
from counterset.codecs import numpy_dtype
from counterset.exact.bisection import last_at_most
from counterset.exact.ensembles import LEAF, Tree, TreeEnsemble
from counterset.exact.problem import Problem
from counterset.exact.tree_models import read_trees

__all__ = ["TreePipeline", "read_tree_pipeline"]

_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
#: Whole numbers up to this are told apart.
LARGEST_WHOLE = 2.0**53
#: Without bounds, cuts of a float column are looked for up to here.
LARGEST_DOUBLE = 1e100
LARGEST_SINGLE = 1e37


class Source(NamedTuple):
    """The input column that a column is made from, and whether it rises with it."""

    column: int
    rises: bool


@dataclass(frozen=True, eq=False)
class TreePipeline:
    """A tree ensemble, and what is done to a row before the trees see it.

    Attributes
    ----------
    before
        Transforms rows; None: nothing is done.
    sources
        Where each column that the trees see comes from; None: from the column in its place.
    """

    ensemble: TreeEnsemble
    before: Any = None
    sources: list[Source] | None = None

    def in_features(self, problem: Problem) -> TreeEnsemble | None:
        """Give the ensemble with splits of the table's features; None where that cannot be."""
        table = problem.model.table
        if self.before is None and all(
            feature.values is None and feature.columns == (i,)
            for i, feature in enumerate(table.features)
        ):
            return self.ensemble
        feature_of = {c: i for i, feature in enumerate(table.features) for c in feature.columns}
        sources = self.sources or [Source(c, rises=True) for c in range(len(table.columns))]
        features = np.array([feature_of[source.column] for source in sources])
        for feature, source in zip(features, sources, strict=True):
            if table.features[feature].values is None and not source.rises:
                return None  # numbers that are encoded one by one: declare them categorical
        try:
            seen = self.columns_of(problem, problem.x[None, :])
        except (TypeError, ValueError):
            return None  # columns that are no numbers: the trees split categories themselves
        if seen.shape[1] != len(sources):
            return None
        return _Translation(self, problem, features).ensemble()

    def columns_of(self, problem: Problem, rows: Matrix) -> Matrix:
        """Give the columns that the trees see."""
        decoded = problem.model.table.decode(rows)
        made: Any = decoded if self.before is None else self.before.transform(decoded)
        if issparse(made):
            made = made.toarray()
        return np.asarray(made, dtype=np.float64)


class _Translation:
    """Tells the splits of columns as splits of features."""

    def __init__(self, pipeline: TreePipeline, problem: Problem, features: Codes) -> None:
        self._pipeline, self._problem, self._features = pipeline, problem, features
        self._of_values = np.array(
            [feature.values is not None for feature in problem.model.table.features]
        )

    def ensemble(self) -> TreeEnsemble:
        ensemble = self._pipeline.ensemble
        inner = [tree.left != LEAF for tree in ensemble.trees]
        splits = np.concatenate(
            [
                np.column_stack([tree.feature[i], tree.cut[i]])
                for tree, i in zip(ensemble.trees, inner, strict=True)
            ]
        )
        unique, places = np.unique(splits, axis=0, return_inverse=True)
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
                self._tree(tree, own, places.ravel()[start : start + count], new_cuts, sets)
            )
            start += count
        return replace(ensemble, trees=trees)

    def _tree(
        self, tree: Tree, inner: Any, places: Codes, cuts: Matrix, sets: dict[int, int]
    ) -> Tree:
        feature, cut = tree.feature.copy(), tree.cut.astype(np.float64)
        feature[inner] = self._features[tree.feature[inner]]
        cut[inner] = cuts[places]
        left_values = {
            int(node): sets[int(place)]
            for node, place in zip(np.flatnonzero(inner), places, strict=True)
            if int(place) in sets
        }
        return replace(tree, feature=feature, cut=cut, left_values=left_values)

    def _sets(self, columns: Codes, cuts: Matrix, which: Codes) -> dict[int, int]:
        """Give the values that splits of categories send to the left, as sets."""
        problem, sets = self._problem, {}
        for feature in np.unique(self._features[columns[which]]):
            own = [int(i) for i in which if self._features[columns[i]] == feature]
            codes = np.union1d(
                np.asarray(problem.model.table.features[feature].seen), problem.x[feature]
            )
            rows = np.tile(problem.x, (len(codes), 1))
            rows[:, feature] = codes
            seen = self._pipeline.columns_of(problem, rows)
            for i in own:
                left = codes[seen[:, columns[i]] <= cuts[i]]
                sets[i] = sum(1 << int(code) for code in left)
        return sets

    def _cuts(self, columns: Codes, cuts: Matrix) -> Matrix:
        """Give the largest numbers that splits of their columns send to the left."""
        if self._pipeline.before is None or len(cuts) == 0:
            return cuts
        problem = self._problem
        features = self._features[columns]
        low, high = np.transpose([_range(problem, int(i)) for i in features])

        def column_of(values: Matrix) -> Matrix:
            rows = np.tile(problem.x, (len(values), 1))
            rows[np.arange(len(values)), features] = values
            seen: Matrix = self._pipeline.columns_of(problem, rows)
            return np.asarray(seen[np.arange(len(values)), columns])

        return last_at_most(column_of, cuts, low, high, problem.integer[features])


def _range(problem: Problem, feature: int) -> tuple[float, float]:
    """Give the ends between which a number's cuts matter."""
    dtype = numpy_dtype(problem.model.table.features[feature].dtype)
    if types.is_integer_dtype(dtype):
        limits = np.iinfo(dtype)
        end = (max(-LARGEST_WHOLE, limits.min), min(LARGEST_WHOLE, limits.max))
    elif problem.integer[feature]:
        end = (-LARGEST_WHOLE, LARGEST_WHOLE)
    else:
        largest = LARGEST_DOUBLE if dtype == np.float64 else LARGEST_SINGLE
        end = (-largest, largest)
    return max(problem.low[feature], end[0]), min(problem.high[feature], end[1])


def read_tree_pipeline(model: Any) -> TreePipeline | None:
    """Read a tree ensemble, also at the end of a pipeline of scalers and encoders."""
    if not isinstance(model, Pipeline):
        ensemble = read_trees(model)
        return None if ensemble is None else TreePipeline(ensemble)
    ensemble = read_trees(model.steps[-1][1])
    if ensemble is None:
        return None
    before = model[:-1]
    if all(_does_nothing(step) for _, step in before.steps):
        return TreePipeline(ensemble)
    first = next(step for _, step in before.steps if not _does_nothing(step))
    sources = _sources(before, int(first.n_features_in_))
    return None if sources is None else TreePipeline(ensemble, before, sources)


def _does_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _sources(step: Any, n_columns: int) -> list[Source] | None:
    """Give where each column that a step makes comes from; None: the step is not known."""
    for kinds, read in _STEPS:
        if isinstance(step, kinds):
            return read(step, n_columns)
    return _each(step, n_columns) if _does_nothing(step) else None


def _each(step: Any, n_columns: int) -> list[Source] | None:
    del step
    return [Source(column, rises=True) for column in range(n_columns)]


def _of_function(step: FunctionTransformer, n_columns: int) -> list[Source] | None:
    return _each(step, n_columns) if step.func is None else None


def _of_imputer(step: SimpleImputer, n_columns: int) -> list[Source] | None:
    dropped = pd.isna(np.asarray(step.statistics_, dtype=object)).any()
    return None if step.add_indicator or dropped else _each(step, n_columns)


def _of_ordinal(step: OrdinalEncoder, n_columns: int) -> list[Source] | None:
    del step
    return [Source(column, rises=False) for column in range(n_columns)]


def _of_one_hot(step: OneHotEncoder, n_columns: int) -> list[Source] | None:
    del n_columns
    sources = []
    rare = getattr(step, "infrequent_categories_", [None] * len(step.categories_))
    dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(step.categories_)
    for column, values in enumerate(step.categories_):
        grouped = 0 if rare[column] is None else len(rare[column]) - 1
        count = len(values) - grouped - (dropped[column] is not None)
        sources += [Source(column, rises=False)] * count
    return sources


def _of_pipeline(step: Pipeline, n_columns: int) -> list[Source] | None:
    sources = _each(step, n_columns)
    for _, inner in step.steps:
        made = None if sources is None else _sources(inner, len(sources))
        sources = None if sources is None or made is None else _through(sources, made)
    return sources


def _through(sources: list[Source], made: list[Source]) -> list[Source]:
    """Follow columns that are made from made columns."""
    return [
        Source(sources[each.column].column, each.rises and sources[each.column].rises)
        for each in made
    ]


def _of_columns(step: ColumnTransformer, n_columns: int) -> list[Source] | None:
    del n_columns
    found: dict[int, Source] = {}
    for name, inner, _ in step.transformers_:
        given = step._transformer_to_input_indices[name]
        if len(given) == 0 or (isinstance(inner, str) and inner == "drop"):
            continue
        made = _sources(inner, len(given))
        if made is None:
            return None
        from_input = [Source(int(column), rises=True) for column in given]
        made_columns = step.output_indices_[name]
        places = range(made_columns.start, made_columns.stop)
        if len(places) != len(made):
            return None
        found |= zip(places, _through(from_input, made), strict=True)
    return [found[place] for place in range(len(found))]


_STEPS: tuple[tuple[Any, Callable[[Any, int], list[Source] | None]], ...] = (
    (_SCALERS, _each),
    (FunctionTransformer, _of_function),
    (SimpleImputer, _of_imputer),
    (OrdinalEncoder, _of_ordinal),
    (OneHotEncoder, _of_one_hot),
    (Pipeline, _of_pipeline),
    (ColumnTransformer, _of_columns),
)
