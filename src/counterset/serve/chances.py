"""Chances: how probable the model finds what is wanted, of a case and of its options."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector, to_python
from counterset.explanations.explanation import Explanation
from counterset.explanations.json_values import to_json_number
from counterset.models.answers import ask_model
from counterset.models.goals import InInterval
from counterset.serve.served import Served

__all__ = ["chances_of", "probabilities_of"]

#: Two probabilities that differ by less are equal, but for rounding.
ROUNDING = 1e-9
#: The decision of a model with two classes changes at one half, unless it shows otherwise.
HALF = 0.5


def chances_of(explanation: Explanation, served: Served) -> dict[str, Any] | None:
    """Return how probable what is wanted is now, and with each option.

    Returns
    -------
    dict or None
        ``kind``: ``"probability"``, or ``"number"`` for a model that predicts numbers; ``now`` and
        ``then``: of the case and of each option; ``least`` and ``most``: between which ends what is
        wanted lies, None where there is no end; ``scale``: the ends of all that is possible. None
        if the model gives no probability.
    """
    labels = np.array([explanation.label, *explanation.labels.tolist()], dtype=object)
    goal = explanation.context.goal
    if isinstance(goal, InInterval):
        predicted = labels.astype(np.float64)
        known = np.asarray(served.explainer.classes_, dtype=np.float64)
        scale = [min(known.min(), predicted.min()), max(known.max(), predicted.max())]
        ends = [end if np.isfinite(end) else None for end in (goal.low, goal.high)]
        return _written("number", predicted, ends, scale)
    wanted = goal.accepts(labels, np.repeat(labels[:1], len(labels)))
    found = _of_wanted(explanation, wanted, served)
    if found is None:
        return None
    least = explanation.context.probability
    return _written("probability", found, [_threshold(found, wanted, least, served), None], [0, 1])


def probabilities_of(served: Served, matrix: Matrix) -> Matrix | None:
    """Return the model's probability of each class, ``(n, classes)``; None if it has none."""
    ask = getattr(served.model, "predict_proba", None)
    count = len(np.ravel(getattr(served.model, "classes_", ())))
    if not callable(ask) or not count:
        return None
    answer = np.asarray(ask_model(ask, served.table.decode(matrix)), dtype=np.float64)
    return answer if answer.shape == (len(matrix), count) else None


def _of_wanted(explanation: Explanation, wanted: Mask, served: Served) -> Vector | None:
    """Return the probability of all classes that are wanted, ``(1 + n,)``."""
    own = [explanation.probability, *(option.probability for option in explanation.options)]
    if any(each is None for each in own):
        return None
    # Of two classes, the probability of the one says that of the other.
    if _has_two_classes(served):
        confidence = np.array(own, dtype=np.float64)
        return np.where(wanted, confidence, 1 - confidence)
    coded = explanation.coded
    asked = probabilities_of(served, np.vstack([coded.input, coded.matrix]))
    if asked is None:
        return None
    classes = np.array([to_python(each) for each in np.ravel(served.model.classes_)], dtype=object)
    label = np.repeat(np.array([explanation.label], dtype=object), len(classes))
    return asked[:, explanation.context.goal.accepts(classes, label)].sum(axis=1)


def _threshold(found: Vector, wanted: Mask, least: float | None, served: Served) -> float | None:
    """Return from which probability on the goal is reached; None where there is no such one.

    A model may decide at another probability than one half, or among more than two classes: then
    no line is drawn rather than a wrong one.
    """
    if least is not None:
        return least
    if not _has_two_classes(served):
        return None
    agrees = np.where(wanted, found >= HALF - ROUNDING, found <= HALF + ROUNDING)
    return HALF if agrees.all() else None


def _has_two_classes(served: Served) -> bool:
    return len(np.ravel(getattr(served.model, "classes_", ()))) == 2


def _written(kind: str, values: Vector, ends: list[Any], scale: list[Any]) -> dict[str, Any]:
    now, *then = [to_json_number(float(each)) for each in values]
    least, most = (None if end is None else float(end) for end in ends)
    scale = [float(each) for each in scale]
    return {"kind": kind, "now": now, "then": then, "least": least, "most": most, "scale": scale}
