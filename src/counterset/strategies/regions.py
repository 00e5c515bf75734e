"""Regions: the inputs of each class, divided by the training row that is nearest to them.

Inputs of one region are offered the same list of options. How far an input can move before it
leaves its region is proved in ``docs/shared_lists.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from counterset._base.arrays import Codes, Indices, Matrix, Vector
from counterset._base.checks import check_count
from counterset.distances import L2, ROUNDING, Distance
from counterset.exceptions import InvalidInputError
from counterset.strategies.batch import QueryBatch
from counterset.strategies.training import TrainingData
from counterset.tables.space import Embedded

__all__ = ["Regions", "check_regions", "medoids"]

#: Of a class with more than 12,000 rows, 12,000 are looked at: k-means finds the same regions.
MOST_ROWS = 12_000
#: Rounds of k-means: 20 for up to 3000 points, 10 for more. Regions need not be the best ones, only
#: the same each time.
FEW, ROUNDS, ROUNDS_OF_MANY = 3000, 20, 10
SEED = 0
#: A radius is reported smaller by a billionth: more than rounding adds to distances.
MARGIN = 1e-9


@dataclass(frozen=True)
class Regions:
    """The regions of all classes.

    Attributes
    ----------
    centres
        The training rows at the centres of the regions, as points of the space.
    pool_index
        Their positions in the pool.
    codes
        The class of each region, ascending.
    distance
        Between points.
    by_class
        Whether each class has regions of its own; a model that predicts numbers has one class for
        each of them, so that they are taken together.
    """

    centres: Embedded
    pool_index: Indices
    codes: Codes
    distance: Distance
    by_class: bool = True

    @classmethod
    def divide(cls, training: TrainingData, count: int, rows: Indices | None = None) -> Regions:
        """Divide each class into regions, as many as asked for, or fewer if it has fewer rows.

        Parameters
        ----------
        rows
            The rows that can be centres, as positions in the pool; None: all.
        """
        pool, by_class = training.pool, not training.classes.are_measurements
        codes = pool.codes if by_class else np.zeros_like(pool.codes)
        rows = np.arange(len(pool)) if rows is None else rows
        parts = []
        for code in np.unique(codes[rows]):
            own = rows[codes[rows] == code]
            own = np.sort(own[np.argsort(pool.lots[own], kind="stable")[:MOST_ROWS]])
            parts.append(own[medoids(pool.embedded.directions[own], count)])
        which = np.concatenate(parts)
        return cls(pool.embedded.take(which), which, codes[which], pool.distance.in_space, by_class)

    def __len__(self) -> int:
        return len(self.pool_index)

    def of(self, batch: QueryBatch) -> Indices:
        """Return the region of each input: the nearest of its class, -1 for a class without any."""
        return self.of_points(batch.embedded, batch.input_codes)

    def of_points(self, x: Embedded, codes: Codes) -> Indices:
        """Return the region of each point, given the class of each."""
        regions, codes = np.full(len(x), -1, dtype=np.intp), self._known(codes)
        for code in np.unique(codes):
            start, stop = np.searchsorted(self.codes, [code, code + 1])
            if stop > start:
                here, centres = codes == code, self.centres.coordinates[start:stop]
                away = self.distance.pairwise(x.coordinates[here], centres)
                regions[here] = start + away.argmin(axis=1)
        return regions

    def radius(self, batch: QueryBatch) -> Vector:
        """Return how far each input is at least from the border of its region."""
        return self.radius_of_points(batch.embedded, batch.input_codes)

    def radius_of_points(self, x: Embedded, codes: Codes) -> Vector:
        """Return how far each point is at least from the border of its region.

        Infinite where the class has one region, NaN where the distance is not known to be a metric
        or the class has no region.
        """
        radius, codes = np.full(len(x), np.nan), self._known(codes)
        if not (self.distance.triangle_inequality and self.distance.symmetric):
            return radius
        for code in np.unique(codes):
            start, stop = np.searchsorted(self.codes, [code, code + 1])
            if stop > start:
                here = codes == code
                radius[here] = self._radius(x.coordinates[here], slice(start, stop))
        return radius

    def _known(self, codes: Codes) -> Codes:
        return codes if self.by_class else np.zeros_like(codes)

    def _radius(self, x: Matrix, own: slice) -> Vector:
        centres = self.centres.coordinates[own]
        away = self.distance.pairwise(x, centres)
        each, first = np.arange(len(x)), away.argmin(axis=1)
        size = away.max(axis=1) + self.distance.pairwise(x, np.zeros_like(x[:1]))[:, 0]
        near = (away[each, first] + 8 * ROUNDING * size)[:, None]
        # By the triangle inequality, moving by r brings one centre nearer, and the other farther,
        # by at most r.
        bounds = np.maximum(away - near, 0.0) / 2
        if isinstance(self.distance, L2):
            # The border is the plane midway between two centres: its exact distance.
            stretched = self.distance.stretch(centres)
            between = L2().pairwise(stretched[first], stretched)
            plane = (away - near) * (away + near) / (2 * np.where(between > 0, between, np.inf))
            bounds = np.maximum(bounds, plane)
        bounds[each, first] = np.inf
        nearest: Vector = bounds.min(axis=1) * (1 - MARGIN)
        return nearest


def medoids(points: Matrix, count: int) -> Indices:
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


def check_regions(regions: Any) -> None:
    """Check a number of regions."""
    if isinstance(regions, str) and regions == "auto":
        return
    try:
        check_count(regions, "regions")
    except InvalidInputError:
        raise InvalidInputError(
            f"regions must be a whole number of at least 1 or 'auto', got {regions!r}."
        ) from None
