"""Undo the changes that a counterfactual does not need, so that an answer names few things."""

from __future__ import annotations

import itertools

import numpy as np

from counterset._base.arrays import Codes, Indices, Mask, Matrix
from counterset.steps.acceptance import REFUSED, Ask
from counterset.tables.table import changed

__all__ = ["partly_undone", "undo_needless_changes"]


def undo_needless_changes(
    starts: Matrix, ends: Matrix, codes: Codes, units: list[Indices], costs: Matrix, ask: Ask
) -> tuple[Matrix, Codes]:
    """Return candidates of which no single change can be undone, and their class codes.

    Each round asks the model twice, about all candidates at once: which changes can be undone
    alone, and how many of those, the costliest first, can be undone together.

    Parameters
    ----------
    starts, ends
        The inputs and their candidates, ``(n, d)``.
    codes
        The class codes of the candidates.
    units
        The features, in groups that change together.
    costs
        The distance that changing each unit adds, ``(n, units)``.
    ask
        Tells which rows are acceptable in place of which candidates.
    """
    ends, codes = ends.copy(), codes.copy()
    open_ = np.arange(len(starts))
    while len(open_):
        undone = _undo_alone(starts, ends, units, ask, open_)
        open_ = open_[undone.any(axis=1)]
        undone = undone[undone.any(axis=1)]
        if len(open_):
            lists = _by_cost(undone, costs[open_])
            open_ = _undo_most(starts, ends, codes, units, ask, open_, lists)
    return ends, codes


def partly_undone(
    starts: Matrix, ends: Matrix, units: list[Indices], most: int
) -> tuple[Matrix, Indices]:
    """Return all rows that lie between inputs and candidates: some changes undone, some not.

    Parameters
    ----------
    most
        Candidates with more changes than this are left out.

    Returns
    -------
    rows, which
        The rows, and the candidate of each.

    Examples
    --------
    >>> starts, ends = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 2.0]])
    >>> partly_undone(starts, ends, [np.array([0]), np.array([1]), np.array([2])], most=4)
    (array([[0., 0., 2.],
           [1., 0., 0.]]), array([0, 0]))
    """
    rows, which = [], []
    differs = _changed_units(starts, ends, units)
    for i in np.flatnonzero(differs.sum(axis=1) <= most):
        own = np.flatnonzero(differs[i])
        for count in range(1, len(own)):
            for undone in itertools.combinations(own, count):
                row = ends[i].copy()
                for unit in undone:
                    row[units[unit]] = starts[i, units[unit]]
                rows.append(row)
                which.append(i)
    return np.array(rows).reshape(-1, ends.shape[1]), np.array(which, dtype=np.intp)


def _changed_units(starts: Matrix, ends: Matrix, units: list[Indices]) -> Mask:
    return np.column_stack([changed(starts[:, unit], ends[:, unit]).any(axis=1) for unit in units])


def _undo_alone(
    starts: Matrix, ends: Matrix, units: list[Indices], ask: Ask, which: Indices
) -> Mask:
    """Return which changes of which candidates can be undone alone."""
    differs = _changed_units(starts[which], ends[which], units)
    differs[differs.sum(axis=1) < 2] = False  # the last change is what makes it a counterfactual
    who, unit_of = np.nonzero(differs)
    can = np.zeros_like(differs)
    if len(who):
        rows = ends[which[who]]
        for i, unit in enumerate(units):
            at = np.ix_(unit_of == i, unit)
            rows[at] = starts[which[who]][at]
        can[who, unit_of] = ask(rows, which[who]) != REFUSED
    return can


def _by_cost(undone: Mask, costs: Matrix) -> list[Indices]:
    """List the units that can be undone, the costliest first, for each candidate."""
    order = np.argsort(-costs, axis=1, kind="stable")
    return [ranked[can[ranked]] for ranked, can in zip(order, undone, strict=True)]


def _undo_most(
    starts: Matrix,
    ends: Matrix,
    codes: Codes,
    units: list[Indices],
    ask: Ask,
    which: Indices,
    lists: list[Indices],
) -> Indices:
    """Undo as many listed changes of each candidate together as the model allows, in place.

    Returns the candidates that were changed.
    """
    owners = np.repeat(np.arange(len(which)), [len(listed) for listed in lists])
    rows = []
    for i, listed in zip(which, lists, strict=True):
        row = ends[i].copy()
        for unit in listed:
            row[units[unit]] = starts[i, units[unit]]
            rows.append(row.copy())
    tried = np.array(rows)
    replies = ask(tried, which[owners])
    accepted = np.flatnonzero(replies != REFUSED)
    # The last accepted row of each candidate undoes the most.
    owner, last = np.unique(owners[accepted][::-1], return_index=True)
    best = accepted[::-1][last]
    ends[which[owner]] = tried[best]
    codes[which[owner]] = replies[best]
    return which[owner]
