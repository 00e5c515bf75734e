"""Step 4 over chosen candidates: move each towards the input, up to the decision boundary."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Codes, Indices, Matrix
from counterset.steps.acceptance import Acceptance
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import Search, Segments
from counterset.steps.paths import Paths

__all__ = ["minimise"]


def minimise(chosen: Chosen, search: Search, acceptance: Acceptance) -> Chosen:
    """Search from the inputs towards all candidates that are not settled."""
    open_ = np.flatnonzero(~chosen.settled)
    if not len(open_):
        return chosen
    everything = len(open_) == len(chosen.owners)
    moved = chosen if everything else chosen.take(open_)
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
