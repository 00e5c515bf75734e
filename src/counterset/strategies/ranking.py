"""The nearest of very many candidates, without a distance held for each of them.

Step 1 of the paper orders all candidates of an input, step 2 keeps the nearest alpha. Among very
many candidates, those are found first, and only they are ordered. What is found contains the
nearest ones for certain: candidates that are about as far as the last one are all among them.

There are two searches. A scan goes through all candidates, a block at a time, and passes over
those that are farther than alpha others. A k-d tree looks only where near candidates can be; it
pays in few dimensions. ``benchmarks/search.py`` compares them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.spatial import KDTree

from counterset._base.arrays import (
    Counts,
    Indices,
    Mask,
    Matrix,
    Vector,
    row_blocks,
    squared_lengths,
)
from counterset._base.checks import check_at_least, check_count
from counterset.distances import L1, L2, ROUNDING, Distance, LInf

__all__ = [
    "CandidatesWithin",
    "Cutoff",
    "NearestCandidates",
    "NearestSearch",
    "Ranking",
    "scores_between",
]

#: A search pays from 50,000 candidates on, if less than half of them are wanted.
VERY_MANY, HALF = 50_000, 2
#: A tree pays if it has at least 2.5 levels for each coordinate, else it looks nearly everywhere:
#: 50,000 candidates have 15 levels, enough for 6 coordinates, and ten million enough for 9.
LEVELS_EACH = 2.5
#: 64 inputs share the reading of a block. A block has 500,000 distances, which fit the cache of
#: most processors, of at most 65,536 candidates, so that a first limit is soon found.
INPUTS_AT_ONCE, BLOCK_DISTANCES, LARGEST_BLOCK = 64, 500_000, 65_536
#: The norms that a tree knows, by their order.
ORDERS: dict[type[Distance], float] = {L1: 1.0, L2: 2.0, LInf: math.inf}


@dataclass(frozen=True)
class NearestSearch:
    """Finds the nearest of many candidates.

    Attributes
    ----------
    points
        The candidates as points of the space, ``(m, d)``.
    distance
        By which they are ranked.
    squared
        The squared Euclidean length of each candidate, ``(m,)``, if it is known.

    Examples
    --------
    >>> search = NearestSearch(np.array([[0.0], [3.0], [1.0], [-1.0]]), L1())
    >>> [found.tolist() for found in search.find(np.array([[0.25]]), 2)]
    [[0, 2]]
    """

    points: Matrix
    distance: Distance
    squared: Vector | None = None

    def find(
        self,
        x: Matrix,
        count: int,
        eligible: Mask | None = None,
        ignored: Mask | None = None,
    ) -> Iterator[Indices]:
        """Yield candidates of each input, ascending, among them the nearest ``count``.

        A candidate that is equal to the input does not count.

        Parameters
        ----------
        x
            The inputs as points, ``(n, d)``.
        eligible
            Which candidates count, ``(m,)``; None: all.
        ignored
            Coordinates in which candidates count as equal to the input; those of ``x`` are 0.
        """
        for some in row_blocks(len(x), INPUTS_AT_ONCE):
            if self._has_tree and eligible is None and ignored is None:
                yield from self._look_up(x[some], count)
            else:
                yield from self._scan(x[some], count, eligible, ignored)

    def pays(self, count: int) -> bool:
        """Whether it costs less to look for the nearest ``count`` than to rank all candidates."""
        return len(self.points) >= max(VERY_MANY, HALF * count + 1)

    @property
    def _has_tree(self) -> bool:
        m, d = self.points.shape
        return type(self.distance) in ORDERS and math.log2(m) >= LEVELS_EACH * d

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(_stretched(self.distance, self.points))

    def _look_up(self, x: Matrix, count: int) -> Iterator[Indices]:
        """Yield the nearest by the tree; scan for inputs where rounding could hide one."""
        stretched = _stretched(self.distance, x)
        order = ORDERS[type(self.distance)]
        # One more than wanted: if it is clearly farther, no other is as near as the last one.
        lengths, found = self._tree.query(stretched, count + 1, p=order)
        unit = 4 * x.shape[1] * np.finfo(np.float64).eps
        ends = np.abs([self._tree.mins, self._tree.maxes])
        largest = np.abs(stretched).max(axis=1) + ends.max()
        errors = ROUNDING * lengths[:, count] + unit * largest
        clear = (lengths[:, count] > lengths[:, count - 1] + 2 * errors) & (lengths[:, 0] > errors)
        scanned = self._scan(x[~clear], count, None, None) if not clear.all() else iter(())
        for i in range(len(x)):
            yield np.sort(found[i, :count]) if clear[i] else next(scanned)

    def _scan(
        self, x: Matrix, count: int, eligible: Mask | None, ignored: Mask | None
    ) -> Iterator[Indices]:
        """Yield the nearest by going through all candidates."""
        nearest = _Nearest.of(len(x), count)
        size = min(LARGEST_BLOCK, BLOCK_DISTANCES // len(x))
        for block in row_blocks(len(self.points), size):
            points, squared = self.points[block], self.squared
            if ignored is not None:
                points, squared = np.where(ignored, 0.0, points), None
            known = None if squared is None else squared[block]
            scores, errors = scores_between(x, points, self.distance, known)
            if eligible is not None:
                scores[:, ~eligible[block]] = np.inf
            nearest.meet(scores, errors)
            near = scores <= nearest.reach[:, None]
            who, which = np.divmod(np.flatnonzero(near & np.isfinite(scores)), len(points))
            found = scores[who, which]
            # Not even for a model that contradicts itself is an input its own counterfactual.
            itself = np.flatnonzero(found <= errors[who])
            itself = itself[(points[which[itself]] == x[who[itself]]).all(axis=1)]
            nearest.add(*(np.delete(each, itself) for each in (who, block.start + which, found)))
        return nearest.each()


@dataclass
class _Nearest:
    """The nearest candidates so far, of some inputs.

    Attributes
    ----------
    count
        How many are looked for.
    limits
        The score of the last of them, ``(n,)``; infinite before there are as many.
    errors
        Each score of an input is within this of the exact one, ``(n,)``.
    who, which, scores
        The candidates: the input, the position and the score of each.
    added
        How many were added since those that are too far were forgotten.
    """

    count: int
    limits: Vector
    errors: Vector
    who: list[Indices] = field(default_factory=list)
    which: list[Indices] = field(default_factory=list)
    scores: list[Vector] = field(default_factory=list)
    added: int = 0

    @classmethod
    def of(cls, n: int, count: int) -> _Nearest:
        return cls(count, np.full(n, np.inf), np.zeros(n))

    @property
    def reach(self) -> Vector:
        """The score up to which a candidate can be one of the nearest."""
        return self.limits + 2 * self.errors

    def meet(self, scores: Matrix, errors: Vector) -> None:
        """Learn from the scores of a block how far the nearest are at most."""
        np.maximum(self.errors, errors, out=self.errors)
        if self.who or scores.shape[1] < self.count:
            return
        first = np.partition(scores, self.count - 1, axis=1)[:, : self.count]
        # A candidate that may be the input itself does not count: then the limit is not known yet.
        self.limits[:] = np.where(first.min(axis=1) > errors, first[:, -1], np.inf)

    def add(self, who: Indices, which: Indices, scores: Vector) -> None:
        """Add candidates; forget those that are too far once there are many."""
        self.who.append(who)
        self.which.append(which)
        self.scores.append(scores)
        self.added += len(who)
        if self.added >= self.count * len(self.limits):
            self._shrink()

    def each(self) -> Iterator[Indices]:
        """Yield the nearest candidates of each input, ascending."""
        self._shrink()
        ends = np.searchsorted(self.who[0], np.arange(len(self.limits) + 1))
        yield from (np.sort(self.which[0][a:b]) for a, b in itertools.pairwise(ends))

    def _shrink(self) -> None:
        who = np.concatenate(self.who)
        order = np.argsort(who, kind="stable")
        who, which = who[order], np.concatenate(self.which)[order]
        scores = np.concatenate(self.scores)[order]
        ends = np.searchsorted(who, np.arange(len(self.limits) + 1))
        for i, (a, b) in enumerate(itertools.pairwise(ends)):
            if b - a >= self.count:
                self.limits[i] = np.partition(scores[a:b], self.count - 1)[self.count - 1]
        near = scores <= self.reach[who]
        self.who, self.which, self.scores = [who[near]], [which[near]], [scores[near]]
        self.added = 0


def _stretched(distance: Distance, points: Matrix) -> Matrix:
    """Return points for which the norm without weights is the distance."""
    assert isinstance(distance, L1 | L2 | LInf)
    return distance.stretch(points)


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


@runtime_checkable
class Cutoff(Protocol):
    """Step 2: which of the ordered candidates are close enough."""

    def cut(self, ranking: Ranking) -> None:
        """Drop the candidates that are too far."""
        ...


@dataclass(frozen=True)
class NearestCandidates:
    """Keep the nearest candidates, a fixed number of them (the paper's number-based selection).

    Parameters
    ----------
    alpha : int, default=1000
        How many.

    See Also
    --------
    CandidatesWithin : Cut off by distance.

    Examples
    --------
    >>> NearestCandidates(100)
    NearestCandidates(alpha=100)
    """

    alpha: int = 1000

    def __post_init__(self) -> None:
        check_count(self.alpha, "alpha")

    def cut(self, ranking: Ranking) -> None:
        """Drop all but the nearest ``alpha`` candidates."""
        ranking.keep_nearest(self.alpha)


@dataclass(frozen=True)
class CandidatesWithin:
    """Keep the candidates at most ``(1 + epsilon)`` times as far as the nearest one.

    The paper's distance-based selection: it keeps more where the data is dense.

    Parameters
    ----------
    epsilon : float, default=0.25
        0.25 keeps those at most 25 % more distant than the nearest.

    See Also
    --------
    NearestCandidates : Cut off by number.

    Examples
    --------
    >>> CandidatesWithin(0.1)
    CandidatesWithin(epsilon=0.1)
    """

    epsilon: float = 0.25

    def __post_init__(self) -> None:
        check_at_least(self.epsilon, 0, "epsilon")

    def cut(self, ranking: Ranking) -> None:
        """Drop the candidates beyond ``(1 + epsilon) * m``, m being the nearest's distance."""
        ranking.keep_within(1 + self.epsilon)
