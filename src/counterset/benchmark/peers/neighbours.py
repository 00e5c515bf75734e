"""The simplest peer: the nearest training rows of the other class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from counterset._base.arrays import Matrix
from counterset.benchmark.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.space import Space
from counterset.tables.table import Table

__all__ = ["NearestRows"]


class NearestRows:
    """Reports the 5 nearest training rows that the model classifies differently."""

    name = "nearest-rows"
    uses_norm = True

    def __init__(self, norm: int) -> None:
        self._metric = {1: "cityblock", 2: "euclidean"}[norm]

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Keep the training rows of the other class, for each class."""
        self._model = model
        self._table, rows = Table.learn(X, Schema(step=0))
        scale = "robust" if isinstance(X, pd.DataFrame) else None  # arrays are scaled already
        self._space = Space.learn(rows, self._table, scale)
        labels = np.asarray(model.predict(X))
        points = self._space.embed(rows)
        self._others = {
            label: (rows[labels != label], points[labels != label])
            for label in np.unique(labels).tolist()
        }

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row."""
        as_frame = isinstance(X, pd.DataFrame)
        points = self._space.embed(self._table.encode(X)[0]) if as_frame else X
        sets = []
        labels = np.asarray(self._model.predict(X)).tolist()
        for x, label in zip(points, labels, strict=True):
            others, places = self._others[label]
            distances = cdist(x[None, :], places, self._metric)[0]
            nearest = others[np.argsort(distances, kind="stable")[:LIMIT]]
            sets.append(self._table.decode(nearest) if as_frame else nearest)
        return sets
