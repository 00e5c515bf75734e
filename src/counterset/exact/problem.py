"""The problem of one input, as the solvers see it: the nearest point of another class."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.distances import Distance
from counterset.exact.norms import Norm
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table

__all__ = ["Clock", "Problem", "SolverResult", "roundoff_of"]

#: The relative rounding of double precision: half of the last of its 53 bits.
DOUBLE_ROUNDOFF = 2.0**-53
#: The model classifies at most 4096 points at once: enough that the cost of a call does not matter,
#: and few enough to stay in the cache.
BATCH_ROWS = 4096
#: Reasons why bounds are not exact.
OUT_OF_TIME = "the time limit was reached"
LOW_PRECISION = "the model's own precision does not locate its decision boundary more closely"


@dataclass(frozen=True)
class Clock:
    """The time that has passed, and the limit in seconds."""

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
        """Whether the limit is reached."""
        return self.left <= 0


@dataclass(frozen=True, eq=False)
class SolverResult:
    """What a solver found for one input.

    Attributes
    ----------
    lower
        A proved lower bound on the counterfactual distance.
    witness
        The nearest counterfactual found, ``(d,)``, confirmed by the model; None if there is none.
    method
        The name of the method, for users.
    reason
        Why the bounds may not be exact, for users.
    none_exists
        Whether it is proved that the domain holds no counterfactual.
    blur
        How far the model's own rounding may move its decision boundary.
    """

    lower: float
    witness: Vector | None
    method: str
    reason: str = ""
    none_exists: bool = False
    blur: float = 0.0


@dataclass(frozen=True, eq=False)
class Problem:
    """An input, the model, the distance, and the bounds that a counterfactual must respect.

    Attributes
    ----------
    x
        The input, ``(d,)``, in the model's own units.
    label
        The class that the model predicts for it.
    model
        Predicts the labels of rows.
    distance
        The distance between rows, in the model's own units.
    norm
        The same distance as a weighted norm; None where it is not one.
    low, high
        The bounds of each feature, ``(d,)``. Both are the input's own value where a feature may
        not change.
    integer
        Which features take whole numbers only, ``(d,)``.
    clock
        When to stop.
    """

    x: Vector
    label: Any
    model: ModelAdapter
    distance: Distance
    norm: Norm | None
    low: Vector
    high: Vector
    integer: Mask
    clock: Clock

    @property
    def roundoff(self) -> float:
        """The relative rounding of the numbers that the model gets."""
        return roundoff_of(self.model.table)

    def flips(self, rows: Matrix) -> Mask:
        """Return which rows the model classifies differently from the input."""
        parts = [
            self.model.labels(rows[i : i + BATCH_ROWS]) != self.label
            for i in range(0, len(rows), BATCH_ROWS)
        ]
        return np.concatenate(parts).astype(bool)

    def confirms(self, row: Vector) -> bool:
        """Check that one row flips when the model gets it alone.

        A batch may be summed up, and so rounded, in another order.
        """
        return bool(self.flips(row[None, :])[0])

    def lengths(self, rows: Matrix) -> Vector:
        """Return the distance from the input to each row."""
        lengths: Vector = self.distance.pairwise(self.x[None, :], rows)[0]
        return lengths

    def project(self, rows: Matrix) -> Matrix:
        """Move rows to the nearest points of the domain that the columns' dtypes can hold."""
        table = self.model.table
        held = table.hold(np.asarray(np.clip(rows, self.low, self.high)))
        for i, feature in enumerate(table.features):
            if feature.is_category:  # the model may not know a value that its data never had
                known = np.isin(held[:, i], np.asarray(feature.seen))
                held[:, i] = np.where(known, held[:, i], self.x[i])
        return held

    def nearest_flip(self, rows: Matrix) -> Vector | None:
        """Return the nearest of these rows that lies within the bounds and flips, or None."""
        rows = rows[((rows >= self.low) & (rows <= self.high)).all(axis=1)]
        if len(rows) == 0:
            return None
        flipped = rows[self.flips(rows)]
        for i in np.argsort(self.lengths(flipped), kind="stable"):
            if self.confirms(flipped[i]):
                return np.asarray(flipped[i])
        return None


def roundoff_of(table: Table) -> float:
    """Return the relative rounding of the coarsest floats of a table.

    A model that gets single precision computes in it.
    """
    floats = [
        feature.dtype
        for feature in table.features
        if isinstance(feature.dtype, np.dtype) and feature.dtype.kind == "f"
    ]
    return max((float(np.finfo(dtype).eps) / 2 for dtype in floats), default=DOUBLE_ROUNDOFF)
