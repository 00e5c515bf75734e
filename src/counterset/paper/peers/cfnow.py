"""CFNOW (Oliveira, Sörensen and Martens 2023): a random or greedy search, then fine tuning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix, Vector
from counterset.paper.peers.columns import Columns, seed_for
from counterset.paper.peers.protocol import LIMIT, import_library

__all__ = ["Cfnow"]

#: The fine tuning of one input ends after 10 seconds; CFNOW's default is 120.
SECONDS = 10


@dataclass
class Cfnow:
    """Up to 5 counterfactuals of CFNOW. It only asks the model, and knows no ranges.

    Categories are one-hot columns, which CFNOW switches together. Numbers are not scaled: CFNOW
    changes them by shares of their own values.

    Parameters
    ----------
    norm
        Not used: CFNOW has its own distance.
    strategy
        How it searches.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    strategy: Literal["random", "greedy"] = "random"
    name: str = "cfnow"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Learn the columns. CFNOW itself learns nothing."""
        self._cfnow = import_library("cfnow", "cfnow")
        self._columns, _ = Columns.learn(X, scaled=False)
        self._ask = self._columns.asking(model)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where CFNOW finds none."""
        return self._columns.sets(X, self._explain)

    def _explain(self, row: Vector) -> Matrix:
        numbers = set(self._columns.numbers)
        names = self._columns.names
        seed_for(row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, and of its own settings
            found = self._cfnow.find_tabular(
                factual=pd.Series(row, index=names),
                model_predict_proba=self._ask,
                count_cf=LIMIT,
                feat_types={n: "num" if i in numbers else "cat" for i, n in enumerate(names)},
                cf_strategy=self.strategy,
                has_ohe=bool(self._columns.groups),
                limit_seconds=SECONDS,
            )
        # It reports all that it met, the nearest first, however many were asked for.
        return np.array(found.cfs, dtype=np.float64).reshape(-1, len(row))[:LIMIT]
