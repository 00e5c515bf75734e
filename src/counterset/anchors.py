"""Anchored selection: diverse examples chosen for a fixed point near the input.

The paper's selection looks from the input itself, so that a small move of the input can reorder
the candidates, and the greedy filter turns that into another set. Here a set is chosen once for
each of a few training rows, the anchors, and an input takes the set of the nearest anchor of its
own class: inputs that share an anchor share the choice. ``docs/anchors.md`` has the proof of the
stable radius, and the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from counterset.arrays import Codes, Labels, Matrix
from counterset.distances import L2, ROUNDING, Distance
from counterset.selection import NONE_LEFT
from counterset.space import Points

__all__ = ["Anchors", "Options", "medoids", "sample"]

#: Of a class with more rows than this, so many are looked at when looking for anchors.
MOST_ROWS = 3000
#: Rounds of k-means; anchors need not be the best, only the same each time.
ROUNDS = 20
#: Coordinates held at once.
BATCH_COORDINATES = 2_000_000
SEED = 0


@dataclass(frozen=True)
class Options:
    """Counterfactuals that sets are put together from.

    Attributes
    ----------
    rows
        The counterfactuals.
    places
        The row of the pool that each comes from.
    labels
        What the model answered there.
    """

    rows: Matrix
    places: Codes
    labels: Labels

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Codes) -> Options:
        """Give some of the options."""
        return Options(self.rows[which], self.places[which], self.labels[which])


@dataclass(frozen=True)
class Anchors:
    """The anchors of all classes, each with its set.

    Attributes
    ----------
    points
        The anchors, as points of the space.
    codes
        The code of the class of each, ascending.
    options
        What the sets consist of.
    sets
        The set of each, for inputs that accept any other class: numbers of options, ascending,
        ``(m, limit)``, with ``NONE_LEFT`` behind them where there are fewer.
    n_candidates, reach
        How many candidates there were for each, and how far the farthest of them was.
    settings
        How the sets were chosen: sets for other settings have to be chosen anew.
    distance
        Between points.
    """

    points: Points
    codes: Codes
    options: Options
    sets: Codes
    n_candidates: Codes
    reach: Matrix
    settings: tuple[Any, ...]
    distance: Distance

    @classmethod
    def joined(cls, parts: list[Anchors]) -> Anchors:
        """Put the anchors of several classes together."""
        counts = np.cumsum([0, *(len(part.options) for part in parts)])
        sets = [
            np.where(part.sets == NONE_LEFT, NONE_LEFT, part.sets + count)
            for part, count in zip(parts, counts[:-1], strict=True)
        ]
        return cls(
            Points(
                np.concatenate([part.points.places for part in parts]),
                np.concatenate([part.points.directions for part in parts]),
            ),
            np.concatenate([part.codes for part in parts]),
            Options(
                np.concatenate([part.options.rows for part in parts]),
                np.concatenate([part.options.places for part in parts]),
                np.concatenate([part.options.labels for part in parts]),
            ),
            np.concatenate(sets),
            np.concatenate([part.n_candidates for part in parts]),
            np.concatenate([part.reach for part in parts]),
            parts[0].settings,
            parts[0].distance,
        )

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def set_numbers(self) -> Codes:
        """A number for each set, the same for equal ones."""
        _, numbers = np.unique(self.sets, axis=0, return_inverse=True)
        return numbers.reshape(-1)

    @cached_property
    def norms(self) -> Matrix:
        """The distance of each from the origin."""
        return _norms(self.distance, self.points.places)

    def nearest(self, x: Points, codes: Codes, *, by_set: bool = True) -> tuple[Codes, Matrix]:
        """Find the nearest anchor of each input's own class, and how long it stays the choice.

        Parameters
        ----------
        x, codes
            The inputs, and the codes of their classes.
        by_set
            Anchors with the same set count as one; False where the sets are not those kept here.

        Returns
        -------
        anchors
            The nearest anchor, the first of equally near ones; -1 for a class without any.
        radius
            The stable radius of each input; NaN where nothing is proved.
        """
        anchors = np.full(len(x), -1, dtype=np.intp)
        radius = np.full(len(x), np.nan)
        names = self.set_numbers if by_set else np.arange(len(self))
        for code in np.unique(codes):
            start, stop = np.searchsorted(self.codes, [code, code + 1])
            if start == stop:
                continue
            places, own_names = self.points.places[start:stop], names[start:stop]
            inputs = np.flatnonzero(codes == code)
            for batch in _batches(inputs, BATCH_COORDINATES // places.size):
                here = x.places[batch]
                to_anchors = _to_all(self.distance, here, places)
                first = to_anchors.argmin(axis=1)
                anchors[batch] = start + first
                if self.distance.triangle_inequality and self.distance.symmetric:
                    bound = self._bounds(here, slice(start, stop), to_anchors, first)
                    other = own_names != own_names[first][:, None]
                    radius[batch] = np.where(other, bound, np.inf).min(axis=1)
        return anchors, np.maximum(radius, 0.0)

    def _bounds(self, x: Matrix, own: slice, to_anchors: Matrix, first: Codes) -> Matrix:
        """Give proved lower bounds on how far each input is from where each anchor is nearer.

        Parameters
        ----------
        own
            The anchors of the inputs' class.
        to_anchors
            From each input to each of them, ``(n, m)``.
        first
            The nearest of each input.
        """
        distance = self.distance
        nearest = to_anchors[np.arange(len(x)), first][:, None]
        gap = to_anchors - nearest
        # Distances are sums of rounded differences of rounded coordinates.
        size = to_anchors + nearest + _norms(distance, x)[:, None] + self.norms[own]
        bound: Matrix = gap / 2 - ROUNDING * size
        if isinstance(distance, L2):
            # The exact distance to the bisector: (d2^2 - d1^2) / (2 |a1 - a2|). Where the anchors
            # are close to each other, its rounding error is amplified, and the gap itself serves.
            places = self.points.places[own]
            apart = np.maximum(_to_all(distance, places[first], places), ROUNDING)
            allowance = ROUNDING * size * (1 + size / apart)
            exact = gap * (to_anchors + nearest) / (2 * apart) - allowance
            bound = np.maximum(exact, bound)
        return bound


def sample(n: int, most: int) -> Codes:
    """Give the numbers below ``n``, or ``most`` of them, ascending; always the same ones.

    Examples
    --------
    >>> sample(3, 5)
    array([0, 1, 2])
    >>> len(sample(100, 5))
    5
    """
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(SEED)
    return np.sort(random.permutation(n)[:most])


def medoids(points: Matrix, count: int) -> Codes:
    """Give ``count`` representatives of the points, spread over them as k-means has it.

    The rows nearest to the centres of k-means, fewer if there are not so many different points;
    ascending. The same for the same points, always.

    Examples
    --------
    >>> medoids(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2)
    array([1, 4])
    """
    looked_at = sample(len(points), MOST_ROWS)
    distinct, first = np.unique(points[looked_at], axis=0, return_index=True)
    if count >= len(distinct):
        return np.sort(looked_at[first])
    centres = KMeans(count, n_init=1, max_iter=ROUNDS, random_state=SEED).fit(distinct)
    squared, _ = L2().scores(centres.cluster_centers_, distinct)
    return np.unique(looked_at[first[squared.argmin(axis=1)]])


def _norms(distance: Distance, x: Matrix) -> Matrix:
    """Give the distance of each point from the origin."""
    return distance.to_own(x, np.zeros((len(x), 1, x.shape[1])))[:, 0]


def _to_all(distance: Distance, x: Matrix, places: Matrix) -> Matrix:
    """Give exact distances ``(n, m)``, each of which depends on its two points only."""
    return distance.to_own(x, np.broadcast_to(places, (len(x), *places.shape)))


def _batches(positions: Codes, at_once: int) -> Iterator[Codes]:
    at_once = max(1, at_once)
    for start in range(0, len(positions), at_once):
        yield positions[start : start + at_once]
