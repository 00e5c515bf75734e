"""The space in which distances and angles are taken.

A difference of 1000 in income must not drown a difference of 1 in dependants, so each feature is
scaled before rows are compared. A row becomes a point, whose coordinates can be subtracted:

- a number is one scaled coordinate, and so is an ordinal, by its rank;
- a category is one coordinate per value, of such a size that a change of the value counts 1;
- a number that can be missing has one coordinate more, which is 1 where it is missing; the number
  itself is then taken to be the median.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterset._base.arrays import Counts, Indices, Matrix, Stack, Vector
from counterset._base.checks import numbers
from counterset.distances import Distance
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table

__all__ = ["Embedded", "ScaleLike", "Space", "TableDistance"]

ScaleLike: TypeAlias = str | ArrayLike | Mapping[Any, float] | None

#: A changed category is the vector (-s, s). With s = sqrt(0.5) its length is 1.
UNIT_LENGTH = math.sqrt(0.5)


@dataclass(frozen=True)
class Space:
    """How rows become points.

    Attributes
    ----------
    offset, factor
        The scaling of each feature: ``(x - offset) * factor``.
    middle
        The median of each feature, which stands for a missing number.
    value_counts
        The number of values of each category, 0 for a number.
    can_be_missing
        The positions of the features that can be missing.
    """

    offset: Vector
    factor: Vector
    middle: Vector
    value_counts: Counts
    can_be_missing: Indices

    @classmethod
    def learn(cls, matrix: Matrix, table: Table, scale: ScaleLike) -> Space:
        """Learn the scaling from the training rows.

        ``"range"`` maps each feature's training range to [0, 1]; ``"mad"`` divides by the median
        absolute deviation (by the range where that is 0); ``None`` leaves the values as they are;
        an array, or a mapping from names, multiplies each feature by a weight. A change of a
        category always counts 1, times its weight.
        """
        medians = np.array([_median(column) for column in matrix.T])
        offset, factor = _scaling(matrix, medians, table, scale)
        categories = np.array([feature.is_category for feature in table.features])
        if isinstance(scale, str) or scale is None:
            factor = np.where(categories, 1.0, factor)
        return cls(
            np.where(categories, 0.0, offset),
            factor,
            medians,
            np.array([_value_count(feature) for feature in table.features], dtype=np.intp),
            np.flatnonzero([feature.can_be_missing for feature in table.features]),
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether every feature is a number that is never missing."""
        return not self.value_counts.any() and not len(self.can_be_missing)

    @cached_property
    def keeps_rows(self) -> bool:
        """Whether a row is its own point: nothing is scaled."""
        return bool(self.is_plain and not self.offset.any() and (self.factor == 1).all())

    def embed(self, matrix: Matrix, category_size: float | None = 0.5) -> Matrix:
        """Return the rows of a matrix as points, ``(n, n_coordinates)``.

        Parameters
        ----------
        category_size
            The size of a category's coordinates; None for one coordinate per feature, which
            differs wherever the feature does.
        """
        if self.keeps_rows:
            return matrix
        if self.is_plain:
            points = matrix - self.offset
            points *= self.factor
            return points
        missing = np.isnan(matrix)
        if category_size is None:
            return np.where(missing, np.inf, (matrix - self.offset) * self.factor)
        numbers = self.value_counts == 0
        filled = np.where(missing, self.middle, matrix)
        parts = [(filled[:, numbers] - self.offset[numbers]) * self.factor[numbers]]
        for i in np.flatnonzero(~numbers):
            codes = np.where(missing[:, i], self.value_counts[i], matrix[:, i])
            hot = codes[:, None] == np.arange(self.value_counts[i] + 1)
            parts.append(hot * (category_size * self.factor[i]))
        parts += [missing[:, [i]] * 1.0 for i in self.can_be_missing if numbers[i]]
        return np.concatenate(parts, axis=1)

    def feature_of(self) -> Indices:
        """Return the position of the feature that each coordinate of a point belongs to."""
        numbers = np.flatnonzero(self.value_counts == 0)
        categories = np.flatnonzero(self.value_counts)
        indicators = [i for i in self.can_be_missing if self.value_counts[i] == 0]
        return np.concatenate(
            [
                numbers,
                np.repeat(categories, self.value_counts[categories] + 1),
                np.array(indicators, dtype=np.intp),
            ]
        )


@dataclass(frozen=True)
class Embedded:
    """Rows as points, for distances and for angles.

    The two differ only where there are categories: a changed category has length 1 in the
    direction of a counterfactual, whatever size the distance needs its coordinates to be.

    Attributes
    ----------
    coordinates
        What distances are taken between, ``(n, n_coordinates)``.
    directions
        What angles are taken between, of the same shape unless the distance has one coordinate
        per feature.
    """

    coordinates: Matrix
    directions: Matrix

    def __len__(self) -> int:
        return len(self.coordinates)

    def take(self, which: Any) -> Embedded:
        """Return the points at some positions."""
        coordinates = self.coordinates[which]
        if self.directions is self.coordinates:
            return Embedded(coordinates, coordinates)
        return Embedded(coordinates, self.directions[which])


@dataclass(frozen=True)
class TableDistance(Distance):
    """A distance between rows in the model's own units: it scales them, then compares them.

    The fitted explainer has it as ``distance_``, so that metrics can be taken in the same
    distance as the explanation.

    Attributes
    ----------
    inner
        The distance between points, as the user passed it.
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

    @cached_property
    def in_space(self) -> Distance:
        """The distance between points, with the weight of its feature for each coordinate."""
        return self.inner.for_coordinates(self.feature_of_coordinate)

    @cached_property
    def feature_of_coordinate(self) -> Indices:
        """The position of the feature that each coordinate of a point belongs to."""
        if self.inner.category_size is None:
            return np.arange(len(self.table.features))
        return self.space.feature_of()

    def __call__(self, A: Any, B: Any) -> Matrix:
        return self.pairwise(self._matrix(A), self._matrix(B))

    def _matrix(self, rows: Any) -> Matrix:
        return self.table.encode_any(rows)

    def coordinates(self, matrix: Matrix) -> Matrix:
        """Return the coordinates of the rows of a matrix: what the distance compares."""
        return self.space.embed(matrix, self.inner.category_size)

    def embed(self, matrix: Matrix) -> Embedded:
        """Return the rows of a matrix as points, for distances and for angles."""
        coordinates = self.coordinates(matrix)
        if self.space.is_plain or self.inner.category_size == UNIT_LENGTH:
            return Embedded(coordinates, coordinates)
        return Embedded(coordinates, self.space.embed(matrix, UNIT_LENGTH))

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return self.in_space.pairwise(self.coordinates(A), self.coordinates(B))

    def rowwise(self, x: Matrix, own: Stack) -> Matrix:
        points = self.coordinates(own.reshape(-1, own.shape[-1]))
        return self.in_space.rowwise(
            self.coordinates(x), points.reshape(*own.shape[:2], points.shape[1])
        )


def _scaling(
    matrix: Matrix, medians: Vector, table: Table, scale: ScaleLike
) -> tuple[Vector, Vector]:
    """Return the offset and the factor of each feature."""
    low = np.array([feature.low for feature in table.features])
    high = np.array([feature.high for feature in table.features])
    spread = np.where(high > low, high - low, 1.0)
    if scale is None:
        return np.zeros_like(low), np.ones_like(low)
    if not isinstance(scale, str):
        return np.zeros_like(low), _weights(scale, table)
    if scale == "range":
        return low, 1 / spread
    if scale == "mad":
        deviation = np.array(
            [_median(np.abs(c - m)) for c, m in zip(matrix.T, medians, strict=True)]
        )
        return medians, 1 / np.where(deviation > 0, deviation, spread)
    raise InvalidInputError(
        f"Unknown scale {scale!r}. Choose 'range', 'mad', None, or one weight per feature."
    )


def _median(column: Vector) -> float:
    """Return the median of the known values, 0 if there are none."""
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0


def _value_count(feature: Feature) -> int:
    return len(feature.values) if feature.is_category and feature.values is not None else 0


def _weights(scale: ArrayLike | Mapping[Any, float], table: Table) -> Vector:
    names = table.names
    if isinstance(scale, Mapping):
        positions = {name: table.find(name) for name in scale}
        unknown = [name for name, at in positions.items() if at is None]
        if unknown:
            raise InvalidInputError(f"scale names unknown features {unknown}. Known: {names}.")
        named = dict(zip(positions.values(), scale.values(), strict=True))
        if len(named) < len(scale):
            raise InvalidInputError(f"scale names a feature twice, got {scale!r}.")
        weights = numbers([named.get(i, 1.0) for i in range(len(names))])
    else:
        weights = numbers(scale)
    if weights.shape != (len(names),) or not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        raise InvalidInputError(
            f"scale must be one finite, positive weight for each of the {len(names)} features, "
            f"got {scale!r}."
        )
    return weights
