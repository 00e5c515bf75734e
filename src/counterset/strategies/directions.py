"""Directions: whether people usually had to raise a feature, or to lower it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from counterset._base.arrays import Counts, Mask, Moves, Vector
from counterset.strategies.training import TrainingData

__all__ = ["directions_table", "usual_directions"]

#: A direction is usual if a feature had to be moved in it in 4 of 5 cases, and at least 10 times:
#: where all of 10 agree, at least 7 of 10 cases do (95 % sure, by Clopper and Pearson).
USUAL_SHARE, USUAL_LEAST = 0.8, 10
#: The training data supports a direction if it agrees with it, 95 % sure.
LEVEL = 0.05
#: How the directions are written.
NAMES = {1: "up", -1: "down", 0: ""}


def usual_directions(raised: Counts, lowered: Counts) -> Moves:
    """Return in which direction each feature usually helps; 0 where neither is usual.

    Parameters
    ----------
    raised, lowered
        How often each feature had to be raised, and how often lowered, ``(d,)``.

    Examples
    --------
    >>> usual_directions(np.array([12, 0, 7, 50]), np.array([1, 40, 0, 50])).tolist()
    [1, -1, 0, 0]
    """
    most = np.maximum(raised, lowered)
    usual = most >= np.maximum(USUAL_SHARE * (raised + lowered), USUAL_LEAST)
    directions: Moves = (np.sign(raised - lowered) * usual).astype(np.int8)
    return directions


def directions_table(
    raised: Counts, lowered: Counts, training: TrainingData, wanted: Mask
) -> pd.DataFrame:
    """Return one row for each ordered feature; see :meth:`DiverseExplainer.directions`.

    Parameters
    ----------
    raised, lowered
        How often each feature had to be raised, and how often lowered, ``(d,)``.
    wanted
        Which rows of the pool have the wanted result.
    """
    table, matrix = training.table, training.table.without_special(training.pool.matrix)
    directions = usual_directions(raised, lowered)
    ordered = np.flatnonzero(table.ordered)
    higher, agrees = np.full(len(ordered), np.nan), np.zeros(len(ordered), dtype=bool)
    for row, at in enumerate(ordered):
        higher[row], agrees[row] = _share_higher(matrix[:, at], wanted, int(directions[at]))
    return pd.DataFrame(
        {
            "raised": raised[ordered],
            "lowered": lowered[ordered],
            "direction": [NAMES[direction] for direction in directions[ordered].tolist()],
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
    return higher, bool(test.pvalue < LEVEL and (higher - 0.5) * direction > 0)
