"""Steps 1 to 3 for a batch of inputs, looking no further than each input needs.

The greedy filter usually has its counterfactuals after a few dozen candidates, so ordering all
of them would be wasted. Fast scores shortlist the nearest; their exact distances are then sorted.
Only candidates proved nearer than everything outside the shortlist are used, and the shortlist
grows until the filter is satisfied or the cut-off is reached. The answer is the same as if
everything had been sorted, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterset.arrays import Codes, Mask, Matrix
from counterset.candidates import CandidatePool, Cutoff
from counterset.distances import Distance
from counterset.diversity import NONE_LEFT, Diversity, choose_diverse

__all__ = ["Selection", "Selector"]


FIRST_SHORTLIST = 64
GROWTH = 4
#: Numbers held at once while candidates are compared (8 bytes each).
BATCH_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Selection:
    """The chosen candidates of each input.

    Attributes
    ----------
    positions
        Where in the pool, ``(n, limit)``, padded with ``NONE_LEFT``.
    lengths
        Their distances from the input, same shape.
    n_candidates
        How many candidates step 2 left of those looked at, ``(n,)``.
    reach
        The distance of the farthest of them, ``(n,)``.
    """

    positions: Codes
    lengths: Matrix
    n_candidates: Codes
    reach: Matrix

    @classmethod
    def empty(cls, n: int, limit: int) -> Selection:
        """Give a selection to fill in."""
        return cls(
            np.full((n, limit), NONE_LEFT, dtype=np.intp),
            np.full((n, limit), np.nan),
            np.zeros(n, dtype=np.intp),
            np.zeros(n),
        )

    def put(self, where: Codes, part: Selection) -> None:
        """Fill in the selection of some inputs."""
        self.positions[where] = part.positions
        self.lengths[where] = part.lengths
        self.n_candidates[where] = part.n_candidates
        self.reach[where] = part.reach


@dataclass(frozen=True)
class Selector:
    """Steps 1 to 3, composed: order, cut off, filter.

    ``whole`` orders everything that step 2 leaves, even where step 3 needs no more.
    """

    pool: CandidatePool
    distance: Distance
    cutoff: Cutoff
    diversity: Diversity | None
    limit: int
    whole: bool = False

    def select(self, x: Matrix, slices: list[slice]) -> Selection:
        """Choose diverse candidates from these slices of the pool for each input.

        Parameters
        ----------
        x
            The inputs as points of the space, ``(n, d)``.
        """
        places = np.concatenate([np.arange(part.start, part.stop) for part in slices])
        chosen = Selection.empty(len(x), self.limit)
        for batch in _batches(np.arange(len(x)), len(places)):
            scores, errors = self._scores(x[batch], slices)
            pending, size = np.arange(len(batch)), FIRST_SHORTLIST
            while len(pending):
                size = min(size, len(places))
                unfinished = []
                for some in _batches(pending, size * x.shape[1]):
                    nearest, beyond = self._shortlist(scores[some], errors[some], size)
                    part, done = self._choose(x[batch[some]], places[nearest], beyond)
                    chosen.put(batch[some], part)
                    unfinished.append(some[~done])
                pending, size = np.concatenate(unfinished), size * GROWTH
        return chosen

    def _scores(self, x: Matrix, slices: list[slice]) -> tuple[Matrix, Matrix]:
        parts = [self.distance.scores(x, self.pool.points[part]) for part in slices]
        if len(parts) == 1:
            return parts[0]
        scores = np.concatenate([part for part, _ in parts], axis=1)
        return scores, np.max([errors for _, errors in parts], axis=0)

    def _shortlist(self, scores: Matrix, errors: Matrix, size: int) -> tuple[Codes, Matrix]:
        """Give the best-scored columns, and a bound that every other candidate lies beyond."""
        if size == scores.shape[1]:
            everything = np.broadcast_to(np.arange(size), scores.shape)
            return everything, np.full(len(scores), np.inf)
        nearest = np.argpartition(scores, size - 1, axis=1)[:, :size]
        worst = scores[np.arange(len(scores)), nearest[:, -1]]
        return nearest, self.distance.at_least(worst, errors)

    def _choose(self, x: Matrix, places: Codes, beyond: Matrix) -> tuple[Selection, Mask]:
        """Choose from the shortlist; also say for which inputs the choice is final."""
        candidates = self.pool.points[places]
        distances = self.distance.to_own(x, candidates)
        # The input is never its own counterfactual, not even for a model that contradicts itself.
        who, which = np.nonzero(distances == 0)
        itself = (candidates[who, which] == x[who]).all(axis=1)
        distances[who[itself], which[itself]] = np.inf

        # Ties are broken by the order of the training rows.
        order = np.lexsort((self.pool.rows[places], distances))
        places = np.take_along_axis(places, order, axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
        candidates = self.pool.points[places]

        certain = distances < beyond[:, None]
        close = self.cutoff.keep(distances)
        usable = certain & close
        differs = None
        if self.diversity is not None:
            differs = self.diversity.compare(x, candidates, distances, self.distance)
        chosen = choose_diverse(usable, candidates, distances, self.limit, differs)

        missing = chosen == NONE_LEFT
        selection = Selection(
            np.where(missing, NONE_LEFT, np.take_along_axis(places, chosen, axis=1)),
            np.where(missing, np.nan, np.take_along_axis(distances, chosen, axis=1)),
            usable.sum(axis=1),
            np.where(usable & np.isfinite(distances), distances, 0.0).max(axis=1),
        )
        cut_is_certain = (certain & ~close).any(axis=1)
        enough = ~missing[:, -1] & (not self.whole)
        return selection, enough | cut_is_certain | np.isinf(beyond)


def _batches(items: Codes, numbers_each: int) -> Iterator[Codes]:
    """Split items so that no batch holds more than ``BATCH_NUMBERS`` numbers."""
    at_once = max(1, BATCH_NUMBERS // numbers_each)
    for start in range(0, len(items), at_once):
        yield items[start : start + at_once]
