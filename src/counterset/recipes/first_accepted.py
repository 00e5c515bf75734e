"""Asking about rows in order, up to the first acceptable one of each group."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Codes, Counts, Indices, Matrix
from counterset.steps.acceptance import REFUSED, UNASKED, Ask

__all__ = ["first_accepted"]

#: The model is asked about 2000 rows at once, if there are as many: a call of a pipeline with
#: encoders costs as much as 2000 rows in it.
LEAST_ROWS = 2000


def first_accepted(
    ask: Ask, rows: Matrix, owners: Indices, groups: Indices, most: int | None = None
) -> tuple[Indices, Codes]:
    """Return the first acceptable row of each group, and the class codes of these.

    Of each group that has none yet, the next row is asked about, then the next two, the next four
    and so on: what comes after an acceptable row of the same group need not be known. Where these
    are few rows, those of the next rounds are asked about with them.

    Parameters
    ----------
    ask
        Tells which rows are acceptable for which inputs.
    rows, owners
        The rows in order, and the input of each, ascending.
    groups
        A number for each row, 0 and up; a group belongs to one input.
    most
        How many groups of each input to return, those whose rows come first; None: all.

    Returns
    -------
    first, codes
        The positions of the rows, ascending, and their class codes.

    Examples
    --------
    >>> def ask(rows, owners):
    ...     return np.where(rows[:, 0] > 1, 0, REFUSED)
    >>> rows, owners = np.array([[1.0], [2.0], [3.0], [0.0]]), np.zeros(4, dtype=np.intp)
    >>> first_accepted(ask, rows, owners, groups=np.array([0, 1, 0, 2]))
    (array([1, 2]), array([0, 0]))
    """
    codes = np.full(len(rows), UNASKED, dtype=np.intp)
    first, open_ = np.empty(0, dtype=np.intp), np.ones(len(rows), dtype=bool)
    position, nth = np.arange(len(rows)), _count_before(groups)
    upto = 1
    while left := int(open_.sum()):
        now = np.flatnonzero(open_ & (nth < upto))
        if len(now) < min(left, LEAST_ROWS):
            upto = 2 * upto + 1
            continue
        codes[now] = ask(rows[now], owners[now])
        accepted = np.flatnonzero((codes != REFUSED) & (codes != UNASKED))
        first = np.sort(accepted[np.unique(groups[accepted], return_index=True)[1]])
        has_one = np.zeros(groups.max() + 1, dtype=bool)
        has_one[groups[first]] = True
        open_ &= (codes == UNASKED) & ~has_one[groups]
        if most is not None:
            rank = np.arange(len(first)) - np.searchsorted(owners[first], owners[first])
            end = np.full(owners[-1] + 1, len(rows))
            last = first[rank == most - 1]
            end[owners[last]] = last
            open_ &= position < end[owners]
            first = first[rank < most]
    return first, codes[first]


def _count_before(groups: Indices) -> Counts:
    """Return how many rows of the same group stand before each."""
    order = np.argsort(groups, kind="stable")
    count = np.empty_like(groups)
    count[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return count
