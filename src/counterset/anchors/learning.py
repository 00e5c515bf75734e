"""The order of a region's list: sets of different recipes, the best for its rows first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.anchors.option_list import RUNGS, NothingMore, OptionList
from counterset.recipes.recipe import Recipes
from counterset.steps.acceptance import REFUSED, Acceptance, Requirements
from counterset.steps.selection import Selector
from counterset.steps.training import TrainingData
from counterset.tables.table import changed

__all__ = ["in_order", "in_sets", "learn_list"]

#: The order of a list is learned from 12 rows of the region, and from 500 recipes: twice as many of
#: either take twice as long and change the figures by less than 5 %.
ROWS, MOST_RECIPES = 12, 500
#: The first 150 recipes are kept, in four strengths each. Fewer run out for one input in five.
LENGTH = 150
#: Recipes are ordered by mean distance / share ** 0.7: one that works for a quarter of the rows
#: counts as 2.6 times as far as one that works for all. What just works here does not work next
#: door: with 0.5 the sets of near inputs differ more, with 1 options are farther away.
POWER = 0.7


def learn_list(
    recipes: Recipes,
    rows: Indices,
    centre: Indices,
    requirements: Requirements,
    training: TrainingData,
    selector: Selector,
) -> OptionList:
    """Learn the list of a region.

    Parameters
    ----------
    recipes
        What options are made of.
    rows, centre
        The rows of the region that have not reached the goal, and the row at its centre, as
        positions in the pool.
    requirements
        What options must reach, and what they may change.
    selector
        Says how many options are wanted, and when two of them differ.
    """
    pool = training.pool
    start = _medians(training.table.without_special(pool.matrix[rows]))
    options = OptionList(recipes.take(np.arange(min(len(recipes), MOST_RECIPES))), start)
    drawn = np.sort(rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]])
    acceptance = training.acceptance(drawn, requirements)
    options = options.take(in_order(_distances(options, acceptance)))
    sets = in_sets(options, training.acceptance(centre, requirements), selector)
    return options.take(sets[:LENGTH])


def in_order(distances: Matrix) -> Indices:
    """Return the positions of recipes that work at all, the best for the rows of a region first.

    Parameters
    ----------
    distances
        How far each recipe is from each row, ``(rows, recipes)``; infinite where it does not work.

    Examples
    --------
    The second recipe is nearer on average, where it works; but that is for one row of four only:

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


def in_sets(options: OptionList, centre: Acceptance, selector: Selector) -> Indices:
    """Return the recipes in sets: the first that differ as seen from the centre, and so on.

    Each set holds as many as an input is to get. Recipes of one set do not stand in each other's
    way, so that one that works no longer is lost alone.

    Parameters
    ----------
    centre
        The acceptance of one input, the row at the centre of the region.
    """
    rows = options.apply(centre.inputs, centre.distance.table)[0, RUNGS.index(1.0) :: len(RUNGS)]
    owners = np.zeros(len(rows), dtype=np.intp)
    rows = centre.onto_steps(rows, owners)
    # What changes nothing at the centre has no direction there: it comes last.
    moves = changed(centre.inputs[owners], rows).any(axis=1)
    left, parts = np.flatnonzero(moves), [np.empty(0, dtype=np.intp)]
    embedded = centre.distance.embed(rows)
    nearest = centre.lengths(embedded.take(left), owners[left]).min(initial=np.inf)
    selector = replace(selector, diversity=NothingMore(selector.diversity))
    while len(left) and sum(map(len, parts)) < LENGTH:
        view = selector.view(centre.embedded, embedded.take(left), np.array([nearest]))
        chosen = np.sort(selector.choose_from_own(view, owners[left]))
        parts.append(left[chosen])
        left = np.delete(left, chosen)
    return np.concatenate([*parts, left, np.flatnonzero(~moves)])


def _distances(options: OptionList, acceptance: Acceptance) -> Matrix:
    """Return how far each recipe is from each row on its nearest rung, infinite if none works."""
    n, count = len(acceptance.inputs), len(options)
    if not n or not count:
        return np.full((n, count), np.inf)
    rows = options.apply(acceptance.inputs, acceptance.distance.table)
    owners = np.repeat(np.arange(n), count * len(RUNGS))
    rows = acceptance.onto_steps(rows.reshape(len(owners), -1), owners)
    embedded = acceptance.distance.embed(rows)
    accepted = acceptance.ask(rows, owners) != REFUSED
    lengths = np.where(accepted, acceptance.lengths(embedded, owners), np.inf)
    nearest: Matrix = lengths.reshape(n, count, len(RUNGS)).min(axis=2)
    return nearest


def _medians(matrix: Matrix) -> Vector:
    """Return the median of each column's known values, NaN if it has none."""
    known = [column[~np.isnan(column)] for column in matrix.T]
    return np.array([np.median(each) if len(each) else np.nan for each in known])
