"""The list of a region: recipes in a fixed order, each in several strengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from counterset._base.arrays import Codes, Indices, Mask, Matrix, Stack, Vector
from counterset._base.lazy import Lazy, Memo
from counterset._base.progress import Progress
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.models.goals import AnyOther, Goal
from counterset.strategies.batch import REFUSED, Chosen, QueryBatch, Requirements
from counterset.strategies.choosers import MovedChooser, PoolChooser, pick_diverse, without_inputs
from counterset.strategies.diversity import Diversity, View
from counterset.strategies.line_search import LineSearch, Search
from counterset.strategies.nearest import RecipeChooser, with_recipes
from counterset.strategies.paper import Pipeline
from counterset.strategies.recipes import RecipeBook, Recipes, in_parts
from counterset.strategies.regions import Regions
from counterset.strategies.selection import Selector
from counterset.strategies.training import TrainingData
from counterset.tables.space import Embedded
from counterset.tables.table import Table, changed

__all__ = [
    "RUNGS",
    "Anchors",
    "ListChooser",
    "NoSuperset",
    "OptionList",
    "SetChooser",
    "ViewChooser",
    "anchored",
    "find_anchors",
    "in_order",
    "in_sets",
    "learn_list",
]

#: A recipe is tried in four strengths: its numbers are set to points at half the way from the
#: region's median to the recipe's values, to these, and beyond. An input takes the weakest that
#: works for it.
RUNGS = (0.5, 1.0, 1.5, 2.0)


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
    """Two options differ if another step says so, and neither is the other and something more."""

    inner: Diversity | None

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two options of each input differ enough."""
        x, options = view.x.coordinates, view.candidates.coordinates
        apart = options[a] != options[b]
        holds_first = ~(apart & (options[a] != x)).any(axis=1)
        holds_second = ~(apart & (options[b] != x)).any(axis=1)
        differ: Mask = ~(holds_first | holds_second)
        return differ if self.inner is None else differ & self.inner.differ(view, a, b)


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
    batch = training.batch(drawn, requirements)
    options = options.take(in_order(_distances(options, batch)))
    sets = in_sets(options, training.batch(centre, requirements), selector)
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


def in_sets(options: OptionList, centre: QueryBatch, selector: Selector) -> Indices:
    """Return the recipes in sets: the first that differ as seen from the centre, and so on.

    Each set holds as many as an input is to get. Recipes of one set do not stand in each other's
    way, so that one that works no longer is lost alone.

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


def _distances(options: OptionList, batch: QueryBatch) -> Matrix:
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


#: What was learned is kept for the last 10,000 regions and goals.
MOST_KEPT = 10_000


@dataclass
class Anchors:
    """The regions of inputs, and what is offered to each, found when it is first needed.

    What is found depends on the training data, the settings and the goal only, not on who asks
    first. Threads may share it.

    Attributes
    ----------
    regions
        The regions of each class.
    book
        The recipes that lists are made of, and the training data.
    """

    regions: Regions
    book: RecipeBook
    _lists: Memo[OptionList] = field(
        default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False
    )
    _sets: Memo[Chosen] = field(default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False)

    def __len__(self) -> int:
        return len(self.regions)

    def regions_of(self, batch: QueryBatch) -> Indices:
        """Return the region of each input, -1 for a class that no training row has."""
        return self.regions.of(batch.embedded, self._codes(batch))

    def radius(self, batch: QueryBatch) -> Vector:
        """Return how far each input is at least from the border of its region."""
        return self.regions.radius(batch.embedded, self._codes(batch))

    def set_of(self, region: int, chooser: PoolChooser, requirements: Requirements) -> Chosen:
        """Return what steps 1 to 3 choose for the row at the centre of a region."""
        selector, training = chooser.selector, self.book.training
        centre = self.regions.pool_index[[region]]

        def choose() -> Chosen:
            return chooser.choose(training.batch(centre, requirements))

        steps = repr(selector.cutoff), repr(selector.diversity), selector.limit
        wanted = repr(requirements.goal), requirements.probability, selector.find_farthest
        return self._sets.get((region, steps, wanted), choose)

    def lists(
        self, batch: QueryBatch, own_rules: Rules, selector: Selector
    ) -> Iterator[tuple[Indices, OptionList]]:
        """Yield the inputs of each region, and its list; inputs without a list are left out.

        Parameters
        ----------
        own_rules
            The explainer's own constraints. Lists for others are the same: what they forbid is
            passed over.
        selector
            Says how many options are wanted, and when two of them differ.
        """
        regions = self.regions_of(batch)
        for inputs, goal, recipes in self.book.groups(batch, own_rules):
            for region in np.unique(regions[inputs]):
                options = self._list(int(region), goal, recipes, own_rules, selector)
                if len(options):
                    yield inputs[regions[inputs] == region], options

    def _list(
        self, region: int, goal: Goal, recipes: Recipes, rules: Rules, selector: Selector
    ) -> OptionList:
        training = self.book.training

        def learn() -> OptionList:
            rows = np.flatnonzero(self._region_of_row == region)
            labels = training.classes.labels[training.pool.codes[rows]]
            rows = rows[~goal.accepts(labels, labels)]
            centre = self.regions.pool_index[[region]]
            wanted = Requirements(goal, None, rules, training.support)
            return learn_list(recipes, rows, centre, wanted, training, selector)

        step_3 = repr(selector.diversity), selector.limit
        return self._lists.get((region, repr(goal), rules.texts, step_3), learn)

    @cached_property
    def _region_of_row(self) -> Indices:
        """The region of each row of the pool."""
        pool = self.book.training.pool
        return self.regions.of(pool.embedded, self._known(pool.codes))

    def _codes(self, batch: QueryBatch) -> Codes:
        return self._known(batch.input_codes)

    def _known(self, codes: Codes) -> Codes:
        # A model that predicts numbers has one class for each of them: take them together.
        return np.zeros_like(codes) if self.book.training.classes.are_measurements else codes


#: With anchors, the line search is 16 times more accurate than asked for: that makes up for the
#: distance that choosing for a region costs.
CLOSING_IN = 16


def anchored(paper: Pipeline, anchors: Anchors, constraints: Constraints | None) -> Pipeline:
    """Return a pipeline whose choices are made for regions in place of inputs.

    Parameters
    ----------
    constraints
        The explainer's own, for which recipes are learned.
    """
    own_view = with_recipes(paper, anchors.book, constraints).chooser
    if isinstance(own_view, RecipeChooser):
        return replace(paper, chooser=ListChooser(anchors, own_view))
    search = _closed_in(paper.search)
    if isinstance(paper.chooser, PoolChooser):
        return replace(paper, chooser=SetChooser(anchors, paper.chooser), search=search)
    assert isinstance(paper.chooser, MovedChooser), "made by paper_pipeline"
    return replace(paper, chooser=ViewChooser(anchors, paper.chooser), search=search)


def _closed_in(search: Search | None) -> Search | None:
    if not isinstance(search, LineSearch):
        return search
    return replace(search, gamma=search.gamma / CLOSING_IN, first_crossing=True)


@dataclass(frozen=True)
class SetChooser:
    """Return each input what steps 1 to 3 choose for the centre of its region.

    Nothing here depends on the input but its region, so the same training rows are chosen for
    all inputs of a region.
    """

    anchors: Anchors
    from_pool: PoolChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.from_pool.selector

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose candidates for every input."""
        regions = self.anchors.regions_of(batch)
        strange = np.flatnonzero(regions < 0)
        parts = [Chosen.empty(batch)]
        n_candidates, farthest = parts[0].n_candidates.copy(), parts[0].farthest.copy()
        if len(strange):
            found = self.from_pool.choose(batch.take(strange))
            parts.append(found.among(strange, len(regions)))
            n_candidates[strange], farthest[strange] = found.n_candidates, found.farthest
        for region in np.unique(regions[regions >= 0]):
            inputs = np.flatnonzero(regions == region)
            of_centre = self.anchors.set_of(int(region), self.from_pool, batch.requirements)
            parts.append(_for_all(of_centre, inputs, batch))
            n_candidates[inputs] = of_centre.n_candidates[0]
            farthest[inputs] = of_centre.farthest[0]
        chosen = without_inputs(Chosen.joined(parts, n_candidates, farthest), batch)
        return replace(chosen, stable_radius=Lazy(lambda: self.anchors.radius(batch)))


def _for_all(of_centre: Chosen, inputs: Indices, batch: QueryBatch) -> Chosen:
    """Return the candidates of a centre as those of each input of its region."""
    count = len(of_centre.owners)
    chosen = of_centre.take(np.tile(np.arange(count), len(inputs)))
    owners = np.repeat(inputs, count)
    lengths = batch.lengths(chosen.embedded, owners)
    return replace(chosen, owners=owners, lengths=lengths)


@dataclass(frozen=True)
class ViewChooser:
    """Choose as steps 1 to 3 do, but rank candidates as seen from the centre of the region.

    Candidates are moved onto the constraints of the input and compared from there, so it is the
    list of candidates that is the same for all inputs of a region.
    """

    anchors: Anchors
    moved: MovedChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.moved.selector

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose candidates for every input."""
        chosen = replace(self.moved, viewpoints=self._centres).choose(batch)
        return replace(chosen, list_radius=Lazy(lambda: self.anchors.radius(batch)))

    def _centres(self, batch: QueryBatch) -> Embedded:
        """Return the centre of each input's region, or the input itself if it has none."""
        x, regions = batch.embedded, self.anchors.regions_of(batch)
        known, centres = (regions >= 0)[:, None], self.anchors.regions.centres.take(regions)
        coordinates = np.where(known, centres.coordinates, x.coordinates)
        if x.directions is x.coordinates:
            return Embedded(coordinates, coordinates)
        return Embedded(coordinates, np.where(known, centres.directions, x.directions))


@dataclass(frozen=True)
class ListChooser:
    """Let each input go down the list of its region, and take what works and differs.

    The order does not depend on the input. Where the list runs out, options are added that are
    chosen as seen from the input.
    """

    anchors: Anchors
    own_view: RecipeChooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.own_view.selector

    def choose(self, batch: QueryBatch) -> Chosen:
        """Choose options for every input."""
        parts = [_mark_shared(Chosen.empty(batch), True)]
        lists = self.anchors.lists(batch, self.own_view.own_rules, self.selector)
        for inputs, options in lists:
            for some in in_parts(inputs, len(RUNGS) * options.recipes.features.size):
                parts.append(_mark_shared(_working(options, batch, some), True))
        listed = Chosen.joined(parts, parts[0].n_candidates, parts[0].farthest)
        selector = replace(self.selector, diversity=NoSuperset(self.selector.diversity))
        chosen = pick_diverse(selector, listed, batch)
        short = np.flatnonzero(chosen.counts < self.selector.limit)
        if len(short):
            found = self.own_view.choose(batch.take(short))
            more = _mark_shared(found, False).among(short, len(batch.inputs))
            # The list comes first: joining keeps the order of the parts.
            both = Chosen.joined([chosen, more], more.n_candidates, more.farthest)
            filled = pick_diverse(selector, both, batch)
            # What is on the list may leave little that differs from it: then it helps nobody.
            alone = more.counts > filled.counts
            chosen = Chosen.joined(
                [
                    filled.take(np.flatnonzero(~alone[filled.owners])),
                    more.take(np.flatnonzero(alone[more.owners])),
                ],
                more.n_candidates,
                more.farthest,
            )
        return replace(chosen, list_radius=Lazy(lambda: self.anchors.radius(batch)))


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


def _mark_shared(chosen: Chosen, from_list: bool) -> Chosen:
    """Mark options as those of a list, or as found for the input alone."""
    return replace(chosen, from_list=np.full(len(chosen.owners), from_list))


#: Options that change few features: 16 regions of a class, whatever the data.
SPARSE_REGIONS = 16
#: Training rows as they are: from 16 regions on, twice as many each time, up to 4096, until 300
#: rows that are held out find options at most 1.08 times as far as the paper's selection does.
FEWEST, MOST, HELD_OUT, FARTHEST = 16, 4096, 300, 1.08


def find_anchors(
    count: int | Literal["auto"],
    paper: Pipeline,
    book: RecipeBook,
    constraints: Constraints | None,
    *,
    progress: bool,
) -> Anchors:
    """Divide the inputs of each class into regions, and find what is offered to each.

    Parameters
    ----------
    count
        How many regions to divide each class into.
    paper
        The paper's method, with the settings of the explainer.
    book
        The recipes and the training data.
    constraints
        The explainer's own.
    """
    training, pool = book.training, book.training.pool
    codes = np.zeros_like(pool.codes) if training.classes.are_measurements else pool.codes
    if count == "auto" and not paper.sparsify:
        count = _enough(paper, book, codes)
    wanted = SPARSE_REGIONS if count == "auto" else count
    anchors = Anchors(Regions.divide(pool, codes, wanted), book)
    rules = training.rules(constraints)
    # A model that predicts numbers has no lists yet: the wanted interval is not known.
    if paper.sparsify and paper.search is not None and not training.classes.are_measurements:
        with Progress(len(anchors), "anchors", shown=progress) as bar:
            centres = _acceptance(book, anchors.regions.pool_index, rules)
            for _ in anchors.lists(centres, rules, paper.selector):
                bar.advance()
    return anchors


def _enough(paper: Pipeline, book: RecipeBook, codes: Codes) -> int:
    """Return how many regions are enough for options to be about as near as the paper's."""
    pool = book.training.pool
    held_out = np.argsort(pool.lots, kind="stable")[: min(HELD_OUT, len(pool) // 2)]
    others = np.setdiff1d(np.arange(len(pool)), held_out)
    batch = _acceptance(book, np.sort(held_out), book.training.no_rules)
    of_paper = _mean_distance(paper, batch)
    best, nearest = FEWEST, np.inf
    count = FEWEST
    while count <= max(FEWEST, min(MOST, len(others) // 2)):
        anchors = Anchors(Regions.divide(pool, codes, count, others), book)
        distance = _mean_distance(anchored(paper, anchors, None), batch)
        if distance < nearest:
            best, nearest = count, distance
        if distance <= FARTHEST * of_paper:
            return count
        count *= 2
    return best


def _mean_distance(pipeline: Pipeline, batch: QueryBatch) -> float:
    """Return the mean distance of the counterfactuals of all inputs, each input counting once."""
    found = pipeline.run(batch).counterfactuals
    sums = np.bincount(found.owners, found.lengths, minlength=len(batch.inputs))
    some = found.counts > 0
    return float((sums[some] / found.counts[some]).mean()) if some.any() else np.inf


def _acceptance(book: RecipeBook, rows: Indices, rules: Rules) -> QueryBatch:
    """Return the batch of rows of the pool that want any other class."""
    requirements = Requirements(AnyOther(), None, rules, book.training.support)
    return book.training.batch(rows, requirements)
