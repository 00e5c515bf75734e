"""From a point on the decision boundary, as a solver computes it, to one that really flips.

A solver works to a tolerance, and points on the boundary often belong to the input's own class. So
the model classifies the solver's point and points a little further on, and the nearest that flips
is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.problem import Problem

__all__ = ["past_boundary"]

#: 41 steps past the point, relative to the move to it: from none, over a double's rounding (1e-15),
#: to far more than a solver's tolerance (a hundredth).
STEPS = np.concatenate([[0.0], np.geomspace(1e-15, 1e-2, 40)])
#: A solver's values within this of the input's, relative to its size, were not meant to change.
UNCHANGED = 1e-9


def past_boundary(
    problem: Problem, point: Vector, directions: Sequence[Vector] = ()
) -> Vector | None:
    """Find the nearest point that flips, at or just past a point of the boundary, or None.

    Parameters
    ----------
    point
        A point of the boundary, according to a solver.
    directions
        Further directions to try from there, besides the one from the input to the point. The
        steps are relative to the length of each. Values of categories and ranks stay as they are.
    """
    features = problem.model.table.features
    numbers = np.array([feature.values is None for feature in features])
    moves = [np.where(numbers, move, 0.0) for move in (point - problem.x, *directions)]
    relations = [each for each in problem.limits.relations if not each.equal]
    if relations:
        # A point on the line of a relation may have to leave it, besides passing the boundary.
        size = float(np.abs(moves[0]).max()) or 1.0
        inward = sum(
            -size * relation.weights / np.abs(relation.weights).max() for relation in relations
        )
        moves += [move + inward for move in (*moves, np.zeros_like(point))]
    rows = np.concatenate([point + STEPS[:, None] * move for move in moves])
    found = problem.nearest_flip(problem.project(rows))
    if found is None:
        return None
    unchanged = np.abs(found - problem.x) < UNCHANGED * np.maximum(1.0, np.abs(problem.x))
    cleaned = np.where(unchanged, problem.x, found)
    if unchanged.any() and problem.confirms(cleaned):
        return np.asarray(cleaned)
    return found
