"""Reasons: the features that did most to lead to the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset._base.checks import numbers
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import InInterval

__all__ = ["MOST_REASONS", "Reason", "find_reasons"]

#: Four: more reasons than four are not likely to help (Regulation B, comment 9(b)(2)-1).
MOST_REASONS = 4
#: What does less than a tenth of the first reason is no principal reason.
LEAST_SHARE = 0.1


@dataclass(frozen=True)
class Reason:
    """One feature that did much to lead to the decision.

    Attributes
    ----------
    feature
        Its name.
    at
        Its position among the features.
    code, other_code
        The code of the person's own value, and of the option's value that does most alone.
    before, after
        For a model with probabilities: that of a wanted label for the input, and with this one
        value changed. For a regression: the two predictions. Else None.
    flips
        Whether that one change leads to what was wanted.
    count
        How many options change the feature.
    """

    feature: str
    at: int
    code: float
    other_code: float
    before: float | None
    after: float | None
    flips: bool
    count: int


def find_reasons(explanation: Explanation, most: int = MOST_REASONS) -> list[Reason]:
    """Find the principal reasons of a decision, the most important first.

    For every feature that an option changes, the model is asked about the input with only that
    feature at the option's value. How much that does is, for a model with ``predict_proba`` and
    ``classes_``, how much more probable the wanted labels become together; for a regression, how
    much nearer the prediction comes to the wanted interval; for other models, 1 if the label
    becomes a wanted one, else 0. A feature with several values among the options counts with the
    one that does most, the nearest option's if several do as much.

    Features are ordered by how much they do, then by how many options change them, then as their
    columns. Those that do less alone than a tenth of what the first does are left out, unless none
    does anything alone: then changes matter only together.

    The single changes are asked about, and not proposed: they need not keep relations.

    Parameters
    ----------
    explanation
        The explanation; it needs its model, see ``with_model``.
    most
        The most reasons to return.
    """
    if not len(explanation):
        return []
    context, coded = explanation.context, explanation.coded
    options, features = np.nonzero(explanation.changed)
    rows = np.repeat(coded.input[None, :], len(options) + 1, axis=0)
    rows[np.arange(len(options)), features] = coded.matrix[options, features]
    effect = _Effect.of(context, rows, explanation.label)
    reasons = []
    for at in np.unique(features):
        which = np.flatnonzero(features == at)
        best = which[np.argmax(effect.gain[which])]
        reason = Reason(
            feature=context.table.features[at].name,
            at=int(at),
            code=float(coded.input[at]),
            other_code=float(rows[best, at]),
            before=effect.figure(-1),
            after=effect.figure(best),
            flips=bool(effect.flips[best]),
            count=len(which),
        )
        reasons.append((float(effect.gain[best]), reason))
    order = sorted(reasons, key=lambda each: (-each[0], -each[1].count, each[1].at))
    largest = order[0][0]
    helpful = [reason for gain, reason in order if 0 < LEAST_SHARE * largest <= gain]
    return (helpful or [reason for _, reason in order])[:most]


@dataclass(frozen=True)
class _Effect:
    """What single changes do; the last row is the input itself.

    Attributes
    ----------
    gain
        How much each does, ``(n,)``.
    flips
        Which lead to a wanted label.
    figures
        The probability of the wanted labels, or the prediction, of each; None if there is none.
    """

    gain: Vector
    flips: Mask
    figures: Vector | None

    @classmethod
    def of(cls, context: Context, rows: Matrix, label: Any) -> _Effect:
        model, goal = context.model_to_ask(), context.goal
        labels = ModelAdapter(model, context.table).labels(rows)
        flips = goal.accepts(labels, _repeated(label, labels))
        if isinstance(goal, InInterval):
            predicted = labels.astype(np.float64)
            outside = np.maximum(np.maximum(goal.low - predicted, predicted - goal.high), 0.0)
            return cls(outside[-1] - outside, flips, predicted)
        probable = _probabilities(context, rows, label)
        if probable is None:
            return cls(flips.astype(np.float64), flips, None)
        return cls(probable - probable[-1], flips, probable)

    def figure(self, row: int | Indices) -> float | None:
        return None if self.figures is None else float(self.figures[row])


def _probabilities(context: Context, rows: Matrix, label: Any) -> Vector | None:
    """Return the probability of the wanted labels for each row, together; None: unknown."""
    model = context.model_to_ask()
    classes = getattr(model, "classes_", None)
    if classes is None or not callable(getattr(model, "predict_proba", None)):
        return None
    known = np.asarray(classes)
    answer = numbers(model.predict_proba(context.table.decode(rows)))
    if answer.shape != (len(rows), len(known)):
        return None
    wanted = context.goal.accepts(known, _repeated(label, known))
    probable: Vector = answer[:, wanted].sum(axis=1)
    return probable


def _repeated(label: Any, like: Labels) -> Labels:
    """Return a label as often as there are others."""
    repeated = np.empty(len(like), dtype=object)
    repeated[:] = [label] * len(like)
    return repeated if like.dtype == object else repeated.astype(like.dtype)
