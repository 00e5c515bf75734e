"""A mixed table of loans, a model of it that fails on some rows, and an explainer of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset import DiverseExplainer

__all__ = ["FEATURES", "Lender", "lender", "loans"]

FEATURES = ["income", "debt", "home", "member", "since"]


def loans(count: int = 120, seed: int = 0) -> pd.DataFrame:
    """Return loans of several dtypes, each with the number of its case."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "case": np.arange(1000, 1000 + count),
            "income": random.integers(1, 100, count),
            "debt": random.integers(0, 1000, count) / 10,
            "home": pd.Categorical(random.choice(["own", "rent"], count)),
            "member": random.random(count) > 0.5,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(random.integers(0, 999, count), "D"),
        },
        index=pd.Index([f"p{i}" for i in range(count)], name="person"),
    )


@dataclass(frozen=True)
class Lender:
    """Approve where the income, with a bonus for owners, exceeds the debt.

    A row whose debt is ``fails_at`` makes the model fail.
    """

    fails_at: float = -1.0

    def predict(self, rows: Any) -> Any:
        if (rows["debt"] == self.fails_at).any():
            raise RuntimeError("the server is tired")
        bonus = np.where(rows["home"] == "own", 10, 0)
        return np.where(rows["income"] + bonus > rows["debt"], "approved", "declined")


def lender(**parameters: Any) -> DiverseExplainer:
    """Return an explainer of the model, fitted on 120 loans."""
    options: dict[str, Any] = {"max_counterfactuals": 3, "model": Lender(fails_at=99.95)}
    return DiverseExplainer(**options | parameters).fit(loans()[FEATURES])
