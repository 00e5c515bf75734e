"""The nearest counterfactual, proved, and then the nearest ones that change other features.

This is what Karimi, Barthe, Balle and Valera (2020, MACE) do with a solver of formulas, Mohammadi,
Karimi, Barthe and Valera (2021) with a mixed-integer programme, and Parmentier and Vidal (2021,
OCEAN) with one for tree ensembles. Here it is done with the solvers of :mod:`counterset.exact`.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset import distances
from counterset._base.arrays import Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.exact import Box, counterfactual_distance
from counterset.exact.linear import read_linear
from counterset.exact.networks import as_model, read_network
from counterset.exact.preprocessing import Preprocessing
from counterset.exact.trees.pipelines import read_tree_pipeline
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table, changed

__all__ = ["Proved"]

_Features: TypeAlias = frozenset[int]
#: The search for the set of one input ends after a minute, with what it has found.
SECONDS = 60.0


@dataclass
class Proved:
    """Up to 5 counterfactuals, each the nearest that changes not all features of an earlier one.

    The first is the nearest of all, by a proof. Each further one leaves at least one of the
    features of every earlier one as it is. (MACE and Mohammadi et al. only rule out the same point
    again, or points within a distance of it; on numbers, those are next to each other.) Numbers
    stay within the range of the training rows. If the time is over, the set is smaller, or its last
    ones are not proved.

    Left out: plausibility (OCEAN's isolation forest), and objectives other than the distance.

    Parameters
    ----------
    norm
        The norm of the distance.
    solver
        ``"milp"``: linear models and ReLU networks, by HiGHS. ``"cp-sat"``: tree ensembles, by
        OR-tools.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    solver: Literal["milp", "cp-sat"] = "milp"
    immutable: Sequence[str] = ()
    name: str = "milp"
    uses_norm: bool = True

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Check that the solver reads the model, and learn the distance and the ranges."""
        self._model = model
        _check_read(model, self.solver)
        schema = Schema(step=0)
        self._table, rows = Table.learn(X, schema)
        scale = "robust" if isinstance(X, pd.DataFrame) else None  # arrays are scaled already
        space = Space.learn(rows, self._table, scale)
        self._distance = TableDistance(self._table, space, distances.get(f"l{self.norm}"))
        self._domain = Box.of(X, schema=schema)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; it is empty where a solver proves that none exists."""
        rows, _ = self._table.encode(X)
        return [self._table.decode(self._explain(row)) for row in rows]

    def _explain(self, row: Vector) -> Matrix:
        """Find the options of one input, in the order of their distances.

        A point that is no superset of the options' sets of features keeps one feature of each. So
        each option splits the search into one part for each feature that it changed, in which that
        feature may not change. (These parts are a tree of hitting sets, as of Reiter 1987.) The
        part with the nearest point comes next.
        """
        ends = time.perf_counter() + SECONDS
        options: list[Vector] = []
        sets: list[_Features] = []
        order = itertools.count()  # of equally near points, the first one found comes first
        parts: list[tuple[float, int, Vector, _Part]] = []
        searched: dict[_Features, _Part] = {}

        def search(fixed: _Features) -> None:
            if fixed in searched or time.perf_counter() >= ends:
                return
            part = _known(fixed, searched.values())
            if part is None:
                part = self._nearest(row, fixed, searched.values(), ends - time.perf_counter())
            searched[fixed] = part
            if part.point is not None:
                heapq.heappush(parts, (part.distance, next(order), part.point, part))

        search(frozenset(self._table.position(name) for name in self.immutable))
        while parts:
            _, _, point, part = heapq.heappop(parts)
            held = next((each for each in sets if each <= part.features), None)
            if held is None:
                options.append(point)
                sets.append(part.features)
                held = part.features
                if len(options) == LIMIT:
                    break
            for feature in sorted(held):
                search(part.fixed | {feature})
        return np.array(options).reshape(-1, len(row))

    def _nearest(
        self, row: Vector, fixed: _Features, searched: Iterable[_Part], seconds: float
    ) -> _Part:
        """Find the nearest counterfactual that keeps some features."""
        starts = [part.point for part in searched if not fixed & part.features]
        starts = [point for point in starts if point is not None]
        x = self._table.decode(row[None, :])
        bounds = counterfactual_distance(
            self._model,
            x if isinstance(x, pd.DataFrame) else x[0],
            self._distance,
            self._domain.holding(x),
            constraints=Constraints(immutable=[self._table.names[i] for i in sorted(fixed)]),
            time_limit=max(seconds, 1e-3),
            start=self._table.decode(np.array(starts)) if starts else None,
            method="exact",
        )
        if bounds.witness is None:
            return _Part(fixed, np.inf, None, frozenset())
        point = self._table.encode_one(bounds.witness)[0][0]
        features = np.flatnonzero(changed(row[None, :], point[None, :])[0])
        return _Part(fixed, bounds.upper, point, frozenset(features.tolist()))


@dataclass(frozen=True, eq=False)
class _Part:
    """The counterfactuals that keep some features.

    Attributes
    ----------
    fixed
        Those features.
    distance, point, features
        The nearest of these counterfactuals, and the features that it changes; None if there is
        none.
    """

    fixed: _Features
    distance: float
    point: Vector | None
    features: _Features


def _known(fixed: _Features, searched: Iterable[_Part]) -> _Part | None:
    """Return the nearest counterfactual of a part, if that of a larger part lies in it."""
    for part in searched:
        if part.fixed <= fixed and not part.features & fixed:
            return replace(part, fixed=fixed)
    return None


def _check_read(model: Any, solver: str) -> None:
    _, last = Preprocessing.of(as_model(model))
    smooth = read_linear(last) is not None or read_network(last) is not None
    trees = not smooth and read_tree_pipeline(model) is not None
    if smooth if solver == "milp" else trees:
        return
    reads = {"milp": "linear models and ReLU networks", "cp-sat": "tree ensembles"}
    other = "milp" if smooth else "cp-sat"
    way_out = f"Take the peer {other!r}." if smooth or trees else "Take a peer that asks the model."
    raise UnsupportedModelError(
        f"The peer {solver!r} reads {reads[solver]}, got {type(last).__name__}. {way_out}"
    )
