"""KnownAnswers: what a model answered about which rows, so that each row is asked about once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from counterset._base.arrays import Indices, Matrix, rows_as_bytes
from counterset.models.answers import Answers

__all__ = ["KnownAnswers"]

#: Of a row of more than 64 numbers, its hash is kept in place of 8 bytes for each. Two of a million
#: rows have the same one with a probability of 3e-8; what is returned is asked about again.
LONG_ROW = 64 * 8


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
        self._position: dict[bytes | int, int] = {}
        self._answers: Answers | None = None

    def get(self, rows: Matrix, ask: Callable[[Matrix], Answers]) -> Answers:
        """Return the answer about each row, ``(n, d)``; ask about those that are not known."""
        known, new = len(self._position), dict[bytes | int, int]()
        get, add = self._position.get, new.setdefault
        at: Indices = np.array(
            [
                add(key, known + len(new)) if (found := get(key)) is None else found
                for key in _keys(rows)
            ],
            dtype=np.intp,
        )
        if new:
            unknown = np.flatnonzero(at >= known)
            first = unknown[np.unique(at[unknown], return_index=True)[1]]
            answers = ask(rows[first])
            old = self._answers
            self._answers = answers if old is None else Answers.joined([old, answers])
            self._position |= new
        assert self._answers is not None, "something was asked"
        return self._answers.take(at)


def _keys(rows: Matrix) -> Sequence[bytes | int]:
    """Return what tells rows from each other."""
    keys: list[bytes] = rows_as_bytes(rows).tolist()
    return keys if not keys or len(keys[0]) <= LONG_ROW else [hash(key) for key in keys]
