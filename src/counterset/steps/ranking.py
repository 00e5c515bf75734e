"""Step 1 of the paper: the candidates of each input, by distance.

Sorting every candidate exactly would be wasted, since only a few are ever chosen. A ranking works
on scores that are fast to compute and nearly right. It computes distances exactly, candidate by
candidate, only where two scores are too close to call. Its results are those of exact sorting.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset.distances import L2, ROUNDING, Distance

__all__ = ["Ranking"]

#: The score of a dropped candidate: the largest float there is.
DROPPED = np.finfo(np.float64).max


class Ranking:
    """The candidates of a batch of inputs, by distance, ties by training row.

    Parameters
    ----------
    x
        The inputs as points of the space, ``(n, d)``.
    points
        The candidates as points of the space, ``(m, d)``, the same for all inputs.
    rows
        The training row of each candidate, ``(m,)``.
    distance
        By which they are ranked.
    """

    def __init__(self, x: Matrix, points: Matrix, rows: Indices, distance: Distance) -> None:
        self.x = x
        self.points = points
        self.distance = distance
        self._rows = rows
        self._scores, self._errors = distance.scores(x, points)
        self._spare = np.empty_like(self._scores)  # large arrays take long to allocate
        self._drop_the_inputs_themselves()

    def __len__(self) -> int:
        return len(self.x)

    def count(self) -> Counts:
        """Count the candidates that are left to each input."""
        left: Counts = np.count_nonzero(self._scores < DROPPED, axis=1)
        return left

    def drop(self, mask: Mask) -> None:
        """Drop candidates, given as a mask ``(n, m)`` or ``(m,)`` for all inputs."""
        # Arithmetic, because assigning under a mask stalls on branches.
        np.multiply(mask, DROPPED, out=self._spare)
        np.maximum(self._scores, self._spare, out=self._scores)

    def drop_at(self, who: Indices, which: Indices) -> None:
        """Drop single candidates of single inputs."""
        self._scores[who, which] = DROPPED

    def keep_nearest(self, count: int) -> None:
        """Keep the ``count`` nearest candidates of each input."""
        if count >= len(self.points):
            return
        np.copyto(self._spare, self._scores)
        self._spare.partition(count - 1, axis=1)
        last = self._spare[:, count - 1].copy()
        self.drop(self._scores > (last + 2 * self._errors)[:, None])
        crowded = np.flatnonzero(self.count() > count)
        if len(crowded):
            # Several are about as far as the last one: keep as many as there is room for.
            brink = self._scores[crowded] >= (last - 2 * self._errors)[crowded, None]
            brink &= self._scores[crowded] < DROPPED
            who, which = np.nonzero(brink)
            room = count - (self.count()[crowded] - brink.sum(axis=1))
            who, which = self._in_exact_order(who, which, crowded)
            place = np.arange(len(who)) - np.searchsorted(who, who)
            beyond = place >= room[who]
            self.drop_at(crowded[who[beyond]], which[beyond])

    def keep_within(self, factor: float) -> None:
        """Keep the candidates at most ``factor`` times as far as the nearest one."""
        limit = factor * self.nearest_distance() * (1 + ROUNDING)
        last = self.distance.score_of(limit)
        self.drop(self._scores > (last + 2 * self._errors)[:, None])
        brink = self._scores >= (last - 2 * self._errors)[:, None]
        who, which = np.nonzero(brink & (self._scores < DROPPED))
        beyond = self._exact(who, which) > limit[who]
        self.drop_at(who[beyond], which[beyond])

    def nearest_distance(self) -> Vector:
        """Return the distance from each input to its nearest candidate, ``inf`` without any."""
        everyone = np.arange(len(self))
        nearest, found = self.first(everyone)
        return np.where(found, self._exact(everyone, nearest), np.inf)

    def farthest_distance(self) -> Vector:
        """Return the distance from each input to the farthest candidate that is left, 0 if none."""
        scores = np.where(self._scores < DROPPED, self._scores, -1.0)
        farthest = scores.argmax(axis=1)
        everyone = np.arange(len(self))
        found = scores[everyone, farthest] >= 0
        return np.where(found, self._exact(everyone, farthest), 0.0)

    def first(self, who: Indices) -> tuple[Indices, Mask]:
        """Return the nearest candidate left to each of these inputs, and whether there is one."""
        scores = self._scores if len(who) == len(self) else self._scores[who]
        each = np.arange(len(who))
        nearest = scores.argmin(axis=1)
        best = scores[each, nearest]
        found = best < DROPPED
        scores[each, nearest] = DROPPED
        second = scores.min(axis=1)
        scores[each, nearest] = best
        limit = best + 2 * self._errors[who]
        contested = np.flatnonzero(found & (second <= limit))
        if len(contested):
            inputs, which = np.nonzero(scores[contested] <= limit[contested, None])
            inputs, which = self._in_exact_order(inputs, which, who[contested])
            winners, at = np.unique(inputs, return_index=True)
            nearest[contested[winners]] = which[at]
        return nearest, found

    def squared_lengths(self) -> Matrix | None:
        """Return the squared Euclidean distances of the candidates that are left, if known."""
        plain = isinstance(self.distance, L2) and self.distance.weights is None
        return self._scores if plain else None

    def narrowed(self) -> tuple[Ranking, Indices]:
        """Return a ranking of the candidates that are left to any input, and where they stood."""
        kept = np.flatnonzero((self._scores < DROPPED).any(axis=0))
        other = copy(self)
        other.points, other._rows = self.points[kept], self._rows[kept]
        other._scores = self._scores[:, kept]
        other._spare = np.empty_like(other._scores)
        return other, kept

    def left(self) -> tuple[Indices, Indices]:
        """Return all candidates that are left, as inputs and candidates."""
        who, which = np.nonzero(self._scores < DROPPED)
        return who, which

    def copies_of(self, who: Indices, which: Indices) -> tuple[Indices, Indices]:
        """Find the candidates equal to one that was chosen, given the inputs and the choices."""
        scores = self.distance.score_of(self._exact(who, which))
        alike = np.abs(self._scores[who] - scores[:, None]) <= 2 * self._errors[who][:, None]
        chosen, others = np.nonzero(alike)
        same = (self.points[others] == self.points[which[chosen]]).all(axis=1)
        return who[chosen[same]], others[same]

    def _exact(self, who: Indices, which: Indices) -> Vector:
        return self.distance.rowwise(self.x[who], self.points[which][:, None, :])[:, 0]

    def _in_exact_order(
        self, who: Indices, which: Indices, inputs: Indices
    ) -> tuple[Indices, Indices]:
        """Sort pairs by input, then by exact distance, then by training row.

        ``who`` counts among ``inputs``.
        """
        order = np.lexsort((self._rows[which], self._exact(inputs[who], which), who))
        return who[order], which[order]

    def _drop_the_inputs_themselves(self) -> None:
        # Not even for a model that contradicts itself is an input its own counterfactual.
        here = np.flatnonzero(self._scores.min(axis=1) <= self._errors)
        who, which = np.nonzero(self._scores[here] <= self._errors[here, None])
        itself = (self.points[which] == self.x[here[who]]).all(axis=1)
        self.drop_at(here[who[itself]], which[itself])
