"""Ask whether a row is an acceptable counterfactual, and remember what the model answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from counterset._base.arrays import Codes, Labels, Mask, Matrix
from counterset.constraints.plausibility import DataSupport
from counterset.constraints.rules import Rules
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import Goal, is_confident
from counterset.steps.line_search import REFUSED
from counterset.tables.space import Embedded, TableDistance
from counterset.tables.table import changed

__all__ = ["Questions", "Wishes"]


@dataclass(frozen=True)
class Wishes:
    """What a counterfactual must be, besides close and different.

    Attributes
    ----------
    goal
        Which answers of the model are acceptable.
    probability
        How probable the model must find its answer, or None.
    rules
        The constraints.
    support
        What is plausible, or None.
    """

    goal: Goal
    probability: float | None
    rules: Rules
    support: DataSupport | None


@dataclass
class Questions:
    """Asks about rows on behalf of the inputs of a batch.

    An answer is a number, at least 0 if it is acceptable, by which its label can be recalled.
    """

    model: ModelAdapter
    distance: TableDistance
    wishes: Wishes
    inputs: Matrix
    input_labels: Labels
    _labels: list[Labels] = field(default_factory=list, init=False)
    _count: int = field(default=0, init=False)

    @cached_property
    def points(self) -> Embedded:
        """The inputs as points of the space."""
        return self.distance.embed(self.inputs)

    def remember(self, labels: Labels) -> Codes:
        """Keep labels, and give the numbers to recall them by."""
        numbers = np.arange(self._count, self._count + len(labels))
        self._labels.append(labels)
        self._count += len(labels)
        return numbers

    def recall(self, numbers: Codes) -> Labels:
        """Give the labels behind the numbers."""
        return np.concatenate([self.input_labels[:0], *self._labels])[numbers]

    def ask(self, rows: Matrix, owners: Codes) -> Codes:
        """Say which rows are acceptable counterfactuals of the inputs that own them."""
        possible = self.keeps_the_rules(rows, owners)
        if possible.all() and len(rows):
            return self._ask_model(rows, owners)
        replies = np.full(len(rows), REFUSED, dtype=np.intp)
        if possible.any():
            replies[possible] = self._ask_model(rows[possible], owners[possible])
        return replies

    def keeps_the_rules(self, rows: Matrix, owners: Codes) -> Mask:
        """Say which rows differ from their inputs, keep the constraints, and lie near data."""
        x = self.inputs[owners]
        possible = np.asarray(changed(x, rows).any(axis=1))
        if self.wishes.rules:
            possible &= self.wishes.rules.hold(x, rows)
        if self.wishes.support is not None and possible.any():
            possible[possible] = self.wishes.support.has(self.distance.coordinates(rows[possible]))
        return possible

    def decides_otherwise(self, rows: Matrix, owners: Codes) -> Mask:
        """Say for which rows the model's answer is acceptable, whatever else they break."""
        return np.asarray(self._ask_model(rows, owners) != REFUSED)

    def _ask_model(self, rows: Matrix, owners: Codes) -> Codes:
        answers = self.model.answers(rows)
        accepted = self.wishes.goal.accepts(answers.labels, self.input_labels[owners])
        if self.wishes.probability is not None:
            accepted &= is_confident(answers, self.wishes.probability)
        return np.where(accepted, self.remember(answers.labels), REFUSED)
