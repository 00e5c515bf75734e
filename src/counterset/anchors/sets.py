"""Put sets together for regions of rows, and choose those that serve a class best.

A set starts from what steps 1 to 3 choose for an anchor, and swaps one option for another as long
as that makes it better for the rows of the anchor's region: closer to them, or more diverse. No
swap may break step 3: seen from the anchor, any two options of a set differ enough. Of the sets of
many regions, small and large, those are kept that together are nearest to the rows.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import AnyMatrix, Codes, Mask, Matrix
from counterset.steps.diversity import View
from counterset.steps.selection import NONE_LEFT, Selector
from counterset.tables.space import Embedded

__all__ = ["Neighbourhoods", "cover"]

#: A set is made of the 128 options nearest to its region.
MOST_OPTIONS = 128
#: At most 60 times an option of a set is swapped; a gain below 1e-9 is rounding.
MOST_SWAPS, LEAST_GAIN = 60, 1e-9


@dataclass(frozen=True)
class Neighbourhoods:
    """What the sets of some anchors can be made of, and how far that is.

    Attributes
    ----------
    selector
        Steps 1 to 3, of which the third has to hold.
    view
        The anchors, and all options.
    candidates
        The options that each anchor can take, ascending, ``(n, c)``; the number of options where
        there are fewer.
    costs
        How far each of those is from the anchor's region.
    """

    selector: Selector
    view: View
    candidates: Codes
    costs: Matrix

    @classmethod
    def around(
        cls, anchors: Embedded, costs: Matrix, own: Codes, options: Embedded, selector: Selector
    ) -> Neighbourhoods:
        """Find what is near some anchors.

        Parameters
        ----------
        anchors
            From where step 3 looks.
        costs
            How far each option is from the rows of each anchor's region, ``(n, options)``.
        own
            What steps 1 to 3 choose for each anchor, ``(n, limit)``: that is always at hand.
        options
            All options.
        """
        distance = selector.pool.distance.in_space
        away = distance.pairwise(anchors.coordinates, options.coordinates)
        order = np.where(away > 0, costs, np.inf)
        here = own != NONE_LEFT
        who = np.nonzero(here)[0]
        order[who, own[here]] = np.where(away[who, own[here]] > 0, -np.inf, np.inf)
        if not len(options):
            order, costs = np.full((2, len(anchors), 1), np.inf)  # a place that nothing takes
        most = min(MOST_OPTIONS, order.shape[1])
        near = np.argpartition(order, most - 1, axis=1)[:, :most]
        possible = np.take_along_axis(order, near, axis=1) < np.inf
        candidates = np.sort(np.where(possible, near, len(options)), axis=1)
        padded = np.concatenate([costs, np.zeros((len(costs), 1))], axis=1)
        view = View(anchors, options, away.min(axis=1, initial=np.inf), distance)
        return cls(selector, view, candidates, np.take_along_axis(padded, candidates, axis=1))

    def positions(self, numbers: Codes) -> Codes:
        """Find options among the candidates of each anchor, ``NONE_LEFT`` if they are not there."""
        alike = (
            self.candidates[:, None, :] == np.where(numbers == NONE_LEFT, -2, numbers)[..., None]
        )
        return np.where(alike.any(axis=2), alike.argmax(axis=2), NONE_LEFT)

    def numbers(self, positions: Codes) -> Codes:
        """Return the options at positions among the candidates, ascending."""
        found = np.take_along_axis(self.candidates, np.maximum(positions, 0), axis=1)
        span = len(self.view.candidates)
        ordered = np.sort(np.where(positions == NONE_LEFT, span, found), axis=1)
        return np.where(ordered == span, NONE_LEFT, ordered)

    def compare(self, sets: Codes) -> tuple[Matrix, Mask]:
        """Return how far the candidates are from options of sets, and which are too much like them.

        Both are ``(n, k, c)``; ``sets`` are positions among the candidates, ``(n, k)``, padded with
        ``NONE_LEFT``.
        """
        apart = np.zeros((*sets.shape, self.candidates.shape[1]))
        alike = np.zeros(apart.shape, dtype=bool)
        for k in range(sets.shape[1]):
            who = np.flatnonzero(sets[:, k] != NONE_LEFT)
            apart[who, k], alike[who, k] = self._compare(who, sets[who, k])
        return apart, alike

    def improve(
        self, sets: Codes, compared: tuple[Matrix, Mask], price: float
    ) -> tuple[Codes, Matrix]:
        """Swap options, one at a time, as long as a set gains by it.

        Parameters
        ----------
        sets
            Positions among the candidates, ``(n, k)``, padded with ``NONE_LEFT``.
        compared
            What ``compare`` says of them.
        price
            How much more distance a set may cost for being so much more diverse.

        Returns
        -------
        sets
            Positions, as before.
        diversity
            The mean distance between two options of each set; 0 for a single one.
        """
        sets, to_set, alike = sets.copy(), compared[0].copy(), compared[1].copy()
        size = (sets != NONE_LEFT).sum(axis=1)
        pairs = np.maximum(size * (size - 1) / 2, 1)
        open_ = np.flatnonzero(size)
        for _ in range(MOST_SWAPS):
            if not len(open_):
                break
            gain = self._gains(open_, sets, to_set, alike, size, price / pairs)
            best = gain.reshape(len(open_), -1).argmax(axis=1)
            out, in_ = np.divmod(best, gain.shape[2])
            better = gain[np.arange(len(open_)), out, in_] > LEAST_GAIN
            open_, out, in_ = open_[better], out[better], in_[better]
            sets[open_, out] = in_
            to_set[open_, out], alike[open_, out] = self._compare(open_, in_)
        between = np.take_along_axis(to_set, np.maximum(sets, 0)[:, None, :], axis=2)
        between = np.where((sets != NONE_LEFT)[:, None, :], between, 0.0)
        return sets, between.sum(axis=(1, 2)) / (2 * pairs)

    def _gains(
        self,
        who: Codes,
        sets: Codes,
        to_set: Matrix,
        alike: Mask,
        size: Codes,
        price: Matrix,
    ) -> Matrix:
        """Return what each set gains by each swap, ``(n, k, c)``: out goes k, in comes c."""
        sets, costs, to_set, alike = sets[who], self.costs[who], to_set[who], alike[who]
        from_all = to_set.sum(axis=1)
        closer = np.take_along_axis(costs, sets, axis=1)[..., None] - costs[:, None, :]
        apart = from_all[:, None, :] - to_set
        apart -= np.take_along_axis(from_all, sets, axis=1)[..., None]
        gain: Matrix = closer / size[who][:, None, None] + price[who][:, None, None] * apart
        impossible = alike.sum(axis=1)[:, None, :] - alike > 0
        impossible |= (sets == NONE_LEFT)[..., None]
        impossible |= (self.candidates[who] == len(self.view.candidates))[:, None, :]
        return np.where(impossible, -np.inf, gain)

    def _compare(self, who: Codes, position: Codes) -> tuple[Matrix, Mask]:
        """Return how far the candidates are from one of them, and which are too much like it."""
        width, places = self.candidates.shape[1], self.view.candidates.coordinates
        options = np.minimum(self.candidates[who], len(places) - 1)
        kept = self.candidates[who, position]
        apart = self.view.distance.rowwise(places[kept], places[options])
        differ = self.selector.differ(
            self.view.of(np.repeat(who, width)), np.repeat(kept, width), options.ravel()
        )
        return apart, ~differ.reshape(len(who), width)


def cover(costs: AnyMatrix, count: int) -> Codes:
    """Choose sets one by one, each time the one that lowers most what rows pay for their best.

    Parameters
    ----------
    costs
        What each row pays for each set, ``(rows, sets)``.
    count
        How many to choose; fewer are if no other one serves any row better.

    Returns
    -------
    chosen
        In the order in which they were chosen; of equally good ones the first.

    Examples
    --------
    >>> cover(np.array([[1.0, 0.0, 3.0], [1.0, 3.0, 0.0], [1.0, 2.0, 2.0]]), 2)
    array([0, 1])
    """
    if costs.shape[1] == 1:
        return np.array([0])
    first = int(costs.mean(axis=0).argmin())
    best, chosen = costs[:, first].copy(), [first]
    # What a set would gain only shrinks as others are chosen: an old figure is a bound.
    gains = np.maximum(best[:, None] - costs, 0.0).sum(axis=0)
    heap = [(-gain, i) for i, gain in enumerate(gains.tolist()) if gain > LEAST_GAIN]
    heapq.heapify(heap)
    while heap and len(chosen) < count:
        _, i = heapq.heappop(heap)
        gain = float(np.maximum(best - costs[:, i], 0.0).sum())
        if gain <= LEAST_GAIN:
            continue
        if heap and (-gain, i) > heap[0]:
            heapq.heappush(heap, (-gain, i))
            continue
        chosen.append(i)
        np.minimum(best, costs[:, i], out=best)
    return np.array(chosen)
