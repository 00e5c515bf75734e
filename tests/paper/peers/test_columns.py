"""Rows as columns of floats, and linear scores found by asking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from support.peer_tables import homes, pipeline_for

from counterset import InvalidInputError
from counterset._base.arrays import Matrix, Vector
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers.columns import Columns, LinearScore, seed_for


def test_a_table_becomes_scaled_numbers_and_one_hot_columns_and_comes_back() -> None:
    frame, _ = homes()
    columns, rows = Columns.learn(frame)
    assert columns.names == ["f0_0", "f0_1", "f0_2", "f1", "f2"]
    assert (columns.groups, columns.numbers) == ([[0, 1, 2]], [3, 4])
    assert columns.of(["age", "home"]) == [4, 0, 1, 2]
    np.testing.assert_array_equal(rows[:, :3].sum(axis=1), 1.0)
    assert (rows[:, 3:].min(), rows[:, 3:].max()) == (0.0, 1.0)
    back = columns.decode(rows)
    pd.testing.assert_frame_equal(back, frame)
    np.testing.assert_array_equal(columns.encode(frame[:3]), rows[:3])
    raw = Columns.learn(frame, scaled=False)[1]
    np.testing.assert_array_equal(raw[:, 4], frame["age"])


def test_arrays_stay_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(9, 2))
    columns, rows = Columns.learn(X)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(columns.decode(rows), X)


def test_what_an_option_leaves_as_it_is_stays_so_exactly() -> None:
    frame, _ = homes()
    columns, _ = Columns.learn(frame)

    def find(row: Vector) -> Matrix:
        moved = np.tile(row.astype(np.float32).astype(np.float64), (2, 1))
        moved[0, 4] = 1.0
        moved[1, :3] = 0.2, 0.1, 0.7  # the largest counts
        return moved

    for i, options in enumerate(columns.sets(frame[:5], find)):
        assert (options["income"] == frame["income"].iloc[i]).all()
        assert options["age"].tolist() == [frame["age"].max(), frame["age"].iloc[i]]
        assert options["home"].tolist() == [frame["home"].iloc[i], "ship"]
    (nothing,) = columns.sets(frame[:1], lambda row: np.zeros((0, len(row))))
    assert nothing.shape == (0, 3)


def test_missing_values_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no missing values"):
        Columns.learn(pd.DataFrame({"a": [1.0, np.nan, 2.0]}))


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_the_weights_of_a_linear_model_are_found_behind_encoders(model: Any) -> None:
    frame, accepted = homes()
    fitted = pipeline_for(model).fit(frame, accepted)
    columns, rows = Columns.learn(frame)
    score = LinearScore.of(fitted, columns, rows)
    np.testing.assert_allclose(rows @ score.weights + score.bias, fitted.decision_function(frame))
    assert score.weights[:3].sum() == pytest.approx(0.0, abs=1e-9)


class Probabilities:
    """A model that has probabilities alone."""

    def __init__(self, model: Any) -> None:
        self.predict_proba = model.predict_proba


def test_without_a_score_the_log_odds_are_linear() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    columns, rows = Columns.learn(X)
    score = LinearScore.of(Probabilities(model), columns, rows)
    np.testing.assert_allclose(score.weights, model.coef_[0], rtol=1e-6)
    assert score.bias == pytest.approx(model.intercept_[0], rel=1e-6, abs=1e-8)


def test_other_models_are_refused() -> None:
    X, y = make_classification(n_classes=3, n_informative=4, random_state=0)
    columns, rows = Columns.learn(X)
    with pytest.raises(UnsupportedModelError, match="two classes, got 3"):
        LinearScore.of(LogisticRegression().fit(X, y), columns, rows)
    with pytest.raises(
        UnsupportedModelError, match="score of RandomForestClassifier is not linear"
    ):
        LinearScore.of(RandomForestClassifier(5).fit(X, y > 0), columns, rows)
    with pytest.raises(UnsupportedModelError, match="object has no predict_proba"):
        columns.asking(object())


def test_a_row_seeds_what_is_drawn() -> None:
    state = np.random.get_state()
    try:
        seed_for(np.arange(3.0))
        first = np.random.random(3)
        seed_for(np.arange(3.0))
        np.testing.assert_array_equal(np.random.random(3), first)
        seed_for(np.ones(3))
        assert (np.random.random(3) != first).all()
    finally:
        np.random.set_state(state)
