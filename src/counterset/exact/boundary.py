"""From a point on the boundary, as a solver's arithmetic has it, to one that really flips.

A solver works to a tolerance, and a boundary often belongs to the input's own class. So its point
is asked of the model together with points a little further on, and the nearest that flips is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.problem import Problem

__all__ = ["past_boundary"]

#: How much further, relative to the way that was gone: from rounding to a solver's tolerance.
STEPS = np.concatenate([[0.0], np.geomspace(1e-15, 1e-2, 40)])


def past_boundary(
    problem: Problem, point: Matrix, directions: Sequence[Matrix] = ()
) -> Matrix | None:
    """Give the nearest point to flip at or just past a boundary point, or None.

    Parameters
    ----------
    point
        Where a solver says the boundary is.
    directions
        Ways on from there, besides the way straight on from the input; each is taken in steps
        relative to its own length.
    """
    ways = [point - problem.x, *directions]
    rows = np.concatenate([point + STEPS[:, None] * way for way in ways])
    found = problem.nearest_flip(problem.admit(rows))
    if found is None:
        return None
    # Values that a solver moved by less than its tolerance were not meant to move.
    noise = np.abs(found - problem.x) < 1e-9 * np.maximum(1.0, np.abs(problem.x))
    cleaned = np.where(noise, problem.x, found)
    if noise.any() and problem.confirms(cleaned):
        return np.asarray(cleaned)
    return found
