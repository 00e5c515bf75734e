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

from counterset.arrays import Codes, Mask, Matrix
from counterset.distances import L2, ROUNDING, Distance
from counterset.diversity import View
from counterset.selection import Selection, Selector
from counterset.space import Points

__all__ = ["Anchors", "medoids", "nearest_points", "select_compactly"]

#: Of a class with more rows than this, so many are looked at when looking for anchors.
MOST_ROWS = 3000
#: Rounds of k-means; anchors need not be the best, only the same each time.
ROUNDS = 20
#: Coordinates, or candidates, held at once.
BATCH_COORDINATES, BATCH_CANDIDATES = 2_000_000, 100_000
SEED = 0


@dataclass(frozen=True)
class Anchors:
    """The anchors of all classes, each with its set.

    Attributes
    ----------
    points
        The anchors, as points of the space.
    codes
        The code of the class of each, ascending.
    selection
        The set of each, for inputs that accept any other class.
    set_numbers
        A number for each set, the same for equal ones.
    settings
        How the sets were chosen: sets for other settings have to be chosen anew.
    distance
        Between points.
    """

    points: Points
    codes: Codes
    selection: Selection
    set_numbers: Codes
    settings: tuple[Any, ...]
    distance: Distance

    @classmethod
    def choose_sets(
        cls, places: list[Codes], selector: Selector, usable: Mask | None = None
    ) -> Anchors:
        """Choose the set of each anchor.

        Parameters
        ----------
        places
            For each class, where its anchors are in the pool.
        selector
            Steps 1 to 3.
        usable
            Which rows of the pool can be chosen at all.
        """
        pool = selector.pool
        all_places = np.concatenate(places)
        points, codes = pool.points.take(all_places), pool.codes[all_places]
        selection = Selection.empty(len(points), selector.limit)
        for code in np.unique(codes):
            members = np.flatnonzero(codes == code)
            acceptable = pool.codes != code
            if usable is not None:
                acceptable &= usable
            selection.put(members, select_compactly(selector, points.take(members), acceptable))
        _, set_numbers = np.unique(selection.places, axis=0, return_inverse=True)
        set_numbers, settings = set_numbers.reshape(-1), _settings(selector)
        return cls(points, codes, selection, set_numbers, settings, pool.distance.in_space)

    def __len__(self) -> int:
        return len(self.points)

    def fits(self, selector: Selector) -> bool:
        """Whether the sets are those that this selector would choose."""
        return self.settings == _settings(selector)

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


def medoids(points: Matrix, count: int) -> Codes:
    """Give ``count`` representatives of the points, spread over them as k-means has it.

    The rows nearest to the centres of k-means, fewer if there are not so many different points;
    ascending. The same for the same points, always.

    Examples
    --------
    >>> medoids(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2)
    array([1, 4])
    """
    random = np.random.default_rng(SEED)
    looked_at = np.arange(len(points))
    if len(points) > MOST_ROWS:
        looked_at = np.sort(random.permutation(len(points))[:MOST_ROWS])
    distinct, first = np.unique(points[looked_at], axis=0, return_index=True)
    if count >= len(distinct):
        return np.sort(looked_at[first])
    centres = KMeans(count, n_init=1, max_iter=ROUNDS, random_state=SEED).fit(distinct)
    squared, _ = L2().scores(centres.cluster_centers_, distinct)
    return np.unique(looked_at[first[squared.argmin(axis=1)]])


def nearest_points(distance: Distance, x: Matrix, places: Matrix) -> Codes:
    """Give the nearest of some points for each input, the first of equally near ones."""
    nearest = np.empty(len(x), dtype=np.intp)
    for batch in _batches(np.arange(len(x)), BATCH_COORDINATES // places.size):
        nearest[batch] = _to_all(distance, x[batch], places).argmin(axis=1)
    return nearest


def select_compactly(selector: Selector, x: Points, acceptable: Mask) -> Selection:
    """Choose what ``Selector.select`` chooses, fast for many inputs and few candidates each.

    Step 3 looks at the candidates that step 2 left, put together, in place of the whole pool.
    """
    selection = Selection.empty(len(x), selector.limit)
    distance = selector.pool.distance.in_space
    for batch, start, ranking in selector.rank(x, acceptable):
        selection.n_candidates[batch] = ranking.count()
        selection.reach[batch] = selector.reach(ranking)
        who, which = ranking.left()
        at_once = max(1, BATCH_CANDIDATES * len(batch) // max(len(who), 1))
        for part in _batches(np.arange(len(batch)), at_once):
            mine = slice(*np.searchsorted(who, [part[0], part[-1] + 1]))
            owners, places = who[mine] - part[0], start + which[mine]
            inputs, candidates = x.take(batch[part]), selector.pool.points.take(places)
            lengths = distance.to_own(inputs.places[owners], candidates.places[:, None, :])[:, 0]
            order = np.lexsort((selector.pool.rows[places], lengths, owners))
            owners, places, lengths = owners[order], places[order], lengths[order]
            nearest = np.full(len(part), np.inf)
            np.minimum.at(nearest, owners, lengths)
            view = View(inputs, candidates.take(order), nearest, distance)
            chosen = np.sort(selector.choose_from_own(view, owners))
            rank = np.arange(len(chosen)) - np.searchsorted(owners[chosen], owners[chosen])
            selection.places[batch[part][owners[chosen]], rank] = places[chosen]
    return selection


def _norms(distance: Distance, x: Matrix) -> Matrix:
    """Give the distance of each point from the origin."""
    return distance.to_own(x, np.zeros((len(x), 1, x.shape[1])))[:, 0]


def _to_all(distance: Distance, x: Matrix, places: Matrix) -> Matrix:
    """Give exact distances ``(n, m)``, each of which depends on its two points only."""
    return distance.to_own(x, np.broadcast_to(places, (len(x), *places.shape)))


def _settings(selector: Selector) -> tuple[Any, ...]:
    return selector.cutoff, selector.diversity, selector.limit, selector.find_reach


def _batches(positions: Codes, at_once: int) -> Iterator[Codes]:
    at_once = max(1, at_once)
    for start in range(0, len(positions), at_once):
        yield positions[start : start + at_once]
