"""A small mixed table, and pipelines for it, for peers that read models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset._base.arrays import Mask

__all__ = ["homes", "pipeline_for"]


def homes() -> tuple[pd.DataFrame, Mask]:
    """Return 200 people with a home, an income and an age, and who is accepted."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "home": random.choice(["flat", "house", "ship"], 200),
            "income": random.normal(3000.0, 800.0, 200),
            "age": random.integers(20, 70, 200),
        }
    )
    accepted = frame["income"] + 40 * frame["age"] + 500 * (frame["home"] == "ship") > 5000
    return frame, accepted.to_numpy()


def pipeline_for(model: Any) -> Any:
    """Return a model after an encoder of categories and a scaler of numbers."""
    numbers = make_column_selector(dtype_include="number")
    words = make_column_selector(dtype_exclude="number")
    return make_pipeline(
        make_column_transformer((OneHotEncoder(), words), (StandardScaler(), numbers)), model
    )
