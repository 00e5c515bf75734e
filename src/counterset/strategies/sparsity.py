"""Undo the changes that a counterfactual does not need, so that an answer names few things."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from counterset._base.arrays import Codes, Indices, Mask, Matrix, count_before
from counterset.strategies.batch import REFUSED, UNASKED, Ask, Chosen, QueryBatch
from counterset.strategies.candidates import pick_diverse
from counterset.strategies.line_search import unit_costs
from counterset.strategies.selection import Selector
from counterset.tables.table import changed

__all__ = [
    "MANY_CHANGES",
    "partly_undone",
    "pick_sparse",
    "undo",
    "undo_many",
    "undo_needless_changes",
]

#: A candidate with more than 32 changes is undone by halves first: to ask about each change alone,
#: in every round, takes rows that grow with the square of the number of features.
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
    holds = np.zeros((len(parts), starts.shape[1]), dtype=bool)
    for i, part in enumerate(parts):
        holds[i, part] = True
    open_ = np.arange(len(starts))
    while len(open_):
        who, part_of = np.nonzero(_changed_units(starts[open_], ends[open_], parts))
        order = np.lexsort((part_of, -costs[open_[who], part_of], who))
        who, part_of = open_[who[order]], part_of[order]
        open_ = _undo_some(starts, ends, codes, who, holds[part_of], ask)
    return ends, codes


def _with_members(units: list[Indices], costs: Matrix) -> tuple[list[Indices], Matrix]:
    """Return what can be undone at once: each unit, and each member of a group, as costly as it."""
    members = [(i, feature) for i, unit in enumerate(units) if len(unit) > 1 for feature in unit]
    if not members:
        return units, costs
    groups = [i for i, _ in members]
    return [*units, *(np.array([at]) for _, at in members)], np.hstack([costs, costs[:, groups]])


def _undo_by_halves(
    starts: Matrix, ends: Matrix, codes: Codes, units: list[Indices], costs: Matrix, ask: Ask
) -> None:
    """Undo most of what candidates with many changes do not need, in place.

    The changes of a candidate, the costliest first, are tried in two halves, then what is left of
    them in four quarters, and so on (as delta debugging does). Each time, about two parts are left
    for each change that is needed, so that some ``4 log(d)`` rows are asked for each of those, and
    never more than ``4 d``.
    """
    differs = _changed_units(starts, ends, units)
    many = np.flatnonzero(differs.sum(axis=1) > MANY_CHANGES)
    if not len(many):
        return
    order = np.argsort(np.where(differs[many], -costs[many], np.inf), axis=1, kind="stable")
    place_of_unit = np.empty_like(order)
    np.put_along_axis(place_of_unit, order, np.arange(order.shape[1])[None], axis=1)
    place = place_of_unit[:, _unit_of(units)]
    size = 1 << (int(differs.sum(axis=1).max()) - 1).bit_length()
    while size > 2:
        size //= 2
        part = place // size
        left = np.zeros((len(many), part.max() + 1), dtype=bool)
        at, feature = np.nonzero(changed(starts[many], ends[many]))
        left[at, part[at, feature]] = True
        who, which = np.nonzero(left)
        _undo_some(starts, ends, codes, many[who], part[who] == which[:, None], ask)


def _undo_some(
    starts: Matrix, ends: Matrix, codes: Codes, who: Indices, undone: Mask, ask: Ask
) -> Indices:
    """Undo as many parts of each candidate as the model allows, in place.

    Parameters
    ----------
    who
        The candidate of each part, ascending; its parts come in the order to undo them in.
    undone
        The features of each part, ``(parts, d)``.

    Returns
    -------
    changed
        The candidates that were changed.
    """
    rows = np.where(undone, starts[who], ends[who])
    # The last change is what makes it a counterfactual.
    some = np.flatnonzero(changed(starts[who], rows).any(axis=1))
    if not len(some):
        return some
    alone: Indices = some[ask(rows[some], who[some]) != REFUSED]
    if not len(alone):
        return alone
    who, undone = who[alone], undone[alone]
    rows = np.where(_any_before(undone, who), starts[who], ends[who])
    replies = ask(rows, who)
    accepted = np.flatnonzero(replies != REFUSED)
    # The last accepted row of each candidate undoes the most.
    owner, last = np.unique(who[accepted][::-1], return_index=True)
    best = accepted[::-1][last]
    ends[owner], codes[owner] = rows[best], replies[best]
    return owner


def _any_before(undone: Mask, who: Indices) -> Mask:
    """Return what each part and those before it, of the same candidate, undo together."""
    count = np.cumsum(undone, axis=0, dtype=np.int32)
    first = np.searchsorted(who, who)
    before: Mask = count > (count[first] - undone[first])
    return before


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


#: Sparse answers start from the 15 nearest candidates of each input, and from every 16th training
#: row that is a candidate, up to 40 of those. Fewer find fewer different options; more ask the
#: model more often than they find.
NEAREST, LANDMARK_STRIDE, MOST_LANDMARKS = 15, 16, 40

#: For up to 4 inputs the model is asked about all ways to undo up to 6 changes at once, 62 rows at
#: most, instead of round after round: there a call costs more than the rows in it.
FEW_INPUTS, MOST_CHANGES = 4, 6


def pick_sparse(selector: Selector, found: Chosen, batch: QueryBatch) -> Chosen:
    """Undo the changes that are not needed, then take step 3.

    The nearest candidates lead to the same few changes, so some from farther away are tried too.
    """
    training_index = selector.pool.training_index
    sparse = undo(_near_and_far(found, training_index, batch), batch)
    return pick_diverse(selector, sparse.nearest_first(batch, training_index), batch)


def _near_and_far(found: Chosen, training_index: Indices, batch: QueryBatch) -> Chosen:
    """Pick acceptable candidates of each input: the nearest, and landmarks among all of them.

    Landmarks are fixed training rows, so that nearly equal inputs share them, and one more training
    row leaves them as they are; picking by rank would give each input its own.
    """
    landmark = training_index[found.pool_index] % LANDMARK_STRIDE == 0
    codes, factor = found.codes.copy(), 1
    while True:
        picked = _first_ones(found.owners, landmark, codes != REFUSED, 1)
        if (codes[picked] != UNASKED).all():
            return replace(found, codes=codes).take(picked)
        # Some will be refused: each round asks about twice as many, so that few rounds are needed.
        factor *= 2
        wider = _first_ones(found.owners, landmark, codes != REFUSED, factor)
        unknown = wider[codes[wider] == UNASKED]
        codes[unknown] = batch.ask(found.rows[unknown], found.owners[unknown])


def _first_ones(owners: Indices, landmark: Mask, open_: Mask, factor: int) -> Indices:
    """Return the nearest open candidates of each input, and its nearest open landmarks.

    Parameters
    ----------
    owners
        Which input each candidate belongs to, ascending; an input's nearest comes first.
    factor
        How many times the usual number to return.
    """
    rank, landmark_rank = (count_before(owners, each) for each in (open_, open_ & landmark))
    nearest = rank < factor * NEAREST
    return np.flatnonzero(open_ & (nearest | landmark & (landmark_rank < factor * MOST_LANDMARKS)))


def undo_many(found: Chosen, batch: QueryBatch) -> Chosen:
    """Undo what is not needed of candidates that have many changes."""
    differs = changed(batch.inputs[found.owners], found.rows)
    many = np.flatnonzero(differs.sum(axis=1) > MANY_CHANGES)
    if not len(many):
        return found
    rows, codes = found.rows.copy(), found.codes.copy()
    undone = undo(found.take(many), batch)
    rows[many], codes[many] = undone.rows, undone.codes
    return found.with_rows(rows, codes, batch)


def undo(found: Chosen, batch: QueryBatch) -> Chosen:
    """Undo the changes of candidates that are not needed, until no single one can be undone."""
    if not len(found.owners):
        return found
    starts, rules = batch.inputs[found.owners], batch.requirements.rules
    few = len(batch.inputs) <= FEW_INPUTS and not batch.requirements.bars
    if few and batch.model.remembers:
        # All that the rounds below may ask, in one call.
        tried, which = partly_undone(starts, found.rows, MOST_CHANGES)
        if len(tried):
            batch.ask(tried, found.owners[which])
    from_, to = batch.embedded.coordinates[found.owners], found.embedded.coordinates
    rows, codes = undo_needless_changes(
        starts,
        found.rows,
        found.codes,
        rules.units,
        unit_costs(batch.distance, from_, to, rules),
        lambda tried, which: batch.ask(tried, found.owners[which]),
    )
    return found.with_rows(rows, codes, batch)
