"""What the prototype behind the published figures did, choice by choice.

It differs from the paper in some points, and the published figures can be met to the last digit
only with the prototype's own choices:

- Neighbours are Euclidean whatever the norm; the norm enters the evaluation and the distance-based
  filter only.
- The angle-based filter rejects a candidate when the *absolute* cosine exceeds beta, so it takes
  opposite directions for equal.
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
from scipy.spatial import cKDTree

from counterset._base.arrays import Codes, Mask, Matrix
from counterset.benchmark.classifiers import Network
from counterset.explainer import DiverseExplainer
from counterset.noise import NumericColumns, SameClass

__all__ = ["PrototypeExplainer", "PrototypeNoise"]


@dataclass
class PrototypeExplainer:
    """The explainer behind the published figures.

    Parameters
    ----------
    model
        The network.
    norm
        1 or 2, for the distance-based filter.
    alpha
        How many neighbours to look at.
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
        """Build one tree per predicted class."""
        labels = self.model.predict(X)
        self.rows_ = {label: X[labels != label] for label in (0, 1)}
        self.trees_ = {label: cKDTree(rows) for label, rows in self.rows_.items()}
        # What evaluate measures in: the plain norm, since the rows are scaled already.
        plain = DiverseExplainer(self.model, distance=f"l{self.norm}", scale=None)
        self.distance_ = plain.fit(X).distance_
        return self

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Give a set for each row."""
        labels = self.model.predict(X)
        kept: list[Matrix] = []
        reach = np.empty(len(X))
        for i, (x, label) in enumerate(zip(X, labels, strict=True)):
            rows = self.rows_[int(label)]
            distances, places = self.trees_[int(label)].query(x, k=min(self.alpha, len(rows)))
            candidates = rows[np.atleast_1d(places)]
            reach[i] = np.atleast_1d(distances)[-1]
            kept.append(self._filter(x, candidates))
        if self.gamma is None:
            return kept
        return self._halve(X, labels, kept, np.ceil(np.log2(reach / self.gamma)))

    def _filter(self, x: Matrix, candidates: Matrix) -> Matrix:
        """Keep the nearest candidate, then each next one that differs from all kept ones."""
        if self.filter == "angle":
            steps = candidates - x
            units = steps / np.linalg.norm(steps, axis=1, keepdims=True)
        order = np.inf if self.norm == 1 else 2
        m = np.linalg.norm(candidates[0] - x, ord=order)
        open_ = np.ones(len(candidates), dtype=bool)
        kept: list[int] = []
        while open_.any() and len(kept) < self.limit:
            new = int(open_.argmax())
            kept.append(new)
            open_[new] = False
            if self.filter == "angle":
                open_ &= np.abs(units @ units[new]) <= self.beta
            else:
                apart = np.linalg.norm(candidates - candidates[new], ord=self.norm, axis=1)
                open_ &= apart >= (1 + self.beta) * m
        return candidates[kept]

    def _halve(self, X: Matrix, labels: Codes, kept: list[Matrix], times: Matrix) -> list[Matrix]:
        """Move every candidate towards its input, all of them together."""
        owners = np.repeat(np.arange(len(X)), [len(S) for S in kept])
        near, far = X[owners], np.concatenate(kept)
        halvings = times[owners]
        for done in range(int(halvings.max())):
            open_ = np.flatnonzero(halvings > done)
            middle = (near[open_] + far[open_]) / 2
            flipped = self.model.predict(middle) != labels[owners[open_]]
            far[open_[flipped]] = middle[flipped]
            near[open_[~flipped]] = middle[~flipped]
        return [far[owners == i] for i in range(len(X))]


@dataclass(frozen=True)
class PrototypeNoise:
    """The noise behind the published figures: numpy's old stream after ``seed(42)``.

    Parameters
    ----------
    redraw
        Draw a copy of another class again until the class is kept, as in the tuning runs; False
        skips it, as in the final runs.
    """

    redraw: bool

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: Any,
    ) -> tuple[Matrix, Mask]:
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
