"""One question, ready for a solver: how near another class is to an input."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Mask, Matrix
from counterset.distances import Distance
from counterset.exact.norms import Norm
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table

__all__ = ["Answer", "Clock", "Problem", "roundoff_of"]

DOUBLE_ROUNDOFF = 2.0**-53
COARSE = "the model's own precision hides where its border is"
#: Points asked of the model at once.
BATCH_ROWS = 4096


@dataclass(frozen=True)
class Clock:
    """When to stop."""

    started: float
    limit: float

    @classmethod
    def start(cls, limit: float) -> Clock:
        """Start counting now."""
        return cls(time.perf_counter(), limit)

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self.limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left <= 0


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver found: a proved lower bound, and a confirmed counterfactual or None.

    ``none_exists`` says that it is proved that the domain holds no counterfactual. ``blur`` is how
    far the model's own rounding may move its border.
    """

    lower: float
    witness: Matrix | None
    method: str
    reason: str = ""
    none_exists: bool = False
    blur: float = 0.0


@dataclass(frozen=True, eq=False)
class Problem:
    """An input, the model to ask, the distance, and the bounds to stay within.

    Attributes
    ----------
    x
        The input, ``(d,)``, in the model's own units.
    label
        The model's label of it.
    distance
        The distance between rows in those units.
    norm
        The same as a weighted norm; None where it is not one.
    low, high
        The bounds of each feature; both are the input's own value where it may not change.
    integer
        Which features take whole numbers only.
    """

    x: Matrix
    label: Any
    model: ModelAdapter
    distance: Distance
    norm: Norm | None
    low: Matrix
    high: Matrix
    integer: Mask
    clock: Clock

    @property
    def roundoff(self) -> float:
        """The relative rounding of the numbers that the model is asked in."""
        return roundoff_of(self.model.table)

    def flips(self, rows: Matrix) -> Mask:
        """Ask the model which rows it decides otherwise than the input."""
        parts = [
            self.model.labels(rows[i : i + BATCH_ROWS]) != self.label
            for i in range(0, len(rows), BATCH_ROWS)
        ]
        return np.concatenate(parts).astype(bool)

    def lengths(self, rows: Matrix) -> Matrix:
        """Give the distance from the input to each row."""
        lengths: Matrix = self.distance.pairwise(self.x[None, :], rows)[0]
        return lengths

    def admit(self, rows: Matrix) -> Matrix:
        """Move rows to the nearest points of the domain, as its dtypes can hold them."""
        table = self.model.table
        snapped = table.snap(np.asarray(np.clip(rows, self.low, self.high)))
        for i, feature in enumerate(table.features):
            if feature.is_category:  # the model may not know a value that its data never had
                known = np.isin(snapped[:, i], np.asarray(feature.seen))
                snapped[:, i] = np.where(known, snapped[:, i], self.x[i])
        return snapped

    def nearest_flip(self, rows: Matrix) -> Matrix | None:
        """Give the nearest of these rows that the model decides otherwise, or None."""
        rows = rows[((rows >= self.low) & (rows <= self.high)).all(axis=1)]
        if len(rows) == 0:
            return None
        flipped = rows[self.flips(rows)]
        for place in np.argsort(self.lengths(flipped), kind="stable"):
            if self.confirms(flipped[place]):
                return np.asarray(flipped[place])
        return None

    def confirms(self, row: Matrix) -> bool:
        """Ask the model about one row alone: sums of a batch may be rounded in another order."""
        return bool(self.flips(row[None, :])[0])


def roundoff_of(table: Table) -> float:
    """Give the relative rounding of the coarsest floats of a table.

    A model that is asked in single precision computes in it.
    """
    floats = [
        feature.dtype
        for feature in table.features
        if isinstance(feature.dtype, np.dtype) and feature.dtype.kind == "f"
    ]
    return max((float(np.finfo(dtype).eps) / 2 for dtype in floats), default=DOUBLE_ROUNDOFF)
