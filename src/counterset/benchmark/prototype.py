"""What the prototype behind the published figures did, choice by choice.

It differs from the paper in some points, and the published figures can be met to the last digit
only with the prototype's own choices:

- Neighbours are Euclidean whatever the norm. The norm is used only in the evaluation and in the
  distance-based filter.
- The angle-based filter rejects a candidate when the *absolute* cosine exceeds beta, so it treats
  opposite directions as equal.
- In the distance-based filter m is the Chebyshev distance of the nearest candidate when the norm
  is L1.
- Every candidate is halved equally often: as often as the farthest of the alpha neighbours needs.
- The noise comes from numpy's old global stream, seeded with 42, and its variance is 0.08 % of
  each feature's training range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.benchmark.classifiers import Network
from counterset.distances import L1, LInf
from counterset.explainer import DiverseExplainer
from counterset.noise import NumericColumns, SameClass
from counterset.steps.cutoffs import NearestCandidates
from counterset.steps.diversity import (
    AngleDiversity,
    DistanceDiversity,
    Diversity,
    TooAlike,
    View,
)
from counterset.steps.line_search import LineSearch

__all__ = ["ChebyshevDiversity", "PrototypeExplainer", "PrototypeNoise"]


@dataclass(frozen=True)
class ChebyshevDiversity:
    """The prototype's distance-based filter when the norm is L1.

    Two candidates differ if their L1 distance is at least ``(1 + beta) * m``. The paper's m is the
    L1 distance from the input to its nearest candidate; the prototype took the Chebyshev distance.

    Parameters
    ----------
    beta
        From 0 to 1.
    """

    beta: float

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two candidates of each input are far enough apart, ``(n,)``."""
        rows = view.candidates.coordinates
        apart: Vector = L1().rowwise(rows[a], rows[b][:, None, :])[:, 0]
        return apart >= self._least(view)

    def filter(self, view: View) -> TooAlike:
        """Prepare a filter for all candidates at once."""
        rows = view.candidates.coordinates
        least = self._least(view)

        def too_alike(kept: Indices) -> tuple[Mask, Mask]:
            scores, errors = L1().scores(rows[kept], rows)
            return scores < (least - errors)[:, None], scores > (least + errors)[:, None]

        return too_alike

    def _least(self, view: View) -> Vector:
        x, rows = view.x.coordinates, view.candidates.coordinates
        nearest = rows[view.distance.pairwise(x, rows).argmin(axis=1)]
        m: Vector = LInf().rowwise(x, nearest[:, None, :])[:, 0]
        return (1 + self.beta) * m


@dataclass
class PrototypeExplainer:
    """The explainer behind the published figures: the library's own, with other options.

    Parameters
    ----------
    model
        The network.
    norm
        1 or 2, for the distance-based filter.
    alpha
        The number of nearest neighbours that are candidates.
    filter
        Angle-based or distance-based.
    beta
        Of the filter.
    gamma
        Of the binary search; None reports the training rows themselves.
    limit
        The most counterfactuals for one input.
    """

    model: Network
    norm: int
    alpha: int
    filter: Literal["angle", "distance"]
    beta: float
    gamma: float | None
    limit: int = 5

    def fit(self, X: Matrix) -> Self:
        """Keep the training rows as candidates."""
        self.rows_ = X
        self.explainer_ = DiverseExplainer.paper(
            self.model,
            distance="l2",
            candidates=NearestCandidates(self.alpha),
            diversity=self._diversity(),
            search=None if self.gamma is None else LineSearch(self.gamma, halvings="farthest"),
            scale=None,
            max_counterfactuals=self.limit,
        ).fit(X)
        self.distance_ = self.explainer_.distance_
        return self

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row, in the order in which step 3 chose its members."""
        sets = []
        for x, explanation in zip(X, self.explainer_.explain_many(X), strict=True):
            # An explanation is ordered by the distances after step 4. A mean over the members
            # depends on their order in its last bit.
            before_step_4 = self.distance_(x, self.rows_[explanation.examples])[0]
            sets.append(explanation.values[np.argsort(before_step_4, kind="stable")])
        return sets

    def _diversity(self) -> Diversity:
        if self.filter == "angle":
            return AngleDiversity(self.beta, absolute=True)
        return ChebyshevDiversity(self.beta) if self.norm == 1 else DistanceDiversity(self.beta)


@dataclass(frozen=True)
class PrototypeNoise:
    """The noise behind the published figures: numpy's old stream after ``seed(42)``.

    Parameters
    ----------
    redraw
        What to do with a copy of another class. True draws it again until it has the input's
        class, as in the tuning runs; False skips it, as in the final runs.
    """

    redraw: bool

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: Any,
    ) -> tuple[Stack, Mask]:
        """Draw noisy copies, see :class:`counterset.noise.Noise`; ``random`` is not used."""
        stream = np.random.RandomState(42)
        covariance = np.diag(0.08 * (columns.high - columns.low) / 100)
        copies = np.empty((len(rows), repeats, rows.shape[1]))
        found = np.zeros((len(rows), repeats), dtype=bool)
        for i, repeat in np.ndindex(found.shape):
            while True:
                drawn = stream.multivariate_normal(rows[i], covariance)
                copies[i, repeat] = np.clip(drawn, columns.low, columns.high)
                found[i, repeat] = same_class(copies[i, repeat][None, :], np.array([i]))[0]
                if found[i, repeat] or not self.redraw:
                    break
        return copies, found
