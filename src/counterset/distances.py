"""Distances between rows.

One shape rule: a distance takes ``(n, d)`` and ``(m, d)`` and returns ``(n, m)``. Each distance
declares whether it is symmetric and whether it satisfies the triangle inequality, because the
guarantees of the paper hold only then.

To use a distance of your own, pass a function to ``distance=``, or subclass :class:`Distance`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from counterset._base.arrays import Indices, Matrix, Stack, Vector, squared_lengths
from counterset._base.checks import read_distances, read_pair, read_weights
from counterset._base.threads import share_rows
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

#: A relative error of 1e-12: sums of thousands of terms stay within it.
ROUNDING = 1e-12


class Distance(ABC):
    """A distance between the rows of two matrices.

    A subclass must define ``pairwise``, and nothing else. It should set ``symmetric`` and
    ``triangle_inequality`` where they hold. Nothing is assumed: the guarantees of the paper depend
    on both.

    Examples
    --------
    >>> class Canberra(Distance):
    ...     symmetric = True
    ...     triangle_inequality = True
    ...
    ...     def pairwise(self, A, B):
    ...         return cdist(A, B, "canberra")
    >>> Canberra()([[1.0, 2.0]], [[3.0, 2.0]])
    array([[0.5]])
    """

    @abstractmethod
    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        """Return the distance from each row of ``A``, ``(n, d)``, to each row of ``B``, ``(m, d)``.

        Distances have shape ``(n, m)``; they are finite and at least 0.
        """

    @property
    def symmetric(self) -> bool:
        """Whether d(a, b) = d(b, a)."""
        return False

    @property
    def triangle_inequality(self) -> bool:
        """Whether d(a, c) <= d(a, b) + d(b, c)."""
        return False

    @property
    def category_size(self) -> float | None:
        """The size of a category's coordinates, of which two differ when the category changes.

        A category with values a, b, c is compared as three coordinates, of which one has this
        size and the others are 0. Choose the size so that a change counts 1: 0.5 for a sum of
        differences. None: a category is one coordinate, which is only ever equal or not.
        """
        return 0.5

    def for_coordinates(self, feature_of: Indices) -> Distance:
        """Return the distance for points, given the feature that each coordinate belongs to.

        It differs where the distance has something for each feature, such as a weight.
        """
        return self

    def __call__(self, A: ArrayLike, B: ArrayLike) -> Matrix:
        """Check that ``A`` and ``B`` have the same number of features, and compute ``pairwise``."""
        return self.pairwise(*read_pair(A, B))

    def rowwise(self, x: Matrix, own: Stack) -> Matrix:
        """Return the distances from each ``x[i]`` to its own rows ``own[i]``.

        ``x`` is ``(n, d)``, ``own`` is ``(n, k, d)``, distances are ``(n, k)``. Each depends on
        its two rows only, to the last bit, so that an explanation does not depend on what else is
        in the batch.
        """
        distances = np.empty(own.shape[:2])
        for i in range(len(x)):
            distances[i] = self.pairwise(x[i : i + 1], own[i])[0]
        return distances

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Vector]:
        """Compute scores that order rows nearly as the distance does, and faster if possible.

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
        """Return the scores of distances; they rise with the distances."""
        return distances


@dataclass(frozen=True, eq=False)
class _Weighted(Distance):
    """A distance with an optional weight for each feature."""

    weights: ArrayLike | None = None

    symmetric = True
    triangle_inequality = True

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", read_weights(self.weights))

    def stretch(self, A: Matrix) -> Matrix:
        """Multiply the features so that the distance without weights is the weighted one."""
        if self.weights is None:
            return A
        return A * self._factors(self._weights(A.shape[-1]))

    def for_coordinates(self, feature_of: Indices) -> Distance:
        if self.weights is None:
            return self
        return replace(self, weights=self._weights(int(feature_of.max()) + 1)[feature_of])

    def _factors(self, weights: Vector) -> Vector:
        """Return what to multiply each feature by."""
        return weights

    def _weights(self, n_features: int) -> Vector:
        """Return the weights, after checking that there is one for each feature."""
        weights = np.asarray(self.weights)
        if len(weights) != n_features:
            raise InvalidInputError(
                f"{type(self).__name__} has {len(weights)} weights, but the rows have "
                f"{n_features} features. Pass one weight per feature."
            )
        return weights


class _Norm(_Weighted):
    """A norm of the difference of two rows."""

    #: The name of the norm in scipy.
    _metric: ClassVar[str]

    @abstractmethod
    def _reduce(self, difference: Stack) -> Matrix:
        """Compute the norm over the last axis."""

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return share_rows(lambda a, b: cdist(a, b, self._metric), self.stretch(A), self.stretch(B))

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Vector]:
        scores, errors = super().scores(A, B)
        if self.weights is not None:
            # Weighing before subtracting loses digits far from the origin.
            unit = 4 * A.shape[1] * np.finfo(np.float64).eps
            farthest = np.abs(self.stretch(B)).max(initial=0.0)
            errors += unit * (np.abs(self.stretch(A)).max(axis=1, initial=0.0) + farthest)
        return scores, errors

    def rowwise(self, x: Matrix, own: Stack) -> Matrix:
        # numpy adds up a contiguous last axis in an order that depends on its length alone.
        return self._reduce(np.ascontiguousarray(self.stretch(own - x[:, None, :])))


class L1(_Norm):
    """The sum of the absolute differences, ``sum(w * |a - b|)``.

    Parameters
    ----------
    weights : array of float, default=None
        What each feature counts; None: all count 1. Explainers take ``costs=`` instead.

    Examples
    --------
    >>> L1()([[0, 0]], [[3, 4], [1, 0]])
    array([[7., 1.]])
    >>> L1(weights=[1, 10])([[0, 0]], [[3, 4]])
    array([[43.]])
    """

    _metric = "cityblock"

    def _reduce(self, difference: Stack) -> Matrix:
        total: Matrix = np.abs(difference).sum(axis=-1)
        return total


class Gower(L1):
    """The mean difference over the features, each scaled to [0, 1]; a changed category counts 1.

    It is the usual distance for mixed data: the l1 distance of the scaled space, divided by the
    number of features. With weights, it is the weighted mean.

    Parameters
    ----------
    weights : array of float, default=None
        What each feature counts; None: all count 1. Explainers take ``costs=`` instead.

    Examples
    --------
    >>> Gower()([[0.0, 0.0]], [[0.5, 1.0]])
    array([[0.75]])
    >>> Gower(weights=[3, 1])([[0.0, 0.0]], [[0.5, 1.0]])
    array([[0.625]])
    """

    def for_coordinates(self, feature_of: Indices) -> Distance:
        count = int(feature_of.max()) + 1
        weights = np.ones(count) if self.weights is None else np.asarray(self.weights)
        return L1(weights / weights.sum()).for_coordinates(feature_of)

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        return self.for_coordinates(np.arange(A.shape[1])).pairwise(A, B)

    def rowwise(self, x: Matrix, own: Stack) -> Matrix:
        return self.for_coordinates(np.arange(x.shape[1])).rowwise(x, own)


class L2(_Norm):
    """The Euclidean distance, ``sqrt(sum(w * (a - b) ** 2))``.

    Parameters
    ----------
    weights : array of float, default=None
        What each feature counts; None: all count 1. Explainers take ``costs=`` instead.

    Examples
    --------
    >>> L2()([[0, 0]], [[3, 4], [1, 0]])
    array([[5., 1.]])
    """

    _metric = "euclidean"
    category_size = math.sqrt(0.5)

    def _factors(self, weights: Vector) -> Vector:
        roots: Vector = np.sqrt(weights)
        return roots

    def _reduce(self, difference: Stack) -> Matrix:
        norm: Matrix = np.sqrt(np.einsum("...d,...d->...", difference, difference))
        return norm

    def scores(self, A: Matrix, B: Matrix) -> tuple[Matrix, Vector]:
        return squared_lengths(self.stretch(A), self.stretch(B))

    def score_of(self, distances: Matrix) -> Matrix:
        squared: Matrix = distances**2
        return squared


class LInf(_Norm):
    """The largest absolute difference, ``max(w * |a - b|)``.

    Parameters
    ----------
    weights : array of float, default=None
        What each feature counts; None: all count 1. Explainers take ``costs=`` instead.

    Examples
    --------
    >>> LInf()([[0, 0]], [[3, 4], [1, 0]])
    array([[4., 1.]])
    """

    _metric = "chebyshev"
    category_size = 1.0

    def _reduce(self, difference: Stack) -> Matrix:
        largest: Matrix = np.abs(difference).max(axis=-1)
        return largest


class L0(_Weighted):
    """The number of features that differ, ``sum(w * (a != b))``.

    Parameters
    ----------
    weights : array of float, default=None
        What each feature counts; None: all count 1. Explainers take ``costs=`` instead.

    Examples
    --------
    >>> L0()([[0, 0]], [[3, 4], [1, 0]])
    array([[2., 1.]])
    """

    category_size = None

    def pairwise(self, A: Matrix, B: Matrix) -> Matrix:
        weights = None if self.weights is None else self._weights(A.shape[1])
        total = A.shape[1] if weights is None else weights.sum()
        if total == 0:
            return np.zeros((len(A), len(B)))
        # scipy's "hamming" is the weighted mean of (a != b).
        means: Matrix = cdist(A, B, "hamming", w=weights)
        means *= total
        return np.rint(means, out=means) if weights is None else means

    def rowwise(self, x: Matrix, own: Stack) -> Matrix:
        differs = (own != x[:, None, :]).astype(np.float64)
        count: Matrix = self.stretch(differs).sum(axis=-1)
        return count


@dataclass(frozen=True)
class CustomDistance(Distance):
    """A distance computed by a function ``(n, d), (m, d) -> (n, m)``; its results are checked.

    Parameters
    ----------
    function : callable
        From ``(n, d)`` and ``(m, d)`` to ``(n, m)``. Wrap a function of two vectors as
        ``lambda A, B: scipy.spatial.distance.cdist(A, B, function)``.
    is_symmetric, has_triangle_inequality : bool, default=False
        What you know about it. Nothing is assumed: the guarantees of the paper depend on both.

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
        return read_distances(self.function(A, B), (len(A), len(B)))


#: What users pass as ``distance=``.
DistanceLike: TypeAlias = str | Distance | Callable[[Matrix, Matrix], ArrayLike]

_BY_NAME: dict[str, type[Distance]] = {
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
    """Return a distance, given its name, a Distance or a function.

    Parameters
    ----------
    distance : str, Distance or callable
        ``"l0"``, ``"l1"`` (``"manhattan"``), ``"l2"`` (``"euclidean"``), ``"linf"``
        (``"chebyshev"``) or ``"gower"``; a function goes from (n, d) and (m, d) to (n, m).

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
        f"A distance is a name, a Distance or a function, got {type(distance).__name__}. Pass "
        f"'l1', for example."
    )
