"""A library of diverse sets for one class of inputs, each made for a region of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from counterset._base.arrays import AnyMatrix, Codes, Mask, Matrix
from counterset.anchors.anchors import Anchors, renumbered
from counterset.anchors.catalogue import Catalogue
from counterset.anchors.giving_way import find_giving_way
from counterset.anchors.sets import Neighbourhoods, cover
from counterset.anchors.stability import Sets
from counterset.distances import L2, Distance
from counterset.steps.acceptance import Acceptance
from counterset.steps.selection import NONE_LEFT, Selector
from counterset.tables.space import Embedded

__all__ = ["PRICES", "SEED", "Plan", "Workshop", "medoids"]

#: Of a class with more than 12,000 rows, 12,000 are looked at when looking for anchors.
MOST_ROWS = 12_000
#: Up to 4 points are added for each row, as long as there are no more than 3000 in all.
MIDDLES, MOST_SERVED = 4, 3000
#: Rounds of k-means: 20 for up to 3000 points, 10 for more, where a good start takes long too.
#: Anchors need not be the best, only the same each time.
FEW, ROUNDS, ROUNDS_OF_MANY = 3000, 20, 10
SEED = 0
#: Sets are chosen from among those of twice as many regions, up to 4096.
FINER, MOST_REGIONS = 2, 4096
#: Prices of diversity to choose from: how much distance a unit of it is worth. Under a norm a set
#: cannot be more diverse than twice its distance, so from 1/2 on it would pay to go ever farther.
PRICES = np.linspace(0, 0.45, 31)
#: 128 rows beside the anchors lend their options.
LANDMARKS = 128
#: Anchors whose sets are put together at once, and options that rows are compared with at once.
AT_ONCE, COLUMNS = 32, 1024


@dataclass(frozen=True)
class Plan:
    """How sets are to be made and chosen.

    Attributes
    ----------
    count
        How many, at most.
    closed_in
        Whether the search has closed in on their options.
    way
        The share of the way to the input's own values that options go where the model does not
        need theirs.
    step
        The price of diversity, as its number among ``PRICES``.
    """

    count: int
    closed_in: bool
    way: float = 0.0
    step: int = len(PRICES) // 2

    @property
    def price(self) -> float:
        return float(PRICES[self.step])


class _Regions:
    """Some rows of one class, divided among anchors.

    Parameters
    ----------
    anchors
        Rows of the pool.
    own
        What steps 1 to 3 choose for them, as numbers of options.
    options
        All options.
    away
        The distance of the rows from them.
    first
        Which anchor each row is nearest to.
    selector
        Steps 1 to 3.
    """

    def __init__(
        self,
        anchors: Codes,
        own: Codes,
        options: Embedded,
        away: AnyMatrix,
        first: Codes,
        selector: Selector,
    ) -> None:
        self.anchors, self.own = anchors, own
        self._sets: dict[float, tuple[Codes, Matrix]] = {}
        points, distance = selector.pool.embedded.take(anchors), selector.pool.distance.in_space
        order = np.argsort(first, kind="stable")
        present, starts, sizes = np.unique(first[order], return_index=True, return_counts=True)
        costs = np.empty((len(anchors), len(options)))
        costs[present] = (np.add.reduceat(away.T[:, order], starts, axis=1) / sizes).T
        alone = np.setdiff1d(np.arange(len(anchors)), present)
        costs[alone] = distance.pairwise(points.coordinates[alone], options.coordinates)
        self.neighbourhoods = []
        for start in range(0, len(anchors), AT_ONCE):
            who = np.arange(start, min(start + AT_ONCE, len(anchors)))
            near = Neighbourhoods.around(points.take(who), costs[who], own[who], options, selector)
            sets = near.positions(own[who])
            self.neighbourhoods.append((who, near, sets, near.compare(sets)))

    def sets(self, price: float) -> tuple[Codes, Matrix]:
        """Put the set of each region together: numbers of options, and what diversity is worth."""
        if price not in self._sets:
            sets, bonus = self.own.copy(), np.zeros(len(self.own))
            for who, near, own, compared in self.neighbourhoods:
                chosen, diversity = near.improve(own, compared, price)
                sets[who], bonus[who] = near.numbers(chosen), price * diversity
            self._sets[price] = sets, bonus
        return self._sets[price]


class Workshop:
    """Puts sets together for regions of rows, small and large.

    Parameters
    ----------
    catalogue
        Where options come from.
    rows
        Rows of the pool, of one class.
    settings
        How the sets are chosen.
    """

    def __init__(self, catalogue: Catalogue, rows: Codes, settings: tuple[Any, ...]) -> None:
        self.catalogue, self.selector = catalogue, catalogue.pipeline.selector
        self.settings = settings
        random = np.random.default_rng(SEED)
        self.rows = rows[np.sort(random.permutation(len(rows))[:MOST_ROWS])]
        pool = self.selector.pool
        self.served = _with_middles(pool.embedded.coordinates[self.rows], pool.distance.in_space)
        # Single precision will do to choose by; whole columns are needed.
        self.away: AnyMatrix = np.empty((len(self.served), 0), dtype=np.float32, order="F")
        self._divided: dict[int, _Regions] = {}
        self._chosen: dict[tuple[int, float], tuple[Codes, Matrix, Codes]] = {}
        own, _, _ = catalogue.of(self._medoids(LANDMARKS))
        # Few options are nearer on average than many: smaller sets would always be preferred.
        self.usual_size = int((own != NONE_LEFT).sum(axis=1).mean())

    def anchors(self, plan: Plan) -> Anchors:
        """Choose the sets that serve the rows best, with the anchors that they were made for."""
        sets, bonus, anchors = self._choose(plan.count, plan.price)
        gives_way = self._find_giving_way(sets, bonus, anchors, plan)
        pool, options = self.selector.pool, self.catalogue.options()
        used, sets = renumbered(sets)
        _, n_candidates, farthest = self.catalogue.of(anchors)
        return Anchors(
            pool.embedded.take(anchors),
            pool.codes[anchors],
            options.take(used),
            sets,
            bonus,
            gives_way,
            plan.way,
            n_candidates,
            farthest,
            self.settings,
            pool.distance.in_space,
        )

    def _choose(self, count: int, price: float) -> tuple[Codes, Matrix, Codes]:
        """Choose sets, with the bonus and the anchor of each."""
        if (count, price) not in self._chosen:
            sets, bonus, anchors = self._make(count, price)
            which = cover(self._costs(sets, bonus, self.away), count)
            self._chosen[count, price] = sets[which], bonus[which], anchors[which]
        return self._chosen[count, price]

    def _costs(self, sets: Codes, bonus: Matrix, away: AnyMatrix) -> AnyMatrix:
        """Return how far rows are from sets."""
        options, distance = self.catalogue.options(), self.selector.pool.distance.in_space
        return Sets(options.points, sets, bonus, distance).distances(away)

    def _make(self, count: int, price: float) -> tuple[Codes, Matrix, Codes]:
        """Return the different sets of all regions, their bonus, and the anchor of each."""
        most = min(FINER * count, MOST_REGIONS, len(self.rows))
        divided = [self._divide(2**i) for i in range(most.bit_length())]
        made = [regions.sets(price) for regions in divided]
        sets = np.concatenate([sets for sets, _ in made])
        _, different = np.unique(sets, axis=0, return_index=True)
        different.sort()
        large = (sets[different] != NONE_LEFT).sum(axis=1) >= self.usual_size
        kept = different[large] if large.any() else different
        bonus = np.concatenate([bonus for _, bonus in made])
        anchors = np.concatenate([regions.anchors for regions in divided])
        return sets[kept], bonus[kept], anchors[kept]

    def _find_giving_way(self, sets: Codes, bonus: Matrix, anchors: Codes, plan: Plan) -> Mask:
        """Find in what options give way, if the plan says so."""
        matrix = self.selector.pool.matrix
        if not plan.way or not (sets != NONE_LEFT).any():
            return np.zeros((*sets.shape, matrix.shape[1]), dtype=bool)
        return find_giving_way(
            sets,
            self.catalogue.options(),
            matrix[anchors],
            self._acceptance,
            self._costs(sets, bonus, self.away[: len(self.rows)]),
            self.selector,
            plan.way,
            plan.price,
        )

    @cached_property
    def _acceptance(self) -> Acceptance:
        return self.catalogue.acceptance_of(self.selector.pool.matrix[self.rows])

    def _divide(self, count: int) -> _Regions:
        """Divide the rows into this many regions."""
        if count not in self._divided:
            pool = self.selector.pool
            anchors = self._medoids(count)
            own, _, _ = self.catalogue.of(anchors)
            options = pool.distance.embed(self.catalogue.options().rows)
            self._measure(options.coordinates[self.away.shape[1] :])
            scores, _ = pool.distance.in_space.scores(
                self.served, pool.embedded.coordinates[anchors]
            )
            self._divided[count] = _Regions(
                anchors, own, options, self.away, scores.argmin(axis=1), self.selector
            )
        return self._divided[count]

    def _measure(self, new: Matrix) -> None:
        """Measure how far the rows are from new options."""
        distance = self.selector.pool.distance.in_space
        columns = [
            distance.pairwise(self.served, new[start : start + COLUMNS]).T.astype(np.float32)
            for start in range(0, len(new), COLUMNS)
        ]
        self.away = np.concatenate([self.away.T, *columns]).T

    def _medoids(self, count: int) -> Codes:
        return self.rows[medoids(self.selector.pool.embedded.directions[self.rows], count)]


def _with_middles(points: Matrix, distance: Distance) -> Matrix:
    """Add the middles between points and their nearest neighbours, as long as there are few.

    Sets that serve those too are better for inputs that are like the rows, but none of them.
    """
    count = min(MIDDLES, len(points) - 1, MOST_SERVED // max(len(points), 1) - 1)
    if count < 1:
        return points
    away = distance.pairwise(points, points)
    np.fill_diagonal(away, np.inf)
    near = np.argsort(away, axis=1, kind="stable")[:, :count]
    middles = (points[:, None] + points[near]) / 2
    return np.concatenate([points, middles.reshape(-1, points.shape[1])])


def medoids(points: Matrix, count: int) -> Codes:
    """Return ``count`` representatives of the points, spread over them as k-means has it.

    The rows nearest to the centres of k-means, fewer if there are fewer different points;
    ascending. The same for the same points, always.

    Examples
    --------
    >>> medoids(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2)
    array([1, 4])
    """
    distinct, first = np.unique(points, axis=0, return_index=True)
    if count >= len(distinct):
        return np.sort(first)
    means = KMeans(count, n_init=1, max_iter=ROUNDS, random_state=SEED)
    if len(distinct) > FEW:
        start, _ = kmeans_plusplus(distinct, count, random_state=SEED, n_local_trials=1)
        means.set_params(init=start, max_iter=ROUNDS_OF_MANY)
    centres = means.fit(distinct)
    squared, _ = L2().scores(centres.cluster_centers_, distinct)
    return np.unique(first[squared.argmin(axis=1)])
