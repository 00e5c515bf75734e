"""The constraint programme of cells."""

import sys

import numpy as np
import pytest
from oracles_exact import cell_points, nearest_other
from sklearn.ensemble import RandomForestClassifier
from toys_exact import thresholds, tree_data

from counterset import Box, MissingExtraError, NoCounterfactualExistsError
from counterset.distances import L1
from counterset.exact import counterfactual_distance


def test_a_domain_of_one_class_is_proved() -> None:
    X, y = tree_data(0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(NoCounterfactualExistsError, match="constraint programme"):
        counterfactual_distance(model, X[0], "l1", Box(X[0] - 1e-9, X[0] + 1e-9))


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
