"""Cards: the ways of an explanation as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Matrix, Vector, to_python
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import read_confidence
from counterset.models.goals import OneOf
from counterset.serve.case_requests import to_wire
from counterset.serve.served import Served
from counterset.tables.table import changed
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter, capitalised
from counterset.words.description import Description
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["Cards", "are_numbers", "decision_on", "describe_explanation", "label_text"]


def decision_on(codes: Vector, served: Served, label: Any = None) -> dict[str, Any]:
    """Return what the model says about one row, in words, and how probable it finds that.

    Parameters
    ----------
    label
        The model's label of the row, if it is known: then it is not asked for again.
    """
    if label is None:
        label = ModelAdapter(served.model, served.table).labels(codes[None, :])[0]
    label = to_python(label)
    return {
        "label": _position(label, served),
        "told": label_text(label, served),
        "number": float(label) if are_numbers(served) else None,
        "probability": _probability(codes, served, label),
    }


def _probability(codes: Vector, served: Served, label: Any) -> float | None:
    """Return the model's probability of a row's label; None if it tells none."""
    model = served.model
    if not callable(getattr(model, "predict_proba", None)) or not hasattr(model, "classes_"):
        return None
    answer = model.predict_proba(served.table.decode(codes[None, :]))
    return float(read_confidence(answer, model, np.array([label]))[0])


def are_numbers(served: Served) -> bool:
    """Whether the model predicts numbers, as a regression does."""
    return served.explainer.training_.classes.are_measurements


def label_text(label: Any, served: Served) -> str:
    """Return how people call a class; a predicted number has four digits."""
    label = to_python(label)
    if are_numbers(served):
        return rounded(label)
    return str(served.outcomes.get(label, label))


def describe_explanation(
    explanation: Explanation, served: Served, kept: Sequence[Vector] = ()
) -> dict[str, Any]:
    """Return an explanation as the page shows it: its ways, and what is certain about them.

    Parameters
    ----------
    explanation
        What was found.
    served
        Whose model it is.
    kept
        Rows that the person keeps, to be told in the same form.
    """
    cards = Cards(explanation, served)
    described = Description.of(explanation, outcomes=served.outcomes)
    return {
        "status": explanation.status,
        "wanted": wanted_text(explanation, served),
        "ways": cards.ways(),
        "kept": cards.kept(kept),
        "sure": list(described.sure),
        "limits": list(described.kept),
        "far": list(described.far),
    }


def wanted_text(explanation: Explanation, served: Served) -> str:
    """Return what the ways lead to: classes as people call them, or a range."""
    goal, classes = explanation.context.goal, served.explainer.classes_
    if are_numbers(served):
        return Outcomes(explanation, Templates.read(), served.outcomes).wanted()
    labels = explanation.labels if len(explanation) else classes[classes != explanation.label]
    labels = goal.wanted if isinstance(goal, OneOf) else labels
    return " or ".join(dict.fromkeys(label_text(label, served) for label in labels))


@dataclass(frozen=True)
class Cards:
    """The ways of an explanation, and rows that a person keeps, one card each."""

    explanation: Explanation
    served: Served

    def ways(self) -> list[dict[str, Any]]:
        """Return the ways, nearest first."""
        found = self.explanation
        rows = zip(found._matrix, found.labels, found.distances, strict=True)
        return [self._card(row, label, distance, leads=True) for row, label, distance in rows]

    def kept(self, rows: Sequence[Vector]) -> list[dict[str, Any]]:
        """Return the cards of other rows; the model is asked whether they lead to the goal."""
        if not len(rows):
            return []
        matrix: Matrix = np.array(rows)
        labels = ModelAdapter(self.served.model, self.served.table).labels(matrix)
        own = np.repeat(np.array([self.explanation.label]), len(labels))
        leads = self.explanation.context.goal.accepts(labels, own)
        distances = self.served.explainer.distance_.pairwise(
            self.explanation._input[None, :], matrix
        )[0]
        return [
            self._card(row, label, distance, leads=bool(lead))
            for row, label, distance, lead in zip(matrix, labels, distances, leads, strict=True)
        ]

    def _card(self, row: Vector, label: Any, distance: float, *, leads: bool) -> dict[str, Any]:
        found, templates = self.explanation, Templates.read()
        writer = ChangeWriter(found._table, templates)
        which = np.flatnonzero(changed(found._input, row))
        headline = f"{len(which)} changes"
        if not len(which):
            headline = "Nothing changes"
        elif len(which) <= MOST_IN_ONE_SENTENCE:
            headline = writer.sentence(found._input, row)
        return {
            "headline": headline,
            "changes": [self._change(at, row) for at in which.tolist()],
            "distance": float(distance),
            "told": label_text(label, self.served),
            "leads": leads,
        }

    def _change(self, at: int, row: Vector) -> dict[str, Any]:
        """Return one change: the old and the new value in words, and the new one to take over."""
        feature, before = self.explanation._table.features[at], self.explanation._input[at]
        then, now = Writer(Templates.read()).pair(feature, before, row[at])
        return {
            "name": feature.name,
            "label": capitalised(feature.label),
            "before": then,
            "after": now,
            "value": to_wire(feature, row[at]),
        }


def _position(label: Any, served: Served) -> int | None:
    """Return the position of a class; None if the model predicts numbers."""
    if are_numbers(served):
        return None
    known = [to_python(each) for each in served.explainer.classes_]
    return known.index(label) if label in known else None
