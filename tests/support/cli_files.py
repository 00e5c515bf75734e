"""A small model and its rows in files, for the commands that take them."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

__all__ = ["write_loans"]


def write_loans(folder: Path) -> tuple[str, str]:
    """Write a model of loans and 120 rows; return the names of both files.

    A loan is declined where the debt exceeds the income. The decision and the town are no features
    of the model.
    """
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(1, 100, (120, 2)), columns=["income", "debt"])
    y = np.where(X["income"] > X["debt"], "approved", "declined")
    model, data = folder / "model.joblib", folder / "data.csv"
    joblib.dump(LogisticRegression().fit(X, y), model)
    X.assign(decision=y, town=np.where(X.index % 2, "Bonn", "Ulm")).to_csv(data, index=False)
    return str(model), str(data)
