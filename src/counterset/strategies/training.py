"""The candidates: the training rows, sorted by the class that the model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from counterset import distances
from counterset._base.arrays import Codes, Indices, Mask, Matrix, Vector, to_python
from counterset._base.lazy import Lazy, Memo
from counterset._base.row_counts import RowCounts
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import DataSupport, NearData
from counterset.constraints.rules import Rules
from counterset.distances import DistanceLike
from counterset.exceptions import NoCounterfactualError
from counterset.explanations.context import TrainingSummary, hash_rows
from counterset.explanations.reasons import Background
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import AnyOther, Classes, Goal, is_confident
from counterset.strategies.anonymity import RareRows
from counterset.strategies.batch import QueryBatch, Requirements
from counterset.strategies.ranking import NearestSearch
from counterset.tables.scaling import ScaleLike, count_costs, read_costs
from counterset.tables.schema import Schema
from counterset.tables.space import Embedded, Space, TableDistance
from counterset.tables.table import Table

__all__ = ["CandidatePool", "Candidates", "TrainingData"]

#: The same lots are drawn each time.
SEED = 0
#: The last 8 parts are kept: each class, or all but one class, is one.
MOST_PARTS = 8


@dataclass(frozen=True)
class Candidates:
    """Some rows of the pool.

    Attributes
    ----------
    positions
        Where they stand in the pool, ascending.
    training_index
        Where they stand in the training data.
    embedded
        The rows as points of the space.
    search
        Finds the nearest among them, if they follow each other in the pool.
    """

    positions: Indices
    training_index: Indices
    embedded: Embedded
    search: NearestSearch | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, which: Indices) -> Candidates:
        """Return some of them."""
        embedded = self.embedded.take(which)
        return Candidates(self.positions[which], self.training_index[which], embedded)


@dataclass(frozen=True)
class CandidatePool:
    """The training rows, sorted by predicted class, so that each class is a slice.

    Attributes
    ----------
    matrix
        The rows in the model's own units.
    training_index
        The position of each row in the training data.
    codes
        The code of the class of each row, ascending.
    distance
        How rows are compared.
    """

    matrix: Matrix
    training_index: Indices
    codes: Codes
    distance: TableDistance

    @classmethod
    def build(cls, matrix: Matrix, codes: Codes, distance: TableDistance) -> CandidatePool:
        """Sort the training rows by the code of their predicted class."""
        order = np.argsort(codes, kind="stable")
        return cls(matrix[order], order, codes[order], distance)

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def embedded(self) -> Embedded:
        """The rows as points of the space."""
        return self.distance.embed(self.matrix)

    def part(self, start: int, stop: int) -> Candidates:
        """Return rows that follow each other, such as those of a class.

        They are kept, so that what is computed of them is computed once.
        """
        return self._parts.get((start, stop), lambda: self._part(start, stop))

    def _part(self, start: int, stop: int) -> Candidates:
        embedded = self.embedded.take(slice(start, stop))
        points = embedded.coordinates
        squared = embedded.squared if embedded.directions is points else None
        search = NearestSearch(points, self.distance.in_space, squared)
        return Candidates(np.arange(start, stop), self.training_index[start:stop], embedded, search)

    @cached_property
    def _parts(self) -> Memo[Candidates]:
        return Memo(MOST_PARTS)

    def of_classes(self, which: Mask) -> Mask:
        """Return which rows are of some classes, given as a mask over the codes."""
        rows = np.zeros(len(self), dtype=bool)
        # Where classes that are meant follow each other, so do their rows.
        runs = np.flatnonzero(np.diff(which, prepend=False, append=False)).reshape(-1, 2)
        for start, stop in self._ends[runs]:
            rows[start:stop] = True
        return rows

    @cached_property
    def _ends(self) -> Indices:
        """Where the rows of each class begin; the last is where all end."""
        ends: Indices = np.searchsorted(self.codes, np.arange(self.codes[-1] + 2))
        return ends

    @cached_property
    def has_gaps(self) -> Mask:
        """Which rows have a missing value, or a special code, which counts as one."""
        missing = np.isnan(self.distance.table.without_special(self.matrix))
        return np.asarray(missing.any(axis=1))

    @cached_property
    def lots(self) -> Vector:
        """A random number from 0 to 1 for each row, to draw lots.

        It depends on the row's position in the training data alone, so that one more training row
        changes none of the others.
        """
        generator = np.random.default_rng(SEED)
        return generator.random(len(self))[self.training_index]

    def __getstate__(self) -> dict[str, object]:
        # The points follow from the rows: a pickle need not hold them.
        left_out = ("embedded", "_parts")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}


@dataclass(frozen=True)
class TrainingData:
    """The training rows, their columns, and what the model predicts for them.

    Attributes
    ----------
    model
        The model that was asked.
    table
        The columns.
    distance
        How rows are compared.
    classes
        The labels that the model gives to the rows, and their codes.
    pool
        The rows, sorted by class.
    support
        What is plausible, or None.
    """

    model: Any
    table: Table
    distance: TableDistance
    classes: Classes
    pool: CandidatePool
    support: DataSupport | None

    @classmethod
    def learn(
        cls,
        X: Any,
        model: Any,
        *,
        schema: Schema | None,
        distance: DistanceLike,
        scale: ScaleLike,
        plausibility: NearData | None,
        costs: Mapping[Any, float] | None = None,
    ) -> TrainingData:
        """Learn the columns and the scale, and ask the model about every row, once."""
        table, matrix = Table.learn(X, schema)
        factors = read_costs(costs, table)
        inner = count_costs(distances.get(distance), factors, table)
        space = Space.learn(matrix, table, scale, factors)
        classes, codes = Classes.learn(ModelAdapter(model, table).labels(matrix))
        if len(classes) == 1:
            raise NoCounterfactualError(
                f"The model predicts {to_python(classes.labels[0])!r} for all {len(matrix)} "
                f"training rows, so there is nothing to move towards. Fit on data in which the "
                f"model predicts at least two classes."
            )
        measure = TableDistance(table, space, inner)
        pool = CandidatePool.build(matrix, codes, measure)
        support = _support(plausibility, pool)
        return cls(model, table, measure, classes, pool, support)

    def with_costs(
        self,
        costs: Mapping[Any, float] | None,
        distance: DistanceLike,
        plausibility: NearData | None,
    ) -> TrainingData:
        """Return the same with other costs: what ``learn`` would, without asking the model."""
        factors = read_costs(costs, self.table)
        measure = TableDistance(
            self.table,
            replace(self.distance.space, costs=factors),
            count_costs(distances.get(distance), factors, self.table),
        )
        pool = replace(self.pool, distance=measure)
        support = _support(plausibility, pool)
        other = replace(self, distance=measure, pool=pool, support=support)
        if "_answers" in self.__dict__:
            other.__dict__["_answers"] = self._answers  # of the same rows
        return other

    def rules(self, constraints: Constraints | None) -> Rules:
        """Compile constraints; None: there are none."""
        if constraints is None:
            return self.no_rules
        return constraints.compile(self.table, self.pool.matrix)

    @cached_property
    def no_rules(self) -> Rules:
        """The rules without any constraint: regions are found for all that may be asked later."""
        return Constraints().compile(self.table, self.pool.matrix)

    def batch(self, rows: Indices, requirements: Requirements) -> QueryBatch:
        """Return rows of the pool as inputs."""
        return QueryBatch(
            ModelAdapter(self.model, self.table),
            self.distance,
            self.classes,
            requirements,
            self.pool.matrix[rows],
            self.classes.labels[self.pool.codes[rows]],
        )

    def without_goal(self, goal: Goal, rows: Indices) -> Indices:
        """Return the rows of the pool, of some, for which a strategy can learn.

        These are the rows that do not have what is wanted. For a model that predicts numbers there
        are none before an interval is known.
        """
        if self.classes.are_measurements and isinstance(goal, AnyOther):
            return rows[:0]
        labels = self.classes.labels[self.pool.codes[rows]]
        return rows[~goal.accepts(labels, labels)]

    def rare(self, least: int) -> RareRows | None:
        """Return the rows that are equal to fewer rows than this; None: there are none."""
        return RareRows(self._row_counts, least) if least > 1 else None

    def usable(self, probability: float | None) -> Mask | None:
        """Return which rows of the pool are plausible and probable enough; None: all."""
        if probability is None:
            return self._plausible
        confident = is_confident(self._answers, probability)
        return confident if self._plausible is None else self._plausible & confident

    @cached_property
    def summary(self) -> Lazy[TrainingSummary]:
        """A summary of the training rows, computed when first read."""
        return Lazy(self._summarise)

    def background(self, goal: Goal) -> Lazy[Background]:
        """Return rows with the wanted result to compare inputs with, drawn when first read."""
        pool = self.pool

        def draw() -> Background:
            return Background.draw(pool.matrix, self.classes.labels[pool.codes], pool.lots, goal)

        return Lazy(draw)

    def _summarise(self) -> TrainingSummary:
        pool, labels = self.pool, self.classes.labels
        is_regression = self.classes.are_measurements
        counts = np.bincount(pool.codes, minlength=len(labels)).tolist()
        return TrainingSummary(
            rows=len(pool),
            labels=None
            if is_regression
            else dict(zip(map(to_python, labels), counts, strict=True)),
            low=float(labels[0]) if is_regression else None,
            high=float(labels[-1]) if is_regression else None,
            hash=hash_rows(self.table, pool.matrix, np.argsort(pool.training_index)),
        )

    @cached_property
    def _row_counts(self) -> RowCounts:
        return RowCounts.of(self.pool.matrix)

    @cached_property
    def _plausible(self) -> Mask | None:
        if self.support is None:
            return None
        return self.support.has(self.pool.embedded.coordinates)

    @cached_property
    def _answers(self) -> Answers:
        """The model's labels of the pool with their probabilities, asked for when first needed."""
        return ModelAdapter(self.model, self.table, with_confidence=True).answers(self.pool.matrix)


def _support(plausibility: NearData | None, pool: CandidatePool) -> DataSupport | None:
    if plausibility is None:
        return None
    return plausibility.learn(pool.embedded.coordinates, pool.distance.in_space)
