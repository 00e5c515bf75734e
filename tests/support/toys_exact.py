"""Small tables, models and problems that tests of exact distances share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from counterset.distances import L0, L1, L2, Distance, DistanceLike, LInf
from counterset.exact import ReluNetwork
from counterset.exact.problem import Problem
from counterset.exact.query import DistanceQuery

#: Two features, a straight and a curved boundary.
SQUARE = np.random.default_rng(0).random((60, 2))
LINEAR = LogisticRegression().fit(SQUARE, SQUARE.sum(axis=1) > 1)
CURVED = SVC().fit(SQUARE, ((SQUARE - 0.5) ** 2).sum(axis=1) > 0.1)

#: Three features, with two and with three classes.
CUBE = np.random.default_rng(0).random((80, 3))
TWO = (CUBE @ [1.0, 2.0, -1.0] > 1).astype(int)
THREE = np.digitize(CUBE @ [1.0, 2.0, -1.0], [0.6, 1.4])
DISTANCES: list[Distance] = [
    L1(),
    L2(),
    LInf(),
    L0(),
    L1([1, 2, 0.5]),
    L2([1, 2, 0.5]),
    LInf([3, 1, 0.2]),
]


def problem_of(model: Any, x: Any, distance: DistanceLike = "l1", domain: Any = None) -> Problem:
    return DistanceQuery.of(model, distance, domain).problem_of(x)


def given_linear(coefficients: Any, intercept: Any) -> LogisticRegression:
    """A linear model with these coefficients, ``(k, d)``."""
    model = LogisticRegression()
    model.coef_ = np.atleast_2d(np.asarray(coefficients, dtype=float))
    model.intercept_ = np.broadcast_to(np.asarray(intercept, dtype=float), len(model.coef_))
    model.classes_ = np.arange(max(2, len(model.coef_)))
    model.n_features_in_ = model.coef_.shape[1]
    return model


def given_scaler(mean: float, scale: float, n: int) -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = np.full(n, mean), np.full(n, scale)
    scaler.var_, scaler.n_features_in_ = scaler.scale_**2, n
    return scaler


def random_network(seed: int, inputs: int = 2, hidden: int = 4, outputs: int = 2) -> ReluNetwork:
    rng = np.random.default_rng(seed)
    return ReluNetwork(
        [
            (rng.normal(size=(inputs, hidden)), rng.normal(size=hidden)),
            (rng.normal(size=(hidden, outputs)), 0.3 * rng.normal(size=outputs)),
        ]
    )


def disguised(coefficients: np.ndarray, intercept: float) -> ReluNetwork:
    """A linear model as a network: relu(s) - relu(-s) = s."""
    weights = np.stack([coefficients, -coefficients], axis=1)
    bias = np.array([intercept, -intercept])
    return ReluNetwork([(weights, bias), (np.array([[1.0], [-1.0]]), np.zeros(1))])


def ball(X: Any) -> np.ndarray:
    """Figure 1, left: yellow within distance 1 of the middle."""
    return np.where((np.asarray(X) ** 2).sum(axis=1) <= 1, "Y", "B")


def tree_data(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((50, 2))
    score = X[:, 0] * X[:, 1] + 0.1 * rng.random(50)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def thresholds(model: Any) -> list[set[float]]:
    """The thresholds of each of two features in a tree or forest of scikit-learn."""
    trees = [model] if isinstance(model, DecisionTreeClassifier) else np.ravel(model.estimators_)
    found: list[set[float]] = [set(), set()]
    for tree in trees:
        inner = tree.tree_.children_left >= 0
        pairs = zip(tree.tree_.feature[inner], tree.tree_.threshold[inner], strict=True)
        for feature, threshold in pairs:
            found[feature].add(float(threshold))
    return found


VALUES: dict[str, list[Any]] = {
    "rooms": [1, 2, 3, 4],
    "floor": [0, 1, 2],
    "heating": ["coal", "gas", "oil", "wood"],
    "owner": ["co-op", "private"],
}


def flats(seed: int, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """Flats of these values, and a class for each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(values, 80) for name, values in VALUES.items()})
    score = (
        frame["rooms"]
        - frame["floor"] * (frame["heating"] == "gas")
        + 2 * frame["heating"].isin(["coal", "oil"])
        + (frame["owner"] == "private")
        + rng.random(80)
    )
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return frame, np.digitize(score, edges)


ENCODERS: dict[str, Any] = {
    "one-hot": make_column_transformer(
        (StandardScaler(), ["floor", "rooms"]), (OneHotEncoder(), ["owner", "heating"])
    ),
    "one-hot, dense": make_column_transformer(
        (OneHotEncoder(sparse_output=False, drop="if_binary"), ["heating", "owner"]),
        remainder="passthrough",
    ),
    "rare values together": make_column_transformer(
        (OneHotEncoder(min_frequency=22), ["heating"]),
        (OrdinalEncoder(), ["owner"]),
        remainder=RobustScaler(),
    ),
    "ordinal, then scaled": make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), MinMaxScaler()), ["rooms"]),
            (OrdinalEncoder(categories=[["oil", "coal", "wood", "gas"]]), ["heating"]),
            ("drop", ["floor"]),
            remainder=OneHotEncoder(),
        ),
        MaxAbsScaler(),
    ),
}
