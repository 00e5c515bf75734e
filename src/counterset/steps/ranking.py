"""Step 1 of the paper: the candidates of each input, by distance.

Sorting every candidate exactly would be wasted, since only a few are ever chosen. A ranking works
on scores that are fast to compute and nearly right. It computes distances exactly, candidate by
candidate, only where two scores are too close to call. Its results are those of exact sorting.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset._base.products import squared_lengths
from counterset.distances import L2, ROUNDING, Distance

__all__ = ["Ranking", "scores_between"]

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
    squared
        The squared Euclidean length of each candidate, ``(m,)``, if it is known: some distances
        are computed faster with it.
    """

    def __init__(
        self,
        x: Matrix,
        points: Matrix,
        rows: Indices,
        distance: Distance,
        squared: Vector | None = None,
    ) -> None:
        self.x = x
        self.points = points
        self.distance = distance
        self._rows = rows
        self._scores, self._errors = scores_between(x, points, distance, squared)
        self._spare = np.empty_like(self._scores)  # large arrays take long to allocate
        self._most: int | None = None  # the others are still to be dropped
        self._drop_the_inputs_themselves()

    def __len__(self) -> int:
        return len(self.x)

    def count(self) -> Counts:
        """Count the candidates that are left to each input."""
        left: Counts = (self._scores < DROPPED).sum(axis=1)
        return left if self._most is None else np.minimum(left, self._most)

    def drop(self, mask: Mask) -> None:
        """Drop candidates, given as a mask ``(n, m)`` or ``(m,)`` for all inputs."""
        self._cut()
        # Arithmetic, because assigning under a mask stalls on branches.
        np.multiply(mask, DROPPED, out=self._spare)
        np.maximum(self._scores, self._spare, out=self._scores)

    def drop_at(self, who: Indices, which: Indices) -> None:
        """Drop single candidates of single inputs."""
        self._cut()
        self._scores[who, which] = DROPPED

    def keep_nearest(self, count: int) -> None:
        """Keep the ``count`` nearest candidates of each input."""
        self._cut()
        # Often what is chosen turns out to be among them without looking for the others.
        self._most = count if count < len(self.points) else None

    def _cut(self) -> None:
        """Drop what ``keep_nearest`` does not keep."""
        if self._most is None:
            return
        count, self._most = self._most, None
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
        self._cut()
        limit = factor * self.nearest_distance() * (1 + ROUNDING)
        last = self.distance.score_of(limit)
        self.drop(self._scores > (last + 2 * self._errors)[:, None])
        brink = self._scores >= (last - 2 * self._errors)[:, None]
        who, which = np.nonzero(brink & (self._scores < DROPPED))
        beyond = self._exact(who, which) > limit[who]
        self.drop_at(who[beyond], which[beyond])

    def nearest_distance(self) -> Vector:
        """Return the distance from each input to its nearest candidate, ``inf`` without any."""
        return self.lengths(*self.first(np.arange(len(self))))

    def farthest_distance(self) -> Vector:
        """Return the distance from each input to the farthest candidate that is left, 0 if none."""
        self._cut()
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
            nearest[contested] = self._nearest_within(who[contested], limit[contested])
        return nearest, found

    def take_first(self) -> tuple[Indices, Mask]:
        """Return what ``first`` does, for all inputs, and drop these candidates."""
        self._cut()
        everyone = np.arange(len(self))
        nearest = self._scores.argmin(axis=1)
        best = self._scores[everyone, nearest]
        found = best < DROPPED
        self._scores[everyone, nearest] = DROPPED
        limit = best + 2 * self._errors
        contested = np.flatnonzero(found & (self._scores.min(axis=1) <= limit))
        if len(contested):
            self._scores[contested, nearest[contested]] = best[contested]
            nearest[contested] = self._nearest_within(contested, limit[contested])
            self._scores[contested, nearest[contested]] = DROPPED
        return nearest, found

    def _nearest_within(self, who: Indices, limit: Vector) -> Indices:
        """Return the nearest of the candidates whose scores are at most a limit."""
        inputs, which = np.nonzero(self._scores[who] <= limit[:, None])
        inputs, which = self._in_exact_order(inputs, which, who)
        return which[np.searchsorted(inputs, np.arange(len(who)))]

    def lengths(self, which: Indices, found: Mask) -> Vector:
        """Return the distance from each input to a candidate, ``inf`` where none was found."""
        everyone = np.arange(len(self))
        return np.where(found, self._exact(everyone, which), np.inf)

    def squared_lengths(self) -> Matrix | None:
        """Return the squared Euclidean distances of the candidates that are left, if known."""
        return self._scores if _is_euclidean(self.distance) else None

    def narrowed(self) -> tuple[Ranking, Indices]:
        """Return a ranking of the candidates that are left to any input, and where they stood."""
        self._cut()
        kept = np.flatnonzero((self._scores < DROPPED).any(axis=0))
        other = self._with_scores(self._scores[:, kept])
        other.points, other._rows = self.points[kept], self._rows[kept]
        return other, kept

    def uncut(self) -> Ranking:
        """Return a ranking that holds also what ``keep_nearest`` is still to drop."""
        other = self._with_scores(self._scores.copy())
        other._most = None
        return other

    def _with_scores(self, scores: Matrix) -> Ranking:
        """Return a ranking with other scores, which can be changed."""
        other = object.__new__(Ranking)
        same = scores.shape == self._spare.shape
        spare = self._spare if same else np.empty_like(scores)
        other.__dict__.update(self.__dict__, _scores=scores, _spare=spare)
        return other

    def has(self, which: Indices) -> Mask:
        """Return which candidates of each input, ``(n, k)``, are left; -1 stands for none."""
        each = np.arange(len(self))[:, None]
        scores = self._scores[each, which]
        has: Mask = (which >= 0) & (scores < DROPPED)
        if self._most is None:
            return has
        farthest = np.where(has, scores, 0.0).max(axis=1, initial=0.0)
        as_near = self._scores <= (farthest + 2 * self._errors)[:, None]
        doubtful = np.flatnonzero(as_near.sum(axis=1) > self._most)
        if len(doubtful):
            some = self._with_scores(self._scores[doubtful])
            some.x, some._errors = self.x[doubtful], self._errors[doubtful]
            some._cut()
            has[doubtful] &= some._scores[each[: len(doubtful)], which[doubtful]] < DROPPED
        return has

    def left(self) -> tuple[Indices, Indices]:
        """Return all candidates that are left, as inputs and candidates."""
        self._cut()
        who, which = np.nonzero(self._scores < DROPPED)
        return who, which

    def copies_of(self, who: Indices, which: Indices) -> tuple[Indices, Indices]:
        """Find the candidates equal to one that was chosen, given the inputs and the choices."""
        self._cut()
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
        if not len(here):
            return
        who, which = np.nonzero(self._scores[here] <= self._errors[here, None])
        itself = (self.points[which] == self.x[here[who]]).all(axis=1)
        self.drop_at(here[who[itself]], which[itself])


def scores_between(
    x: Matrix, points: Matrix, distance: Distance, squared: Vector | None
) -> tuple[Matrix, Vector]:
    """Return what ``distance.scores`` does, faster where the points' squared lengths help."""
    if squared is not None and _is_euclidean(distance):
        return squared_lengths(x, points, squared)
    return distance.scores(x, points)


def _is_euclidean(distance: Distance) -> bool:
    return type(distance) is L2 and distance.weights is None
