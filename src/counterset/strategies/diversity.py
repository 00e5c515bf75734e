"""Step 3 of the paper: keep only candidates that differ from those already kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Vector, squared_lengths
from counterset._base.checks import check_between
from counterset.distances import ROUNDING, Distance
from counterset.tables.space import Embedded

__all__ = [
    "ALLOWED_DIVERSITY",
    "AngleDiversity",
    "DistanceDiversity",
    "Diversity",
    "FeatureDiversity",
    "FilteringDiversity",
    "TooAlike",
    "View",
]

#: What may be passed, for error messages.
ALLOWED_DIVERSITY = (
    "AngleDiversity, DistanceDiversity, FeatureDiversity, an object with differ(view, a, b), "
    "or None"
)
#: Takes one kept candidate of each input, and returns the candidates, ``(n, m)``, that are surely
#: too much like it, and those that surely differ enough. ``differ`` decides about the others.
TooAlike: TypeAlias = Callable[[Indices], tuple[Mask, Mask]]

#: Squared lengths above 1e60 are cut to it: the length itself must fit single precision, 3e38.
LONGEST = 1e60
#: The relative error of single precision, and the smallest length that is divided by.
EPS, TINY = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class View:
    """What step 3 sees: the inputs of a batch, the candidates, and the distance to the nearest.

    Attributes
    ----------
    x
        The inputs, ``n`` of them.
    candidates
        The candidates, ``m`` of them, the same for all inputs.
    nearest
        The distance m from each input to its nearest candidate, ``(n,)``.
    distance
        The distance that is in use, between points.
    squared_lengths
        The squared lengths of the directions to the candidates, ``(n, m)``, if they are at hand;
        the entries of dropped candidates mean nothing.
    feature_of_coordinate
        The feature that each coordinate of a point belongs to; None: each has its own.
    """

    x: Embedded
    candidates: Embedded
    nearest: Vector
    distance: Distance
    squared_lengths: Matrix | None = None
    feature_of_coordinate: Indices | None = None

    def of(self, who: Indices) -> View:
        """Return the view of some of the inputs; an input may be named more than once."""
        return replace(self, x=self.x.take(who), nearest=self.nearest[who], squared_lengths=None)

    def changed_features(self, which: Indices) -> Mask:
        """Return which features one candidate of each input, ``(n,)``, changes."""
        changed: Mask = self.candidates.coordinates[which] != self.x.coordinates
        if self.feature_of_coordinate is None:
            return changed
        features = np.zeros((len(changed), self.feature_of_coordinate.max() + 1), dtype=bool)
        for coordinate, feature in enumerate(self.feature_of_coordinate):
            features[:, feature] |= changed[:, coordinate]
        return features


@runtime_checkable
class Diversity(Protocol):
    """Step 3: when do two candidates differ enough to report both.

    A step of your own needs this method only:

    >>> class OtherFirstFeature:
    ...     def differ(self, view, a, b):
    ...         first = view.candidates.coordinates[:, 0]
    ...         return np.abs(first[a] - first[b]) > 0.2
    >>> from counterset import DiverseExplainer, Paper
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1,
    ...     strategy=Paper(diversity=OtherFirstFeature(), search=None),
    ...     max_counterfactuals=3,
    ... ).fit(X)
    >>> (np.diff(np.sort(explainer.explain([0.2, 0.2]).values[:, 0])) > 0.19).tolist()
    [True, True]
    """

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return for each input of the view whether two candidates, ``(n,)``, differ enough."""
        ...


@runtime_checkable
class FilteringDiversity(Diversity, Protocol):
    """Step 3 with a fast filter, which spares most of the exact comparisons."""

    def filter(self, view: View) -> TooAlike:
        """Prepare a fast filter for all candidates at once."""
        ...


@dataclass(frozen=True)
class AngleDiversity:
    """Two candidates differ if they lie in different directions from the input.

    Parameters
    ----------
    beta
        The least cosine distance between the two directions, from 0 (any) to 1 (a right angle).
    absolute
        Compare ``|cos| <= beta`` instead, as the prototype of the paper's authors does. It treats
        opposite directions as equal, and a larger ``beta`` lets more through. At 0.5 the two
        rules agree on acute angles.

    See Also
    --------
    DistanceDiversity : By how far apart they are.
    FeatureDiversity : By the features that change.

    Examples
    --------
    A candidate above the input, and one to its left, compared with one to its right:

    >>> from counterset.distances import get
    >>> inputs, candidates = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> points = Embedded(inputs, inputs), Embedded(candidates, candidates)
    >>> view = View(*points, np.ones(2), get("l2"))
    >>> AngleDiversity(0.5).differ(view, np.array([0, 0]), np.array([1, 2]))
    array([ True,  True])
    >>> AngleDiversity(0.5, absolute=True).differ(view, np.array([0, 0]), np.array([1, 2]))
    array([ True, False])
    """

    beta: float = 0.5
    absolute: bool = False

    def __post_init__(self) -> None:
        check_between(self.beta, 0, 1, "beta")

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether the directions to two candidates are far enough apart."""
        x, candidates = view.x.directions, view.candidates.directions
        u, v = candidates[a] - x, candidates[b] - x
        cosine: Vector = np.einsum("nd,nd->n", u, v) / (_length(u) * _length(v))
        if self.absolute:
            return np.abs(cosine) <= self.beta + ROUNDING
        return 1 - cosine >= self.beta - ROUNDING

    def filter(self, view: View) -> TooAlike:
        """Prepare a fast filter for all candidates at once."""
        # cos(u, c - x) > limit is u(c - x) > limit * |c - x| for a unit vector u: one matrix
        # product for all candidates. Single precision will do, with an allowance for its error.
        x, candidates = view.x.directions, view.candidates.directions
        squared = view.squared_lengths
        if squared is None:
            squared, _ = squared_lengths(x, candidates, view.candidates.squared)
        farthest = view.candidates.farthest + _length(x)
        error = (8 * (x.shape[1] + 8) * EPS * farthest).astype(np.float32)[:, None]
        lengths = np.minimum(squared, LONGEST)
        np.maximum(lengths, 0.0, out=lengths)  # rounding can make squares slightly negative
        bounds = np.sqrt(lengths, out=lengths).astype(np.float32)
        bounds *= np.float32(self.beta if self.absolute else 1 - self.beta)
        single = view.candidates.single
        along = np.empty_like(bounds)

        def too_alike(kept: Indices) -> tuple[Mask, Mask]:
            u = candidates[kept] - x
            u /= np.maximum(_length(u), TINY)[:, None]
            here = np.einsum("nd,nd->n", u, x).astype(np.float32)[:, None]
            np.matmul(u.astype(np.float32), single.T, out=along)
            if self.absolute:
                np.abs(np.subtract(along, here, out=along), out=along)
                here = np.zeros_like(here)
            np.subtract(along, bounds, out=along)
            return along > here + error, along < here - error

        return too_alike


@dataclass(frozen=True)
class DistanceDiversity:
    """Two candidates differ if they are at least ``(1 + beta) * m`` apart.

    ``m`` is the distance from the input to its nearest candidate.

    Parameters
    ----------
    beta
        From 0 to 1.

    See Also
    --------
    AngleDiversity : By the direction of the change.
    FeatureDiversity : By the features that change.

    Examples
    --------
    >>> from counterset.distances import get
    >>> inputs, candidates = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> points = Embedded(inputs, inputs), Embedded(candidates, candidates)
    >>> view = View(*points, np.ones(2), get("l1"))
    >>> DistanceDiversity(0.5).differ(view, np.array([0, 0]), np.array([1, 2]))
    array([ True, False])
    """

    beta: float = 0.5

    def __post_init__(self) -> None:
        check_between(self.beta, 0, 1, "beta")

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two candidates are far enough apart."""
        candidates = view.candidates.coordinates
        apart = view.distance.rowwise(candidates[a], candidates[b][:, None, :])[:, 0]
        return apart >= self._least(view)

    def filter(self, view: View) -> TooAlike:
        """Prepare a fast filter for all candidates at once."""
        candidates = view.candidates.coordinates
        least = view.distance.score_of(self._least(view))

        def too_alike(kept: Indices) -> tuple[Mask, Mask]:
            scores, errors = view.distance.scores(candidates[kept], candidates)
            return scores < (least - errors)[:, None], scores > (least + errors)[:, None]

        return too_alike

    def _least(self, view: View) -> Vector:
        return (1 + self.beta) * view.nearest * (1 - ROUNDING)


@dataclass(frozen=True)
class FeatureDiversity:
    """Two candidates differ if neither changes a subset of the features that the other changes.

    So each counterfactual names something that no other one needs, and where fewer features are
    enough, though by larger changes, those are preferred. It is meant for answers with few changes,
    the strategy Nearest: training rows as they are differ from an input in nearly all features.

    See Also
    --------
    AngleDiversity : By the direction of the change.
    DistanceDiversity : By how far apart they are.

    Examples
    --------
    The first candidate changes one feature, the second another one, the third both:

    >>> from counterset.distances import get
    >>> inputs, candidates = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> points = Embedded(inputs, inputs), Embedded(candidates, candidates)
    >>> view = View(*points, np.ones(2), get("l1"))
    >>> FeatureDiversity().differ(view, np.array([0, 0]), np.array([1, 2]))
    array([ True, False])
    """

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether each of two candidates changes a feature that the other does not."""
        first, second = view.changed_features(a), view.changed_features(b)
        return np.asarray((first & ~second).any(axis=1) & (second & ~first).any(axis=1))

    def minimal(self, view: View, owners: Indices) -> Mask:
        """Return which candidates change no more features than another one needs.

        Parameters
        ----------
        view
            The inputs, and the candidates of all of them.
        owners
            Which input each candidate belongs to, ascending.
        """
        features = view.of(owners).changed_features(np.arange(len(owners)))
        minimal = np.ones(len(owners), dtype=bool)
        for own in np.split(np.arange(len(owners)), np.flatnonzero(np.diff(owners)) + 1):
            sets = features[own].astype(np.float32)
            shared, sizes = sets @ sets.T, sets.sum(axis=1)
            # A set that shares all its features with a larger one makes that one needless.
            minimal[own] = ~((shared == sizes) & (sizes < sizes[:, None])).any(axis=1)
        return minimal


def _length(vectors: Matrix) -> Vector:
    lengths: Vector = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    return lengths
