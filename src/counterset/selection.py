"""Steps 1 to 3 of the paper, composed, for a batch of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterset.arrays import Codes, Mask, Matrix
from counterset.candidates import CandidatePool, Cutoff
from counterset.distances import Distance
from counterset.diversity import Diversity, View
from counterset.ranking import Ranking

__all__ = ["NONE_LEFT", "Selection", "Selector"]

NONE_LEFT = -1
#: Distances held at once (8 bytes each): small enough to be quick, large enough for a product of
#: matrices to pay.
BATCH_DISTANCES = 500_000
LEAST_BATCH = 16


@dataclass(frozen=True)
class Selection:
    """The chosen candidates of each input.

    Attributes
    ----------
    places
        Where in the pool, ``(n, limit)``, padded with ``NONE_LEFT``.
    n_candidates
        How many candidates step 2 left to choose from, ``(n,)``.
    """

    places: Codes
    n_candidates: Codes

    @classmethod
    def empty(cls, n: int, limit: int) -> Selection:
        """Give a selection to fill in."""
        return cls(np.full((n, limit), NONE_LEFT, dtype=np.intp), np.zeros(n, dtype=np.intp))

    def put(self, where: Codes, part: Selection) -> None:
        """Fill in the selection of some inputs."""
        self.places[where] = part.places
        self.n_candidates[where] = part.n_candidates


@dataclass(frozen=True)
class Selector:
    """Order, cut off, filter."""

    pool: CandidatePool
    distance: Distance
    cutoff: Cutoff
    diversity: Diversity | None
    limit: int

    def select(self, x: Matrix, slices: list[slice]) -> Selection:
        """Choose diverse candidates from these slices of the pool for each input.

        Parameters
        ----------
        x
            The inputs as points of the space, ``(n, d)``.
        """
        start, stop = min(part.start for part in slices), max(part.stop for part in slices)
        between = np.ones(stop - start, dtype=bool)
        for part in slices:
            between[part.start - start : part.stop - start] = False
        selection = Selection.empty(len(x), self.limit)
        for batch in _batches(len(x), stop - start):
            ranking = Ranking(
                x[batch], self.pool.points[start:stop], self.pool.rows[start:stop], self.distance
            )
            if between.any():
                ranking.drop(between)
            self.cutoff.cut(ranking)
            n_candidates = ranking.count()
            chosen = self._choose(ranking)
            places = np.where(chosen == NONE_LEFT, NONE_LEFT, chosen + start)
            selection.put(batch, Selection(places, n_candidates))
        return selection

    def _choose(self, ranking: Ranking) -> Codes:
        """Choose greedily: the nearest, then the next that differs from all chosen ones."""
        chosen = np.full((len(ranking), self.limit), NONE_LEFT, dtype=np.intp)
        view = View(ranking.x, ranking.points, ranking.nearest_distance(), ranking.distance)
        too_alike = self.diversity.filter(view) if self.diversity and self.limit > 1 else None
        open_ = np.arange(len(ranking))
        for i in range(self.limit):
            pending = open_
            while len(pending):
                nearest, found = ranking.first(pending)
                pending, nearest = pending[found], nearest[found]
                ranking.drop_at(pending, nearest)
                differs = self._differ(view, pending, nearest, chosen[pending, :i])
                chosen[pending[differs], i] = nearest[differs]
                pending = pending[~differs]
            open_ = open_[chosen[open_, i] != NONE_LEFT]
            if i + 1 == self.limit or not len(open_):
                break
            if too_alike is None:
                ranking.drop_at(*ranking.copies_of(open_, chosen[open_, i]))
            else:
                ranking.drop(too_alike(ranking.points[chosen[:, i]]))
        return chosen

    def _differ(self, view: View, who: Codes, which: Codes, kept: Codes) -> Mask:
        """Decide exactly whether candidates differ from all that their inputs have kept."""
        new = view.points[which]
        own = View(view.x[who], view.points, view.nearest[who], view.distance)
        differ = np.ones(len(who), dtype=bool)
        for column in kept.T:
            # The paper's S_2 is a set: a copy of a chosen candidate is never chosen.
            differ &= (view.points[column] != new).any(axis=1)
            if self.diversity is not None:
                differ &= self.diversity.differ(own, view.points[column], new)
        return differ


def _batches(n: int, distances_each: int) -> Iterator[Codes]:
    at_once = max(LEAST_BATCH, BATCH_DISTANCES // distances_each)
    for start in range(0, n, at_once):
        yield np.arange(start, min(start + at_once, n))
