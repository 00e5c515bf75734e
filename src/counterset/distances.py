"""Distances between rows.

One shape rule: a distance takes ``(n, d)`` and ``(m, d)`` and gives ``(n, m)``. Each distance
says whether it is symmetric and whether it satisfies the triangle inequality, because the
guarantees of the paper hold only then.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from counterset._base.arrays import Codes, Matrix
from counterset._base.checks import numbers
from counterset.exceptions import InvalidInputError

__all__ = [
    "L0",
    "L1",
    "L2",
    "CustomDistance",
    "Distance",
    "DistanceLike",
    "Gower",
    "LInf",
    "get",
]


#: From this many differences on, threads pay.
PAYS_TO_SHARE = 5_000_000
#: Sums of thousands of terms stay within this relative error.
ROUNDING = 1e-12


class Distance(ABC):
    """A distance between the rows of two matrices."""

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether d(a, b) = d(b, a)."""

    @property
    @abstractmethod
    def triangle_inequality(self) -> bool:
        """Whether d(a, c) <= d(a, b) + d(b, c)."""

    @property
    def category_size(self) -> float | None:
        """The size of a category's coordinates that makes a change count 1; None: no coordinates.

        A category with values a, b, c is compared as three coordinates, of which one has this
        size and the others are 0.
        """
        return 0.5

    def for_coordinates(self, feature_of: Codes) -> Distance:
        """Give the distance for points of which each coordinate belongs to a feature."""
        return self

    def __call__(self, A: ArrayLike, B: ArrayLike) -> Matrix:
        """Give the distances from every row of ``A`` to every row of ``B``, shape ``(n, m)``."""
        first, second = _rows(A), _rows(B)
        if first.shape[1] != second.shape[1]:
            raise InvalidInputError(
                f"A distance compares rows with the same number of features, got "
                f"{first.shape[1]} and {second.shape[1]}. Pass rows of one table."
            )
        return self.pairwise(first, second)

    @abstractmethod
    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        """``__call__`` for matrices that are known to fit each other."""

    @abstractmethod
    def rowwise(self, x: Matrix, own: Matrix) -> Matrix:
        """Give the distances from each ``x[i]`` to its own rows ``own[i]``.

        Parameters
        ----------
        x
            Shape ``(n, d)``.
        own
            Shape ``(n, k, d)``.

        Returns
        -------
        distances
            Shape ``(n, k)``. An entry depends on its two rows only, to the last bit, so that an
            answer does not depend on what else is in the batch.
        """

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
        """Give scores that are fast to compute and nearly right, and their errors.

        Returns
        -------
        scores
            Shape ``(n, m)``; the caller may change them.
        errors
            Shape ``(n,)``: each score of the row is within this of ``score_of`` the distance.
        """
        scores = self.pairwise(A, B)
        return scores, ROUNDING * scores.max(axis=1, initial=0.0)

    def score_of(self, distances: Matrix) -> Matrix:
        """Give the scores that belong to distances; they rise with them."""
        return distances


@dataclass(frozen=True, eq=False)
class _Norm(Distance):
    """A norm of the difference, with optional weights for the features."""

    weights: ArrayLike | None = None

    _metric: ClassVar[str]

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        weights = numbers(self.weights)
        if weights.ndim != 1 or not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise InvalidInputError(
                f"weights must be one finite, non-negative number per feature, got "
                f"{self.weights!r}."
            )
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def triangle_inequality(self) -> bool:
        return True

    def stretch(self, A: Matrix) -> Matrix:
        """Stretch the features so that the plain norm of the result is the weighted one."""
        if self.weights is None:
            return A
        factors = self._factors(np.asarray(self.weights))
        if factors.shape[0] != A.shape[-1]:
            raise InvalidInputError(
                f"{type(self).__name__} has {factors.shape[0]} weights, but the rows have "
                f"{A.shape[-1]} features. Give one weight per feature."
            )
        return A * factors

    def _factors(self, weights: Matrix) -> Matrix:
        return weights

    def for_coordinates(self, feature_of: Codes) -> Distance:
        if self.weights is None:
            return self
        weights = np.asarray(self.weights)
        if len(weights) != feature_of.max() + 1:
            raise InvalidInputError(
                f"{type(self).__name__} has {len(weights)} weights, but the rows have "
                f"{feature_of.max() + 1} features. Give one weight per feature."
            )
        return replace(self, weights=weights[feature_of])

    @abstractmethod
    def _reduce(self, difference: Matrix) -> Matrix:
        """Take the plain norm over the last axis."""

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return _in_threads(lambda a, b: cdist(a, b, self._metric), self.stretch(A), self.stretch(B))

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
        scores, errors = super().scores(A, B)
        if self.weights is not None:
            # Weighing before subtracting loses digits far from the origin.
            unit = 4 * A.shape[1] * np.finfo(np.float64).eps
            farthest = np.abs(self.stretch(B)).max(initial=0.0)
            errors += unit * (np.abs(self.stretch(A)).max(axis=1, initial=0.0) + farthest)
        return scores, errors

    def rowwise(self, x: Matrix, own: Matrix) -> Matrix:
        # numpy adds up a contiguous last axis in an order that depends on its length alone.
        return self._reduce(np.ascontiguousarray(self.stretch(own - x[:, None, :])))


class L1(_Norm):
    """The sum of the absolute differences, ``sum(w * |a - b|)``.

    Examples
    --------
    >>> L1()([[0, 0]], [[3, 4], [1, 0]])
    array([[7., 1.]])
    >>> L1(weights=[1, 10])([[0, 0]], [[3, 4]])
    array([[43.]])
    """

    _metric = "cityblock"

    def _reduce(self, difference: Matrix) -> Matrix:
        total: Matrix = np.abs(difference).sum(axis=-1)
        return total


class Gower(L1):
    """The mean difference over the features, each scaled to [0, 1]; a changed category counts 1.

    The usual distance for mixed data. With weights, the weighted mean. It is the l1 distance of
    the scaled space divided by the number of features.

    Examples
    --------
    >>> Gower()([[0.0, 0.0]], [[0.5, 1.0]])
    array([[0.75]])
    >>> Gower(weights=[3, 1])([[0.0, 0.0]], [[0.5, 1.0]])
    array([[0.625]])
    """

    def for_coordinates(self, feature_of: Codes) -> Distance:
        count = int(feature_of.max()) + 1
        weights = np.ones(count) if self.weights is None else np.asarray(self.weights)
        return L1(weights / weights.sum()).for_coordinates(feature_of)

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return self.for_coordinates(np.arange(A.shape[1])).pairwise(A, B)

    def rowwise(self, x: Matrix, own: Matrix) -> Matrix:
        return self.for_coordinates(np.arange(x.shape[1])).rowwise(x, own)


class L2(_Norm):
    """The Euclidean distance, ``sqrt(sum(w * (a - b) ** 2))``.

    Examples
    --------
    >>> L2()([[0, 0]], [[3, 4], [1, 0]])
    array([[5., 1.]])
    """

    _metric = "euclidean"

    @property
    def category_size(self) -> float | None:
        return math.sqrt(0.5)

    def _factors(self, weights: Matrix) -> Matrix:
        roots: Matrix = np.sqrt(weights)
        return roots

    def _reduce(self, difference: Matrix) -> Matrix:
        norm: Matrix = np.sqrt(np.einsum("...d,...d->...", difference, difference))
        return norm

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
        # |a - b|^2 = |a|^2 - 2ab + |b|^2 is one matrix product, but loses digits to cancellation.
        A, B = self.stretch(A), self.stretch(B)
        a_squared, b_squared = np.einsum("nd,nd->n", A, A), np.einsum("nd,nd->n", B, B)
        squared = A @ B.T
        squared *= -2
        squared += b_squared
        squared += a_squared[:, None]
        largest = b_squared.max(initial=0.0)
        unit = 4 * (A.shape[1] + 4) * np.finfo(np.float64).eps
        return squared, unit * (a_squared + largest)

    def score_of(self, distances: Matrix) -> Matrix:
        squared: Matrix = distances**2
        return squared


class LInf(_Norm):
    """The largest absolute difference, ``max(w * |a - b|)``.

    Examples
    --------
    >>> LInf()([[0, 0]], [[3, 4], [1, 0]])
    array([[4., 1.]])
    """

    _metric = "chebyshev"

    @property
    def category_size(self) -> float | None:
        return 1.0

    def _reduce(self, difference: Matrix) -> Matrix:
        largest: Matrix = np.abs(difference).max(axis=-1)
        return largest


class L0(_Norm):
    """The number of features that differ, ``sum(w * (a != b))``.

    Examples
    --------
    >>> L0()([[0, 0]], [[3, 4], [1, 0]])
    array([[2., 1.]])
    """

    @property
    def category_size(self) -> float | None:
        return None

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        if self.weights is not None:
            self.stretch(A[:1])  # checks their number
        # cdist's "hamming" is the weighted mean of (a != b).
        total = A.shape[1] if self.weights is None else np.sum(self.weights)
        if total == 0:
            return np.zeros((len(A), len(B)))
        means: Matrix = cdist(A, B, "hamming", w=self.weights)
        means *= total
        return np.rint(means, out=means) if self.weights is None else means

    def rowwise(self, x: Matrix, own: Matrix) -> Matrix:
        differs = (own != x[:, None, :]).astype(np.float64)
        count: Matrix = self.stretch(differs).sum(axis=-1)
        return count

    def _reduce(self, difference: Matrix) -> Matrix:  # pragma: no cover - rowwise needs no norm
        raise NotImplementedError


@dataclass(frozen=True)
class CustomDistance(Distance):
    """A distance given as a function ``(n, d), (m, d) -> (n, m)``.

    Parameters
    ----------
    function
        For a function of two vectors, wrap it:
        ``lambda A, B: scipy.spatial.distance.cdist(A, B, function)``.
    is_symmetric, has_triangle_inequality
        What you know about it; nothing is assumed, since the guarantees rest on it.

    Examples
    --------
    >>> import numpy as np
    >>> rise_only = CustomDistance(
    ...     lambda A, B: np.maximum(B[None] - A[:, None], 0).sum(axis=2),
    ...     has_triangle_inequality=True,
    ... )
    >>> rise_only([[0, 0]], [[3, -4]])
    array([[3.]])
    """

    function: Callable[[Matrix, Matrix], ArrayLike]
    is_symmetric: bool = False
    has_triangle_inequality: bool = False

    @property
    def symmetric(self) -> bool:
        return self.is_symmetric

    @property
    def triangle_inequality(self) -> bool:
        return self.has_triangle_inequality

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        values = np.asarray(self.function(A, B), dtype=np.float64)
        expected = (len(A), len(B))
        if values.shape != expected:
            raise InvalidInputError(
                f"A distance function takes (n, d) and (m, d) and gives (n, m): expected shape "
                f"{expected}, got {values.shape}. Wrap a function of two vectors as "
                f"lambda A, B: scipy.spatial.distance.cdist(A, B, function)."
            )
        if not np.all(values >= 0) or not np.all(np.isfinite(values)):
            raise InvalidInputError(
                "The distance function gave a negative, infinite or missing distance. "
                "Distances are finite and at least 0."
            )
        return values

    def rowwise(self, x: Matrix, own: Matrix) -> Matrix:
        distances = np.empty(own.shape[:2])
        for i in range(len(x)):
            distances[i] = self.pairwise(x[i : i + 1], own[i])[0]
        return distances


DistanceLike: TypeAlias = str | Distance | Callable[[Matrix, Matrix], ArrayLike]

_BY_NAME: dict[str, type[_Norm]] = {
    "gower": Gower,
    "l0": L0,
    "l1": L1,
    "manhattan": L1,
    "l2": L2,
    "euclidean": L2,
    "linf": LInf,
    "chebyshev": LInf,
}


def get(distance: DistanceLike) -> Distance:
    """Turn a name, a Distance or a function into a Distance.

    Examples
    --------
    >>> get("l1")
    L1(weights=None)
    """
    if isinstance(distance, Distance):
        return distance
    if isinstance(distance, str):
        if distance.lower() not in _BY_NAME:
            known = ", ".join(repr(name) for name in _BY_NAME)
            raise InvalidInputError(
                f"Unknown distance {distance!r}. Choose one of {known}, or pass a Distance or a "
                f"function from (n, d) and (m, d) to (n, m)."
            )
        return _BY_NAME[distance.lower()]()
    if callable(distance):
        return CustomDistance(distance)
    raise InvalidInputError(
        f"A distance is a name, a Distance or a function, got {type(distance).__name__}."
    )


def _in_threads(function: Callable[[Matrix, Matrix], Matrix], A: Matrix, B: Matrix) -> Matrix:
    """Share the rows of a large ``A`` between the cores; scipy's cdist leaves the lock alone."""
    if A.size * len(B) < PAYS_TO_SHARE:
        return function(A, B)
    cores = os.cpu_count() or 1
    if len(A) < cores:
        return function(A, B)
    with ThreadPoolExecutor(cores) as threads:
        parts = threads.map(lambda part: function(part, B), np.array_split(A, cores))
        return np.concatenate(list(parts))


def _rows(A: Any) -> Matrix:
    """Read one row or many as a float matrix."""
    try:
        matrix = np.asarray(A, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "This distance compares numbers, but the rows hold something else. "
            "Use the fitted explainer's distance_ for tables of its kind."
        ) from error
    if matrix.ndim == 1:
        matrix = matrix[None, :]
    if matrix.ndim != 2:
        raise InvalidInputError(f"A distance compares rows, got an array of shape {matrix.shape}.")
    return matrix
