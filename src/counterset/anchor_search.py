"""Find the anchors of each class: how many, and how their sets are to be chosen.

Few anchors make large regions, and explanations that stay the same for long; but the farther an
input is from its anchor, the farther it is from the examples chosen there. So for each class some
training rows are held out, anchors are found among the others, in growing numbers, and the
held-out rows are explained both ways. The first number will do that costs them little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from counterset import metrics
from counterset.anchor_sets import Neighbourhoods, Regions, agree
from counterset.anchors import MOST_ROWS, SEED, Anchors, medoids, sample
from counterset.arrays import Codes
from counterset.candidates import CandidatePool
from counterset.catalogue import Ask, Catalogue
from counterset.pipeline import CLOSING_IN, Pipeline, settings_of
from counterset.questions import Questions
from counterset.selection import NONE_LEFT

__all__ = ["find_anchors"]

#: k-distance at most, and k-diversity at least, so many times the paper's selection's.
MOST_DISTANCE, LEAST_DIVERSITY = 1.06, 0.96
#: Where no number reaches that, the first within this factor of the best will do, and if that is
#: not more than so many times too costly, options on which the search has closed in are kept to.
ABOUT_THE_BEST, NOT_TOO_COSTLY = 1.03, 1.1
#: The numbers of anchors that are tried.
COUNTS = [2**i for i in range(2, 11)]
#: Held out of each class: this share of its rows, up to so many.
HELD_OUT_SHARE, MOST_HELD_OUT = 0.2, 100
#: A class of fewer rows has all of them for anchors, and this price of diversity.
LEAST_ROWS, MIDDLING_PRICE = 5, 0.25
#: Prices of diversity to choose from: how much distance a unit of it is worth. Under a norm a set
#: cannot be more diverse than twice its distance, so from 1/2 on it would pay to go ever farther.
PRICES = np.linspace(0, 0.45, 16)
#: So many rows beside the anchors lend their options.
LANDMARKS = 128
#: Anchors whose sets are put together at once.
AT_ONCE = 128

SMALLEST = float(np.finfo(float).tiny)


def find_anchors(count: int | Literal["auto"], pipeline: Pipeline, ask: Ask) -> Anchors:
    """Find the anchors of all classes, and choose their sets.

    Parameters
    ----------
    count
        How many for each class, or ``"auto"``.
    pipeline
        The paper's method, without anchors.
    ask
        Makes the questions of rows of the pool.
    """
    parts = []
    for code in range(len(pipeline.classes)):
        members = np.flatnonzero(pipeline.selector.pool.codes == code)
        class_ = _Class(members, pipeline, ask)
        plan = class_.find_plan(COUNTS if count == "auto" else [count])
        parts.append(class_.anchors(plan))
    return Anchors.joined(parts)


@dataclass(frozen=True)
class _Figures:
    """The mean k-distance and k-diversity of some explanations."""

    distance: float
    diversity: float

    def cost(self, paper: _Figures) -> float:
        """Say how far these are beyond what is allowed, compared with the paper's: at most 1 is."""
        too_far = self.distance / (MOST_DISTANCE * paper.distance) if paper.distance else 1.0
        too_alike = LEAST_DIVERSITY * paper.diversity / max(self.diversity, SMALLEST)
        return max(too_far, min(too_alike, 1 / SMALLEST))


class _Workshop:
    """Some anchors of one class, and what their sets can be made of.

    Parameters
    ----------
    anchors, landmarks
        Rows of the pool: the anchors, and rows that lend their options too.
    rows
        For each anchor, the rows that it stands for.
    """

    def __init__(
        self, catalogue: Catalogue, anchors: Codes, landmarks: Codes, rows: list[Codes]
    ) -> None:
        selector = catalogue.pipeline.selector
        pool = selector.pool
        both = np.concatenate([anchors, np.setdiff1d(landmarks, anchors)])
        own, n_candidates, reach = catalogue.of(both)
        self.catalogue, self.places = catalogue, anchors
        self.own, self.n_candidates, self.reach = own, n_candidates, reach
        self.options = catalogue.options()
        points = pool.distance.points(self.options.rows)
        self.neighbourhoods = []
        for start in range(0, len(anchors), AT_ONCE):
            who = np.arange(start, min(start + AT_ONCE, len(anchors)))
            # An anchor is its own first landmark.
            order = np.concatenate([who, np.setdiff1d(np.arange(len(both)), who)])
            near = Neighbourhoods.around(
                pool.points.take(anchors[who]),
                [rows[i] for i in who],
                pool.points.take(both[order]),
                own[order],
                points,
                selector,
            )
            self.neighbourhoods.append((who, near))

    def sets(self, price: float) -> Codes:
        """Choose the set of each anchor for itself, as numbers of options."""
        sets = np.empty((len(self.places), self.own.shape[1]), dtype=np.intp)
        for who, near in self.neighbourhoods:
            sets[who] = near.numbers(near.improve(near.positions(self.own[who]), price))
        return sets

    def anchors(self, sets: Codes, settings: tuple[Any, ...]) -> Anchors:
        """Give the anchors with these sets, and only the options that are in use."""
        pool, n = self.catalogue.pipeline.selector.pool, len(self.places)
        used, numbers = np.unique(sets[sets != NONE_LEFT], return_inverse=True)
        renumbered = sets.copy()
        renumbered[sets != NONE_LEFT] = numbers
        return Anchors(
            pool.points.take(self.places),
            pool.codes[self.places],
            self.options.take(used),
            renumbered,
            self.n_candidates[:n],
            self.reach[:n],
            settings,
            pool.distance.in_space,
        )


@dataclass(frozen=True)
class _Plan:
    """How many anchors, from which options, at which price of diversity."""

    count: int
    closed_in: bool
    price: float


class _Class:
    """One class of inputs, while its anchors are being found."""

    def __init__(self, members: Codes, pipeline: Pipeline, ask: Ask) -> None:
        self.members, self.pipeline, self.ask = members, pipeline, ask
        self.pool = pipeline.selector.pool
        self.settings = settings_of(pipeline.selector, pipeline.search)
        # Options on which the line search has closed in, and rows of the pool.
        self.catalogues = {False: Catalogue(replace(pipeline, search=None), ask)}
        if pipeline.search is not None:
            finer = Catalogue(replace(pipeline, finer=CLOSING_IN), ask)
            self.catalogues = {True: finer, **self.catalogues}

    def find_plan(self, counts: list[int]) -> _Plan:
        """Find the first number of anchors, and the price of diversity, that will do."""
        if len(self.members) < LEAST_ROWS:
            return _Plan(counts[-1], next(iter(self.catalogues)), MIDDLING_PRICE)
        random = np.random.default_rng(SEED)
        shuffled = random.permutation(self.members)
        n_held_out = min(MOST_HELD_OUT, max(1, int(HELD_OUT_SHARE * len(shuffled))))
        held_out, others = np.sort(shuffled[:n_held_out]), np.sort(shuffled[n_held_out:])
        questions = self.ask(held_out)
        paper = self._figures(questions, None)
        landmarks = self._medoids(others, LANDMARKS)
        costs: dict[_Plan, float] = {}
        for closed_in in self.catalogues:
            for count in counts:
                found = self._medoids(others, count)
                trial = self._trial(found, others, held_out, landmarks, closed_in)
                price, cost = self._find_price(trial, questions, paper)
                costs[_Plan(count, closed_in, price)] = cost
                if cost <= 1 or len(found) < count // 2:
                    break
            if min(costs.values()) <= NOT_TOO_COSTLY:
                break
        best = min(costs.values())
        enough = 1.0 if best <= 1 else ABOUT_THE_BEST * best
        return next(plan for plan, cost in costs.items() if cost <= enough)

    def anchors(self, plan: _Plan) -> Anchors:
        """Make the anchors that a plan has in mind."""
        found = self._medoids(self.members, plan.count)
        looked_at = self.members[sample(len(self.members), MOST_ROWS)]
        regions = Regions.around(found, looked_at, self.pool)
        landmarks = self._medoids(self.members, LANDMARKS)
        catalogue = self.catalogues[plan.closed_in]
        workshop = _Workshop(catalogue, found, landmarks, regions.rows)
        sets = workshop.sets(plan.price)
        return workshop.anchors(
            agree(workshop.neighbourhoods, regions, sets, plan.price), self.settings
        )

    def _trial(
        self, found: Codes, others: Codes, held_out: Codes, landmarks: Codes, closed_in: bool
    ) -> _Workshop:
        """Prepare the sets of those anchors that held-out rows would take."""
        used = np.unique(_nearest(self.pool, held_out, found))
        regions = Regions.around(found, others[sample(len(others), MOST_ROWS)], self.pool)
        rows = [regions.rows[i] for i in used]
        return _Workshop(self.catalogues[closed_in], found[used], landmarks, rows)

    def _find_price(
        self, workshop: _Workshop, questions: Questions, paper: _Figures
    ) -> tuple[float, float]:
        """Find the lowest price at which sets are diverse enough, and what that costs."""
        low, high = 0, len(PRICES) - 1
        while True:
            price = float(PRICES[(low + high) // 2])
            anchors = workshop.anchors(workshop.sets(price), self.settings)
            figures = self._figures(questions, anchors)
            if low == high:
                return price, figures.cost(paper)
            if figures.diversity >= LEAST_DIVERSITY * paper.diversity:
                high = (low + high) // 2
            else:
                low = (low + high) // 2 + 1

    def _medoids(self, rows: Codes, count: int) -> Codes:
        return rows[medoids(self.pool.points.directions[rows], count)]

    def _figures(self, questions: Questions, anchors: Anchors | None) -> _Figures:
        """Explain rows, and measure the mean k-distance and k-diversity of their sets."""
        pipeline = self.pipeline
        if anchors is not None:
            pipeline = replace(pipeline, anchors=anchors, sets_are_kept=True, finer=CLOSING_IN)
        found = pipeline.run(questions)
        measure = self.pool.distance
        inputs, places = questions.points.places, measure.embed(found.rows)
        ends = np.searchsorted(found.owners, np.arange(len(inputs) + 1))
        distances, diversities = [], []
        for x, own in zip(inputs, np.split(places, ends[1:-1]), strict=True):
            if len(own):
                distances.append(metrics.k_distance(x, own, measure.in_space))
                diversities.append(metrics.k_diversity(own, measure.in_space))
        if not distances:
            return _Figures(0.0, 0.0)
        return _Figures(float(np.mean(distances)), float(np.mean(diversities)))


def _nearest(pool: CandidatePool, rows: Codes, anchors: Codes) -> Codes:
    """Give the nearest anchor of each row of the pool."""
    places = pool.points.places
    scores, _ = pool.distance.in_space.scores(places[rows], places[anchors])
    nearest: Codes = scores.argmin(axis=1)
    return nearest
