"""NICE: one counterfactual, built from the nearest row of the other class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix
from counterset.exceptions import MissingExtraError
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["Nice"]


@dataclass
class Nice:
    """NICE with one of its rewards. It finds a single counterfactual, and knows no constraints.

    Parameters
    ----------
    norm
        Not used: NICE has its own distance.
    optimization
        What NICE looks for on the way from the input to the nearest row of another class. With
        ``"none"`` it returns that row.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    optimization: Literal["none", "sparsity", "proximity"] = "proximity"
    name: str = "nice"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Pass the training rows to NICE, with the classes that the model predicts."""
        try:
            from nice import NICE  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError(
                f"This peer needs NICE, which cannot be imported ({error}). Install it with: "
                f"pip install NICEx"
            ) from error
        # NICE takes arrays of numbers: categories become their codes.
        self._table, rows = Table.learn(X, Schema(step=0))
        kinds = [feature.is_category for feature in self._table.features]

        def probabilities(matrix: Matrix) -> Matrix:
            answer: Matrix = model.predict_proba(self._table.decode(matrix))
            return answer

        ask = probabilities if isinstance(X, pd.DataFrame) else model.predict_proba
        self._explainer = NICE(
            predict_fn=ask,
            X_train=rows,
            cat_feat=[i for i, is_category in enumerate(kinds) if is_category],
            num_feat=[i for i, is_category in enumerate(kinds) if not is_category],
            y_train=ask(rows).argmax(axis=1),
            optimization=self.optimization,
        )

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set of one counterfactual for each row."""
        as_frame = isinstance(X, pd.DataFrame)
        rows: Matrix = self._table.encode(X)[0] if as_frame else np.asarray(X)
        found = [np.asarray(self._explainer.explain(x[None, :]), dtype=np.float64) for x in rows]
        return [self._table.decode(each) for each in found] if as_frame else found
