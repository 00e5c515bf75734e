"""Step 3 for answers that change few features.

The changes that a candidate does not need are undone before candidates are compared.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Indices
from counterset.steps.acceptance import Acceptance
from counterset.steps.choosers import pick_diverse
from counterset.steps.chosen import Chosen
from counterset.steps.paths import unit_costs
from counterset.steps.selection import Selector
from counterset.steps.sparsity import undo_needless_changes

__all__ = ["pick_sparse", "undo"]

#: Sparse answers start from the 15 nearest candidates of each input, and from every 16th training
#: row that is a candidate, up to 40 of those. Fewer find fewer different ways; more ask the model
#: more often than they find.
NEAREST, LANDMARK_STRIDE, MOST_LANDMARKS = 15, 16, 40


def pick_sparse(selector: Selector, found: Chosen, acceptance: Acceptance) -> Chosen:
    """Undo the changes that are not needed, then take step 3.

    The nearest candidates lead to the same few changes, so some from farther away are tried too.
    """
    training_index = selector.pool.training_index
    found = found.take(_near_and_far(found.owners, training_index[found.pool_index]))
    sparse = undo(found, acceptance).nearest_first(training_index)
    return pick_diverse(selector, sparse, acceptance)


def _near_and_far(owners: Indices, training_rows: Indices) -> Indices:
    """Pick candidates of each input: the nearest, and landmarks among all of them.

    Landmarks are fixed training rows, so that nearly equal inputs share them, and one more training
    row leaves them as they are; picking by rank would give each input its own.
    """
    landmark = training_rows % LANDMARK_STRIDE == 0
    first = np.searchsorted(owners, owners)
    rank = np.arange(len(owners)) - first
    landmarks_before = landmark.cumsum() - landmark
    landmark_rank = landmarks_before - landmarks_before[first]
    picked = (rank < NEAREST) | landmark & (landmark_rank < MOST_LANDMARKS)
    return np.flatnonzero(picked)


def undo(found: Chosen, acceptance: Acceptance) -> Chosen:
    """Undo the changes of candidates that are not needed, until no single one can be undone."""
    if not len(found.owners):
        return found
    starts, rules = acceptance.inputs[found.owners], acceptance.requirements.rules
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
