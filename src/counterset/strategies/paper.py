"""Paper: the four steps of the paper over training rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from counterset._base.arrays import Indices
from counterset._base.checks import check_type
from counterset._base.lazy import Lazy, Memo
from counterset.models.goals import AnyOther
from counterset.strategies.admissible import search_admissible
from counterset.strategies.batch import Chosen, QueryBatch, Requirements
from counterset.strategies.candidates import (
    MovedRows,
    choose_rows,
    own_viewpoints,
    pick_diverse,
    without_inputs,
)
from counterset.strategies.diversity import ALLOWED_DIVERSITY, AngleDiversity, Diversity
from counterset.strategies.line_search import ALLOWED_SEARCH, LineSearch, Search, minimise
from counterset.strategies.ranking import Cutoff, NearestCandidates
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.regions import Regions, check_regions
from counterset.strategies.selection import Selector
from counterset.strategies.strategy import Advance, Found, search_further, verified
from counterset.strategies.training import TrainingData
from counterset.tables.space import Embedded

__all__ = ["Paper", "PaperFinder"]

#: What is held of one input: with constraints, 1000 candidates before and after they are moved.
CANDIDATES_HELD = 2 * 1000
#: With regions, the line search is 16 times more accurate than asked for: that makes up for the
#: distance that choosing for a region costs.
CLOSING_IN = 16
#: ``regions="auto"``: from 16 regions on, twice as many each time, up to 4096, until 300 rows that
#: are held out find options at most 1.08 times as far as without regions.
FEWEST, MOST, HELD_OUT, FARTHEST = 16, 4096, 300, 1.08
#: The choices for the centres are kept for the last 64 goals.
MOST_GOALS = 64


@dataclass(frozen=True)
class Paper:
    """The four steps of the paper: options are training rows, moved towards the input.

    The training rows that the model classifies as wanted are ordered by distance (step 1), cut off
    (step 2) and filtered by diversity (step 3). Each is then moved towards the input, up to the
    decision boundary (step 4). Options change more features than those of :class:`Nearest`, of
    numeric data nearly all.

    Parameters
    ----------
    candidates : NearestCandidates, CandidatesWithin or Cutoff, default=NearestCandidates(1000)
        Step 2.
    diversity : AngleDiversity, DistanceDiversity, FeatureDiversity, Diversity or None, \
default=AngleDiversity(0.5)
        Step 3; None keeps the nearest.
    search : LineSearch, Search or None, default=LineSearch(0.1)
        Step 4; None reports the training rows themselves.
    regions : int, "auto" or None, default=None
        None: options are chosen for each input. A number: ``fit`` divides the inputs of each class
        into that many regions, and the rows are chosen for the centre of the input's region, so
        that nearly equal inputs move towards the same rows. ``"auto"``: as many regions as it takes
        for options to be about as near as without.

    See Also
    --------
    Nearest : The default strategy.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer, Paper
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1, strategy=Paper(), max_counterfactuals=2
    ... ).fit(X)
    >>> explainer.explain([0.25, 0.5]).labels.tolist()
    [True, True]
    """

    candidates: Cutoff = NearestCandidates(1000)
    diversity: Diversity | None = AngleDiversity(0.5)
    search: Search | None = LineSearch(0.1)
    regions: int | Literal["auto"] | None = None

    def __post_init__(self) -> None:
        allowed = "NearestCandidates, CandidatesWithin or an object with cut(ranking)"
        check_type("candidates", self.candidates, Cutoff, allowed)
        check_type("diversity", self.diversity, Diversity | None, ALLOWED_DIVERSITY)
        check_type("search", self.search, Search | None, f"{ALLOWED_SEARCH}, or None")
        if self.regions is not None:
            check_regions(self.regions)

    def learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        requirements: Requirements,
        advance: Advance,
    ) -> PaperFinder:
        """Divide the inputs into regions, if that is asked for."""
        regions = None
        if self.regions is not None:
            count = self.regions
            if count == "auto":
                count = _enough(self, training, requirements)
            regions = Regions.divide(training, count)
        finder = PaperFinder(self, training, regions)
        finder.prepare(requirements)
        advance(1)
        return finder


@dataclass(frozen=True)
class PaperFinder:
    """The paper's steps over the training rows.

    Attributes
    ----------
    settings
        The steps.
    training
        The training rows.
    regions
        For whose centres rows are chosen; None: they are chosen for each input.
    """

    settings: Paper
    training: TrainingData
    regions: Regions | None = None
    _sets: Memo[Chosen] = field(
        default_factory=lambda: Memo(MOST_GOALS), init=False, repr=False, compare=False
    )

    def prepare(self, requirements: Requirements) -> None:
        """Choose rows for the centres of all regions; without, for a training row of each class.

        What is computed of the training rows then, such as their points, is kept.
        """
        if self.regions is None:
            _, first = np.unique(self.training.pool.codes, return_index=True)
            rows = self.training.without_goal(requirements.goal, first)
            choose_rows(self.selector(requirements), self.training.batch(rows, requirements))
        elif not requirements.rules:
            self._of_centres(self.regions, requirements)

    def find(self, batch: QueryBatch) -> Found:
        """Take the four steps for every input."""
        chosen = self._chosen(batch)
        n_chosen, search = chosen.counts, self._search
        if search is not None:
            chosen = minimise(chosen, search, batch)
        return verified(chosen, batch, n_chosen)

    def numbers_held(self, batch: QueryBatch) -> int:
        """Return about how many numbers are held for one input."""
        if not batch.requirements.rules and not batch.requirements.bars:
            return 0
        coordinates = len(batch.distance.feature_of_coordinate)
        return CANDIDATES_HELD * int(batch.inputs.shape[1] + 2 * coordinates)

    def selector(self, requirements: Requirements) -> Selector:
        """Return what takes steps 1 to 3."""
        search = self.settings.search
        return Selector(
            self.training.pool,
            self.training.usable(requirements.probability),
            self.settings.candidates,
            self.settings.diversity,
            requirements.count,
            find_farthest=search is not None and search.needs_farthest,
        )

    @property
    def _search(self) -> Search | None:
        search = self.settings.search
        if self.regions is None or not isinstance(search, LineSearch):
            return search
        return replace(search, gamma=search.gamma / CLOSING_IN, first_crossing=True)

    def _chosen(self, batch: QueryBatch) -> Chosen:
        """Take steps 1 to 3."""
        selector, regions = self.selector(batch.requirements), self.regions
        if not batch.requirements.rules and not batch.requirements.bars:
            if regions is None:
                return choose_rows(selector, batch)
            return self._chosen_for_centres(regions, selector, batch)
        viewpoints = own_viewpoints if regions is None else partial(_centres, regions)
        chosen = MovedRows(selector, pick_diverse, viewpoints).choose(batch)
        if regions is not None:
            chosen = replace(chosen, list_radius=Lazy(lambda: regions.radius(batch)))
        searches = [MovedRows(selector, pick_diverse).choose_beyond_the_cut]
        if self.settings.search is not None:
            searches.append(partial(search_admissible, selector))
        return search_further(chosen, batch, selector, *searches)

    def _chosen_for_centres(
        self, regions: Regions, selector: Selector, batch: QueryBatch
    ) -> Chosen:
        """Return each input what steps 1 to 3 choose for the centre of its region.

        Nothing here depends on the input but its region, so the same training rows are chosen for
        all inputs of a region.
        """
        which = regions.of(batch)
        of_centres = self._of_centres(regions, batch.requirements)
        first = np.searchsorted(of_centres.owners, np.arange(len(regions) + 1))
        empty = Chosen.empty(batch)
        n_candidates, farthest = empty.n_candidates.copy(), empty.farthest.copy()
        parts, strange = [empty], np.flatnonzero(which < 0)
        if len(strange):  # of a class that no training row has
            found = choose_rows(selector, batch.take(strange))
            parts.append(found.among(strange, len(which)))
            n_candidates[strange], farthest[strange] = found.n_candidates, found.farthest
        for region in np.unique(which[which >= 0]):
            inputs = np.flatnonzero(which == region)
            chosen = of_centres.take(np.arange(first[region], first[region + 1]))
            parts.append(_for_all(chosen, inputs, batch))
            n_candidates[inputs] = of_centres.n_candidates[region]
            farthest[inputs] = of_centres.farthest[region]
        chosen = without_inputs(Chosen.joined(parts, n_candidates, farthest), batch)
        return replace(chosen, stable_radius=Lazy(lambda: regions.radius(batch)))

    def _of_centres(self, regions: Regions, requirements: Requirements) -> Chosen:
        """Return what steps 1 to 3 choose for the centres of all regions."""

        def choose() -> Chosen:
            centres = self.training.batch(regions.pool_index, requirements)
            return choose_rows(self.selector(requirements), centres)

        key = repr(requirements.goal), requirements.probability, requirements.count
        return self._sets.get(key, choose)


def _for_all(of_centre: Chosen, inputs: Indices, batch: QueryBatch) -> Chosen:
    """Return the candidates of a centre as those of each input of its region."""
    count = len(of_centre.owners)
    chosen = of_centre.take(np.tile(np.arange(count), len(inputs)))
    owners = np.repeat(inputs, count)
    lengths = batch.lengths(chosen.embedded, owners)
    return replace(chosen, owners=owners, lengths=lengths)


def _centres(regions: Regions, batch: QueryBatch) -> Embedded:
    """Return the centre of each input's region, or the input itself if it has none."""
    x, which = batch.embedded, regions.of(batch)
    known, centres = (which >= 0)[:, None], regions.centres.take(which)
    coordinates = np.where(known, centres.coordinates, x.coordinates)
    if x.directions is x.coordinates:
        return Embedded(coordinates, coordinates)
    return Embedded(coordinates, np.where(known, centres.directions, x.directions))


def _enough(settings: Paper, training: TrainingData, requirements: Requirements) -> int:
    """Return how many regions are enough for options to be about as near as without regions."""
    pool = training.pool
    held_out = np.argsort(pool.lots, kind="stable")[: min(HELD_OUT, len(pool) // 2)]
    others = np.setdiff1d(np.arange(len(pool)), held_out)
    anything = replace(requirements, goal=AnyOther(), probability=None, rules=training.no_rules)
    batch = training.batch(np.sort(held_out), anything)
    without = _mean_distance(PaperFinder(settings, training), batch)
    best, nearest = FEWEST, np.inf
    count = FEWEST
    while count <= max(FEWEST, min(MOST, len(others) // 2)):
        finder = PaperFinder(settings, training, Regions.divide(training, count, others))
        distance = _mean_distance(finder, batch)
        if distance < nearest:
            best, nearest = count, distance
        if distance <= FARTHEST * without:
            return count
        count *= 2
    return best


def _mean_distance(finder: PaperFinder, batch: QueryBatch) -> float:
    """Return the mean distance of the counterfactuals of all inputs, each input counting once."""
    found = finder.find(batch).counterfactuals
    sums = np.bincount(found.owners, found.lengths, minlength=len(batch.inputs))
    some = found.counts > 0
    return float((sums[some] / found.counts[some]).mean()) if some.any() else np.inf
