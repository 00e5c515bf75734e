"""The paper's datasets, scaled and split as in its experiments."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from counterset import datasets
from counterset._base.arrays import Codes, Indices, Matrix

__all__ = ["PAPER_DATASETS", "Split", "prepare"]

#: The datasets of the paper, in the order of its tables.
PAPER_DATASETS = ("diabetes", "no2", "credit", "spambase", "news")

#: The paper's copy of credit has 115527 rows, scaled already; the first 86645 are for training.
CREDIT_ROWS, CREDIT_TRAINING_ROWS = 115527, 86645


@dataclass(frozen=True)
class Split:
    """Training and test rows, each feature scaled to [0, 1] over the whole file.

    Attributes
    ----------
    name
        The dataset's name.
    X_train, X_test
        The rows, ``(n, d)``.
    y_train, y_test
        The classes of the rows, 0 or 1, ``(n,)``.
    """

    name: str
    X_train: Matrix
    X_test: Matrix
    y_train: Codes
    y_test: Codes


def prepare(name: str) -> Split:
    """Load a dataset of the paper, scale it, and split it.

    Each feature is scaled to [0, 1] over the whole file. One row in five is kept for testing,
    stratified by class. The paper's copy of credit is scaled and split already.

    Examples
    --------
    >>> split = prepare("diabetes")
    >>> split.X_train.shape, split.X_test.shape
    ((614, 8), (154, 8))
    """
    dataset = datasets.load(name)
    X = dataset.X.to_numpy(dtype=np.float64)
    y, _ = pd.factorize(dataset.y, sort=True)
    if name == "spambase":
        order = _spambase_order()
        X, y = X[order], y[order]
    if name == "credit" and len(X) == CREDIT_ROWS:
        at = CREDIT_TRAINING_ROWS
        return Split(name, X[:at], X[at:], y[:at], y[at:])
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, shuffle=True, random_state=0
    )
    return Split(name, X_train, X_test, y_train, y_test)


def _spambase_order() -> Indices:
    """Return the order of the rows in the authors' file, which is shuffled and lacks the first."""
    path = files("counterset.paper").joinpath("data", "spambase_order.npz")
    with path.open("rb") as stream, np.load(stream) as arrays:
        order: Indices = arrays["order"].astype(np.intp)
        return order
