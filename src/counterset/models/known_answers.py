"""KnownAnswers: what a model answered about which rows, so that each row is asked about once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterset._base.arrays import Indices, Labels, Matrix, rows_as_bytes
from counterset.models.answers import Answers

__all__ = ["KnownAnswers"]


class KnownAnswers:
    """The answers of a model, by row.

    Examples
    --------
    >>> known, asked = KnownAnswers(), []
    >>> def ask(rows):
    ...     asked.append(len(rows))
    ...     return Answers(rows[:, 0] > 0.5)
    >>> known.get(np.array([[0.0], [1.0], [1.0]]), ask).labels
    array([False,  True,  True])
    >>> known.get(np.array([[1.0], [2.0]]), ask).labels, asked
    (array([ True,  True]), [2, 1])
    """

    def __init__(self) -> None:
        self._position: dict[bytes, int] = {}
        self._answers: Answers | None = None

    def get(self, rows: Matrix, ask: Callable[[Matrix], Answers]) -> Answers:
        """Return the answer about each row, ``(n, d)``; ask about those that are not known."""
        known, new = len(self._position), dict[bytes, int]()
        get, add = self._position.get, new.setdefault
        at: Indices = np.array(
            [
                add(key, known + len(new)) if (found := get(key)) is None else found
                for key in rows_as_bytes(rows).tolist()
            ],
            dtype=np.intp,
        )
        if new:
            unknown = np.flatnonzero(at >= known)
            first = unknown[np.unique(at[unknown], return_index=True)[1]]
            self._add(ask(rows[first]))
            self._position |= new
        return _take(self._answers, at)

    def _add(self, new: Answers) -> None:
        old = self._answers
        if old is None:
            self._answers = new
            return
        confidence = new.confidence
        if old.confidence is not None and confidence is not None:
            confidence = np.concatenate([old.confidence, confidence])
        self._answers = Answers(_joined(old.labels, new.labels), confidence)


def _take(answers: Answers | None, at: Indices) -> Answers:
    assert answers is not None, "something was asked"
    confidence = answers.confidence
    return Answers(answers.labels[at], None if confidence is None else confidence[at])


def _joined(first: Labels, second: Labels) -> Labels:
    # numpy would turn numbers into text if a model answers now in one, then in the other.
    if (first.dtype.kind in "SU") != (second.dtype.kind in "SU"):
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
