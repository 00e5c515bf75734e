"""The gradient of a model's score in the numbers of its rows, for the peers that follow it.

Linear models and ReLU networks are read, also after scalers and encoders in a pipeline. Categories
have no gradient, so they keep the input's own values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.exact.linear import read_linear
from counterset.exact.networks import ReluNetwork, as_model, read_network
from counterset.exact.preprocessing import Preprocessing
from counterset.exceptions import UnsupportedModelError
from counterset.tables.table import Table

__all__ = ["Gradients", "Leads", "movable"]


@dataclass(frozen=True, eq=False)
class Leads:
    """By how much the wanted class leads the inputs' own class, around n inputs.

    For logistic models of two classes, that is the log-odds of the wanted class.

    Attributes
    ----------
    network
        The model's last step; a linear model is a network without hidden layers.
    start
        The columns that it sees of the inputs, ``(n, c)``.
    feature, factor
        The feature that each column is made from, and how much it rises with it, ``(c,)``.
    weights
        What the lead weighs each score with, ``(n, classes)``: 1 and -1.
    """

    network: ReluNetwork
    start: Matrix
    feature: Indices
    factor: Vector
    weights: Matrix

    def columns(self, moves: Matrix) -> Matrix:
        """Return the columns after moves of the features, ``(n, d)``, from the inputs."""
        columns: Matrix = self.start + self.factor * moves[:, self.feature]
        return columns

    def at(self, moves: Matrix) -> tuple[Vector, Matrix]:
        """Return the leads after moves, ``(n,)``, and their gradients, ``(n, d)``."""
        values, active = self.columns(moves), []
        for weights, bias in self.network.layers[:-1]:
            values = values @ weights + bias
            active.append(values > 0)
            values = np.maximum(values, 0.0)
        weights, bias = self.network.layers[-1]
        leads = ((values @ weights + bias) * self.weights).sum(axis=1)
        # Backwards: from the lead through each layer to the columns, and from these to features.
        slopes = self.weights @ weights.T
        for (hidden, _), on in zip(self.network.layers[-2::-1], active[::-1], strict=True):
            slopes = (slopes * on) @ hidden.T
        gradients = np.zeros_like(moves)
        np.add.at(gradients.T, self.feature, (slopes * self.factor).T)
        return leads, gradients


@dataclass(frozen=True, eq=False)
class Gradients:
    """A model whose gradients are known.

    Attributes
    ----------
    table
        The columns that the model takes.
    steps
        What a pipeline does to rows before its last step.
    network, feature, factor
        See :class:`Leads`.
    """

    table: Table
    steps: tuple[Any, ...]
    network: ReluNetwork
    feature: Indices
    factor: Vector

    @classmethod
    def of(cls, model: Any, table: Table) -> Gradients:
        """Read a classifier; raise an error if it has no gradient that can be read."""
        found = cls.read(model, table)
        if found is None:
            _, last = Preprocessing.of(model)
            raise UnsupportedModelError(
                f"This peer follows gradients, and those of linear models and ReLU networks are "
                f"read, also after scalers and encoders; got {type(last).__name__}. Choose a peer "
                f"that only asks the model."
            )
        return found

    @classmethod
    def read(cls, model: Any, table: Table) -> Gradients | None:
        """Read a classifier; None if it has no gradient that can be read."""
        before, last = Preprocessing.of(as_model(model))
        network, linear = read_network(last), read_linear(last)
        if linear is not None and linear.labels is not None:
            network = ReluNetwork([(linear.weights, linear.bias)], linear.labels)
        sources, feature = before.sources_in(table), before.features_of(table)
        if network is None or sources is None or feature is None:
            return None
        categories = np.array([each.values is not None for each in table.features])
        factor = np.where(categories[feature], 0.0, [source.factor for source in sources])
        if not np.isfinite(factor).all():
            return None
        return cls(table, before.steps, network, feature, factor)

    @property
    def is_linear(self) -> bool:
        """Whether the scores are linear in the columns."""
        return len(self.network.layers) == 1

    def around(self, rows: Matrix) -> Leads:
        """Return the leads around inputs, of the class that comes second for each of them."""
        made: Any = self.table.decode(rows)
        for step in self.steps:
            made = step.transform(made)
        start = np.asarray(made.toarray() if issparse(made) else made, dtype=np.float64)
        second, own = np.argsort(self.network.scores(start), axis=1, kind="stable")[:, -2:].T
        n_classes = len(self.network.labels)
        weights = np.eye(n_classes)[second] - np.eye(n_classes)[own]
        return Leads(self.network, start, self.feature, self.factor, weights)


def movable(table: Table, rows: Matrix, immutable: Any) -> Mask:
    """Return which values of rows are known numbers that may change, ``(n, d)``."""
    fixed = [table.position(name) for name in immutable]
    free = np.array([each.values is None for each in table.features])
    free[fixed] = False
    return np.asarray(np.isfinite(rows) & free)
