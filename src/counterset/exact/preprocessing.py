"""Pipelines: what the steps before a model make of the columns.

Scalers, encoders and column transformers are read as a list: from which column each of the model's
inputs comes, and how. ``Columns`` then translates between the rows of a table and what the model
itself gets, including the codes that boosting libraries give to the values of pandas' categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
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
from sklearn.utils import check_array

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.exact.problem import DOUBLE_ROUNDOFF, Problem
from counterset.tables.table import Table

__all__ = [
    "SCALERS",
    "CategoryCodes",
    "Columns",
    "Preprocessing",
    "Scaling",
    "Source",
    "does_nothing",
    "read_scaler",
    "sources_of",
    "value_codes",
]


@dataclass(frozen=True)
class CategoryCodes:
    """What a library does to a table before its trees see it, as a step of a pipeline.

    Attributes
    ----------
    n_features_in_
        The number of columns.
    categories
        Takes the positions of the categories among the columns. Returns the values that the model
        was trained on for each of them, in the order of their codes; None where it takes the codes
        of the table itself.
    """

    n_features_in_: int
    categories: Callable[[list[int]], Sequence[Sequence[Any] | None]]

    def transform(self, X: Any) -> Matrix:
        """Return a table as numbers, its categories as codes; NaN for values that are not known.

        Examples
        --------
        >>> frame = pd.DataFrame({"home": pd.Categorical(["rent", "own"]), "age": [31, 52]})
        >>> CategoryCodes(2, lambda positions: [["rent", "own"]]).transform(frame)
        array([[ 0., 31.],
               [ 1., 52.]])
        """
        if not isinstance(X, pd.DataFrame):
            return np.asarray(X, dtype=np.float64)
        of_category = [isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes]
        positions = [i for i, is_category in enumerate(of_category) if is_category]
        known = dict(zip(positions, self.categories(positions), strict=True))
        columns = [
            _codes(X.iloc[:, i], known[i]) if i in known else X.iloc[:, i].to_numpy(np.float64)
            for i in range(X.shape[1])
        ]
        return np.column_stack(columns)


def _codes(column: pd.Series, values: Sequence[Any] | None) -> Any:
    held = column.cat if values is None else column.cat.set_categories(list(values)).cat
    codes = held.codes.to_numpy(np.float64)
    return np.where(codes < 0, np.nan, codes)


SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling of each feature, ``(x - centre) * factor + shift``; each ``(d,)``.

    It is in this form since far from 0 ``x * factor`` and ``centre * factor`` would cancel.
    """

    centre: Vector
    factor: Vector
    shift: Vector


def read_scaler(step: Any) -> Scaling | None:
    """Read a fitted scaler; None for one that is not linear.

    Examples
    --------
    >>> read = read_scaler(MinMaxScaler().fit([[2.0], [4.0]]))
    >>> read.centre, read.factor, read.shift
    (array([0.]), array([0.5]), array([-1.]))
    """
    n = int(step.n_features_in_)
    if getattr(step, "clip", False):
        return None
    if isinstance(step, MinMaxScaler):
        return Scaling(np.zeros(n), step.scale_, step.min_)
    if isinstance(step, MaxAbsScaler):
        return _centred(None, step.scale_, n)
    if isinstance(step, StandardScaler):
        return _centred(step.mean_ if step.with_mean else None, step.scale_, n)
    centre = step.center_ if step.with_centering else None
    return _centred(centre, step.scale_ if step.with_scaling else None, n)


def _centred(centre: Vector | None, scale: Vector | None, n: int) -> Scaling:
    factor = np.ones(n) if scale is None else 1 / scale
    return Scaling(np.zeros(n) if centre is None else centre, factor, np.zeros(n))


class Source(NamedTuple):
    """The input column that a column is made from.

    Attributes
    ----------
    column
        The input column.
    rises
        Whether the made column rises with it.
    centre, factor, shift
        A number that rises becomes ``(number - centre) * factor + shift``; ``factor`` is NaN where
        the made column rises in another way.
    rounds
        The size of what is rounded on the way, besides the made number itself.
    """

    column: int
    rises: bool
    centre: float = 0.0
    factor: float = 1.0
    shift: float = 0.0
    rounds: float = 0.0


def does_nothing(step: Any) -> bool:
    """Return whether a step of a pipeline leaves rows as they are."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def sources_of(step: Any, n_columns: int) -> list[Source] | None:
    """Return the source of each column that a step makes; None if the step is not known.

    Examples
    --------
    >>> encoder = OneHotEncoder().fit([["a", "x"], ["b", "x"]])
    >>> [source.column for source in sources_of(encoder, 2)]
    [0, 0, 1]
    """
    for kinds, read in _STEPS:
        if isinstance(step, kinds):
            return read(step, n_columns)
    return _each(step, n_columns) if does_nothing(step) else None


def _each(step: Any, n_columns: int) -> list[Source] | None:
    del step
    return [Source(column, rises=True) for column in range(n_columns)]


def _of_scaler(step: Any, n_columns: int) -> list[Source] | None:
    read = read_scaler(step)
    if read is None:  # it rises to an end, and stays there
        return [Source(column, rises=True, factor=np.nan) for column in range(n_columns)]
    return [
        Source(column, True, float(centre), float(factor), float(shift), abs(float(shift)))
        for column, (centre, factor, shift) in enumerate(
            zip(read.centre, read.factor, read.shift, strict=True)
        )
    ]


def _of_function(step: FunctionTransformer, n_columns: int) -> list[Source] | None:
    checks = isinstance(step.func, partial) and step.func.func is check_array
    return _each(step, n_columns) if step.func is None or checks else None


def _of_imputer(step: SimpleImputer, n_columns: int) -> list[Source] | None:
    dropped = pd.isna(np.asarray(step.statistics_, dtype=object)).any()
    if step.add_indicator or dropped:
        return None
    # A number that stands for a missing value becomes another one.
    rises = bool(pd.isna(step.missing_values))
    return [Source(column, rises) for column in range(n_columns)]


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
        made = None if sources is None else sources_of(inner, len(sources))
        sources = None if sources is None or made is None else _through(sources, made)
    return sources


def _through(sources: list[Source], made: list[Source]) -> list[Source]:
    """Trace columns that are made from made columns back to the input."""
    return [_one_after(sources[each.column], each) for each in made]


def _one_after(first: Source, second: Source) -> Source:
    """Return the source of a column that is made from a made column."""
    if first[1:] == (True, 0.0, 1.0, 0.0, 0.0):  # the input's column itself
        return second._replace(column=first.column)
    moved = second.centre * second.factor  # what the second subtracts, in the units that it makes
    return Source(
        first.column,
        first.rises and second.rises,
        first.centre,
        first.factor * second.factor,
        first.shift * second.factor - moved + second.shift,
        first.rounds * abs(second.factor) + abs(moved) + second.rounds,
    )


def _of_columns(step: ColumnTransformer, n_columns: int) -> list[Source] | None:
    del n_columns
    found: dict[int, Source] = {}
    for name, inner, _ in step.transformers_:
        given = step._transformer_to_input_indices[name]
        if len(given) == 0 or (isinstance(inner, str) and inner == "drop"):
            continue
        made = sources_of(inner, len(given))
        if made is None:
            return None
        from_input = [Source(int(column), rises=True) for column in given]
        made_columns = step.output_indices_[name]
        positions = range(made_columns.start, made_columns.stop)
        if len(positions) != len(made):
            return None
        found |= zip(positions, _through(from_input, made), strict=True)
    return [found[position] for position in range(len(found))]


_STEPS: tuple[tuple[Any, Callable[[Any, int], list[Source] | None]], ...] = (
    (SCALERS, _of_scaler),
    (FunctionTransformer, _of_function),
    (SimpleImputer, _of_imputer),
    (CategoryCodes, _each),
    (OrdinalEncoder, _of_ordinal),
    (OneHotEncoder, _of_one_hot),
    (Pipeline, _of_pipeline),
    (ColumnTransformer, _of_columns),
)


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
