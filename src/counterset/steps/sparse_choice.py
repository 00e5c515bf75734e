"""Step 3 for answers that change few features.

The changes that a candidate does not need are undone before candidates are compared.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask
from counterset.steps.acceptance import REFUSED, UNASKED, Acceptance
from counterset.steps.choosers import pick_diverse
from counterset.steps.chosen import Chosen
from counterset.steps.paths import unit_costs
from counterset.steps.selection import Selector
from counterset.steps.sparsity import MANY_CHANGES, partly_undone, undo_needless_changes
from counterset.tables.table import changed

__all__ = ["pick_sparse", "undo", "undo_many"]

#: Sparse answers start from the 15 nearest candidates of each input, and from every 16th training
#: row that is a candidate, up to 40 of those. Fewer find fewer different ways; more ask the model
#: more often than they find.
NEAREST, LANDMARK_STRIDE, MOST_LANDMARKS = 15, 16, 40

#: For up to 4 inputs the model is asked about all ways to undo up to 6 changes at once, 62 rows at
#: most, instead of round after round: there a call costs more than the rows in it.
FEW_INPUTS, MOST_CHANGES = 4, 6


def pick_sparse(selector: Selector, found: Chosen, acceptance: Acceptance) -> Chosen:
    """Undo the changes that are not needed, then take step 3.

    The nearest candidates lead to the same few changes, so some from farther away are tried too.
    """
    training_index = selector.pool.training_index
    sparse = undo(_near_and_far(found, training_index, acceptance), acceptance)
    return pick_diverse(selector, sparse.nearest_first(training_index), acceptance)


def _near_and_far(found: Chosen, training_index: Indices, acceptance: Acceptance) -> Chosen:
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
        codes[unknown] = acceptance.ask(found.rows[unknown], found.owners[unknown])


def _first_ones(owners: Indices, landmark: Mask, open_: Mask, factor: int) -> Indices:
    """Return the nearest open candidates of each input, and its nearest open landmarks.

    Parameters
    ----------
    owners
        Which input each candidate belongs to, ascending; an input's nearest comes first.
    factor
        How many times the usual number to return.
    """
    rank, landmark_rank = (_count_before(owners, each) for each in (open_, open_ & landmark))
    nearest = rank < factor * NEAREST
    return np.flatnonzero(open_ & (nearest | landmark & (landmark_rank < factor * MOST_LANDMARKS)))


def _count_before(owners: Indices, counted: Mask) -> Counts:
    """Return how many counted candidates of the same input stand before each."""
    before: Counts = counted.cumsum() - counted
    return before - before[np.searchsorted(owners, owners)]


def undo_many(found: Chosen, acceptance: Acceptance) -> Chosen:
    """Undo what is not needed of candidates that have many changes."""
    differs = changed(acceptance.inputs[found.owners], found.rows)
    many = np.flatnonzero(differs.sum(axis=1) > MANY_CHANGES)
    if not len(many):
        return found
    rows, codes = found.rows.copy(), found.codes.copy()
    undone = undo(found.take(many), acceptance)
    rows[many], codes[many] = undone.rows, undone.codes
    return found.with_rows(rows, codes, acceptance)


def undo(found: Chosen, acceptance: Acceptance) -> Chosen:
    """Undo the changes of candidates that are not needed, until no single one can be undone."""
    if not len(found.owners):
        return found
    starts, rules = acceptance.inputs[found.owners], acceptance.requirements.rules
    if len(acceptance.inputs) <= FEW_INPUTS and acceptance.model.remembers:
        # All that the rounds below may ask, in one call.
        tried, which = partly_undone(starts, found.rows, MOST_CHANGES)
        if len(tried):
            acceptance.ask(tried, found.owners[which])
    from_, to = acceptance.embedded.coordinates[found.owners], found.embedded.coordinates
    rows, codes = undo_needless_changes(
        starts,
        found.rows,
        found.codes,
        rules.units,
        unit_costs(acceptance.distance, from_, to, rules),
        lambda tried, which: acceptance.ask(tried, found.owners[which]),
    )
    return found.with_rows(rows, codes, acceptance)
