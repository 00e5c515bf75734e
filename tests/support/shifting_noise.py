"""Noise that can be worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Mask, Matrix
from counterset.evaluation.noise import NumericColumns, SameClass


@dataclass(frozen=True)
class Shift:
    """Noise that adds a fixed amount to the first feature."""

    by: float

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: np.random.Generator,
    ) -> tuple[Matrix, Mask]:
        copies = np.repeat(rows[:, None, :], repeats, axis=1)
        copies[:, :, 0] += self.by
        flat, owners = copies.reshape(-1, rows.shape[1]), np.repeat(np.arange(len(rows)), repeats)
        return copies, same_class(flat, owners).reshape(copies.shape[:2])
