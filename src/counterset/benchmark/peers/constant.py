"""The steadiest peer: the same set for every input of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset import distances
from counterset._base.arrays import Matrix
from counterset.benchmark.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["Constant"]

#: Rows are compared with up to 500 rows of the class that is explained: enough for a mean.
SAMPLE = 500


@dataclass
class Constant:
    """Reports, for every input of a class, the same 5 training rows of other classes.

    They are those that are nearest to the rows of the class on average. A set-distance of 0 is
    easy to have: this peer stands beside the others to say at what distance.

    Parameters
    ----------
    norm
        The norm of the distance.
    immutable
        Names of features that keep the input's own value. The model is not asked again.
    name, uses_norm
        See :class:`~counterset.benchmark.peers.protocol.Peer`.
    """

    norm: int
    immutable: Sequence[str] = ()
    name: str = "constant"
    uses_norm: bool = True

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Choose the set of each class."""
        self._model = model
        self._table, rows = Table.learn(X, Schema(step=0))
        scale = "robust" if isinstance(X, pd.DataFrame) else None  # arrays are scaled already
        space = Space.learn(rows, self._table, scale)
        distance = TableDistance(self._table, space, distances.get(f"l{self.norm}"))
        labels = np.asarray(model.predict(X))
        self._sets = {}
        for label in np.unique(labels).tolist():
            others, own = rows[labels != label], rows[labels == label][:SAMPLE]
            near = np.argsort(distance.pairwise(own, others).mean(axis=0), kind="stable")
            self._sets[label] = others[near[:LIMIT]]

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return the set of its class for each row."""
        rows, _ = self._table.encode(X)
        kept = [self._table.position(feature) for feature in self.immutable]
        found = []
        for x, label in zip(rows, np.asarray(self._model.predict(X)).tolist(), strict=True):
            options = self._sets[label].copy()
            options[:, kept] = x[kept]
            found.append(self._table.decode(options))
        return found
