"""Further ways, for inputs that have fewer than were asked for.

A further way is no known way and something more, so it leaves out at least one feature of every
known way. For each smallest choice of features to leave out, all others are set to values that
recipes set them to, several at once. If that leads to the goal, a further way is part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.strategies.batch import Chosen, QueryBatch
from counterset.strategies.choosers import Chooser, pick_diverse
from counterset.strategies.line_search import Search, minimise
from counterset.strategies.paper import Pipeline
from counterset.strategies.recipes import (
    RUNGS,
    RecipeBook,
    Recipes,
    first_accepted,
    first_of_equal,
    in_parts,
)
from counterset.strategies.selection import Selector
from counterset.strategies.sparsity import undo, undo_many
from counterset.tables.features.feature import Feature
from counterset.tables.table import changed

__all__ = ["ROWS_EACH", "RecipeChooser", "further_ways", "left_out", "with_recipes"]

#: 48 rows are tried, in which each feature has its most likely value with a probability of 0.5, the
#: next one with 0.25, and so on. The draw is the same for all inputs.
TARGETS, SHARE, SEED = 48, 0.5, 0
#: At most 24 choices of what to leave out are tried for an input, the smallest first.
MOST_CHOICES = 24
#: Up to 1,152 rows are tried for one input.
ROWS_EACH = MOST_CHOICES * TARGETS


def further_ways(known: Chosen, recipes: Recipes, batch: QueryBatch, inputs: Indices) -> Chosen:
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
    nothing = Chosen.empty(batch)
    owners, kept_features = _choices(known, recipes, batch, inputs)
    if not len(owners):
        return nothing
    x = batch.inputs[owners]
    targets = _targets(recipes, x, batch)
    count = len(targets)
    rows = np.where(kept_features[None], x[None], targets).reshape(-1, x.shape[1])
    owner_of_row, choice_of_row = np.tile(owners, count), np.tile(np.arange(len(owners)), count)
    rows = batch.onto_steps(rows, owner_of_row)
    lengths = batch.lengths_of(rows, owner_of_row)
    order = np.lexsort((lengths, choice_of_row))
    first, codes = first_accepted(batch.ask, rows[order], owner_of_row[order], choice_of_row[order])
    which = order[first]
    return replace(
        nothing,
        owners=owner_of_row[which],
        # Several recipes have a part in it: the first stands for them.
        pool_index=np.full(len(which), recipes.pool_index[0]),
        rows=rows[which],
        codes=codes,
        embedded=batch.distance.embed(rows[which]),
        lengths=lengths[which],
        settled=np.zeros(len(which), dtype=bool),
    )


def _choices(
    known: Chosen, recipes: Recipes, batch: QueryBatch, inputs: Indices
) -> tuple[Indices, Mask]:
    """Return what to leave out, and for which input, sorted by input."""
    settable = set(np.flatnonzero(recipes.features.any(axis=0)).tolist())
    differs = changed(batch.inputs[known.owners], known.rows)
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


def _targets(recipes: Recipes, x: Matrix, batch: QueryBatch) -> Stack:
    """Return rows in which every feature has a value that a recipe sets it to, ``(t, n, d)``."""
    table = batch.distance.table
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


#: The search starts from the nearest 60 ways that work, or from 4 for each counterfactual asked
#: for: many ways turn out to be one when what they do not need is undone.
WAYS, WAYS_EACH = 60, 4
#: Further ways are looked for in 3 rounds, for inputs that have too few: each starts from what the
#: rounds before it found.
ROUNDS = 3


def with_recipes(paper: Pipeline, book: RecipeBook, constraints: Constraints | None) -> Pipeline:
    """Return a pipeline that chooses among recipes first, if its answers are to be sparse.

    Without a search, answers have values of training rows: recipes have others.

    Parameters
    ----------
    constraints
        The explainer's own, for which recipes are learned.
    """
    if not paper.sparsify or paper.search is None:
        return paper
    own_rules = book.training.rules(constraints)
    return replace(paper, chooser=RecipeChooser(book, paper.search, own_rules, paper.chooser))


@dataclass(frozen=True)
class RecipeChooser:
    """Choose among the recipes that work for each input, as seen from the input.

    Attributes
    ----------
    book
        The recipes.
    search
        Takes step 4, before options are compared: only then is it known how near they are.
    own_rules
        The explainer's constraints, for which recipes are learned.
    otherwise
        Chooses among training rows, for inputs that have too few options then.
    """

    book: RecipeBook
    search: Search | None
    own_rules: Rules
    otherwise: Chooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.otherwise.selector

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose options for every input."""
        selector, training_index = self.selector, self.selector.pool.training_index
        chosen = pick_diverse(selector, self._options(batch).nearest_first(training_index), batch)
        short = np.flatnonzero(chosen.counts < selector.limit)
        if not len(short):
            return chosen
        more = self._otherwise(batch, short)
        both = Chosen.joined([chosen, more], more.n_candidates, more.farthest)
        both = self._with_further(both, batch, short)
        return pick_diverse(selector, both.nearest_first(training_index), batch)

    def _with_further(self, known: Chosen, batch: QueryBatch, inputs: Indices) -> Chosen:
        """Add ways that are no known way and something more, as long as there are such."""
        for members, _, recipes in self.book.groups(batch, self.own_rules):
            open_ = np.intersect1d(members, inputs)
            for _ in range(ROUNDS):
                parts = [known]
                for some in in_parts(open_, ROWS_EACH * recipes.features.shape[1]):
                    found = further_ways(known, recipes, batch, some)
                    parts.append(self._settled(found, batch))
                known = Chosen.joined(parts, known.n_candidates, known.farthest)
                open_ = np.unique(np.concatenate([open_[:0], *(part.owners for part in parts[1:])]))
        return known

    def _otherwise(self, batch: QueryBatch, inputs: Indices) -> Chosen:
        """Choose among training rows for some of the inputs."""
        part = batch.take(inputs)
        found = self._settled(self.otherwise.choose(part), part)
        return found.among(inputs, len(batch.inputs))

    def _options(self, batch: QueryBatch) -> Chosen:
        """Return the recipes that work for each input, with only the changes that are needed."""
        parts = [Chosen.empty(batch)]
        for inputs, _, recipes in self.book.groups(batch, self.own_rules):
            for some in in_parts(inputs, len(RUNGS) * recipes.features.size):
                parts.append(self._working(recipes, batch, some))
        nothing = parts[0]
        found = Chosen.joined(parts, nothing.n_candidates, _farthest(parts, nothing.farthest))
        return self._settled(found, batch)

    def _working(self, recipes: Recipes, batch: QueryBatch, inputs: Indices) -> Chosen:
        """Return the nearest recipe that works for each set of features, nearest sets first."""
        ways = max(WAYS, WAYS_EACH * self.selector.limit)
        rows, owners, which = _applied(recipes, batch, inputs)
        lengths = batch.lengths_of(rows, owners)
        order = np.lexsort((which, lengths, owners))
        rows, owners, which, lengths = rows[order], owners[order], which[order], lengths[order]
        kept, codes = first_accepted(batch.ask, rows, owners, _sets(batch, rows, owners), ways)
        nothing = Chosen.empty(batch)
        return replace(
            nothing,
            owners=owners[kept],
            pool_index=recipes.pool_index[which[kept]],
            rows=rows[kept],
            codes=codes,
            embedded=batch.distance.embed(rows[kept]),
            lengths=lengths[kept],
            settled=np.zeros(len(kept), dtype=bool),
        )

    def _settled(self, found: Chosen, batch: QueryBatch) -> Chosen:
        """Take step 4, and undo what is not needed."""
        # Near the boundary most of many changes are needed, and each must be asked about.
        found = undo_many(found, batch)
        if self.search is not None:
            found = minimise(found, self.search, batch)
        found = undo(found, batch)
        return replace(found, settled=np.ones(len(found.owners), dtype=bool))


def _applied(
    recipes: Recipes, batch: QueryBatch, inputs: Indices
) -> tuple[Matrix, Indices, Indices]:
    """Apply recipes to inputs within the constraints: different rows, their inputs and recipes."""
    rows, owners, which = recipes.apply(batch.inputs[inputs], batch.distance.table)
    owners = inputs[owners]
    rows = batch.onto_steps(rows, owners)
    kept = first_of_equal(np.concatenate([rows, owners[:, None]], axis=1))
    kept = kept[changed(batch.inputs[owners[kept]], rows[kept]).any(axis=1)]
    return rows[kept], owners[kept], which[kept]


def _farthest(parts: list[Chosen], nothing: Vector) -> Vector:
    """Return the length of the longest way of each input, which some searches need to know."""
    farthest = nothing.copy()
    for part in parts:
        np.maximum.at(farthest, part.owners, part.lengths)
    return farthest


def _sets(batch: QueryBatch, rows: Matrix, owners: Indices) -> Indices:
    """Return a number for each row, equal where the same features of the same input change."""
    sets = owners
    for bits in np.packbits(changed(batch.inputs[owners], rows), axis=1).T:
        sets = pd.factorize(sets * 256 + bits)[0]
    return sets
