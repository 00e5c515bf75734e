"""The paper's datasets, split and scaled as its experiments had them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from counterset import datasets
from counterset._base.arrays import Codes, Matrix

__all__ = ["PAPER_DATASETS", "Split", "prepare"]

#: The datasets of the paper, in the order of its tables.
PAPER_DATASETS = ("diabetes", "no2", "credit", "spambase", "news")

#: The paper's copy of credit comes split and scaled: these are the rows of its training part.
CREDIT_ROWS, CREDIT_TRAINING_ROWS = 115527, 86645


@dataclass(frozen=True)
class Split:
    """Training and test rows, each feature scaled to [0, 1] over the whole file.

    Attributes
    ----------
    name
        The dataset's name.
    X_train, X_test
        The rows.
    y_train, y_test
        Their classes, as 0 and 1.
    """

    name: str
    X_train: Matrix
    X_test: Matrix
    y_train: Codes
    y_test: Codes


def prepare(name: str) -> Split:
    """Load a dataset of the paper, scale it, and split it.

    Each feature is scaled to [0, 1] over the whole file; one row in five is set apart for
    testing, stratified by class. Credit in the paper's copy comes scaled and split.

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


def _spambase_order() -> Codes:
    """Give the authors' order of the rows: theirs lacks the first one and is shuffled."""
    path = files("counterset.benchmark").joinpath("data", "spambase_order.npz")
    with path.open("rb") as stream, np.load(stream) as arrays:
        order: Codes = arrays["order"].astype(np.intp)
        return order
