"""What several benchmarks share: data, models, times, and rows of tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import datasets

MODELS: dict[str, Any] = {
    "boosting": lambda: GradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((20, 10), max_iter=500, random_state=0),
}
#: Trees need no scaled numbers, and other libraries that read trees want them as they are.
TREES = ("boosting", "forest")
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


def behind_encoders(model: Any, *, scaled: bool) -> Pipeline:
    """Return a pipeline that encodes categories, scales numbers if wanted, and asks the model."""
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (
            StandardScaler() if scaled else "passthrough",
            make_column_selector(dtype_include="number"),
        ),
    )
    return make_pipeline(prepare, model)


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
