"""RareRows: training rows that few people share, which no option may equal."""

from __future__ import annotations

from dataclasses import dataclass

from counterset._base.arrays import Mask, Matrix
from counterset._base.row_counts import RowCounts

__all__ = ["RareRows"]


@dataclass(frozen=True)
class RareRows:
    """The training rows that are equal to fewer than some number of training rows.

    Attributes
    ----------
    rows
        The training rows.
    least
        From how many equal rows on a row is not rare.
    """

    rows: RowCounts
    least: int

    def has(self, rows: Matrix) -> Mask:
        """Return which rows are equal to a rare one."""
        counts = self.rows.at(rows)
        rare: Mask = (counts > 0) & (counts < self.least)
        return rare
