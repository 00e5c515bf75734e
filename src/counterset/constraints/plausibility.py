"""Plausibility: require counterfactuals to lie near training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector, row_blocks
from counterset._base.checks import check_between, check_count
from counterset.distances import L0, L1, L2, Distance, LInf

__all__ = ["DataSupport", "NearData"]

#: At most 4 million distances, 32 MB, are held at once.
BATCH_DISTANCES = 4_000_000
#: Whether a point is plausible is looked up among 128 training rows at a time, until it has enough
#: near ones, for 2000 points at a time: their distances fit the cache.
ROWS_AT_ONCE, POINTS_AT_ONCE = 128, 2000
#: The distances of which each depends on its two rows only, to the last bit.
BY_PAIR = (L0, L1, L2, LInf)


@dataclass(frozen=True)
class NearData:
    """A counterfactual is plausible if it is as near to training rows as they are to each other.

    The score of a point is its distance to its ``neighbours``-th nearest training row. ``fit``
    learns the threshold: the score that the given share of training rows do not exceed.

    Parameters
    ----------
    neighbours : int, default=5
        Which neighbour counts: 5 is the fifth nearest training row.
    share : float, default=0.95
        The share of training rows that count as plausible: 0.95 leaves out the most outlying 5 %.
    most_rows : int, default=5000
        Of more training rows than this, only ``most_rows`` are compared with, evenly spread.

    See Also
    --------
    Constraints : Rules that every counterfactual satisfies.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1, plausibility=NearData(), max_counterfactuals=2
    ... )
    >>> explanation = explainer.fit(X).explain([0.2, 0.3])
    >>> bool((explanation.plausibility <= explainer.training_.support.threshold).all())
    True
    """

    neighbours: int = 5
    share: float = 0.95
    most_rows: int = 5000

    def __post_init__(self) -> None:
        check_count(self.neighbours, "neighbours")
        check_count(self.most_rows, "most_rows")
        check_between(self.share, 0, 1, "share")

    def learn(self, points: Matrix, distance: Distance) -> DataSupport:
        """Learn the threshold from the training rows, as points of the space."""
        if len(points) > self.most_rows:
            points = points[np.linspace(0, len(points) - 1, self.most_rows).astype(np.intp)]
        neighbours = min(self.neighbours, len(points) - 1)
        # A training row is its own nearest, so its neighbours come one place later.
        own = DataSupport(points, distance, neighbours + 1, np.inf).scores(points)
        threshold = float(np.quantile(own, self.share, method="lower"))
        return DataSupport(points, distance, max(neighbours, 1), threshold)


@dataclass(frozen=True)
class DataSupport:
    """The training rows, and the score up to which a point is plausible.

    Attributes
    ----------
    points
        The training rows as points, ``(n, n_coordinates)``.
    threshold
        The largest score of a plausible point.
    """

    points: Matrix
    distance: Distance
    neighbours: int
    threshold: float

    def scores(self, points: Matrix) -> Vector:
        """Return the distance from each point to its ``neighbours``-th nearest training row."""
        scores = np.empty(len(points))
        at_once = max(1, BATCH_DISTANCES // len(self.points))
        for part in row_blocks(len(points), at_once):
            between = self.distance.pairwise(points[part], self.points)
            scores[part] = np.partition(between, self.neighbours - 1, axis=1)[
                :, self.neighbours - 1
            ]
        return scores

    def has(self, points: Matrix) -> Mask:
        """Return which points are plausible: their scores are at most the threshold.

        Training rows are looked at a few at a time, until enough of them are near.
        """
        if type(self.distance) not in BY_PAIR:
            return self.scores(points) <= self.threshold
        plausible = np.zeros(len(points), dtype=bool)
        for part in row_blocks(len(points), POINTS_AT_ONCE):
            left = np.arange(len(points))[part]
            near = np.zeros(len(left), dtype=np.intp)
            for some in row_blocks(len(self.points), ROWS_AT_ONCE):
                between = self.distance.pairwise(points[left], self.points[some])
                near += np.count_nonzero(between <= self.threshold, axis=1)
                enough = near >= self.neighbours
                plausible[left[enough]] = True
                left, near = left[~enough], near[~enough]
                if not len(left):
                    break
        return plausible
