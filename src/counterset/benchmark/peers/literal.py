"""The paper read literally: one input at a time, one row per call of the model."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.benchmark.peers.protocol import LIMIT

__all__ = ["LiteralPaper"]

ALPHA, BETA, GAMMA = 1000, 0.5, 0.1


class LiteralPaper:
    """The four steps of the paper with its final parameters, without any care for speed."""

    name = "literal"
    uses_norm = True

    def __init__(self, norm: int) -> None:
        self._norm = norm

    def fit(self, model: Network, X: Matrix) -> None:
        """Ask the model about every training row."""
        self._model = model
        self._rows = X
        self._labels = [self._label(row) for row in X]

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row."""
        return [self._explain(x) for x in X]

    def _explain(self, x: Matrix) -> Matrix:
        label = self._label(x)
        # Step 1: the counterfactual examples, by distance.
        examples = [
            row for row, other in zip(self._rows, self._labels, strict=True) if other != label
        ]
        examples.sort(key=lambda row: self._distance(x, row))
        # Steps 2 and 3: of the nearest, those in directions that differ from all kept ones.
        kept: list[Matrix] = []
        for row in examples[:ALPHA]:
            if all(_cosine_distance(row - x, other - x) >= BETA for other in kept):
                kept.append(row)
            if len(kept) == LIMIT:
                break
        # Step 4: Algorithm 1.
        return np.array([self._search(x, row, label) for row in kept])

    def _search(self, x: Matrix, far: Matrix, label: int) -> Matrix:
        near = x
        while self._distance(near, far) > GAMMA:
            middle = (near + far) / 2
            if self._label(middle) == label:
                near = middle
            else:
                far = middle
        return far

    def _label(self, row: Matrix) -> int:
        return int(self._model.predict(row[None, :])[0])

    def _distance(self, a: Matrix, b: Matrix) -> float:
        return float(np.linalg.norm(a - b, ord=self._norm))


def _cosine_distance(u: Matrix, v: Matrix) -> float:
    return float(1 - u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))
