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

import numpy as np
from scipy.spatial import KDTree

from counterset._base.arrays import Indices, Mask, Matrix, Vector, row_blocks
from counterset.distances import L1, L2, ROUNDING, Distance, LInf
from counterset.steps.ranking import scores_between

__all__ = ["NearestSearch"]

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
