"""Put the sets of anchors together from the counterfactuals of rows around them.

An anchor starts from what steps 1 to 3 choose for it, and swaps one option for another as long as
that makes the set better for the inputs of its region: closer to them, more diverse, and more like
the sets of the anchors next to it, so that little changes where an input moves from one region to
the next. No swap may break step 3: seen from the anchor, any two options of a set differ enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset.anchors import sample
from counterset.arrays import Codes, Mask, Matrix
from counterset.candidates import CandidatePool
from counterset.diversity import View
from counterset.selection import NONE_LEFT, Selector
from counterset.space import Points

__all__ = ["Neighbourhoods", "Regions", "agree"]

#: A set is made of the options of so many of the nearest landmarks.
LANDMARKS_EACH = 24
#: How far an option is from a region: the mean over so many of the region's rows.
ROWS_EACH = 16
#: How much likeness to the neighbours' sets counts against closeness, and how often all sets are
#: gone through for it.
AGREEMENT, ROUNDS = 0.5, 3
#: Anchors next to each that count.
NEIGHBOURS = 4
#: Of a set, at most so many times an option is swapped; less gain than this is none.
MOST_SWAPS, LEAST_GAIN = 60, 1e-9
#: Distances held at once, 8 bytes each.
BATCH_DISTANCES = 4_000_000


@dataclass(frozen=True)
class Regions:
    """Which rows each anchor stands for, and which anchors are next to it.

    Attributes
    ----------
    rows
        For each anchor the places of rows nearest to it.
    neighbours, weights
        For each anchor the anchors that are second nearest to its rows, ``(n, NEIGHBOURS)``, and
        how often they are; a weight of 0 where there are fewer.
    """

    rows: list[Codes]
    neighbours: Codes
    weights: Matrix

    @classmethod
    def around(cls, anchors: Codes, members: Codes, pool: CandidatePool) -> Regions:
        """Divide members of the pool among the nearest anchors."""
        places, distance = pool.points.places, pool.distance.in_space
        n = len(anchors)
        first, second = np.empty((2, len(members)), dtype=np.intp)
        at_once = max(1, BATCH_DISTANCES // n)
        for start in range(0, len(members), at_once):
            part = slice(start, start + at_once)
            scores, _ = distance.scores(places[members[part]], places[anchors])
            first[part] = scores.argmin(axis=1)
            scores[np.arange(len(scores)), first[part]] = np.inf
            second[part] = scores.argmin(axis=1)
        order = np.argsort(first, kind="stable")
        starts = np.searchsorted(first[order], np.arange(n + 1))
        regions = []
        for i in range(n):
            own = members[order[starts[i] : starts[i + 1]]]
            regions.append(own[sample(len(own), ROWS_EACH)] if len(own) else anchors[[i]])
        meetings = np.zeros((n, n))
        np.add.at(meetings, (first, second), 1.0)
        np.add.at(meetings, (second, first), 1.0)
        np.fill_diagonal(meetings, 0.0)
        neighbours = np.argsort(-meetings, axis=1, kind="stable")[:, :NEIGHBOURS]
        weights = np.take_along_axis(meetings, neighbours, axis=1)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        return cls(regions, neighbours, weights)


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
    apart
        How far they are from each other, ``(n, c, c)``.
    """

    selector: Selector
    view: View
    candidates: Codes
    costs: Matrix
    apart: Matrix

    @classmethod
    def around(
        cls,
        anchors: Points,
        regions: list[Codes],
        landmarks: Points,
        own: Codes,
        options: Points,
        selector: Selector,
    ) -> Neighbourhoods:
        """Find what is near some anchors.

        Parameters
        ----------
        anchors, regions
            The anchors, and the places in the pool of the rows that each stands for.
        landmarks, own
            Rows whose options are known, and the numbers of those, ``(m, limit)``. The first of
            them are the anchors.
        options
            All options.
        """
        distance, rows = selector.pool.distance.in_space, selector.pool.points.places
        scores, _ = distance.scores(anchors.places, landmarks.places)
        scores[np.arange(len(anchors)), np.arange(len(anchors))] = -np.inf  # itself, in any case
        near = np.argsort(scores, axis=1, kind="stable")[:, :LANDMARKS_EACH]
        lists, nearest = [], np.full(len(anchors), np.inf)
        for i, each in enumerate(near):
            found = np.unique(own[each])
            found = found[found != NONE_LEFT]
            away = distance.pairwise(anchors.places[[i]], options.places[found])[0]
            lists.append(found[away > 0])
            nearest[i] = away.min(initial=np.inf)
        width = max(1, *map(len, lists))
        candidates = np.full((len(lists), width), len(options), dtype=np.intp)
        costs = np.zeros((len(lists), width))
        apart = np.zeros((len(lists), width, width))
        for i, found in enumerate(lists):
            here, c = options.places[found], len(found)
            candidates[i, :c] = found
            costs[i, :c] = distance.pairwise(rows[regions[i]], here).mean(axis=0)
            apart[i, :c, :c] = distance.pairwise(here, here)
        view = View(anchors, options, nearest, distance)
        return cls(selector, view, candidates, costs, apart)

    def positions(self, numbers: Codes) -> Codes:
        """Find options among the candidates of each anchor, ``NONE_LEFT`` if they are not there."""
        width, span = self.candidates.shape[1], len(self.view.candidates) + 1
        offsets = np.arange(len(self.candidates)) * span
        flat = (self.candidates + offsets[:, None]).ravel()
        wanted = numbers + offsets.reshape(-1, *(1,) * (numbers.ndim - 1))
        at = np.minimum(np.searchsorted(flat, wanted), len(flat) - 1)
        found = (flat[at] == wanted) & (numbers != NONE_LEFT)
        return np.where(found, at % width, NONE_LEFT)

    def numbers(self, positions: Codes) -> Codes:
        """Give the options at positions among the candidates, ascending."""
        found = np.take_along_axis(self.candidates, np.maximum(positions, 0), axis=1)
        span = len(self.view.candidates)
        ordered = np.sort(np.where(positions == NONE_LEFT, span, found), axis=1)
        return np.where(ordered == span, NONE_LEFT, ordered)

    def likeness(self, others: Codes, weights: Matrix) -> Matrix:
        """Say how far each candidate is from the sets of other anchors.

        Parameters
        ----------
        others
            Sets, as numbers of options, ``(n, others, limit)``.
        weights
            How much each counts, ``(n, others)``.
        """
        at = self.positions(others)
        n = np.arange(len(at))[:, None, None]
        away = np.where((at == NONE_LEFT)[..., None], np.inf, self.apart[n, np.maximum(at, 0)])
        nearest = away.min(axis=2)
        nearest[~np.isfinite(nearest)] = 0.0  # nothing of that set can be taken here
        result: Matrix = np.einsum("nb,nbc->nc", weights, nearest)
        return result

    def improve(self, sets: Codes, price: float, extra: Matrix | float = 0.0) -> Codes:
        """Swap options, one at a time, as long as a set gains by it.

        Parameters
        ----------
        sets
            Positions among the candidates, ``(n, k)``, padded with ``NONE_LEFT``.
        price
            How much more distance a set may cost for being so much more diverse.
        extra
            More costs of candidates, ``(n, c)``.
        """
        sets, costs = sets.copy(), self.costs + extra
        here, size = sets != NONE_LEFT, (sets != NONE_LEFT).sum(axis=1)
        pairs = np.maximum(size * (size - 1) / 2, 1)
        everyone = np.arange(len(sets))
        to_set = np.where(here[..., None], self.apart[everyone[:, None], sets], 0.0)
        alike = np.zeros(to_set.shape, dtype=bool)
        for k in range(sets.shape[1]):
            who = np.flatnonzero(here[:, k])
            alike[who, k] = self._too_alike(who, sets[who, k])
        open_ = np.flatnonzero(size)
        for _ in range(MOST_SWAPS):
            if not len(open_):
                break
            gain = self._gains(open_, sets, costs, to_set, alike, size, price / pairs)
            best = gain.reshape(len(open_), -1).argmax(axis=1)
            out, in_ = np.divmod(best, costs.shape[1])
            better = gain[np.arange(len(open_)), out, in_] > LEAST_GAIN
            open_, out, in_ = open_[better], out[better], in_[better]
            sets[open_, out] = in_
            to_set[open_, out] = self.apart[open_, in_]
            alike[open_, out] = self._too_alike(open_, in_)
        return sets

    def _gains(
        self,
        who: Codes,
        sets: Codes,
        costs: Matrix,
        to_set: Matrix,
        alike: Mask,
        size: Codes,
        price: Matrix,
    ) -> Matrix:
        """Say what each set gains by each swap, ``(n, k, c)``: out goes k, in comes c."""
        sets, costs, to_set, alike = sets[who], costs[who], to_set[who], alike[who]
        from_all = to_set.sum(axis=1)
        closer = np.take_along_axis(costs, sets, axis=1)[..., None] - costs[:, None, :]
        apart = from_all[:, None, :] - to_set
        apart -= np.take_along_axis(from_all, sets, axis=1)[..., None]
        gain: Matrix = closer / size[who][:, None, None] + price[who][:, None, None] * apart
        impossible = alike.sum(axis=1)[:, None, :] - alike > 0
        impossible |= (sets == NONE_LEFT)[..., None]
        impossible |= (self.candidates[who] == len(self.view.candidates))[:, None, :]
        return np.where(impossible, -np.inf, gain)

    def _too_alike(self, who: Codes, position: Codes) -> Mask:
        """Say which candidates are too much like one of them, ``(n, c)``."""
        width = self.candidates.shape[1]
        options = np.minimum(self.candidates[who], len(self.view.candidates) - 1).ravel()
        kept = np.repeat(self.candidates[who, position], width)
        differ = self.selector.differ(self.view.of(np.repeat(who, width)), kept, options)
        return ~differ.reshape(len(who), width)


def agree(
    neighbourhoods: list[tuple[Codes, Neighbourhoods]],
    regions: Regions,
    sets: Codes,
    price: float,
) -> Codes:
    """Go through the sets of all anchors again, with an eye on those of their neighbours.

    Parameters
    ----------
    neighbourhoods
        Of batches of anchors.
    sets
        Numbers of options, ``(n, limit)``.
    """
    sets = sets.copy()
    for _ in range(ROUNDS):
        for who, near in neighbourhoods:
            others = sets[regions.neighbours[who]]
            extra = AGREEMENT * near.likeness(others, regions.weights[who])
            sets[who] = near.numbers(near.improve(near.positions(sets[who]), price, extra))
    return sets
