"""The order of a region's list: what is near and works for most rows of the region comes first."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.anchors.option_list import OptionList, on_rungs
from counterset.constraints.rules import Rules
from counterset.models.goals import Goal
from counterset.recipes.recipe import Recipes, ask_each_once
from counterset.steps.acceptance import REFUSED, Acceptance, Requirements
from counterset.steps.training import TrainingData

__all__ = ["in_order", "learn_list"]

#: The order of a list is learned from 12 rows of the region, and from 500 recipes: twice as many of
#: either take twice as long and change the figures by less than 5 %.
ROWS, MOST_RECIPES = 12, 500
#: The first 600 options are kept. Fewer run out for one input in five.
LENGTH = 600
#: Options are ordered by mean distance / share ** 0.5: one that works for a quarter of the rows
#: counts as twice as far as one that works for all. What just works here does not work next door.
POWER = 0.5


def learn_list(
    recipes: Recipes, rows: Indices, goal: Goal, rules: Rules, training: TrainingData
) -> OptionList:
    """Learn the list of a region.

    Parameters
    ----------
    recipes
        What options are made of.
    rows
        The rows of the region, as positions in the pool, that have not reached the goal.
    goal, rules
        What options must reach, and what they may change.
    """
    pool = training.pool
    start = _medians(training.table.without_special(pool.matrix[rows]))
    recipes = recipes.take(np.arange(min(len(recipes), MOST_RECIPES)))
    options = on_rungs(recipes, start, training.table)
    drawn = np.sort(rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]])
    acceptance = training.acceptance(drawn, Requirements(goal, None, rules, training.support))
    return options.take(in_order(_distances(options, acceptance))[:LENGTH])


def in_order(distances: Matrix) -> Indices:
    """Return the positions of options that work at all, the best for the rows of a region first.

    Parameters
    ----------
    distances
        How far each option is from each row, ``(rows, options)``; infinite where it does not work.

    Examples
    --------
    The second option is nearer on average, where it works; but that is for one row of four only:

    >>> in_order(np.array([[1.0, 0.6], [1.0, np.inf], [1.0, np.inf], [1.0, np.inf]]))
    array([0, 1])
    """
    works = np.isfinite(distances)
    count = works.sum(axis=0)
    mean = np.where(works, distances, 0.0).sum(axis=0) / np.maximum(count, 1)
    share = count / max(len(distances), 1)
    score = mean / np.maximum(share, np.finfo(np.float64).tiny) ** POWER
    order = np.argsort(np.where(count > 0, score, np.inf), kind="stable")
    working: Indices = order[count[order] > 0]
    return working


def _distances(options: OptionList, acceptance: Acceptance) -> Matrix:
    """Return how far each option is from each row, infinite where it does not work."""
    n, count = len(acceptance.inputs), len(options)
    distances = np.full((n, count), np.inf)
    if not n or not count:
        return distances
    rows = options.apply(acceptance.inputs, acceptance.distance.table)
    owners = np.repeat(np.arange(n), count)
    rows = acceptance.move_onto_constraints(rows.reshape(n * count, -1), owners)
    embedded = acceptance.distance.embed(rows)
    accepted = ask_each_once(rows, owners, acceptance) != REFUSED
    lengths = np.where(accepted, acceptance.lengths(embedded, owners), np.inf)
    return lengths.reshape(n, count)


def _medians(matrix: Matrix) -> Vector:
    """Return the median of each column's known values, NaN if it has none."""
    known = [column[~np.isnan(column)] for column in matrix.T]
    return np.array([np.median(each) if len(each) else np.nan for each in known])
