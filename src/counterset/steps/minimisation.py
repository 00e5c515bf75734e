"""Step 4 over chosen candidates: move each towards the input, up to the decision boundary."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Codes, Indices, Matrix
from counterset.steps.acceptance import REFUSED, Acceptance
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import Search, Segments
from counterset.steps.paths import Paths
from counterset.tables.table import changed

__all__ = ["minimise"]


def minimise(chosen: Chosen, search: Search, acceptance: Acceptance) -> Chosen:
    """Search from the inputs towards all candidates that are not settled."""
    open_ = np.flatnonzero(~chosen.settled)
    if not len(open_):
        return chosen
    everything = len(open_) == len(chosen.owners)
    moved = on_steps(chosen if everything else chosen.take(open_), acceptance)
    starts, owners = acceptance.inputs[moved.owners], moved.owners
    coordinates = acceptance.embedded.coordinates[owners], moved.embedded.coordinates
    rules = acceptance.requirements.rules
    paths = Paths(acceptance.distance, starts, moved.rows, coordinates, rules)
    segments = Segments(
        paths.starts, paths.ends, moved.lengths, moved.codes, moved.farthest[owners]
    )

    def ask(points: Matrix, which: Indices) -> Codes:
        return acceptance.ask(paths.rows(points, which), owners[which])

    done = search.search(segments, ask)
    rows, codes = paths.rows(done.ends, np.arange(len(owners))), done.codes
    if not everything:
        found, rows, codes = (rows, codes), chosen.rows.copy(), chosen.codes.copy()
        rows[open_], codes[open_] = found
    return chosen.with_rows(rows, codes, acceptance)


def on_steps(chosen: Chosen, acceptance: Acceptance) -> Chosen:
    """Put candidates onto the steps of the features, where the model still accepts them there.

    Candidates are training rows, which have any values. What is proposed to a person should have
    values that people speak of.
    """
    if acceptance.distance.table.is_plain:
        return chosen
    owners, codes = chosen.owners, chosen.codes.copy()
    rows, left = chosen.rows.copy(), np.arange(len(owners))
    # Rounded away from the input, a value stays on the side of the boundary where it was.
    for away in (False, True):
        proposed = acceptance.onto_steps(chosen.rows[left], owners[left], away=away)
        apart = changed(proposed, chosen.rows[left]).any(axis=1)
        left, proposed = left[apart], proposed[apart]
        if not len(left):
            break
        replies = acceptance.ask(proposed, owners[left])
        accepted = replies != REFUSED
        rows[left[accepted]], codes[left[accepted]] = proposed[accepted], replies[accepted]
        left = left[~accepted]
    return chosen.with_rows(rows, codes, acceptance)
