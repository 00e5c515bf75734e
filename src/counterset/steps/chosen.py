"""Chosen: candidates that were chosen for the inputs of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterset._base.arrays import Codes, Counts, Indices, Mask, Matrix, Vector
from counterset._base.lazy import Lazy
from counterset.steps.acceptance import Acceptance
from counterset.tables.space import Embedded

__all__ = ["Chosen"]


@dataclass(frozen=True)
class Chosen:
    """Chosen candidates, each for one input.

    Attributes
    ----------
    owners
        The input that each belongs to, ascending.
    pool_index
        The row of the pool that each comes from; -1: from no single one.
    rows
        The candidates themselves: rows of the pool, moved onto constraints or towards the input.
    codes
        The class code of each.
    embedded
        The candidates as points of the space.
    lengths
        The distance of each from its input.
    settled
        Which of them step 4 leaves where they are.
    n_candidates
        For each input, how many candidates step 2 left to choose from.
    farthest
        For each input, the distance of the farthest of those, if step 4 needs it; else 0.
    stable_radius
        For each input, within what distance the choice stays the same (NaN: not proved), or None.
    list_radius
        For each input, within what distance it is offered the same list (NaN: not proved), or None.
    from_list
        Which of them come from such a list; None: there is none, or all do.
    """

    owners: Indices
    pool_index: Indices
    rows: Matrix
    codes: Codes
    embedded: Embedded
    lengths: Vector
    settled: Mask
    n_candidates: Counts
    farthest: Vector
    stable_radius: Lazy[Vector] | None = None
    list_radius: Lazy[Vector] | None = None
    from_list: Mask | None = None

    @cached_property
    def counts(self) -> Counts:
        """How many candidates each input has."""
        return np.bincount(self.owners, minlength=len(self.n_candidates))

    def take(self, which: Indices) -> Chosen:
        """Return some of the candidates."""
        return replace(
            self,
            owners=self.owners[which],
            pool_index=self.pool_index[which],
            rows=self.rows[which],
            codes=self.codes[which],
            embedded=self.embedded.take(which),
            lengths=self.lengths[which],
            settled=self.settled[which],
            from_list=None if self.from_list is None else self.from_list[which],
        )

    def among(self, inputs: Indices, n: int) -> Chosen:
        """Return candidates of some inputs as those of a batch of ``n``, of which these are part.

        Parameters
        ----------
        inputs
            The position of each input in the batch.
        """
        n_candidates, farthest = np.zeros(n, dtype=np.intp), np.zeros(n)
        n_candidates[inputs], farthest[inputs] = self.n_candidates, self.farthest
        return replace(
            self, owners=inputs[self.owners], n_candidates=n_candidates, farthest=farthest
        )

    @classmethod
    def nothing(cls, acceptance: Acceptance) -> Chosen:
        """Return no candidates, for every input of a batch."""
        none, n = np.empty(0, dtype=np.intp), len(acceptance.inputs)
        rows = acceptance.inputs[:0]
        embedded = acceptance.embedded.take(none)
        counts, farthest = np.zeros(n, dtype=np.intp), np.zeros(n)
        return cls(
            none, none, rows, none, embedded, np.empty(0), none.astype(bool), counts, farthest
        )

    def with_rows(self, rows: Matrix, codes: Codes, acceptance: Acceptance) -> Chosen:
        """Return the candidates with other rows in their place."""
        embedded = acceptance.distance.embed(rows)
        lengths = acceptance.lengths(embedded, self.owners)
        return replace(self, rows=rows, codes=codes, embedded=embedded, lengths=lengths)

    def nearest_first(self, training_index: Indices | None = None) -> Chosen:
        """Sort the candidates by input, then by distance, then by training row.

        Parameters
        ----------
        training_index
            The training row of each row of the pool; None: as they stand.
        """
        rows = (
            np.arange(len(self.owners))
            if training_index is None
            else training_index[self.pool_index]
        )
        return self.take(np.lexsort((rows, self.lengths, self.owners)))

    def with_others(self, others: Chosen) -> Chosen:
        """Add candidates of inputs that have none; they come from no list."""
        both = Chosen.joined(
            [self, others],
            np.where(self.counts > 0, self.n_candidates, others.n_candidates),
            np.where(self.counts > 0, self.farthest, others.farthest),
        )
        from_list = None
        if self.from_list is not None:
            from_list = np.zeros(len(both.owners), dtype=bool)
            from_list[self.counts[both.owners] > 0] = self.from_list
        return replace(
            both,
            stable_radius=self.stable_radius,
            list_radius=self.list_radius,
            from_list=from_list,
        )

    @classmethod
    def joined(cls, parts: Sequence[Chosen], n_candidates: Counts, farthest: Vector) -> Chosen:
        """Put candidates together, in the order of the inputs."""
        joined = cls(
            np.concatenate([part.owners for part in parts]),
            np.concatenate([part.pool_index for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.codes for part in parts]),
            _joined([part.embedded for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.settled for part in parts]),
            n_candidates,
            farthest,
            from_list=_joined_masks(parts),
        )
        return joined.take(np.argsort(joined.owners, kind="stable"))


def _joined_masks(parts: Sequence[Chosen]) -> Mask | None:
    if all(part.from_list is None for part in parts):
        return None
    return np.concatenate(
        [
            np.ones(len(part.owners), dtype=bool) if part.from_list is None else part.from_list
            for part in parts
        ]
    )


def _joined(parts: list[Embedded]) -> Embedded:
    coordinates = np.concatenate([part.coordinates for part in parts])
    if all(part.directions is part.coordinates for part in parts):
        return Embedded(coordinates, coordinates)
    return Embedded(coordinates, np.concatenate([part.directions for part in parts]))
