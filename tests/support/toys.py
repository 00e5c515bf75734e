"""A small table, a model and helpers that several tests of the explainer share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset import DiverseExplainer
from support.settings import paper_by_steps

Rows = NDArray[np.float64]

X = np.random.default_rng(0).random((80, 2))
FRAME = pd.DataFrame(X, columns=["age", "income"], index=[f"p{i}" for i in range(80)])


def approve(rows: Any) -> Any:
    """Approve a sum above 1."""
    return np.where(np.asarray(rows, dtype=float).sum(axis=1) > 1, "yes", "no")


def fitted(data: Any = X, model: Any = approve, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"max_counterfactuals": 2, "diversity": None}
    return paper_by_steps(model, **{**options, **parameters}).fit(data)


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, model: Any = approve) -> None:
        self.model = model
        self.asked: list[Any] = []

    def __call__(self, rows: Any) -> Any:
        self.asked.append(rows.copy())
        return self.model(rows)

    @property
    def rows(self) -> int:
        return sum(len(rows) for rows in self.asked)


@dataclass(frozen=True)
class Stripes:
    """A model of thin stripes, for tables of any width: nearly all hold both classes."""

    def predict(self, rows: Any) -> Any:
        return np.floor(np.nansum(np.asarray(rows, dtype=np.float64), axis=1) * 7) % 2
