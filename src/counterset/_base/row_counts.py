"""RowCounts: how many of some rows are equal, by a hash of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterset._base.arrays import Counts, Matrix, row_blocks

__all__ = ["RowCounts"]

#: Two steps of splitmix64, which spread the bits of a number over all of its hash.
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
#: 2000 rows are hashed at a time: what is made of them fits the cache.
ROWS_HASHED = 2000
#: The same factors are drawn each time, one for each column.
SEED = 0


@dataclass(frozen=True)
class RowCounts:
    """How many of some rows are equal, by a hash of each.

    Two of a million rows have the same hash with a probability of 3e-8. Such a row would be taken
    for another.

    Attributes
    ----------
    hashes
        The hashes of the distinct rows, ascending.
    counts
        How many rows have each.

    Examples
    --------
    >>> counts = RowCounts.of(np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan]]))
    >>> counts.at(np.array([[1.0, np.nan], [2.0, -0.0], [3.0, 0.0]]))
    array([2, 1, 0])
    """

    hashes: NDArray[np.uint64]
    counts: Counts

    @classmethod
    def of(cls, rows: Matrix) -> RowCounts:
        """Count equal rows."""
        return cls(*np.unique(_hashes(rows), return_counts=True))

    def at(self, rows: Matrix) -> Counts:
        """Return how many of the rows are equal to each of these."""
        hashes = _hashes(rows)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, self.counts[at], 0)


def _hashes(rows: Matrix) -> NDArray[np.uint64]:
    """Return a hash of each row, equal for equal rows, in every run and on every machine."""
    random = np.random.default_rng(SEED)
    factors = random.integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(2) + 1
    hashes = np.empty(len(rows), dtype=np.uint64)
    for block in row_blocks(len(rows), ROWS_HASHED):
        # One NaN, and one 0.
        cells = np.where(np.isnan(rows[block]), np.nan, rows[block] + 0.0).view(np.uint64)
        mixed = (cells ^ (cells >> np.uint64(30))) * FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
        mixed ^= mixed >> np.uint64(31)
        hashes[block] = (mixed * factors).sum(axis=1)
    return hashes
