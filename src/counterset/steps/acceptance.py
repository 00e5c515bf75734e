"""Acceptance: which rows count as counterfactuals of the inputs of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import (
    Codes,
    Indices,
    Labels,
    Mask,
    Matrix,
    Vector,
    row_blocks,
    to_python,
)
from counterset.constraints.plausibility import DataSupport
from counterset.constraints.rules import Rules
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.classes import Classes
from counterset.models.goals import Goal, is_confident
from counterset.tables.space import Embedded, TableDistance
from counterset.tables.table import changed

__all__ = ["REFUSED", "UNASKED", "Acceptance", "Ask", "Requirements"]

#: In place of a class code: the row is no counterfactual.
REFUSED = -1
#: In place of a class code: the model was not asked about the row yet.
UNASKED = -2
#: 1000 rows at a time become points, up to 1 MB for 100 coordinates: that fits the cache.
ROWS_EMBEDDED = 1000

#: Takes rows, and the position of what each belongs to (an input, a segment). Returns the class
#: code of each row that is acceptable there, and ``REFUSED`` for the others.
Ask: TypeAlias = Callable[[Matrix, Indices], Codes]


@dataclass(frozen=True)
class Requirements:
    """What a counterfactual must satisfy, besides being close and different.

    Attributes
    ----------
    goal
        Which labels of the model are acceptable.
    probability
        How probable the model must find its label, or None.
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
class Acceptance:
    """Judges rows on behalf of the inputs of a batch.

    Attributes
    ----------
    model
        What is asked for labels.
    distance
        How rows are compared.
    classes
        The labels of the training rows, and their codes.
    requirements
        What a counterfactual must satisfy.
    inputs, input_labels
        The inputs, ``(n, d)``, and what the model predicts for them.
    unseen
        The codes of labels that no training row has. Groups of one call share them, so that a code
        means the same in all.
    """

    model: ModelAdapter
    distance: TableDistance
    classes: Classes
    requirements: Requirements
    inputs: Matrix
    input_labels: Labels
    unseen: dict[Any, int] = field(default_factory=dict, repr=False)

    @cached_property
    def embedded(self) -> Embedded:
        """The inputs as points of the space, embedded once."""
        return self.distance.embed(self.inputs)

    @cached_property
    def input_codes(self) -> Codes:
        """The class codes of the inputs."""
        return self.codes(self.input_labels)

    @cached_property
    def fixed_coordinates(self) -> Mask:
        """Which coordinates of the space can never change."""
        fixed = np.flatnonzero(self.requirements.rules.fixed)
        return np.isin(self.distance.feature_of_coordinate, fixed)

    def take(self, which: Indices) -> Acceptance:
        """Return the acceptance of some of the inputs; both have the same class codes."""
        part = replace(self, inputs=self.inputs[which], input_labels=self.input_labels[which])
        part.embedded = self.embedded.take(which)
        return part

    def alone(self, which: Indices) -> Acceptance:
        """Return the acceptance of some of the inputs, which shares nothing that is written to."""
        inputs, labels = self.inputs[which], self.input_labels[which]
        return replace(
            self, model=self.model.fresh(), inputs=inputs, input_labels=labels, unseen={}
        )

    def codes(self, labels: Labels) -> Codes:
        """Return the class codes of labels; one that no training row has gets a code of its own."""
        codes = self.classes.codes(labels)
        for i in np.flatnonzero(codes < 0):
            next_code = len(self.classes) + len(self.unseen)
            codes[i] = self.unseen.setdefault(to_python(labels[i]), next_code)
        return codes

    def labels(self, codes: Codes) -> Labels:
        """Return the labels that class codes stand for."""
        known = self.classes.labels
        if not self.unseen:
            return known[codes]
        unseen = np.array(list(self.unseen))
        if "O" in (known.dtype.kind, unseen.dtype.kind) or known.dtype.kind != unseen.dtype.kind:
            known, unseen = known.astype(object), np.array([*self.unseen, None], dtype=object)[:-1]
        return np.concatenate([known, unseen])[codes]

    def lengths(self, embedded: Embedded, owners: Indices) -> Vector:
        """Return the distance of each embedded row from the input that owns it."""
        return self.distance.in_space.rowwise(
            self.embedded.coordinates[owners], embedded.coordinates[:, None, :]
        )[:, 0]

    def lengths_of(self, rows: Matrix, owners: Indices) -> Vector:
        """Return the distance of each row from the input that owns it, without keeping points."""
        lengths, x = np.empty(len(rows)), self.embedded.coordinates
        for block in row_blocks(len(rows), ROWS_EMBEDDED):
            points = self.distance.coordinates(rows[block])[:, None, :]
            lengths[block] = self.distance.in_space.rowwise(x[owners[block]], points)[:, 0]
        return lengths

    def ask(self, rows: Matrix, owners: Indices, *, again: bool = False) -> Codes:
        """Return the class codes of acceptable rows, ``REFUSED`` for the others; see ``Ask``.

        Parameters
        ----------
        again
            Whether to ask the model even about rows of which its answer is known.
        """
        ask = self.model.answers if again else self.model.answers_once
        possible = self.is_possible(rows, owners)
        if possible.all() and len(rows):
            return self._read(ask(rows), owners)
        codes = np.full(len(rows), REFUSED, dtype=np.intp)
        if possible.any():
            codes[possible] = self._read(ask(rows[possible]), owners[possible])
        return codes

    def is_possible(self, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows differ from their inputs, keep the constraints, and are plausible."""
        x, required = self.inputs[owners], self.requirements
        possible = np.asarray(changed(x, rows).any(axis=1))
        if required.rules:
            possible &= required.rules.hold(x, rows)
        if required.support is not None and possible.any():
            possible[possible] = required.support.has(self.distance.coordinates(rows[possible]))
        return possible

    def within_constraints(self, rows: Matrix, owners: Indices) -> Matrix:
        """Move rows to where the constraints of their inputs hold, as far as that goes."""
        x = self.inputs[owners]
        return self.distance.table.hold(self.requirements.rules.project(x, rows), x)

    def onto_steps(self, rows: Matrix, owners: Indices, *, away: bool = False) -> Matrix:
        """Move rows to values that counterfactuals of their inputs may take, as far as that goes.

        They are moved onto the steps of the features, then onto the constraints. Features that
        change together take values of a training row, which have no steps.

        Parameters
        ----------
        away
            Whether to move numbers away from the inputs' own, in place of to the nearest step.
        """
        table, x = self.distance.table, self.inputs[owners]
        snapped = table.snap_away(rows, x) if away else table.snap(rows, x)
        for group in self.requirements.rules.groups:
            snapped[:, group] = rows[:, group]
        return self.within_constraints(snapped, owners)

    def meets_goal(self, rows: Matrix, owners: Indices) -> Mask:
        """Return for which rows the model's label is acceptable, whatever constraint they break."""
        return np.asarray(self._read(self.model.answers_once(rows), owners) != REFUSED)

    def _read(self, answers: Answers, owners: Indices) -> Codes:
        """Return the class codes of acceptable answers, ``REFUSED`` for the others."""
        accepted = self.requirements.goal.accepts(answers.labels, self.input_labels[owners])
        if self.requirements.probability is not None:
            accepted &= is_confident(answers, self.requirements.probability)
        codes = np.full(len(accepted), REFUSED, dtype=np.intp)
        codes[accepted] = self.codes(answers.labels[accepted])
        return codes
