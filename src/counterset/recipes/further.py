"""Further ways, for inputs that have fewer than were asked for.

A further way is no known way and something more, so it leaves out at least one feature of every
known way. For each smallest choice of features to leave out, all others are set to values that
recipes set them to, several at once. If that leads to the goal, a further way is part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.recipes.first_accepted import first_accepted
from counterset.recipes.recipe import Recipes
from counterset.steps.acceptance import Acceptance
from counterset.steps.chosen import Chosen
from counterset.tables.features.feature import Feature
from counterset.tables.table import changed

__all__ = ["ROWS_EACH", "further_ways", "left_out"]

#: 48 rows are tried, in which each feature has its most likely value with a probability of 0.5, the
#: next one with 0.25, and so on. The draw is the same for all inputs.
TARGETS, SHARE, SEED = 48, 0.5, 0
#: At most 24 choices of what to leave out are tried for an input, the smallest first.
MOST_CHOICES = 24
#: Up to 1,152 rows are tried for one input.
ROWS_EACH = MOST_CHOICES * TARGETS


def further_ways(
    known: Chosen, recipes: Recipes, acceptance: Acceptance, inputs: Indices
) -> Chosen:
    """Return for each choice of what to leave out the nearest row that leads to the goal.

    Such a row still holds changes that are not needed.

    Parameters
    ----------
    known
        The ways that are known, of which no change can be undone.
    recipes
        Recipes for these inputs.
    inputs
        Which inputs to look at, ascending.
    """
    nothing = Chosen.nothing(acceptance)
    owners, kept_features = _choices(known, recipes, acceptance, inputs)
    if not len(owners):
        return nothing
    x = acceptance.inputs[owners]
    targets = _targets(recipes, x, acceptance)
    count = len(targets)
    rows = np.where(kept_features[None], x[None], targets).reshape(-1, x.shape[1])
    owner_of_row, choice_of_row = np.tile(owners, count), np.tile(np.arange(len(owners)), count)
    rows = acceptance.onto_steps(rows, owner_of_row)
    lengths = acceptance.lengths_of(rows, owner_of_row)
    order = np.lexsort((lengths, choice_of_row))
    first, codes = first_accepted(
        acceptance.ask, rows[order], owner_of_row[order], choice_of_row[order]
    )
    which = order[first]
    return replace(
        nothing,
        owners=owner_of_row[which],
        # Several recipes have a part in it: the first stands for them.
        pool_index=np.full(len(which), recipes.pool_index[0]),
        rows=rows[which],
        codes=codes,
        embedded=acceptance.distance.embed(rows[which]),
        lengths=lengths[which],
        settled=np.zeros(len(which), dtype=bool),
    )


def _choices(
    known: Chosen, recipes: Recipes, acceptance: Acceptance, inputs: Indices
) -> tuple[Indices, Mask]:
    """Return what to leave out, and for which input, sorted by input."""
    settable = set(np.flatnonzero(recipes.features.any(axis=0)).tolist())
    differs = changed(acceptance.inputs[known.owners], known.rows)
    bounds = np.searchsorted(known.owners, [inputs, inputs + 1])
    owners, masks = [], []
    for i, start, stop in zip(inputs, *bounds, strict=True):
        ways = {frozenset(np.flatnonzero(row).tolist()) for row in differs[start:stop]}
        for choice in left_out(ways):
            if settable - choice:
                mask = np.zeros(differs.shape[1], dtype=bool)
                mask[list(choice)] = True
                owners.append(i)
                masks.append(mask)
    if not owners:
        return np.empty(0, dtype=np.intp), np.empty((0, differs.shape[1]), dtype=bool)
    return np.array(owners, dtype=np.intp), np.array(masks)


def left_out(ways: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the smallest sets that have a feature of every way, fewest features first.

    Examples
    --------
    >>> [sorted(each) for each in left_out([frozenset({0, 1}), frozenset({0, 2})])]
    [[0], [1, 2]]
    """
    choices = [frozenset[int]()]
    for way in sorted(ways, key=lambda way: (len(way), sorted(way))):
        touched = {choice for choice in choices if choice & way}
        more = {choice | {f} for choice in choices if not choice & way for f in way}
        smallest = touched | {
            each for each in more if not any(one < each for one in touched | more)
        }
        choices = sorted(smallest, key=lambda each: (len(each), sorted(each)))[:MOST_CHOICES]
    return choices


def _targets(recipes: Recipes, x: Matrix, acceptance: Acceptance) -> Stack:
    """Return rows in which every feature has a value that a recipe sets it to, ``(t, n, d)``."""
    table = acceptance.distance.table
    random = np.random.default_rng(SEED)
    targets = np.repeat(x[None], TARGETS, axis=0)
    for i in np.flatnonzero(recipes.features.any(axis=0)).tolist():
        values = _values(recipes, i, table.features[i])
        picked = values[np.minimum(random.geometric(SHARE, TARGETS) - 1, len(values) - 1)]
        picked[0] = values[0]
        targets[:, :, i] = picked[:, None]
    return targets


def _values(recipes: Recipes, i: int, feature: Feature) -> Vector:
    """Return a few values of a feature, those first that are most likely to lead to the goal."""
    values, counts = np.unique(recipes.values[recipes.features[:, i], i], return_counts=True)
    if feature.values is not None:
        return values[np.argsort(-counts, kind="stable")]
    low, high = feature.usual
    rises = recipes.trend is None or recipes.trend[i] > 0
    inner = np.quantile(values, [0.75, 0.5, 0.25] if rises else [0.25, 0.5, 0.75])
    return np.array([high, *inner, low] if rises else [low, *inner, high])
