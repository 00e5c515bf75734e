"""alibi: counterfactuals guided by prototypes, and those of Wachter et al., for any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix, Vector
from counterset.paper.peers.columns import Columns
from counterset.paper.peers.protocol import import_library

__all__ = ["Alibi"]

#: The settings of alibi's own example on a table with categories (Adult).
PROTO = {"beta": 0.01, "theta": 10.0, "c_init": 1.0, "c_steps": 5, "max_iterations": 500}
#: Just beyond the boundary, as the implementations of Wachter do that others compare with. alibi's
#: default, a probability of 1, is one that many models give nowhere.
WACHTER = {"target_proba": 0.51, "tol": 0.01}


@dataclass
class Alibi:
    """One counterfactual of alibi, by gradients that it finds by asking the model.

    Proto (Van Looveren and Klaise 2021) is drawn to the nearest training rows of another class,
    found with k-d trees. It takes categories as one-hot columns. ``Counterfactual`` (Wachter et
    al. 2017) knows no categories: they keep the input's own values. Both stay within the range of
    the training rows. Each explanation asks about tens of thousands of rows.

    Parameters
    ----------
    norm
        Not used: alibi has its own distances.
    prototypes
        Whether prototypes guide the search.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    prototypes: bool = True
    name: str = "alibi-proto"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Build the graph of the search; for prototypes, pass the training rows to alibi."""
        tensorflow = import_library("alibi", "tensorflow.compat.v1")
        explainers = import_library("alibi", "alibi.explainers")
        tensorflow.disable_v2_behavior()
        self._columns, rows = Columns.learn(X)
        self._ask = self._columns.asking(model)
        if self.prototypes:
            # Ranges are those of the features, a category being one of them.
            low, high = [], []
            for places in self._columns.places:
                low.append(rows[:, places[0]].min() if len(places) == 1 else 0.0)
                high.append(rows[:, places[0]].max() if len(places) == 1 else len(places) - 1.0)
            groups = {places[0]: len(places) for places in self._columns.groups}
            self._explainer = explainers.CounterfactualProto(
                self._ask,
                (1, rows.shape[1]),
                use_kdtree=True,
                feature_range=(np.array([low]), np.array([high])),
                cat_vars=groups or None,
                ohe=bool(groups),
                **PROTO,
            )
            self._explainer.fit(rows)
        else:
            self._free = self._columns.numbers
            self._row = rows[0]
            free = rows[:, self._free]
            self._explainer = explainers.Counterfactual(
                self._ask_with_own_categories,
                (1, len(self._free)),
                feature_range=(free.min(axis=0)[None, :], free.max(axis=0)[None, :]),
                **WACHTER,
            )

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set of one for each row; an empty one where alibi finds none."""
        return self._columns.sets(X, self._explain)

    def _explain(self, row: Vector) -> Matrix:
        if self.prototypes:
            found = self._explainer.explain(row[None, :]).cf
            return np.zeros((0, len(row))) if found is None else np.asarray(found["X"])
        self._row = row
        found = self._explainer.explain(row[None, self._free]).cf
        return np.zeros((0, len(row))) if found is None else self._filled(found["X"])

    def _ask_with_own_categories(self, numbers: Matrix) -> Matrix:
        return self._ask(self._filled(numbers))

    def _filled(self, numbers: Matrix) -> Matrix:
        """Return rows with the input's own categories."""
        rows = np.tile(self._row, (len(numbers), 1))
        rows[:, self._free] = numbers
        return rows
