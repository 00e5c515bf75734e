"""Step 4 over chosen candidates: move each towards the input, up to the decision boundary."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Codes, Indices, Matrix
from counterset.steps.acceptance import Acceptance
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import Search, Segments
from counterset.steps.paths import Paths

__all__ = ["minimise", "minimise_from"]


def minimise(chosen: Chosen, search: Search, acceptance: Acceptance) -> Chosen:
    """Search from the inputs towards all candidates that are not settled."""
    open_ = np.flatnonzero(~chosen.settled)
    if not len(open_):
        return chosen
    moved = chosen.take(open_)
    coordinates = acceptance.embedded.coordinates[moved.owners]
    moved = minimise_from(moved, acceptance.inputs[moved.owners], coordinates, search, acceptance)
    if len(open_) == len(chosen.owners):
        return moved
    rows, codes = chosen.rows.copy(), chosen.codes.copy()
    rows[open_], codes[open_] = moved.rows, moved.codes
    return chosen.with_rows(rows, codes, acceptance)


def minimise_from(
    chosen: Chosen, starts: Matrix, coordinates: Matrix, search: Search, acceptance: Acceptance
) -> Chosen:
    """Search from rows that are not acceptable towards candidates that are.

    Parameters
    ----------
    starts, coordinates
        For each candidate, the row from which to search, and its coordinates in the space.
    """
    if not len(chosen.owners):
        return chosen
    distance, ends = acceptance.distance, chosen.embedded.coordinates
    paths = Paths(distance, starts, chosen.rows, (coordinates, ends), acceptance.requirements.rules)
    segments = Segments(
        paths.starts,
        paths.ends,
        distance.in_space.rowwise(coordinates, ends[:, None, :])[:, 0],
        chosen.codes,
        chosen.farthest[chosen.owners],
    )

    def ask(points: Matrix, which: Indices) -> Codes:
        return acceptance.ask(paths.rows(points, which), chosen.owners[which])

    done = search.search(segments, ask)
    rows = paths.rows(done.ends, np.arange(len(starts)))
    return chosen.with_rows(rows, done.codes, acceptance)
