"""Nearest: options from what other people had to change, as seen from the input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset._base.checks import check_flag, check_type
from counterset.strategies.admissible import search_admissible
from counterset.strategies.batch import Chosen, QueryBatch, Requirements
from counterset.strategies.candidates import MovedRows, pick_diverse
from counterset.strategies.diversity import ALLOWED_DIVERSITY, AngleDiversity, Diversity
from counterset.strategies.line_search import ALLOWED_SEARCH, LineSearch, Search, minimise
from counterset.strategies.ranking import NearestCandidates
from counterset.strategies.recipes import (
    RUNGS,
    RecipeBook,
    Recipes,
    first_accepted,
    first_of_equal,
    in_parts,
)
from counterset.strategies.safe import Safe, check_safe, with_safe
from counterset.strategies.selection import Selector
from counterset.strategies.sparsity import pick_sparse, undo, undo_many
from counterset.strategies.strategy import Advance, Found, search_further, verified
from counterset.strategies.training import TrainingData
from counterset.tables.features.feature import Feature
from counterset.tables.table import changed

__all__ = ["Nearest", "NearestFinder", "check_search", "further_options", "left_out"]

#: The search starts from the nearest 60 options that work, or from 4 for each counterfactual asked
#: for: many turn out to be one when what they do not need is undone.
OPTIONS, OPTIONS_EACH = 60, 4
#: The search for safe options starts from the nearest 12 that pass the bar.
SAFE_OPTIONS = 12
#: Further options are looked for in 3 rounds, for inputs that have too few: each starts from what
#: the rounds before it found.
ROUNDS = 3
#: What is held of one input: 3000 rows that could be asked about, three times while they are
#: sorted.
ROWS_HELD = 3 * 3000
#: 48 rows are tried, in which each feature has its most likely value with a probability of 0.5, the
#: next one with 0.25, and so on. The draw is the same for all inputs.
TARGETS, SHARE, SEED = 48, 0.5, 0
#: At most 24 choices of what to leave out are tried for an input, the smallest first.
MOST_CHOICES = 24
#: Up to 1,152 rows are tried for one input.
ROWS_EACH = MOST_CHOICES * TARGETS


@dataclass(frozen=True)
class Nearest:
    """Options from what other people had to change, as seen from the input.

    ``fit`` learns recipes: what a few hundred training rows of each class had to change. An input
    tries all of them, nearest first. Each option that works is moved up to the decision boundary,
    and every change that it does not need is undone. The nearest options that differ from each
    other are returned. An option changes few features.

    Parameters
    ----------
    diversity : AngleDiversity, DistanceDiversity, FeatureDiversity, Diversity or None, \
default=AngleDiversity(0.5)
        When two options differ; None: whenever they are not equal.
    search : LineSearch or Search, default=LineSearch(0.001)
        How far options are moved towards the input.
    both_ways : bool, default=False
        Whether the options of one answer may move a feature in opposite directions, such as a
        higher amount in one option and a lower amount in another. Otherwise options against the
        direction in which a feature usually helps come last, too: see
        :meth:`DiverseExplainer.directions`.
    safe : int, default=0
        How many of the options are to be safe: likely to last where the model is trained again.
        A safe option is one that the model finds at least 75 % probable; of a model without
        probabilities, one that holds where a person lands up to 5 % of the usual range of each
        number away, see :class:`Margin`. Where fewer options are safe already, the nearest safe
        ones that differ from the others take the place of the farthest; where none differs, one
        that goes farther than another. They are at most twice as far as the farthest. The search
        asks the model about up to twice as many rows more.
    models : list of models, default=None
        Fitted models, such as ones that were trained again. An option is safe if at least 9 of 10
        of them agree that it leads to what is wanted.

    See Also
    --------
    Shared : Options from a list that people alike share.
    Paper : The paper's four steps.

    Examples
    --------
    >>> from counterset import DiverseExplainer, Nearest
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1, strategy=Nearest(), max_counterfactuals=2
    ... ).fit(X)
    >>> explainer.explain([0.25, 0.5]).changed.sum(axis=1)
    array([1, 1])
    """

    diversity: Diversity | None = AngleDiversity(0.5)
    search: Search = LineSearch(0.001)
    both_ways: bool = False
    safe: int = 0
    models: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        check_type("diversity", self.diversity, Diversity | None, ALLOWED_DIVERSITY)
        check_search(self.search)
        check_flag(self.both_ways, "both_ways")
        check_safe(self.safe, self.models)

    def learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        requirements: Requirements,
        advance: Advance,
    ) -> NearestFinder:
        """Learn the recipes of every class."""
        safe = Safe(self.safe, self.models)
        finder = NearestFinder(self.diversity, self.search, training, recipes, self.both_ways, safe)
        finder.prepare(requirements, advance)
        return finder


def check_search(search: Any) -> None:
    """Check that there is a search: recipes only work with one."""
    allowed = f"{ALLOWED_SEARCH} (strategy=Paper(search=None) reports training rows as they are)"
    check_type("search", search, Search, allowed)


@dataclass(frozen=True)
class NearestFinder:
    """Choose among the recipes that work for each input, as seen from the input.

    Attributes
    ----------
    diversity
        When two options differ.
    search
        Takes step 4, before options are compared: only then is it known how near they are.
    training
        The training rows.
    recipes
        What training rows had to change.
    both_ways
        Whether options of one input may move a feature in opposite directions.
    safe
        How many options are to be safe.
    """

    diversity: Diversity | None
    search: Search
    training: TrainingData
    recipes: RecipeBook
    both_ways: bool = False
    safe: Safe = Safe()

    def prepare(self, requirements: Requirements, advance: Advance = lambda _: None) -> None:
        """Learn the recipes of every class that does not have what is wanted."""
        self.training.usable(requirements.probability)  # asks for probabilities, once
        for count, _ in self.recipes.of_all_classes(requirements):
            advance(count)

    def find(self, batch: QueryBatch) -> Found:
        """Find options for every input."""
        batch = self.with_directions(batch)
        chosen = self.with_further(self.choose(batch), batch)
        chosen = self.with_safe(chosen, batch, self.selector(batch.requirements))
        return verified(chosen, batch, chosen.counts, sparse=True)

    def with_safe(self, chosen: Chosen, batch: QueryBatch, selector: Selector) -> Chosen:
        """Put safe options in the place of the farthest, if any are wanted."""
        return with_safe(chosen, batch, selector, self.safe, self._safe_options)

    def _safe_options(self, batch: QueryBatch) -> Chosen:
        """Return options that pass the bar of a batch, nearest first."""
        found = self._options(batch, SAFE_OPTIONS)
        empty = np.flatnonzero(found.counts == 0)
        if len(empty):
            found = found.with_others(self._from_rows(batch, empty))
        found = found.nearest_first(batch, self.training.pool.training_index)
        unusual = batch.unusual(found.rows, found.owners).any(axis=1)
        return found.take(np.lexsort((unusual, found.owners)))

    def with_directions(self, batch: QueryBatch) -> QueryBatch:
        """Return the batch with the directions that its options keep to."""
        return batch if self.both_ways else self.recipes.with_directions(batch)

    def numbers_held(self, batch: QueryBatch) -> int:
        """Return about how many numbers are held for one input."""
        return ROWS_HELD * int(batch.inputs.shape[1])

    def selector(self, requirements: Requirements) -> Selector:
        """Return what compares options, and takes steps 1 to 3 where recipes find too little."""
        return Selector(
            self.training.pool,
            self.training.usable(requirements.probability),
            NearestCandidates(1000),
            self.diversity,
            requirements.count,
            find_farthest=self.search.needs_farthest,
        )

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose options for every input; some inputs may have none."""
        selector = self.selector(batch.requirements)
        training_index = selector.pool.training_index
        found = self._options(batch).nearest_first(batch, training_index)
        chosen = pick_diverse(selector, found, batch)
        short = np.flatnonzero(chosen.counts < selector.most)
        if not len(short):
            return chosen
        more = self._from_rows(batch, short)
        both = Chosen.joined([chosen, more], more.n_candidates, more.farthest)
        both = self._with_complements(both, batch, short)
        return pick_diverse(selector, both.nearest_first(batch, training_index), batch)

    def with_further(self, chosen: Chosen, batch: QueryBatch) -> Chosen:
        """Look further for inputs that have nothing: beyond the cut, then among other rows."""
        selector = self.selector(batch.requirements)
        rows = MovedRows(selector, pick_sparse)
        return search_further(
            chosen,
            batch,
            selector,
            lambda part: self._settled(undo(rows.choose_beyond_the_cut(part), part), part),
            lambda part: self._settled(undo(search_admissible(selector, part), part), part),
        )

    def _with_complements(self, known: Chosen, batch: QueryBatch, inputs: Indices) -> Chosen:
        """Add options that do not contain a known one, as long as there are such."""
        for members, _, recipes in self.recipes.groups(batch):
            open_ = np.intersect1d(members, inputs)
            for _ in range(ROUNDS):
                parts = [known]
                for some in in_parts(open_, ROWS_EACH * recipes.features.shape[1]):
                    found = undo_many(further_options(known, recipes, batch, some), batch)
                    parts.append(self._settled(found, batch))
                known = Chosen.joined(parts, known.n_candidates, known.farthest)
                open_ = np.unique(np.concatenate([open_[:0], *(part.owners for part in parts[1:])]))
        return known

    def _from_rows(self, batch: QueryBatch, inputs: Indices) -> Chosen:
        """Choose among training rows for some of the inputs."""
        part = batch.take(inputs)
        rows = MovedRows(self.selector(batch.requirements), pick_sparse)
        found = self._settled(undo_many(rows.choose(part), part), part)
        return found.among(inputs, len(batch.inputs))

    def _options(self, batch: QueryBatch, most: int | None = None) -> Chosen:
        """Return the recipes that work for each input, with only the changes that are needed.

        Parameters
        ----------
        most
            From how many the search starts for one input; None: many.
        """
        most = max(OPTIONS, OPTIONS_EACH * batch.requirements.count) if most is None else most
        empty = Chosen.empty(batch)
        parts = [empty]
        for inputs, _, recipes in self.recipes.groups(batch):
            for some in in_parts(inputs, len(RUNGS) * recipes.features.size):
                parts.append(self._working(recipes, batch, some, most))
        found = Chosen.joined(parts, empty.n_candidates, _farthest(parts, empty.farthest))
        # Near the boundary most of many changes are needed, and each must be asked about.
        return self._settled(undo_many(found, batch), batch)

    def _working(self, recipes: Recipes, batch: QueryBatch, inputs: Indices, most: int) -> Chosen:
        """Return the nearest recipe that works for each set of features, nearest sets first."""
        rows, owners, which = _applied(recipes, batch, inputs)
        lengths = batch.lengths_of(rows, owners)
        unusual = batch.unusual(rows, owners).any(axis=1)
        order = np.lexsort((which, lengths, unusual, owners))
        rows, owners, which, lengths = rows[order], owners[order], which[order], lengths[order]
        kept, codes = first_accepted(batch.ask, rows, owners, _sets(batch, rows, owners), most)
        return replace(
            Chosen.empty(batch),
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
        found = undo(minimise(found, self.search, batch), batch)
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


def _farthest(parts: list[Chosen], empty: Vector) -> Vector:
    """Return the length of the farthest option of each input, which some searches need to know."""
    farthest = empty.copy()
    for part in parts:
        np.maximum.at(farthest, part.owners, part.lengths)
    return farthest


def _sets(batch: QueryBatch, rows: Matrix, owners: Indices) -> Indices:
    """Return a number for each row, equal where the same features of the same input change.

    Where directions matter, they change in the same direction.
    """
    sets, marks = owners, changed(batch.inputs[owners], rows)
    if batch.directions is not None:
        marks = np.hstack([marks, batch.moves(rows, owners) > 0])
    for bits in np.packbits(marks, axis=1).T:
        sets = pd.factorize(sets * 256 + bits)[0]
    return sets


# Further options, for inputs that have fewer than were asked for. A further option must not contain
# a known one, so it leaves out at least one feature of every known option. For each smallest choice
# of features to leave out, all others are set to values that recipes set them to, several at once.
# If that leads to the goal, a further option is part of it.


def further_options(known: Chosen, recipes: Recipes, batch: QueryBatch, inputs: Indices) -> Chosen:
    """Return for each choice of what to leave out the nearest row that leads to the goal.

    Such a row still holds changes that are not needed.

    Parameters
    ----------
    known
        The options that are known, of which no change can be undone.
    recipes
        Recipes for these inputs.
    inputs
        Which inputs to look at, ascending.
    """
    empty = Chosen.empty(batch)
    owners, kept_features = _choices(known, recipes, batch, inputs)
    if not len(owners):
        return empty
    x = batch.inputs[owners]
    targets = _targets(recipes, x, batch)
    count = len(targets)
    rows = np.where(kept_features[None], x[None], targets).reshape(-1, x.shape[1])
    owner_of_row, choice_of_row = np.tile(owners, count), np.tile(np.arange(len(owners)), count)
    rows = batch.onto_steps(rows, owner_of_row)
    lengths = batch.lengths_of(rows, owner_of_row)
    unusual = batch.unusual(rows, owner_of_row).any(axis=1)
    order = np.lexsort((lengths, unusual, choice_of_row))
    first, codes = first_accepted(batch.ask, rows[order], owner_of_row[order], choice_of_row[order])
    which = order[first]
    return replace(
        empty,
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
        sets = {frozenset(np.flatnonzero(row).tolist()) for row in differs[start:stop]}
        for choice in left_out(sets):
            if settable - choice:
                mask = np.zeros(differs.shape[1], dtype=bool)
                mask[list(choice)] = True
                owners.append(i)
                masks.append(mask)
    if not owners:
        return np.empty(0, dtype=np.intp), np.empty((0, differs.shape[1]), dtype=bool)
    return np.array(owners, dtype=np.intp), np.array(masks)


def left_out(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the smallest sets that have a feature of every set, fewest features first.

    Examples
    --------
    >>> [sorted(each) for each in left_out([frozenset({0, 1}), frozenset({0, 2})])]
    [[0], [1, 2]]
    """
    choices = [frozenset[int]()]
    for each in sorted(sets, key=lambda each: (len(each), sorted(each))):
        touched = {choice for choice in choices if choice & each}
        more = {choice | {f} for choice in choices if not choice & each for f in each}
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
    rises = recipes.raised[i] > recipes.lowered[i]
    inner = np.quantile(values, [0.75, 0.5, 0.25] if rises else [0.25, 0.5, 0.75])
    return np.array([high, *inner, low] if rises else [low, *inner, high])
