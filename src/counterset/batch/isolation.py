"""Isolation: find the rows on which a function of many rows fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from counterset._base.arrays import Indices

__all__ = ["Isolated", "isolate"]

T = TypeVar("T")


@dataclass(frozen=True)
class Isolated(Generic[T]):
    """What a function returned for the rows on which it works, and why it fails on the others.

    Attributes
    ----------
    pieces
        Rows, ascending and each in one piece only, with what the function returned for them.
    errors
        From the rows on which it fails to the errors.
    """

    pieces: list[tuple[Indices, T]]
    errors: dict[int, Exception]


def isolate(
    rows: Indices, work: Callable[[Indices], T], errors: tuple[type[Exception], ...]
) -> Isolated[T]:
    """Call a function with all rows; where that fails, halve them until the culprits are alone.

    With one row of n that fails, the function is called about 2 log2(n) times.

    Parameters
    ----------
    rows
        The rows, ascending.
    work
        The function of some of the rows, at least one.
    errors
        What a single row can cause. Any other error is raised.

    Examples
    --------
    >>> def invert(rows):
    ...     return [1 / row for row in (rows - 3).tolist()]
    >>> found = isolate(np.arange(5), invert, (ZeroDivisionError,))
    >>> [rows.tolist() for rows, _ in found.pieces], found.errors
    ([[0, 1, 2], [4]], {3: ZeroDivisionError('division by zero')})
    """
    pieces: list[tuple[Indices, T]] = []
    failed: dict[int, Exception] = {}
    left = [rows] if len(rows) else []
    while left:
        piece = left.pop()
        try:
            pieces.append((piece, work(piece)))
        except errors as error:
            if len(piece) == 1:
                failed[int(piece[0])] = error
            else:
                left += reversed(np.array_split(piece, 2))
    return Isolated(pieces, failed)
