"""Reading the trees of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support.toys_exact import tree_data

from counterset.distances import L1
from counterset.exact import Box, counterfactual_distance
from counterset.exact.trees.models import read_trees


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, max_depth=3, random_state=0),
        ExtraTreesClassifier(5, max_depth=3, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_scores_that_are_read_predict_as_the_model_does(model: Any, n_classes: int) -> None:
    X, y = tree_data(0, n_classes)
    ensemble = read_trees(model.fit(X, y))
    assert ensemble is not None
    rows = np.random.default_rng(0).random((200, 2))
    scores = np.array([ensemble.scores(row) for row in rows])
    clear = np.diff(np.sort(scores, axis=1)[:, -2:], axis=1).ravel() > ensemble.rounding
    assert ensemble.labels is not None
    predicted = ensemble.labels[scores.argmax(axis=1)]
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(predicted[clear], model.predict(rows)[clear])


def test_models_that_are_not_read() -> None:
    X, y = tree_data(0)
    assert read_trees(LogisticRegression().fit(X, y)) is None
    assert read_trees(DecisionTreeClassifier()) is None
    started = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X, y)
    assert read_trees(started) is None
    zero = GradientBoostingClassifier(init="zero", n_estimators=2).fit(X, y)
    assert read_trees(zero) is not None


def test_leaves_of_whole_votes_are_counted_without_rounding() -> None:
    # Inner nodes hold shares; only leaves are added up.
    X, y = tree_data(0)
    ensemble = read_trees(RandomForestClassifier(5, random_state=0).fit(X, y))
    assert ensemble is not None
    assert ensemble.rounding == 0


def test_histograms_of_gradients_compare_in_double_precision() -> None:
    X, y = tree_data(1, 3)
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, y)
    bounds = counterfactual_distance(model, X[0], "l1", Box(0, 1))
    assert bounds.exact
    assert model.predict(bounds.witness[None, :])[0] != model.predict(X[:1])[0]
    samples = np.random.default_rng(0).random((4000, 2))
    others = samples[model.predict(samples) != model.predict(X[:1])[0]]
    assert bounds.lower <= L1()(X[0], others).min()
