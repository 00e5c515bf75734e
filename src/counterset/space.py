"""The space in which distances and angles are taken.

A difference of 1000 in income must not drown a difference of 1 in dependants, so each feature is
scaled before rows are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterset.arrays import Matrix
from counterset.distances import Distance
from counterset.exceptions import InvalidInputError
from counterset.schema import Table

__all__ = ["ScaleLike", "Space", "TableDistance"]

ScaleLike: TypeAlias = str | ArrayLike | Mapping[str, float] | None


@dataclass(frozen=True)
class Space:
    """A linear scaling of each feature: ``(x - offset) * factor``."""

    offset: Matrix
    factor: Matrix

    @classmethod
    def learn(cls, matrix: Matrix, table: Table, scale: ScaleLike) -> Space:
        """Learn the scaling from the training rows.

        ``"range"`` maps each feature's training range to [0, 1]; ``"mad"`` divides by the median
        absolute deviation (by the range where that is 0); ``None`` leaves the values alone; an
        array, or a mapping from names, multiplies each feature by a weight.
        """
        low = np.array([feature.low for feature in table.features])
        high = np.array([feature.high for feature in table.features])
        spread = np.where(high > low, high - low, 1.0)
        if scale is None:
            return cls(np.zeros_like(low), np.ones_like(low))
        if isinstance(scale, str):
            if scale == "range":
                return cls(low, 1 / spread)
            if scale == "mad":
                median = np.median(matrix, axis=0)
                deviation = np.array(
                    [np.median(np.abs(matrix[:, i] - median[i])) for i in range(len(low))]
                )
                return cls(median, 1 / np.where(deviation > 0, deviation, spread))
            raise InvalidInputError(
                f"Unknown scale {scale!r}. Choose 'range', 'mad', None, or one weight per feature."
            )
        return cls(np.zeros_like(low), _weights(scale, table))

    def embed(self, matrix: Matrix) -> Matrix:
        """Give the rows of a matrix as points of the space."""
        if not self.offset.any() and (self.factor == 1).all():
            return matrix
        points = matrix - self.offset
        points *= self.factor
        return points


@dataclass(frozen=True)
class TableDistance(Distance):
    """A distance on rows in the model's own units: scaled first, then compared.

    The fitted explainer offers it as ``distance_``, so that metrics can be taken in the same
    distance as the explanation.
    """

    table: Table
    space: Space
    inner: Distance

    @property
    def symmetric(self) -> bool:
        return self.inner.symmetric

    @property
    def triangle_inequality(self) -> bool:
        return self.inner.triangle_inequality

    def __call__(self, A: Any, B: Any) -> Matrix:
        return self.pairwise(self._matrix(A), self._matrix(B))

    def _matrix(self, rows: Any) -> Matrix:
        one = np.ndim(rows) == 1
        matrix, _ = self.table.encode_one(rows) if one else self.table.encode(rows)
        return matrix

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return self.inner.pairwise(self.space.embed(A), self.space.embed(B))

    def to_own(self, x: Matrix, own: Matrix) -> Matrix:
        return self.inner.to_own(self.space.embed(x), self.space.embed(own))


def _weights(scale: ArrayLike | Mapping[str, float], table: Table) -> Matrix:
    names = table.names
    if isinstance(scale, Mapping):
        unknown = [name for name in scale if name not in names]
        if unknown:
            raise InvalidInputError(f"scale names unknown features {unknown}. Known: {names}.")
        weights = np.array([float(scale.get(name, 1.0)) for name in names])
    else:
        weights = np.asarray(scale, dtype=np.float64)
    if weights.shape != (len(names),) or not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        raise InvalidInputError(
            f"scale must be one finite, positive weight for each of the {len(names)} features, "
            f"got {scale!r}."
        )
    return weights
