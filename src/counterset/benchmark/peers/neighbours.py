"""The simplest peer: the nearest training rows of the other class."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.benchmark.peers.protocol import LIMIT

__all__ = ["NearestRows"]


class NearestRows:
    """Reports the 5 nearest training rows that the model classifies differently."""

    name = "nearest-rows"
    uses_norm = True

    def __init__(self, norm: int) -> None:
        self._metric = {1: "cityblock", 2: "euclidean"}[norm]

    def fit(self, model: Network, X: Matrix) -> None:
        """Keep the training rows of the other class, for each class."""
        self._model = model
        labels = model.predict(X)
        self._others = {label: X[labels != label] for label in np.unique(labels)}

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row."""
        sets = []
        for x, label in zip(X, self._model.predict(X), strict=True):
            rows = self._others[label]
            distances = cdist(x[None, :], rows, self._metric)[0]
            sets.append(rows[np.argsort(distances, kind="stable")[:LIMIT]])
        return sets
