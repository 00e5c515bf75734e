"""Judge: what a set of counterfactuals is worth, against what was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterset import distances, metrics
from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset.distances import CustomDistance, DistanceLike
from counterset.evaluation.noise import NumericColumns
from counterset.exceptions import InvalidInputError
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import (
    AnyOther,
    Classes,
    Goal,
    InInterval,
    check_probability,
    is_confident,
    set_goal,
)
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["PAIR_COLUMNS", "SET_COLUMNS", "Judge", "nothing"]

SET_COLUMNS = ["counterfactuals", "validity", "k_distance", "k_diversity", "sparsity"]
PAIR_COLUMNS = ["set_distance_mean", "set_distance_max", "input_distance"]


@dataclass(frozen=True)
class Judge:
    """Measures sets, given as matrices of encoded rows.

    Attributes
    ----------
    table
        The columns of the training data.
    model
        The model that is explained, asked in encoded rows.
    distance
        The distance between encoded rows.
    space
        The space in which it is taken.
    goal, probability
        What a counterfactual must lead to, and how probable that must be (None: does not matter).
    """

    table: Table
    model: ModelAdapter
    distance: CustomDistance
    space: Space
    goal: Goal
    probability: float | None

    @classmethod
    def of(
        cls,
        explainer: Any,
        model: Any,
        training: Any,
        distance: DistanceLike | None,
        *,
        target: Any,
        probability: float | None,
        interval: tuple[float, float] | None,
    ) -> Judge:
        """Take what the explainer knows from it, and the rest from the caller."""
        check_probability(probability)
        model = model if model is not None else getattr(explainer, "model", None)
        measure = _measure(explainer, training, distance)
        if model is None or measure is None:
            raise InvalidInputError(
                f"evaluate needs the model and the training rows, but the explainer, a "
                f"{type(explainer).__name__}, does not hold them. Pass model=... and training=..., "
                f"or a fitted explainer of this library."
            )
        adapter = ModelAdapter(model, measure.table, with_confidence=probability is not None)
        goal = _read_goal(explainer, training, adapter, target, interval)
        between_rows = CustomDistance(measure.pairwise)
        return cls(measure.table, adapter, between_rows, measure.space, goal, probability)

    @property
    def numeric_columns(self) -> NumericColumns:
        """The columns that noise applies to."""
        return NumericColumns.of(self.table, self.space)

    def meets_goal(self, answers: Answers, input_labels: Labels) -> Mask:
        """Return which answers are what the inputs of these labels want, one by one."""
        accepted = self.goal.accepts(answers.labels, input_labels)
        return accepted & is_confident(answers, self.probability)

    def of_same_class(self, copies: Matrix, input_labels: Labels) -> Mask:
        """Return which copies are in the same case as their inputs, one by one.

        A copy has the label of its input and does not meet the goal either. Predicted numbers are
        hardly ever equal, so for an interval it is enough that both lie outside.
        """
        answers = self.model.answers(copies)
        alike = ~self.meets_goal(answers, input_labels)
        if isinstance(self.goal, InInterval):
            return alike
        alike &= np.asarray(answers.labels == input_labels, dtype=bool)
        return alike

    def of_set(self, x: Vector, label: Labels, S: Matrix) -> dict[str, float]:
        """Measure the set of one input; its label is an array of one."""
        if len(S) == 0:
            return nothing() | {"validity": 0.0}
        meets = self.meets_goal(self.model.answers(S), np.repeat(label, len(S)))
        return {
            "counterfactuals": len(S),
            "validity": float(np.mean(meets)),
            "k_distance": metrics.k_distance(x, S, self.distance),
            "k_diversity": metrics.k_diversity(S, self.distance),
            "sparsity": metrics.sparsity(x, S),
        }

    def of_pair(self, x: Vector, copy: Vector, S: Matrix, other: Matrix) -> dict[str, float]:
        """Compare the sets of an input and of its copy."""
        pair = dict.fromkeys(PAIR_COLUMNS, np.nan)
        pair["input_distance"] = float(self.distance(x, copy)[0, 0])
        if len(S) and len(other):
            pair["set_distance_mean"] = metrics.set_distance(S, other, self.distance, how="mean")
            pair["set_distance_max"] = metrics.set_distance(S, other, self.distance, how="max")
        return pair


def nothing() -> dict[str, float]:
    """Return the figures of no set at all."""
    figures: dict[str, float] = dict.fromkeys(SET_COLUMNS, np.nan)
    return figures | {"counterfactuals": 0}


def _measure(explainer: Any, training: Any, distance: DistanceLike | None) -> TableDistance | None:
    """Find the distance on rows in the model's own units; None where the scale is not known."""
    if isinstance(distance, TableDistance):
        return distance
    measure = getattr(explainer, "distance_", None)
    if training is not None:
        table, matrix = Table.learn(training, Schema(step=0))
        measure = TableDistance(table, Space.learn(matrix, table, "range"), distances.get("l1"))
    if not isinstance(measure, TableDistance):
        return None
    return measure if distance is None else replace(measure, inner=distances.get(distance))


def _read_goal(
    explainer: Any,
    training: Any,
    model: ModelAdapter,
    target: Any,
    interval: tuple[float, float] | None,
) -> Goal:
    """Find what was asked for, and check that training rows reach it."""
    labels = getattr(explainer, "classes_", None)
    if labels is None and training is not None:
        labels = model.labels(model.table.encode(training)[0])
    if labels is None:
        if target is None and interval is None:
            return AnyOther()
        raise InvalidInputError(
            "evaluate needs the training rows, to check that the model predicts what you want for "
            "some of them. Pass training=..."
        )
    classes, _ = Classes.learn(np.asarray(labels))
    return set_goal(classes, target, interval)
