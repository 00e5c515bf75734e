"""The constraint programme of cells."""

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from support.oracles_exact import cell_points, nearest_other
from support.toys_exact import thresholds, tree_data

from counterset.distances import L1
from counterset.exact import Box, counterfactual_distance
from counterset.exceptions import MissingExtraError


def test_a_domain_of_one_class_is_proved() -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    bounds = counterfactual_distance(model, X[0], "l1", Box(X[0] - 1e-9, X[0] + 1e-9))
    assert bounds.none_exists
    assert "constraint programme" in bounds.method


CONSTANT = {
    "no feature differs": (np.zeros((40, 2)), np.arange(40) % 2),
    "no feature differs, three classes": (np.zeros((42, 2)), np.arange(42) % 3),
    "no feature tells": (np.arange(40)[:, None] % 2.0, np.arange(40) // 2 % 2),
    "one class is rare": (np.arange(40)[:, None] * 1.0, np.arange(40) % 10 == 0),
}


@pytest.mark.parametrize("data", CONSTANT)
@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2, init="zero", learning_rate=1e-9),
        HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=2),
        RandomForestClassifier(2, max_depth=1, bootstrap=False, min_samples_leaf=15),
        ExtraTreesClassifier(3, max_depth=1, min_samples_leaf=15),
    ],
    ids=repr,
)
def test_a_model_of_equal_scores_everywhere_is_proved_constant(data: str, model: Any) -> None:
    # Scores of exactly 0 were counted in steps of 1e-200, which the solver refused: a TypeError.
    X, y = CONSTANT[data]
    model.set_params(random_state=0).fit(X, y)
    if len(set(model.predict(X))) > 1:
        assert counterfactual_distance(model, X[0]).exact
        return
    for distance in ("l1", "linf"):
        assert counterfactual_distance(model, X[0], distance).none_exists


def test_the_same_witness_every_time() -> None:
    # Symmetric in its two features, so that there are two nearest points.
    X = np.random.default_rng(0).integers(0, 9, (200, 2)) / 8
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, X.sum(axis=1) > 1)
    first, second = (counterfactual_distance(model, [0.2, 0.2], "l1", Box(0, 1)) for _ in "ab")
    assert first.exact
    np.testing.assert_array_equal(first.witness, second.witness)


def test_rounded_scores_that_the_model_does_not_confirm_are_ruled_out() -> None:
    # Shares of thirds: their sums tie up to rounding only.
    X = np.repeat([[0.0], [1.0], [2.0]], 3, axis=0)
    y = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1])
    model = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(X, y)
    flipped = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(
        X, np.array([0, 0, 1, 0, 0, 1, 1, 1, 1])
    )
    model.estimators_[1] = flipped.estimators_[1]
    bounds = counterfactual_distance(model, [0.0], "l1", Box(0, 2))
    points = cell_points(np.array([0.0]), [thresholds(model)[0]], 0.0, 2.0)
    expected = nearest_other(model.predict, np.array([0.0]), points, L1())
    assert bounds.exact
    assert bounds.upper == pytest.approx(expected, abs=1e-12)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[exact\]"):
        counterfactual_distance(model, X[0], "l1", Box(0, 1))
