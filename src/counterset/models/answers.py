"""Answers: what a model answered, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Matrix, Vector, to_python, unmasked
from counterset._base.checkpoints import checkpoint
from counterset._base.checks import numbers
from counterset.exceptions import ModelError

__all__ = ["Answers", "ask_model", "read_confidence", "read_labels"]


def ask_model(function: Callable[[Any], Any], rows: Any) -> Any:
    """Call a function of a model about some rows, unless nobody waits for the answer any more."""
    checkpoint()
    return function(rows)


@dataclass(frozen=True)
class Answers:
    """The labels of some rows, and the model's probability of each, if it was asked for them.

    Attributes
    ----------
    labels
        Shape ``(n,)``.
    confidence
        The probability of each row's own label, ``(n,)``, or None.
    """

    labels: Labels
    confidence: Vector | None = None

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Return the answers about the rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        labels = [part.labels for part in parts]
        # numpy would turn numbers into text if a model answers now in one, then in the other.
        if len({each.dtype.kind in "SU" for each in labels}) > 1:
            labels = [each.astype(object) for each in labels]
        confidence = [part.confidence for part in parts if part.confidence is not None]
        return cls(np.concatenate(labels), np.concatenate(confidence) if confidence else None)

    def take(self, which: Indices) -> Answers:
        """Return the answers about some of the rows."""
        confidence = None if self.confidence is None else self.confidence[which]
        return Answers(self.labels[which], confidence)


def read_labels(answer: Any, n_rows: int) -> Labels:
    """Check that a model's answer is one label for each row, and return it as an array."""
    try:
        labels = unmasked(answer)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ModelError(
            f"The model's answer, a {type(answer).__name__}, cannot be read as an array: {error}. "
            f"It must be one label per row."
        ) from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2 and labels.shape[0] == n_rows:
        raise ModelError(
            f"The model returned {labels.shape[1]} values for each row (shape {labels.shape}), as "
            f"probabilities would be; one label per row is needed. Pass a function that takes the "
            f"class, such as lambda X: model.predict(X).argmax(axis=1)."
        )
    if labels.shape != (n_rows,):
        raise ModelError(
            f"The model must return one label per row: asked about {n_rows} rows, got an answer of "
            f"shape {labels.shape}. Return an array of one label per row."
        )
    if labels.dtype.kind not in "biuSU" and pd.isna(labels).any():
        raise ModelError(
            "The model returned a missing label (None or NaN). Every row needs a class."
        )
    try:
        set(labels.tolist() if labels.dtype == object else ())
    except TypeError as error:
        raise ModelError(
            f"The model returned labels that are not numbers, texts or booleans ({error}), such as "
            f"{labels[0]!r}. Return one class per row."
        ) from None
    return labels


def read_confidence(answer: Any, model: Any, labels: Labels) -> Vector:
    """Return the probability of each row's own label, from what ``predict_proba`` answered."""
    probabilities: Matrix = numbers(answer)
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ModelError(
            f"{type(model).__name__} has predict_proba, but no classes_ that say which column is "
            f"which class. Set its attribute classes_."
        )
    if probabilities.shape != (len(labels), len(classes)):
        raise ModelError(
            f"predict_proba must return one probability per row and class of classes_, got shape "
            f"{probabilities.shape} for {len(labels)} rows and {len(classes)} classes. Check "
            f"classes_."
        )
    column_of = {to_python(each): column for column, each in enumerate(classes)}
    codes, found = pd.factorize(labels)
    unknown = [to_python(each) for each in found if to_python(each) not in column_of]
    if unknown:
        raise ModelError(
            f"The model predicts {unknown[0]!r}, which is not one of its classes_ "
            f"{list(column_of)}, so its probability is not known. Set classes_ to all labels that "
            f"it predicts."
        )
    columns: Indices = np.array([column_of[to_python(each)] for each in found], dtype=np.intp)
    own: Vector = probabilities[np.arange(len(labels)), columns[codes]]
    return own
