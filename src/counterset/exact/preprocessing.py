"""The columns that the last step of a pipeline sees, as a function of a table's features.

A scaler keeps a column for each number, and an encoder makes columns of a category. The values of a
category are encoded one by one, by the steps themselves, so nothing is assumed about an encoder but
that each of its columns comes from one input column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.exact.column_sources import Source, does_nothing, sources_of
from counterset.exact.problem import DOUBLE_ROUNDOFF, Problem
from counterset.tables.table import Table

__all__ = ["Columns", "Preprocessing", "value_codes"]


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """The steps of a pipeline before its last one.

    Attributes
    ----------
    steps
        The transformers, in their order.
    """

    steps: tuple[Any, ...] = ()

    @classmethod
    def of(cls, model: Any) -> tuple[Preprocessing, Any]:
        """Return the steps before the last, and the last; a model that is no pipeline is that."""
        if not isinstance(model, Pipeline):
            return cls(), model
        *before, last = (step for _, step in model.steps)
        return cls(tuple(step for step in before if not does_nothing(step))), last

    @cached_property
    def sources(self) -> list[Source] | None:
        """The input column of each made column; None if a step is not known, or there is none."""
        if not self.steps:
            return None
        chain = Pipeline([(str(i), step) for i, step in enumerate(self.steps)])
        return sources_of(chain, int(self.steps[0].n_features_in_))

    @property
    def is_known(self) -> bool:
        """Whether it is known which input column each made column comes from."""
        return not self.steps or self.sources is not None

    def sources_in(self, table: Table) -> list[Source] | None:
        """Return the source of each made column among the columns of a table.

        None if a step is not known, or a column missing. Steps that choose columns by name find
        them wherever they are.
        """
        if not self.steps:
            return [Source(column, rises=True) for column in range(len(table.columns))]
        names = getattr(self.steps[0], "feature_names_in_", None)
        if self.sources is None or names is None or table.array_dtype is not None:
            return self.sources
        positions = table.columns.get_indexer(pd.Index(names))
        sources = [each._replace(column=int(positions[each.column])) for each in self.sources]
        return None if any(source.column < 0 for source in sources) else sources

    def features_of(self, table: Table) -> Indices | None:
        """Return the feature of each made column, ``(columns,)``; None where that is not known."""
        sources = self.sources_in(table)
        if sources is None:
            return None
        feature_of = {c: i for i, feature in enumerate(table.features) for c in feature.columns}
        features = np.array([feature_of[source.column] for source in sources])
        for feature, source in zip(features, sources, strict=True):
            if table.features[feature].values is None and not source.rises:
                return None  # numbers that are encoded as categories, but not declared categorical
        return features

    def made(self, problem: Problem, rows: Matrix) -> Any:
        """Return what the steps make of rows of the table."""
        made: Any = problem.model.table.decode(rows)
        for step in self.steps:
            made = step.transform(made)
        return made

    def columns_of(self, problem: Problem, rows: Matrix) -> Matrix:
        """Return the columns that are made of rows of the table, ``(n, columns)``."""
        made = self.made(problem, rows)
        return np.asarray(made.toarray() if issparse(made) else made, dtype=np.float64)


def value_codes(problem: Problem, feature: int) -> Vector:
    """Return the codes that a feature of values may take: those of the data and the input's."""
    seen = problem.model.table.features[feature].seen
    return np.union1d(np.asarray(seen, dtype=np.float64), problem.x[feature])


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns that a model sees, around an input.

    Attributes
    ----------
    x
        The input, ``(d,)``.
    start
        The columns of the input, ``(c,)``, as the model sees them.
    feature
        The feature that each column is made from, ``(c,)``.
    factor
        How much each column rises with its number, ``(c,)``; 0 for columns of values.
    rounds
        The size of what is rounded on the way to each column, besides the column, ``(c,)``.
    values
        For each feature of values: the columns, ``(c,)``, for each code, 0 where they are not its.
    roundings
        How often a column may be rounded on the way.
    """

    x: Vector
    start: Vector
    feature: Indices
    factor: Vector
    rounds: Vector
    values: Mapping[int, Mapping[float, Vector]]
    roundings: int

    @classmethod
    def of(cls, preprocessing: Preprocessing, problem: Problem) -> Columns | None:
        """Find the columns around an input; None if they are not linear in its numbers."""
        table = problem.model.table
        sources, feature = preprocessing.sources_in(table), preprocessing.features_of(table)
        if sources is None or feature is None:
            return None
        of_values = np.array([each.values is not None for each in table.features])[feature]
        factor = np.where(of_values, 0.0, [source.factor for source in sources])
        rounds = np.where(of_values, 0.0, [source.rounds for source in sources])
        if problem.roundoff > DOUBLE_ROUNDOFF:  # then a scaler's centre is rounded too
            rounds = rounds + np.abs(factor * [source.centre for source in sources])
        try:
            start = preprocessing.columns_of(problem, problem.x[None, :])[0]
            values = {
                int(i): _columns_of_values(preprocessing, problem, int(i), feature)
                for i in np.unique(feature[of_values])
            }
        except (TypeError, ValueError):
            return None  # columns that are not numbers, or values that an encoder does not know
        made = [start, factor, *(c for some in values.values() for c in some.values())]
        if any(len(each) != len(feature) or not np.isfinite(each).all() for each in made):
            return None
        # A scaler rounds up to three times, and so does the reading of it.
        roundings = 1 + 6 * len(preprocessing.steps)
        return cls(problem.x, start, feature, factor, rounds, values, roundings)

    def at(self, point: Vector) -> Vector:
        """Return the columns at a point, ``(c,)``."""
        columns = self.start + self.factor * (point - self.x)[self.feature]
        for i, some in self.values.items():
            columns = np.where(self.feature == i, some[float(point[i])], columns)
        return columns

    def gradient(self, per_column: Vector) -> Vector:
        """Return the gradient in the numbers of what has this gradient in the columns, ``(d,)``."""
        weights = self.factor * per_column
        return np.bincount(self.feature, weights, len(self.x)).astype(np.float64)

    def largest(self, low: Vector, high: Vector) -> Vector:
        """Return the largest absolute value of each column between two points, ``(c,)``."""
        reach = np.maximum(high - self.x, self.x - low)[self.feature]
        with np.errstate(invalid="ignore"):
            moved = np.where(self.factor == 0, 0.0, np.abs(self.factor) * reach)
        largest = np.abs(self.start) + moved
        for some in self.values.values():
            largest = np.maximum(largest, np.abs(list(some.values())).max(axis=0))
        return largest


def _columns_of_values(
    preprocessing: Preprocessing, problem: Problem, feature: int, features: Indices
) -> dict[float, Vector]:
    codes = value_codes(problem, feature)
    rows = np.tile(problem.x, (len(codes), 1))
    rows[:, feature] = codes
    made = preprocessing.columns_of(problem, rows)
    own = np.where(features == feature, made, 0.0)
    return {float(code): columns for code, columns in zip(codes, own, strict=True)}
