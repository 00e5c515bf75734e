"""A small mixed table and a model of it that several tests of recipes and anchors share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from counterset import DiverseExplainer, Explanations, FewerCounterfactualsWarning


def _frame(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "income": rng.integers(10, 90, n) * 100,
            "debt": rng.integers(0, 40, n) * 100,
            "home": pd.Categorical(rng.choice(["own", "rent", "free"], n)),
            "job": pd.Categorical(rng.choice(["none", "part", "full"], n)),
        }
    )


FRAME = _frame()


def lend(rows: Any) -> Any:
    """Lend to those whose points add up: income, less debt, and something for home and job."""
    points = (
        rows["income"].to_numpy(dtype=float) / 1000
        - rows["debt"].to_numpy(dtype=float) / 500
        + (rows["home"] == "own").to_numpy() * 2.0
        + (rows["job"] == "full").to_numpy() * 2.5
        + (rows["age"] >= 50).to_numpy() * 1.0
    )
    return np.where(points > 5, "yes", "no")


def explain(explainer: DiverseExplainer, data: Any, **wanted: Any) -> Explanations:
    """Explain rows, whether they have enough counterfactuals or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return explainer.explain_many(data, if_none="warn", **wanted)
