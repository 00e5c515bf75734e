"""FACE (Poyiadzi et al. 2020): the training rows at the ends of short paths through dense data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import dijkstra

from counterset import distances
from counterset._base.arrays import Indices, Matrix, Vector
from counterset.paper.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table, changed

__all__ = ["Face"]

#: Each row is connected with its 20 nearest ones.
NEIGHBOURS = 20
#: At most 2,000 training rows, evenly spread over the file, make the graph: the density is computed
#: at the middle of each edge, from all of them.
MOST_ROWS = 2000
#: The paper's threshold for the density at the end of a path, as a share of less dense rows.
LESS_DENSE = 0.05
#: What an edge between equal rows costs.
FREE = 1e-12


@dataclass
class Face:
    """Up to 5 training rows of another class, those to which the shortest paths lead.

    A path goes from row to row, each among the nearest of the one before. An edge costs its length,
    times a factor that rises where there is little data: ``f(p((a + b) / 2)) * d(a, b)``, the
    paper's weight for an estimate p of the density, with ``f(p) = 1 - log(p / densest)``. The
    density is a Gaussian kernel's, as wide as a row's neighbourhood in the median.

    Left out: the paths themselves, which the paper reports as well; graphs of all rows within a
    radius; and the threshold for the probability at the end: the networks published for diabetes
    and no2 are hardly ever as sure of a training row as FACE's 0.75.

    Parameters
    ----------
    norm
        The norm of the distance.
    immutable
        Names of features that may not change: no edge leads between rows where they differ.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    immutable: Sequence[str] = ()
    name: str = "face"
    uses_norm: bool = True

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Connect the training rows."""
        self._model = model
        self._table, rows = Table.learn(X, Schema(step=0))
        scale = "robust" if isinstance(X, pd.DataFrame) else None  # arrays are scaled already
        space = Space.learn(rows, self._table, scale)
        self._distance = TableDistance(self._table, space, distances.get(f"l{self.norm}"))
        self._fixed = [self._table.position(name) for name in self.immutable]
        spread = np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).astype(np.intp)
        self._rows = rows[np.unique(spread)]
        self._points = self._distance.coordinates(self._rows)
        lengths = self._distance.in_space.pairwise(self._points, self._points)
        nearest = min(NEIGHBOURS, len(lengths) - 1)
        self._width = max(float(np.median(np.sort(lengths, axis=1)[:, nearest])), 1e-12)
        densities = _density(lengths, self._width)
        self._densest = float(densities.max())
        edges = self._connect(self._points, self._rows, lengths)
        self._edges = edges.maximum(edges.T)  # they lead both ways, at the same cost
        self._labels = np.asarray(model.predict(self._table.decode(self._rows)))
        self._is_end = densities >= np.quantile(densities, LESS_DENSE)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where no path leads to another class."""
        rows, _ = self._table.encode(X)
        labels = np.asarray(self._model.predict(X))
        points = self._distance.coordinates(rows)
        lengths = self._distance.in_space.pairwise(points, self._points)
        costs = self._path_costs(self._connect(points, rows, lengths))
        found = []
        for label, cost in zip(labels, costs, strict=True):
            ends = np.flatnonzero(self._is_end & (self._labels != label) & np.isfinite(cost))
            best = ends[np.argsort(cost[ends], kind="stable")[:LIMIT]]
            found.append(self._table.decode(self._rows[best]))
        return found

    def _connect(self, points: Matrix, rows: Matrix, lengths: Matrix) -> csr_array:
        """Return the costs of edges from rows to their nearest training rows, ``(n, training)``."""
        kept = np.ones(lengths.shape, dtype=bool)
        for i in self._fixed:
            kept &= ~changed(rows[:, i, None], self._rows[None, :, i])
        near = np.argsort(np.where(kept, lengths, np.inf), axis=1, kind="stable")
        near = near[:, : NEIGHBOURS + 1]  # a training row is the nearest of itself
        starts = np.repeat(np.arange(len(rows)), near.shape[1])
        ends = near.ravel()
        possible = kept[starts, ends]
        starts, ends = starts[possible], ends[possible]
        # An edge between equal rows is free, but an entry of 0 would be no edge.
        costs = np.maximum(self._factors(points, starts, ends) * lengths[starts, ends], FREE)
        return csr_array((costs, (starts, ends)), shape=lengths.shape)

    def _factors(self, points: Matrix, starts: Indices, ends: Indices) -> Vector:
        """Return f of the density at the middle of edges."""
        factors = np.empty(len(starts))
        for part in np.array_split(np.arange(len(starts)), 1 + len(starts) // MOST_ROWS):
            middles = (points[starts[part]] + self._points[ends[part]]) / 2
            lengths = self._distance.in_space.pairwise(middles, self._points)
            share = np.clip(_density(lengths, self._width) / self._densest, 1e-300, 1.0)
            factors[part] = 1 - np.log(share)
        return factors

    def _path_costs(self, first: csr_array) -> Matrix:
        """Return the cost of the shortest path from each input to each training row.

        The inputs are nodes before the training rows, and edges only lead away from them.
        """
        n = first.shape[0]
        graph = block_array([[csr_array((n, n)), first], [None, self._edges]], format="csr")
        return np.asarray(dijkstra(graph, indices=np.arange(n)))[:, n:]


def _density(lengths: Matrix, width: float) -> Vector:
    """Return the mean of a Gaussian kernel at each of some points, up to a constant."""
    heights: Vector = np.exp(-((lengths / width) ** 2) / 2).mean(axis=1)
    return heights
