"""Steps 1 to 3 of the paper, composed, for a batch of inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Moves, Vector
from counterset.strategies.batch import QueryBatch
from counterset.strategies.diversity import Diversity, FeatureDiversity, TooAlike, View
from counterset.strategies.ranking import Cutoff, NearestCandidates, Ranking
from counterset.strategies.training import CandidatePool, Candidates
from counterset.tables.space import Embedded

__all__ = ["NONE_LEFT", "Selection", "Selector"]

#: In place of a position in the pool: nothing was left to choose.
NONE_LEFT = -1
#: Half a million distances at once take 4 MB: that fits the cache of most processors, and is large
#: enough for a product of matrices to pay. At least 16 inputs are taken at a time, as long as their
#: 16 million distances take no more than 128 MB.
BATCH_DISTANCES, MOST_DISTANCES = 500_000, 16_000_000
LEAST_BATCH = 16
#: Where each input has candidates of its own, ranking those of other inputs with them is wasted:
#: 100,000 distances are 10 inputs with 1000 candidates each.
OWN_DISTANCES = 100_000
#: Where step 2 leaves less than half of the candidates, only those are compared from then on: to
#: copy them costs less than to pass over the others in every comparison.
FEW_LEFT = 2


@dataclass(frozen=True)
class Selection:
    """The chosen candidates of each input.

    Attributes
    ----------
    pool_index
        The rows of the pool, ``(n, k)``, padded with ``NONE_LEFT``.
    n_candidates
        How many candidates step 2 left to choose from, ``(n,)``.
    farthest
        The distance of the farthest of them, ``(n,)``; 0 unless the selector looks for it.
    """

    pool_index: Indices
    n_candidates: Counts
    farthest: Vector

    @classmethod
    def joined(cls, parts: list[tuple[Indices, Selection]], n: int) -> Selection:
        """Put selections of some of ``n`` inputs each together; the others have none.

        Parameters
        ----------
        parts
            The positions of inputs, ascending, and their selection.
        """
        if len(parts) == 1 and len(parts[0][0]) == n:
            return parts[0][1]
        most = max((part.pool_index.shape[1] for _, part in parts), default=0)
        pool_index = np.full((n, most), NONE_LEFT, dtype=np.intp)
        n_candidates, farthest = np.zeros(n, dtype=np.intp), np.zeros(n)
        for where, part in parts:
            pool_index[where, : part.pool_index.shape[1]] = part.pool_index
            n_candidates[where], farthest[where] = part.n_candidates, part.farthest
        return cls(pool_index, n_candidates, farthest)


@dataclass(frozen=True)
class Selector:
    """Order the candidates, cut them off, and choose diverse ones.

    Attributes
    ----------
    pool
        The training rows.
    usable
        Which of them are plausible and probable enough to be candidates; None: all.
    cutoff, diversity
        Steps 2 and 3.
    most
        The most candidates to choose for one input.
    find_farthest
        Whether to look for the distance of the farthest candidate that step 2 leaves.
    """

    pool: CandidatePool
    usable: Mask | None
    cutoff: Cutoff
    diversity: Diversity | None
    most: int
    find_farthest: bool = False

    @property
    def capacity(self) -> int:
        """The most candidates that can be chosen for one input: no more than there are."""
        return min(self.most, len(self.pool))

    def eligible(self, batch: QueryBatch) -> Iterator[tuple[Indices, Mask]]:
        """Yield groups of inputs, and which rows of the pool each group may move towards."""
        goal, labels = batch.requirements.goal, batch.classes.labels
        codes = batch.input_codes if goal.per_label else np.zeros_like(batch.input_codes)
        for code in np.flatnonzero(np.bincount(codes)):
            members = np.flatnonzero(codes == code)
            own = np.repeat(batch.input_labels[members[:1]], len(labels))
            eligible = self.pool.of_classes(goal.accepts(labels, own))
            yield members, eligible if self.usable is None else eligible & self.usable

    def select(self, x: Embedded, eligible: Mask) -> Selection:
        """Choose diverse candidates for each input.

        Parameters
        ----------
        x
            The inputs.
        eligible
            Which rows of the pool can be chosen.
        """
        parts = []
        for some, candidates, ranking in self.rank(x, eligible):
            n_candidates, farthest = ranking.count(), self.farthest(ranking)
            if 0 < FEW_LEFT * n_candidates.sum() < len(candidates):
                few, kept = ranking.narrowed()
                left = candidates.take(kept)
                chosen = self._choose(few, x.take(some), left.embedded)
                pool_index = np.where(chosen == NONE_LEFT, NONE_LEFT, left.positions[chosen])
            else:
                chosen = self._choose(ranking.uncut(), x.take(some), candidates.embedded)
                # What is chosen comes nearest first: without the candidates that are too far, the
                # same would have been chosen up to there.
                positions = candidates.positions[chosen]
                pool_index = np.where(ranking.has(chosen), positions, NONE_LEFT)
            parts.append((some, Selection(pool_index, n_candidates, farthest)))
        return Selection.joined(parts, len(x))

    def view(
        self,
        x: Embedded,
        candidates: Embedded,
        nearest: Vector,
        squared_lengths: Matrix | None = None,
    ) -> View:
        """Return what step 3 sees of inputs and candidates."""
        distance = self.pool.distance
        return View(
            x,
            candidates,
            nearest,
            distance.in_space,
            squared_lengths,
            distance.feature_of_coordinate,
        )

    def farthest(self, ranking: Ranking) -> Vector:
        """Return the distance of the farthest candidate that is left, if it is looked for."""
        return ranking.farthest_distance() if self.find_farthest else np.zeros(len(ranking))

    def rank(
        self, x: Embedded, eligible: Mask, ignored: Mask | None = None
    ) -> Iterator[tuple[Indices, Candidates, Ranking]]:
        """Rank and cut off the eligible candidates, for some inputs at a time.

        Parameters
        ----------
        ignored
            Coordinates in which candidates count as equal to the input.

        Yields
        ------
        some, candidates, ranking
            Which inputs, their candidates, and the ranking of these.
        """
        if not eligible.any():
            return
        # The pool is sorted by class, so that few rows between the first and the last are not
        # eligible.
        start, stop = int(eligible.argmax()), len(eligible) - int(eligible[::-1].argmax())
        part, inputs = self.pool.part(start, stop), x.coordinates
        if ignored is not None and ignored.any():
            inputs = np.where(ignored, 0.0, inputs)
        else:
            ignored = None
        among = None if eligible[start:stop].all() else eligible[start:stop]
        for some, candidates in self._near(inputs, part, among, ignored):
            embedded, squared = candidates.embedded, None
            points = embedded.coordinates
            if ignored is not None:
                points = np.where(ignored, 0.0, points)
            elif embedded.directions is points:
                squared = embedded.squared
            rows, distance = candidates.training_index, self.pool.distance.in_space
            ranking = Ranking(inputs[some], points, rows, distance, squared)
            if among is not None:
                ranking.drop(~eligible[candidates.positions])
            self.cutoff.cut(ranking)
            yield some, candidates, ranking

    def _near(
        self, inputs: Matrix, part: Candidates, eligible: Mask | None, ignored: Mask | None
    ) -> Iterator[tuple[Indices, Candidates]]:
        """Yield some inputs at a time, with candidates that contain all that step 2 can keep."""
        count = self.cutoff.alpha if isinstance(self.cutoff, NearestCandidates) else len(part)
        search = part.search
        if search is None or not search.pays(count):
            least = min(LEAST_BATCH, MOST_DISTANCES // len(part))
            at_once = max(1, least, BATCH_DISTANCES // len(part))
            yield from ((some, part) for some in _batches(len(inputs), at_once))
            return
        near = search.find(inputs, count, eligible, ignored)
        # Inputs that are ranked together share their candidates; at worst, each has its own.
        at_once = max(1, math.isqrt(OWN_DISTANCES // count))
        for some in _batches(len(inputs), at_once):
            own = [next(near) for _ in some]
            yield some, part.take(np.unique(np.concatenate(own)))

    def _choose(self, ranking: Ranking, x: Embedded, candidates: Embedded) -> Indices:
        """Choose greedily: the nearest, then the next that differs from all chosen ones.

        The ranking is used up.
        """
        same = candidates.directions is candidates.coordinates
        squared = ranking.squared_lengths() if same else None
        nearest, found = ranking.take_first()
        view = self.view(x, candidates, ranking.lengths(nearest, found), squared)
        filter_ = getattr(self.diversity, "filter", None) if self.capacity > 1 else None
        too_alike: TooAlike | None = None if filter_ is None else filter_(view)
        chosen, surely_differ = [np.where(found, nearest, NONE_LEFT)], None
        while len(chosen) < self.capacity and found.any():
            if too_alike is None:
                open_ = np.flatnonzero(found)
                ranking.drop_at(*ranking.copies_of(open_, nearest[open_]))
            else:
                alike, differ = too_alike(nearest)
                ranking.drop(alike)
                surely_differ = differ if surely_differ is None else surely_differ & differ
            nearest, found = self._next(ranking, view, chosen, surely_differ)
            chosen.append(np.where(found, nearest, NONE_LEFT))
        return np.array(chosen).T

    def _next(
        self, ranking: Ranking, view: View, chosen: list[Indices], surely_differ: Mask | None
    ) -> tuple[Indices, Mask]:
        """Return the nearest candidate that differs from all chosen ones, and whether there is one.

        Parameters
        ----------
        chosen
            The candidates that were chosen so far, the first of all inputs, the second of all ...
        surely_differ
            Which candidates, ``(n, m)``, surely differ from all of them; None: not known.
        """
        nearest, found = ranking.take_first()
        unsure = found
        if surely_differ is not None:
            unsure = found & ~surely_differ[np.arange(len(found)), nearest]
        who = np.flatnonzero(unsure)
        while len(who):
            differs, own = np.ones(len(who), dtype=bool), view.of(who)
            for kept in chosen:
                differs &= self.differ(own, kept[who], nearest[who])
            who = who[~differs]
            nearest[who], found[who] = ranking.first(who)
            ranking.drop_at(who, nearest[who])
            who = who[found[who]]
        return nearest, found

    def choose_from_own(self, view: View, owners: Indices, moves: Moves | None = None) -> Indices:
        """Choose greedily where each input has candidates of its own.

        Parameters
        ----------
        view
            The inputs, and the candidates of all of them.
        owners
            Which input each candidate belongs to, ascending; an input's best comes first.
        moves
            Where each candidate raises or lowers a feature: no two that are chosen for an input
            move a feature in opposite directions. None: they may.

        Returns
        -------
        chosen
            Positions of the chosen candidates.
        """
        chosen: list[Indices] = []
        kept = np.full(len(view.x), NONE_LEFT, dtype=np.intp)
        open_ = np.arange(len(owners))
        if isinstance(self.diversity, FeatureDiversity):
            open_ = np.flatnonzero(self.diversity.minimal(view, owners))
        while len(open_) and len(chosen) < self.most:
            who, first = np.unique(owners[open_], return_index=True)
            kept[who] = open_[first]
            chosen.append(kept[who])
            differs = self.differ(view.of(owners[open_]), kept[owners[open_]], open_)
            if moves is not None:
                differs &= (moves[kept[owners[open_]]] * moves[open_] >= 0).all(axis=1)
            differs[first] = False
            open_ = open_[differs]
        return np.concatenate(chosen) if chosen else np.empty(0, dtype=np.intp)

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether candidates differ from kept ones, one of each for each input."""
        candidates = view.candidates.coordinates
        # The paper's S_2 is a set: a copy of a chosen candidate is never chosen.
        differ: Mask = (candidates[a] != candidates[b]).any(axis=1)
        if self.diversity is not None:
            differ &= self.diversity.differ(view, a, b)
        return differ


def _batches(n: int, at_once: int) -> Iterator[Indices]:
    for start in range(0, n, at_once):
        yield np.arange(start, min(start + at_once, n))
