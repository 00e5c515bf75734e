"""Actionable recourse (Ustun, Spangher and Liu 2019): the cheapest actions on a linear model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix, Vector
from counterset.paper.peers.columns import Columns, LinearScore
from counterset.paper.peers.protocol import LIMIT, import_library

__all__ = ["Recourse"]

#: The solver has 5 seconds for each action.
SECONDS = 5.0


@dataclass
class Recourse:
    """Up to 5 counterfactuals, each cheapest among those that change another set of features.

    It is for linear models of two classes, also after encoders and scalers. The cost of a change
    is the library's default for such lists: how rarer the value becomes, in logarithms of the
    share of rows above it. Numbers take values of a grid of 100, whole ones if
    they are whole. Categories keep the
    input's own values: with the library's limit for one-hot columns, release 1.0.0 stops with an
    IndexError. The solver is the free CBC; the edition of CPLEX that pip installs
    is limited to 1000 variables.

    Parameters
    ----------
    norm
        Not used: the cost is the library's own.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    immutable: Sequence[str] = ()
    name: str = "recourse"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Find the model's coefficients, and learn the possible actions."""
        self._recourse = import_library("recourse", "recourse")
        self._columns, training = Columns.learn(X, scaled=False)
        self._score = LinearScore.of(model, self._columns, training)
        self._actions = {wanted: self._action_set(training, wanted) for wanted in (-1, 1)}

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where the library finds none."""
        return self._columns.sets(X, self._explain)

    def _action_set(self, training: Matrix, wanted: int) -> Any:
        names = self._columns.names
        frame = pd.DataFrame(training, columns=names)
        actions = self._recourse.ActionSet(frame, y_desired=wanted)
        categories = [i for group in self._columns.groups for i in group]
        for i in (*self._columns.of(self.immutable), *categories):
            actions[names[i]].actionable = False
        actions.set_alignment(coefficients=self._score.weights, intercept=self._score.bias)
        return actions

    def _explain(self, row: Vector) -> Matrix:
        wanted = 1 if row @ self._score.weights + self._score.bias <= 0 else -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores that are nearly 0
            builder = self._recourse.RecourseBuilder(
                action_set=self._actions[wanted],
                x=row,
                coefficients=self._score.weights,
                intercept=self._score.bias,
                solver="python-mip",
                mip_cost_type="local",
            )
            found = builder.populate(total_items=LIMIT, time_limit=SECONDS)
        return np.array([row + each["actions"] for each in found]).reshape(-1, len(row))
