"""The space in which distances and angles are taken.

A difference of 1000 in income must not drown a difference of 1 in dependants, so each feature is
scaled before rows are compared. A row becomes a point, whose coordinates can be subtracted:

- a number is one scaled coordinate, and so is an ordinal, by its rank;
- a category is one coordinate per value, of such a size that a change of the value counts 1;
- a number that can be missing has one coordinate more, which is 1 where it is missing, and so for
  each of its special codes; the number itself is then taken to be the median.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterset._base.arrays import Counts, Indices, Matrix, Stack, Vector
from counterset.distances import Distance
from counterset.tables.features.feature import Feature
from counterset.tables.scaling import ScaleLike, learn_scaling, medians_of
from counterset.tables.table import Table

__all__ = ["Embedded", "Space", "TableDistance"]

#: A changed category is the vector (-s, s). With s = sqrt(0.5) its length is 1.
UNIT_LENGTH = math.sqrt(0.5)


@dataclass(frozen=True)
class Space:
    """How rows become points.

    Attributes
    ----------
    offset, scale
        The scaling of each feature, without costs: ``(x - offset) * scale``.
    unit
        The difference of each number that counts 1, without costs.
    middle
        The median of each feature, which stands for a missing number.
    value_counts
        The number of values of each category, 0 for a number.
    can_be_missing
        The positions of the features that can be missing.
    costs
        What a change of each feature costs, on top of its scale.
    special
        The special codes of numbers, each as the position of its feature and the code.
    """

    offset: Vector
    scale: Vector
    unit: Vector
    middle: Vector
    value_counts: Counts
    can_be_missing: Indices
    costs: Vector
    special: tuple[tuple[int, float], ...] = ()

    @classmethod
    def learn(
        cls, matrix: Matrix, table: Table, scale: ScaleLike, costs: Vector | None = None
    ) -> Space:
        """Learn the space from the training rows.

        Parameters
        ----------
        scale
            As for :func:`~counterset.tables.scaling.learn_scaling`. A change of a category always
            counts 1, times its weight.
        costs
            What each feature is multiplied by after that, ``(d,)``; None: all cost the same.
        """
        matrix = table.without_special(matrix)
        medians = medians_of(matrix)
        offset, factor, unit = learn_scaling(matrix, table, scale)
        categories = np.array([feature.is_category for feature in table.features])
        if isinstance(scale, str) or scale is None:
            factor = np.where(categories, 1.0, factor)
        costs = np.ones_like(factor) if costs is None else costs
        return cls(
            np.where(categories, 0.0, offset),
            factor,
            unit,
            medians,
            np.array([_value_count(feature) for feature in table.features], dtype=np.intp),
            np.flatnonzero([feature.can_be_missing for feature in table.features]),
            costs,
            tuple((i, code) for i, each in enumerate(table.features) for code in each.special),
        )

    @cached_property
    def factor(self) -> Vector:
        """What each feature is multiplied by: its scale, times its cost."""
        return self.scale * self.costs

    @cached_property
    def is_plain(self) -> bool:
        """Whether every feature is a number that is never missing or special."""
        return not (self.value_counts.any() or len(self.can_be_missing) or self.special)

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
        states = [(i, missing[:, i]) for i in self.can_be_missing if numbers[i]]
        states += [(i, matrix[:, i] == code) for i, code in self.special]
        for i, state in states:
            filled[state, i] = self.middle[i]
        parts = [(filled[:, numbers] - self.offset[numbers]) * self.factor[numbers]]
        for i in np.flatnonzero(~numbers):
            codes = np.where(missing[:, i], self.value_counts[i], matrix[:, i])
            hot = codes[:, None] == np.arange(self.value_counts[i] + 1)
            parts.append(hot * (category_size * self.factor[i]))
        parts += [state[:, None] * self.costs[i] for i, state in states]
        return np.concatenate(parts, axis=1)

    def feature_of(self) -> Indices:
        """Return the position of the feature that each coordinate of a point belongs to."""
        numbers = np.flatnonzero(self.value_counts == 0)
        categories = np.flatnonzero(self.value_counts)
        indicators = [i for i in self.can_be_missing if self.value_counts[i] == 0]
        indicators += [i for i, _ in self.special]
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

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The directions in single precision, for comparisons that need no more."""
        return self.directions.astype(np.float32)

    @cached_property
    def squared(self) -> Vector:
        """The squared length of each direction: how far from the origin a point lies."""
        lengths: Vector = np.einsum("md,md->m", self.directions, self.directions)
        return lengths

    @cached_property
    def farthest(self) -> float:
        """The largest length of a direction."""
        return math.sqrt(self.squared.max())

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


def _value_count(feature: Feature) -> int:
    return len(feature.values) if feature.is_category and feature.values is not None else 0
