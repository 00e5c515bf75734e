"""Simple peers: one set for all of a class, the nearest rows, this library, and the prototype."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from counterset import distances
from counterset._base.arrays import Matrix
from counterset.constraints.constraints import Constraints
from counterset.exceptions import FewerCounterfactualsWarning, InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.paper.experiment import PrototypeExplainer
from counterset.paper.peers.protocol import LIMIT
from counterset.strategies import Nearest, NearestCandidates, Paper, Shared, Strategy
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["Constant", "NearestRows", "Own", "Prototype"]

#: Rows are compared with up to 500 rows of the class that is explained: enough for a mean.
SAMPLE = 500


@dataclass
class Constant:
    """Reports, for every input of a class, the same 5 training rows of other classes.

    They are those that are nearest to the rows of the class on average. This peer always has a
    set-distance of 0; it shows how far its counterfactuals are.

    Parameters
    ----------
    norm
        The norm of the distance.
    immutable
        Names of features that keep the input's own value. The model is not asked again.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
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
        # For a class that no training row has, they are the rows nearest to all others.
        self._sets = {}
        for label in [*np.unique(labels).tolist(), None]:
            others, own = rows[labels != label], rows[labels == label][:SAMPLE]
            own = rows[:SAMPLE] if label is None else own
            near = np.argsort(distance.pairwise(own, others).mean(axis=0), kind="stable")
            self._sets[label] = others[near[:LIMIT]]

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return the set of its class for each row."""
        rows, _ = self._table.encode(X)
        kept = [self._table.position(feature) for feature in self.immutable]
        found = []
        for x, label in zip(rows, np.asarray(self._model.predict(X)).tolist(), strict=True):
            options = self._sets.get(label, self._sets[None]).copy()
            options[:, kept] = x[kept]
            found.append(self._table.decode(options))
        return found


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
        # All rows are of another class than an input whose class no training row has.
        self._others = {
            label: (rows[labels != label], points[labels != label])
            for label in [*np.unique(labels).tolist(), None]
        }

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row."""
        as_frame = isinstance(X, pd.DataFrame)
        points = self._space.embed(self._table.encode(X)[0]) if as_frame else X
        sets = []
        labels = np.asarray(self._model.predict(X)).tolist()
        for x, label in zip(points, labels, strict=True):
            others, places = self._others.get(label, self._others[None])
            distances = cdist(x[None, :], places, self._metric)[0]
            nearest = others[np.argsort(distances, kind="stable")[:LIMIT]]
            sets.append(self._table.decode(nearest) if as_frame else nearest)
        return sets


@dataclass
class Own:
    """The library's explainer, in the norm that is measured.

    Parameters
    ----------
    norm
        The norm of the distance.
    strategy
        ``"paper"``: the paper's four steps. ``"nearest"``: the defaults. ``"shared"``: with a list
        of options that people alike share.
    alpha
        The number of nearest candidates in the paper's step 2.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    strategy: Literal["paper", "nearest", "shared"] = "paper"
    alpha: int = 1000
    immutable: Sequence[str] = ()
    name: str = "counterset"
    uses_norm: bool = True

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Fit the explainer."""
        strategies: dict[str, Strategy] = {
            "paper": Paper(candidates=NearestCandidates(self.alpha)),
            "nearest": Nearest(),
            "shared": Shared(),
        }
        self._explainer = DiverseExplainer(
            model,
            strategy=strategies[self.strategy],
            distance=f"l{self.norm}",
            max_counterfactuals=LIMIT,
            schema=Schema(step=0),  # numbers move freely, as with other libraries
            # Arrays are scaled already.
            scale="robust" if isinstance(X, pd.DataFrame) else None,
            constraints=Constraints(immutable=list(self.immutable)) if self.immutable else None,
        ).fit(X)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            found = self._explainer.explain_many(X, if_none="ignore")
        as_frame = isinstance(X, pd.DataFrame)
        return [each.counterfactuals if as_frame else each.values for each in found]


class Prototype:
    """The explainer behind the published figures, with the settings of the final results.

    Its neighbours are Euclidean whatever the norm. It takes arrays of scaled numbers.

    Parameters
    ----------
    norm
        Not used: only the distance-based filter of the prototype knows the norm.
    alpha
        The number of nearest candidates.
    """

    name = "prototype"
    uses_norm = False

    def __init__(self, norm: int, alpha: int = 1000) -> None:
        self._norm, self._alpha = norm, alpha

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Keep the training rows as candidates."""
        if isinstance(X, pd.DataFrame):
            raise InvalidInputError("The prototype takes arrays of scaled numbers, not tables.")
        explainer = PrototypeExplainer(model, self._norm, self._alpha, "angle", 0.5, 0.1)
        self._explainer = explainer.fit(X)

    def explain_many(self, X: Matrix) -> Sequence[Any]:
        """Return a set for each row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            return self._explainer.explain_many(X)
