"""What several benchmarks share: data, models, times, and rows of tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from counterset import datasets
from counterset.paper.tasks import KINDS as MODELS
from counterset.paper.tasks import TREES, behind_encoders

__all__ = [
    "IMMUTABLE", "MODELS", "TREES", "behind_encoders", "best", "fit_model", "load", "print_row",
]  # fmt: skip

IMMUTABLE = {"german_credit": ["age", "personal_status"], "adult": ["age", "sex", "race"]}
#: Adult has 6000 training rows, for time.
ROWS_OF_ADULT = 6000


def load(
    name: str, columns: list[str] | None = None, rows_of_adult: int = ROWS_OF_ADULT
) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Return training rows without missing values, their classes, and test rows."""
    data = datasets.load(name)
    X = data.X if columns is None else data.X[columns]
    whole = X.notna().all(axis=1)
    X, y = X[whole], data.y[whole]
    size: float = 0.8
    if name == "adult":
        X, y, size = X.head(2 * rows_of_adult), y.head(2 * rows_of_adult), rows_of_adult
    train, test, y_train, _ = train_test_split(X, y, train_size=size, random_state=0, stratify=y)
    return train, y_train, test.sort_index()


def fit_model(kind: str, X: Any, y: pd.Series) -> Any:
    """Fit a model on a table, behind encoders, or on an array of scaled numbers, without them."""
    if isinstance(X, np.ndarray):
        return MODELS[kind]().fit(X, y)
    return behind_encoders(MODELS[kind](), scaled=kind not in TREES).fit(X, y)


def best(function: Callable[[], Any], rounds: int = 2) -> float:
    """Return the least processor time of some calls, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def print_row(row: dict[str, Any], *, heading: bool) -> None:
    """Print a row of a table, below the names of its columns if it is the first."""
    if heading:
        print("| " + " | ".join(row) + " |\n|" + "---|" * len(row))
    print("| " + " | ".join(map(str, row.values())) + " |", flush=True)
