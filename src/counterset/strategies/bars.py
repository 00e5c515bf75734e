"""Bars: what an option must pass besides reaching the goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, to_python
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import is_confident
from counterset.models.margin import Margin
from counterset.strategies.batch import QueryBatch

__all__ = ["Agreed", "Lasting", "Sure"]


@dataclass(frozen=True)
class Lasting:
    """An option must hold when a person lands near it, see :class:`Margin`.

    Attributes
    ----------
    margin
        How near, and how often.
    """

    margin: Margin

    @property
    def text(self) -> str:
        """How messages name the bar."""
        return str(self.margin)

    def passes(self, batch: QueryBatch, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows hold for their inputs."""
        return self.margin.holds(
            batch.distance.table,
            batch.inputs[owners],
            rows,
            lambda landed, which: batch.reaches(landed, owners[which]),
        )


@dataclass(frozen=True)
class Sure:
    """The model must find the class of an option probable.

    Attributes
    ----------
    model
        Asked for probabilities. It remembers what it answered, so that each search has its own.
    least
        The least probability.
    """

    model: ModelAdapter
    least: float

    @classmethod
    def of(cls, batch: QueryBatch, least: float) -> Sure:
        """Ask the model of a batch."""
        model = ModelAdapter(batch.model.model, batch.model.table, with_confidence=True)
        return cls(model, least)

    def passes(self, batch: QueryBatch, rows: Matrix, owners: Indices) -> Mask:
        """Return which rows are probable enough."""
        if not len(rows):
            return np.zeros(0, dtype=bool)
        calls, asked = self.model.calls, self.model.rows
        answers = self.model.answers_once(rows)
        batch.model.calls += self.model.calls - calls
        batch.model.rows += self.model.rows - asked
        return np.asarray(is_confident(answers, self.least))


@dataclass(frozen=True)
class Agreed:
    """Other models must agree that an option reaches the goal.

    Attributes
    ----------
    models
        The models, such as ones that were trained again.
    share
        How many of them must agree.
    """

    models: tuple[ModelAdapter, ...]
    share: float

    @classmethod
    def of(cls, batch: QueryBatch, models: tuple[Any, ...], share: float) -> Agreed:
        """Ask models in the place of that of a batch."""
        return cls(tuple(ModelAdapter(each, batch.model.table) for each in models), share)

    def passes(self, batch: QueryBatch, rows: Matrix, owners: Indices) -> Mask:
        """Return about which rows enough models agree."""
        agreed = np.zeros(len(rows), dtype=np.intp)
        if len(rows):
            goal, own = batch.requirements.goal, batch.input_labels[owners]
            for model in self.models:
                agreed += goal.accepts(model.answers_once(rows).labels, own)
        return np.asarray(agreed >= self.share * len(self.models) - 1e-9)


def has_probabilities(batch: QueryBatch) -> bool:
    """Whether the model says how probable it finds the classes that it predicts."""
    model, classes = batch.model.model, getattr(batch.model.model, "classes_", None)
    if classes is None or not callable(getattr(model, "predict_proba", None)):
        return False
    known = set(map(to_python, np.ravel(np.asarray(classes)).tolist()))
    return set(map(to_python, batch.classes.labels)) <= known
