"""Shared: the input's own nearest options, then the list that people alike share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Stack, Vector
from counterset._base.checks import check_count, check_flag, check_type
from counterset._base.lazy import Lazy, Memo
from counterset.models.goals import Goal
from counterset.strategies.batch import REFUSED, Chosen, QueryBatch, Requirements
from counterset.strategies.candidates import pick_diverse
from counterset.strategies.diversity import ALLOWED_DIVERSITY, AngleDiversity, Diversity, View
from counterset.strategies.line_search import LineSearch, Search
from counterset.strategies.nearest import NearestFinder, check_search
from counterset.strategies.recipes import RecipeBook, Recipes, in_parts
from counterset.strategies.regions import Regions, check_regions
from counterset.strategies.safe import Safe, check_safe
from counterset.strategies.selection import Selector
from counterset.strategies.sparsity import undo
from counterset.strategies.strategy import Advance, Found, verified
from counterset.strategies.training import TrainingData
from counterset.tables.table import Table, changed

__all__ = [
    "NoSuperset",
    "OptionList",
    "Shared",
    "SharedFinder",
    "distances_of",
    "in_order",
    "in_sets",
    "learn_order",
]

#: ``regions="auto"``: one for each class. With 4, 8 or 16 the sets of near inputs differ as much on
#: the tables that this was chosen on, and each list is learned from fewer people.
REGIONS = 1
#: What was learned is kept for the last 10,000 regions and goals.
MOST_KEPT = 10_000
#: A recipe is tried in four strengths: its numbers are set to points at half the way from the
#: region's median to the recipe's values, to these, and beyond. An input takes the weakest that
#: works for it.
RUNGS = (0.5, 1.0, 1.5, 2.0)


#: The order of a list is learned from 24 rows of the region, and from 200 recipes: with 48 and 500
#: the sets of near inputs differ as much, and learning takes five times as long.
ROWS, MOST_RECIPES = 24, 200
#: Rows that have what an option asks for are looked for among 50,000 training rows.
MOST_SUPPORTING = 50_000
#: The first 60 recipes are kept, in four strengths each. Where they run out, own options follow.
LENGTH = 60
#: Recipes are ordered by mean distance / share ** 0.7: one that works for a quarter of the rows
#: counts as 2.6 times as far as one that works for all. What just works here does not work next
#: door: with 0.5 the sets of near inputs differ more, with 1 options are farther away.
POWER = 0.7


@dataclass(frozen=True)
class Shared:
    """The input's own nearest options first, then the list that people alike share.

    ``fit`` learns a list of options for each class of inputs. An input is offered its own nearest
    options, as :class:`Nearest` finds them. Then it goes down the list and takes what works for it,
    without changes that it does not need, if that differs from what it has and is no farther than
    the farthest option that :class:`Nearest` would offer. Where the list runs out, more of its own
    options follow. Everybody of the same class goes down the same list.

    Parameters
    ----------
    own : int, default=2
        How many of the input's own nearest options come before the list.
    regions : int or "auto", default="auto"
        How many regions each class of inputs is divided into, with a list each; ``"auto"``: one.
    diversity : AngleDiversity, DistanceDiversity, FeatureDiversity, Diversity or None, \
default=AngleDiversity(0.5)
        When two options differ; None: whenever neither contains the other.
    search : LineSearch or Search, default=LineSearch(0.001)
        How far the input's own options are moved towards it.
    both_ways : bool, default=False
        As for :class:`Nearest`.
    support : int, default=5
        How many training rows must have what an option of the list asks for, in all of its
        features: then the list shows the values of nobody in particular.
    safe, models
        As for :class:`Nearest`: safe options are the input's own.

    See Also
    --------
    Nearest : Options for each person on their own.

    Examples
    --------
    >>> from counterset import DiverseExplainer, Shared
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1, strategy=Shared(), max_counterfactuals=2
    ... ).fit(X)
    >>> len(explainer.explain([0.25, 0.5]))
    2
    """

    own: int = 2
    regions: int | Literal["auto"] = "auto"
    diversity: Diversity | None = AngleDiversity(0.5)
    search: Search = LineSearch(0.001)
    both_ways: bool = False
    support: int = 5
    safe: int = 0
    models: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        check_safe(self.safe, self.models)
        check_count(self.own, "own", least=0)
        check_count(self.support, "support")
        check_regions(self.regions)
        check_type("diversity", self.diversity, Diversity | None, ALLOWED_DIVERSITY)
        check_search(self.search)
        check_flag(self.both_ways, "both_ways")

    def learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        requirements: Requirements,
        advance: Advance,
    ) -> SharedFinder:
        """Divide the inputs into regions, and learn the list of each."""
        count = REGIONS if self.regions == "auto" else self.regions
        safe = Safe(self.safe, self.models)
        nearest = NearestFinder(
            self.diversity, self.search, training, recipes, self.both_ways, safe
        )
        regions = Regions.divide(training, count)
        finder = SharedFinder(self.own, nearest, regions, self.support)
        finder.prepare(requirements, advance)
        return finder


@dataclass(frozen=True)
class SharedFinder:
    """Let each input go down the list of its region, after its own nearest options.

    What is learned depends on the training data, the settings and the goal only, not on who asks
    first. Threads may share it.

    Attributes
    ----------
    own
        How many of the input's own nearest options come first.
    nearest
        Finds the input's own options.
    regions
        The regions of each class.
    support
        How many training rows must have what an option of a list asks for.
    """

    own: int
    nearest: NearestFinder
    regions: Regions
    support: int
    _ordered: Memo[OptionList] = field(
        default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False, compare=False
    )
    _lists: Memo[OptionList] = field(
        default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False, compare=False
    )

    def prepare(self, requirements: Requirements, advance: Advance = lambda _: None) -> None:
        """Learn the lists of all regions whose inputs do not have what is wanted."""
        training = self.nearest.training
        centres = training.without_goal(requirements.goal, self.regions.pool_index)
        for _ in self.lists(training.batch(centres, requirements)):
            advance(len(centres))

    def find(self, batch: QueryBatch) -> Found:
        """Find options for every input."""
        batch = self.nearest.with_directions(batch)
        chosen = self.nearest.with_further(self._choose(batch), batch)
        chosen = self.nearest.with_safe(chosen, batch, self._selector(batch.requirements))
        return verified(chosen, batch, chosen.counts, sparse=True)

    def numbers_held(self, batch: QueryBatch) -> int:
        """Return about how many numbers are held for one input."""
        return self.nearest.numbers_held(batch)

    def lists(self, batch: QueryBatch) -> Iterator[tuple[Indices, OptionList]]:
        """Yield the inputs of each region, and its list; inputs without a list are left out.

        Lists are learned for the explainer's own constraints: what others forbid is passed over.
        """
        regions, requirements = self.regions.of(batch), batch.requirements
        for inputs, goal, recipes in self.nearest.recipes.groups(batch):
            for region in np.unique(regions[inputs]):
                options = self._list(int(region), goal, recipes, requirements)
                if len(options):
                    yield inputs[regions[inputs] == region], options

    def _choose(self, batch: QueryBatch) -> Chosen:
        """Choose options for every input: its own first, then the list's, then more of its own."""
        selector = self._selector(batch.requirements)
        own = _mark_shared(self.nearest.choose(batch), False)
        rank = np.arange(len(own.owners)) - np.searchsorted(own.owners, own.owners)
        # Joining keeps the order of the parts for each input.
        parts = [
            own.take(np.flatnonzero(rank < self.own)),
            self._listed(batch, _farthest(own, selector.most)),
            own.take(np.flatnonzero(rank >= self.own)),
        ]
        both = Chosen.joined(parts, own.n_candidates, own.farthest)
        chosen = pick_diverse(selector, both, batch)
        # What is on the list may leave little that differs from it: then it helps nobody.
        alone = own.counts > chosen.counts
        parts = [
            chosen.take(np.flatnonzero(~alone[chosen.owners])),
            own.take(np.flatnonzero(alone[own.owners])),
        ]
        chosen = Chosen.joined(parts, own.n_candidates, own.farthest)
        return replace(chosen, list_radius=Lazy(lambda: self.regions.radius(batch)))

    def _selector(self, requirements: Requirements) -> Selector:
        """Return what compares options."""
        selector = self.nearest.selector(requirements)
        return replace(selector, diversity=NoSuperset(selector.diversity))

    def _listed(self, batch: QueryBatch, farthest: Vector) -> Chosen:
        """Return what works of the lists for each input, in the list's order.

        Parameters
        ----------
        farthest
            How far an option may be from each input.
        """
        parts = [Chosen.empty(batch)]
        for inputs, options in self.lists(batch):
            for some in in_parts(inputs, len(RUNGS) * options.recipes.features.size):
                parts.append(_working(options, batch, some))
        found = Chosen.joined(parts, parts[0].n_candidates, parts[0].farthest)
        found = undo(found, batch)
        near = np.flatnonzero(found.lengths <= farthest[found.owners])
        return _mark_shared(found.take(near), True)

    def _list(
        self, region: int, goal: Goal, recipes: Recipes, requirements: Requirements
    ) -> OptionList:
        training, rules = self.nearest.training, requirements.rules_to_learn_for
        selector = self.nearest.selector(requirements)

        wanted = Requirements(goal, None, rules, training.support)
        key = region, repr(goal), rules.texts

        def order() -> OptionList:
            rows = np.flatnonzero(self._region_of_row == region)
            labels = training.classes.labels[training.pool.codes[rows]]
            rows = rows[~goal.accepts(labels, labels)]
            return learn_order(recipes, rows, wanted, training, self.support)

        def choose() -> OptionList:
            # The model is asked for the order only: it is the same for any number of options.
            ordered = self._ordered.get(key, order)
            centre = training.batch(self.regions.pool_index[[region]], wanted)
            return ordered.take(in_sets(ordered, centre, selector)[:LENGTH])

        step_3 = repr(selector.diversity), selector.most
        return self._lists.get((key, step_3), choose)

    @cached_property
    def _region_of_row(self) -> Indices:
        """The region of each row of the pool."""
        pool = self.nearest.training.pool
        return self.regions.of_points(pool.embedded, pool.codes)


@dataclass(frozen=True)
class OptionList:
    """Recipes in the order in which inputs of a region try them.

    Attributes
    ----------
    recipes
        The features that each recipe sets, and the values.
    start
        The median of the region, ``(d,)``. A recipe whose value is above it asks for at least
        that value, one whose value is below it for at most that.
    """

    recipes: Recipes
    start: Vector

    def __len__(self) -> int:
        return len(self.recipes)

    def take(self, which: Indices) -> OptionList:
        """Return some of the recipes."""
        return OptionList(self.recipes.take(which), self.start)

    def support(self, rows: Matrix, table: Table) -> Counts:
        """Count the rows that have what each recipe asks for, in all of its features, ``(r,)``."""
        counts = np.empty(len(self), dtype=np.intp)
        for r, (features, values) in enumerate(
            zip(self.recipes.features, self.recipes.values, strict=True)
        ):
            has = np.ones(len(rows), dtype=bool)
            for i in np.flatnonzero(features).tolist():
                cells, value = rows[:, i], values[i]
                known = table.features[i].is_known(np.append(cells, value))
                asks = self.asks(i, value, table)
                moved = {0: cells == value, 1: cells >= value, -1: cells <= value}[asks]
                has &= (known[:-1] | (asks == 0)) & (moved | (np.isnan(cells) & np.isnan(value)))
            counts[r] = has.sum()
        return counts

    def asks(self, i: int, value: float, table: Table) -> int:
        """Return 1 for at least a value of a feature, -1 for at most, and 0 for that value only."""
        feature = table.features[i]
        known = bool(feature.is_known(np.array([value]))[0])
        if feature.is_category or not known or np.isnan(self.start[i]):
            return 0
        return 1 if value >= self.start[i] else -1

    def apply(self, x: Matrix, table: Table) -> Stack:
        """Apply every recipe to every input on every rung, ``(n, recipes * rungs, d)``.

        Who has at least what a recipe asks for keeps it. What is missing, or no number, is set.
        """
        numbers = np.array([not feature.is_category for feature in table.features])
        low, high = np.array([feature.usual for feature in table.features]).T
        values = np.repeat(self.recipes.values, len(RUNGS), axis=0)
        features = np.repeat(self.recipes.features, len(RUNGS), axis=0)
        rungs = np.tile(RUNGS, len(self))[:, None]
        # Nothing is set beyond the usual range; the values of the recipe itself are in use.
        there = np.clip(self.start + rungs * (values - self.start), low, high)
        asked = np.where(numbers & ~np.isnan(there) & (rungs != 1), there, values)
        own = table.without_special(x)[:, None, :]
        moved = np.where(values >= self.start, np.maximum(own, asked), np.minimum(own, asked))
        moved = np.where(numbers & ~np.isnan(own) & ~np.isnan(self.start), moved, asked)
        return np.where(features, moved, x[:, None, :])


@dataclass(frozen=True)
class NoSuperset:
    """Two options differ if another step says so, and neither contains the other."""

    inner: Diversity | None

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two options of each input differ enough."""
        x, options = view.x.coordinates, view.candidates.coordinates
        apart = options[a] != options[b]
        holds_first = ~(apart & (options[a] != x)).any(axis=1)
        holds_second = ~(apart & (options[b] != x)).any(axis=1)
        differ: Mask = ~(holds_first | holds_second)
        return differ if self.inner is None else differ & self.inner.differ(view, a, b)


def learn_order(
    recipes: Recipes,
    rows: Indices,
    requirements: Requirements,
    training: TrainingData,
    support: int = 1,
) -> OptionList:
    """Learn the options of a region's list, the best for its rows first.

    Parameters
    ----------
    recipes
        What options are made of.
    rows
        The rows of the region that have not reached the goal, as positions in the pool.
    requirements
        What options must reach, and what they may change.
    support
        How many training rows must have what an option asks for.
    """
    pool = training.pool
    start = _medians(training.table.without_special(pool.matrix[rows]))
    options = OptionList(recipes.take(np.arange(min(len(recipes), MOST_RECIPES))), start)
    if support > 1:
        some = np.sort(np.argsort(pool.lots, kind="stable")[:MOST_SUPPORTING])
        supported = options.support(pool.matrix[some], training.table) >= support
        options = options.take(np.flatnonzero(supported))
    drawn = np.sort(rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]])
    batch = training.batch(drawn, requirements)
    return options.take(in_order(distances_of(options, batch)))


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


def in_sets(options: OptionList, centre: QueryBatch, selector: Selector) -> Indices:
    """Return the recipes in sets: the first that differ as seen from the centre, and so on.

    Each set holds as many as an input is to get. Recipes of one set do not exclude each
    other, so that one that works no longer is lost alone.

    Parameters
    ----------
    centre
        The batch of one input, the row at the centre of the region.
    """
    rows = options.apply(centre.inputs, centre.distance.table)[0, RUNGS.index(1.0) :: len(RUNGS)]
    owners = np.zeros(len(rows), dtype=np.intp)
    rows = centre.onto_steps(rows, owners)
    # What changes nothing at the centre has no direction there: it comes last.
    moves = changed(centre.inputs[owners], rows).any(axis=1)
    left, parts = np.flatnonzero(moves), [np.empty(0, dtype=np.intp)]
    embedded = centre.distance.embed(rows)
    nearest = centre.lengths(embedded.take(left), owners[left]).min(initial=np.inf)
    selector = replace(selector, diversity=NoSuperset(selector.diversity))
    while len(left) and sum(map(len, parts)) < LENGTH:
        view = selector.view(centre.embedded, embedded.take(left), np.array([nearest]))
        chosen = np.sort(selector.choose_from_own(view, owners[left]))
        parts.append(left[chosen])
        left = np.delete(left, chosen)
    return np.concatenate([*parts, left, np.flatnonzero(~moves)])


def distances_of(options: OptionList, batch: QueryBatch) -> Matrix:
    """Return how far each recipe is from each row on its nearest rung, infinite if none works."""
    n, count = len(batch.inputs), len(options)
    if not n or not count:
        return np.full((n, count), np.inf)
    rows = options.apply(batch.inputs, batch.distance.table)
    owners = np.repeat(np.arange(n), count * len(RUNGS))
    rows = batch.onto_steps(rows.reshape(len(owners), -1), owners)
    embedded = batch.distance.embed(rows)
    accepted = batch.ask(rows, owners) != REFUSED
    lengths = np.where(accepted, batch.lengths(embedded, owners), np.inf)
    nearest: Matrix = lengths.reshape(n, count, len(RUNGS)).min(axis=2)
    return nearest


def _medians(matrix: Matrix) -> Vector:
    """Return the median of each column's known values, NaN if it has none."""
    known = [column[~np.isnan(column)] for column in matrix.T]
    return np.array([np.median(each) if len(each) else np.nan for each in known])


def _working(options: OptionList, batch: QueryBatch, inputs: Indices) -> Chosen:
    """Return the recipes that work for each input on their nearest rung, in the list's order."""
    rows = options.apply(batch.inputs[inputs], batch.distance.table)
    owners = np.repeat(inputs, rows.shape[1])
    rows = batch.onto_steps(rows.reshape(len(owners), -1), owners)
    codes = batch.ask(rows, owners)
    embedded = batch.distance.embed(rows)
    lengths = np.where(codes != REFUSED, batch.lengths(embedded, owners), np.inf)
    rungs = lengths.reshape(-1, len(RUNGS))
    works = np.flatnonzero(np.isfinite(rungs).any(axis=1))
    which = works * len(RUNGS) + rungs[works].argmin(axis=1)
    return replace(
        Chosen.empty(batch),
        owners=owners[which],
        pool_index=options.recipes.pool_index[works % len(options)],
        rows=rows[which],
        codes=codes[which],
        embedded=embedded.take(which),
        lengths=lengths[which],
        settled=np.ones(len(which), dtype=bool),
    )


def _farthest(own: Chosen, count: int) -> Vector:
    """Return the length of each input's farthest option, infinite where it has too few."""
    farthest = np.zeros(len(own.counts))
    np.maximum.at(farthest, own.owners, own.lengths)
    return np.where(own.counts < count, np.inf, farthest)


def _mark_shared(chosen: Chosen, from_list: bool) -> Chosen:
    """Mark options as those of a list, or as found for the input alone."""
    return replace(chosen, from_list=np.full(len(chosen.owners), from_list))
