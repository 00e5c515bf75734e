"""Directions: whether people usually had to raise a feature, or to lower it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from counterset._base.arrays import Counts, Mask, Matrix, Moves, Vector
from counterset.tables.table import Table

__all__ = ["FARTHER", "directions_table", "find_directions"]

#: A direction is usual if a feature had to be moved in it in 4 of 5 cases, and at least 10 times:
#: where all of 10 agree, at least 7 of 10 cases do (95 % sure, by Clopper and Pearson).
USUAL_SHARE, LEAST = 0.8, 10
#: When options are chosen, one against the more frequent direction counts as a quarter farther.
#: People almost alike are then told the same direction more often, at no more distance.
FARTHER = 1.25
#: The training data supports a direction if it agrees with it, 95 % sure.
LEVEL = 0.05
#: How the directions are written.
NAMES = {2: "up", -2: "down"}


def find_directions(raised: Counts, lowered: Counts) -> Moves:
    """Return in which direction each feature helps.

    Parameters
    ----------
    raised, lowered
        How often each feature had to be raised, and how often lowered, ``(d,)``.

    Returns
    -------
    directions
        2 where a feature usually had to be raised, 1 where it had to be more often than lowered,
        -1 and -2 likewise where it had to be lowered; 0 where too few cases are known.

    Examples
    --------
    >>> find_directions(np.array([12, 0, 7, 50]), np.array([1, 40, 0, 49])).tolist()
    [2, -2, 0, 1]
    """
    count, most = raised + lowered, np.maximum(raised, lowered)
    strength = (count >= LEAST).astype(np.int8) + (most >= np.maximum(USUAL_SHARE * count, LEAST))
    directions: Moves = (np.sign(raised - lowered) * strength).astype(np.int8)
    return directions


def directions_table(
    raised: Counts, lowered: Counts, table: Table, matrix: Matrix, wanted: Mask
) -> pd.DataFrame:
    """Return one row for each ordered feature; see :meth:`DiverseExplainer.directions`.

    Parameters
    ----------
    raised, lowered
        How often each feature had to be raised, and how often lowered, ``(d,)``.
    matrix, wanted
        The training rows, and which of them have the wanted result.
    """
    matrix = table.without_special(matrix)
    directions = find_directions(raised, lowered)
    ordered = np.flatnonzero(table.ordered)
    higher, agrees = np.full(len(ordered), np.nan), np.zeros(len(ordered), dtype=bool)
    for row, at in enumerate(ordered):
        higher[row], agrees[row] = _share_higher(matrix[:, at], wanted, int(directions[at]))
    return pd.DataFrame(
        {
            "raised": raised[ordered],
            "lowered": lowered[ordered],
            "direction": [NAMES.get(direction, "") for direction in directions[ordered].tolist()],
            "higher": higher,
            "supported": agrees,
        },
        index=[table.features[at].name for at in ordered],
    )


def _share_higher(values: Vector, wanted: Mask, direction: int) -> tuple[float, bool]:
    """Return how often wanted rows have the higher value, and whether that supports a direction."""
    known = ~np.isnan(values)
    first, second = values[known & wanted], values[known & ~wanted]
    if not len(first) or not len(second):
        return np.nan, False
    test = mannwhitneyu(first, second)
    higher = float(test.statistic) / (len(first) * len(second))
    agrees = abs(direction) == 2 and (higher - 0.5) * direction > 0
    return higher, bool(agrees and test.pvalue < LEVEL)
