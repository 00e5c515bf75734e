"""TrainingData: what ``fit`` learns from the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from counterset import distances
from counterset._base.arrays import Indices, Mask, to_python
from counterset._base.lazy import Lazy
from counterset.constraints.constraints import Constraints
from counterset.constraints.costs import Costs
from counterset.constraints.plausibility import DataSupport, NearData
from counterset.constraints.rules import Rules
from counterset.distances import DistanceLike
from counterset.exceptions import NoCounterfactualError
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.classes import Classes
from counterset.models.goals import is_confident
from counterset.results.context import TrainingSummary
from counterset.results.fingerprint import hash_rows
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.pool import CandidatePool
from counterset.tables.scaling import ScaleLike
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["TrainingData"]


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
    costs
        How hard each feature is to change; the distance contains it.
    """

    model: Any
    table: Table
    distance: TableDistance
    classes: Classes
    pool: CandidatePool
    support: DataSupport | None
    costs: Costs

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
        read_costs = Costs.read(costs, table)
        inner = read_costs.weigh(distances.get(distance))
        space = Space.learn(matrix, table, scale, read_costs.factors)
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
        return cls(model, table, measure, classes, pool, support, read_costs)

    def with_costs(
        self,
        costs: Mapping[Any, float] | None,
        distance: DistanceLike,
        plausibility: NearData | None,
    ) -> TrainingData:
        """Return the same with other costs: what ``learn`` would, without asking the model."""
        read_costs = Costs.read(costs, self.table)
        measure = TableDistance(
            self.table,
            replace(self.distance.space, costs=read_costs.factors),
            read_costs.weigh(distances.get(distance)),
        )
        pool = replace(self.pool, distance=measure)
        support = _support(plausibility, pool)
        return replace(self, distance=measure, pool=pool, support=support, costs=read_costs)

    def rules(self, constraints: Constraints | None) -> Rules:
        """Compile constraints; None: only those of infinite costs."""
        if constraints is None:
            return self._rules_of_costs
        return constraints.compile(self.table, self.pool.matrix, self.costs.fixed)

    @cached_property
    def no_rules(self) -> Rules:
        """The rules without any constraint: anchors are found for all that may be asked later."""
        return Constraints().compile(self.table, self.pool.matrix)

    def acceptance(self, rows: Indices, requirements: Requirements) -> Acceptance:
        """Return what judges counterfactuals of rows of the pool."""
        return Acceptance(
            ModelAdapter(self.model, self.table),
            self.distance,
            self.classes,
            requirements,
            self.pool.matrix[rows],
            self.classes.labels[self.pool.codes[rows]],
        )

    def usable(self, probability: float | None) -> Mask | None:
        """Return which rows of the pool are plausible and probable enough; None: all."""
        if probability is None:
            return self._plausible
        confident = is_confident(self._answers, probability)
        return confident if self._plausible is None else self._plausible & confident

    @cached_property
    def summary(self) -> Lazy[TrainingSummary]:
        """What is told of the training rows, computed when first read."""
        return Lazy(self._summarise)

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
    def _rules_of_costs(self) -> Rules:
        return Constraints().compile(self.table, self.pool.matrix, self.costs.fixed)

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
