"""Undo the changes that a counterfactual does not need, so that an answer names few things."""

from __future__ import annotations

import itertools

import numpy as np

from counterset._base.arrays import Codes, Indices, Mask, Matrix
from counterset.steps.acceptance import REFUSED, Ask
from counterset.tables.table import changed

__all__ = ["partly_undone", "undo_needless_changes"]


#: A candidate with more than 32 changes is undone by halves first: to ask about each change alone, in
#: every round, would take rows that grow with the square of the number of features.
MANY_CHANGES = 32


def undo_needless_changes(
    starts: Matrix, ends: Matrix, codes: Codes, units: list[Indices], costs: Matrix, ask: Ask
) -> tuple[Matrix, Codes]:
    """Return candidates of which no single change can be undone, and their class codes.

    Each round asks the model twice, about all candidates at once: which changes can be undone
    alone, and how many of those, the costliest first, can be undone together. The members of a
    group that changes together are tried alone too: what is left may be a combination that occurs.

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
    _undo_by_halves(starts, ends, codes, units, costs, ask)
    parts, costs = _with_members(units, costs)
    open_ = np.arange(len(starts))
    while len(open_):
        undone = _undo_alone(starts, ends, parts, ask, open_)
        open_ = open_[undone.any(axis=1)]
        undone = undone[undone.any(axis=1)]
        if len(open_):
            lists = _by_cost(undone, costs[open_])
            open_ = _undo_most(starts, ends, codes, parts, ask, open_, lists)
    return ends, codes


def _with_members(units: list[Indices], costs: Matrix) -> tuple[list[Indices], Matrix]:
    """Return what can be undone at once: each unit, and each member of a group, as costly as it."""
    grouped = [i for i, unit in enumerate(units) if len(unit) > 1]
    if not grouped:
        return units, costs
    members = [(i, units[i][[j]]) for i in grouped for j in range(len(units[i]))]
    of_group = [i for i, _ in members]
    return [*units, *(member for _, member in members)], np.hstack([costs, costs[:, of_group]])


def _undo_by_halves(
    starts: Matrix, ends: Matrix, codes: Codes, units: list[Indices], costs: Matrix, ask: Ask
) -> None:
    """Undo most of what candidates with many changes do not need, in place.

    The changes of each candidate are gone through once, the costliest first. As many as went well
    before are undone at once, then twice as many; if that is refused, half as many, down to a
    single change, which is needed then. That takes about ``2 log(d / needed)`` rows for each change
    that is needed, and no more than ``2 d`` rows.
    """
    many = np.flatnonzero(_changed_units(starts, ends, units).sum(axis=1) > MANY_CHANGES)
    unit_of = _unit_of(units)
    differs = _changed_units(starts[many], ends[many], units)
    # The place of each unit in the order of its candidate; what did not change comes last.
    order = np.argsort(np.where(differs, -costs[many], np.inf), axis=1, kind="stable")
    place_of_unit = np.empty_like(order)
    np.put_along_axis(place_of_unit, order, np.arange(order.shape[1])[None], axis=1)
    place = place_of_unit[:, unit_of]
    count = differs.sum(axis=1)
    next_, size = np.zeros_like(count), count // 2
    while len(open_ := np.flatnonzero(next_ < count)):
        which, first, last = many[open_], next_[open_], next_[open_] + size[open_]
        undone = (place[open_] >= first[:, None]) & (place[open_] < last[:, None])
        tried = np.where(undone, starts[which], ends[which])
        replies = ask(tried, which)
        went_well = replies != REFUSED
        ends[which[went_well]] = tried[went_well]
        codes[which[went_well]] = replies[went_well]
        is_needed = ~went_well & (size[open_] == 1)
        next_[open_] = np.where(went_well, last, first + is_needed)
        size[open_] = np.where(went_well, 2 * size[open_], np.maximum(size[open_] // 2, 1))
        size = np.minimum(size, np.maximum(count - next_, 1))


def partly_undone(starts: Matrix, ends: Matrix, most: int) -> tuple[Matrix, Indices]:
    """Return all rows that lie between inputs and candidates: some changes undone, some not.

    Parameters
    ----------
    most
        Candidates with more changed features than this are left out.

    Returns
    -------
    rows, which
        The rows, and the candidate of each.

    Examples
    --------
    >>> starts, ends = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 2.0]])
    >>> partly_undone(starts, ends, most=4)
    (array([[0., 0., 2.],
           [1., 0., 0.]]), array([0, 0]))
    """
    rows, which = [], []
    differs = changed(starts, ends)
    for i in np.flatnonzero(differs.sum(axis=1) <= most):
        own = np.flatnonzero(differs[i])
        for count in range(1, len(own)):
            for undone in itertools.combinations(own, count):
                row = ends[i].copy()
                row[list(undone)] = starts[i, list(undone)]
                rows.append(row)
                which.append(i)
    return np.array(rows).reshape(-1, ends.shape[1]), np.array(which, dtype=np.intp)


def _unit_of(units: list[Indices]) -> Indices:
    """Return the unit of each feature."""
    unit_of = np.empty(sum(map(len, units)), dtype=np.intp)
    for i, unit in enumerate(units):
        unit_of[unit] = i
    return unit_of


def _changed_units(starts: Matrix, ends: Matrix, units: list[Indices]) -> Mask:
    """Return which units have a feature that differs, ``(n, units)``."""
    differs = changed(starts, ends)[:, np.concatenate(units)]
    first = np.cumsum([0, *map(len, units[:-1])])
    return np.logical_or.reduceat(differs, first, axis=1)


def _undo_alone(
    starts: Matrix, ends: Matrix, parts: list[Indices], ask: Ask, which: Indices
) -> Mask:
    """Return which changes of which candidates can be undone alone."""
    differs = _changed_units(starts[which], ends[which], parts)
    members = np.zeros((len(parts), starts.shape[1]), dtype=bool)
    for i, part in enumerate(parts):
        members[i, part] = True
    who, part_of = np.nonzero(differs)
    rows = np.where(members[part_of], starts[which[who]], ends[which[who]])
    # The last change is what makes it a counterfactual.
    some = np.flatnonzero(changed(starts[which[who]], rows).any(axis=1))
    can = np.zeros_like(differs)
    if len(some):
        who, part_of, rows = who[some], part_of[some], rows[some]
        can[who, part_of] = ask(rows, which[who]) != REFUSED
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
