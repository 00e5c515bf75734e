"""ROAR, compared with the closed form of its inner maximum and with a linear programme."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from support.peer_tables import homes, pipeline_for

from counterset._base.arrays import Matrix, Vector
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers import find_peer, roar
from counterset.paper.peers.roar import LinearScores
from counterset.paper.setups import Split, train

SHIFT = 0.1


def two_features(n: int = 200) -> tuple[Matrix, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2))
    return X, (X @ [2.0, -1.0] + 0.3 * random.normal(size=n) > 0).astype(int)


def test_the_worst_shift_is_the_worst_corner_of_the_ball() -> None:
    random = np.random.default_rng(1)
    start, weights = random.normal(size=(2, 6, 3))
    scores = LinearScores(start, np.arange(3), np.ones(3), weights, random.normal(size=6))
    moves = random.normal(size=(6, 3))
    rows = np.column_stack([start + moves, np.ones(6)])
    parameters = np.column_stack([weights, scores.bias])
    corners = [np.array(signs) * SHIFT for signs in itertools.product((-1, 1), repeat=4)]
    literal = [
        min(float(row @ (own + corner)) for corner in corners)
        for row, own in zip(rows, parameters, strict=True)
    ]
    np.testing.assert_allclose(scores.worst(moves, SHIFT), literal)
    # The closed form: the score less the largest shift times the size of the columns and of 1.
    closed = (rows * parameters).sum(axis=1) - SHIFT * np.abs(rows).sum(axis=1)
    np.testing.assert_allclose(scores.worst(moves, SHIFT), closed)


def test_of_a_linear_model_the_outcome_holds_for_every_drawn_shift() -> None:
    X, y = two_features()
    model = LogisticRegression().fit(X, y)
    peer = find_peer("roar", 1)
    peer.fit(model, X)
    found = np.concatenate(peer.explain_many(X[:20]))
    wanted = 1 - model.predict(X[:20])
    random = np.random.default_rng(2)
    coefficients, intercept = model.coef_.copy(), model.intercept_.copy()
    for _ in range(500):
        model.coef_ = coefficients + random.uniform(-SHIFT, SHIFT, (1, 2))
        model.intercept_ = intercept + random.uniform(-SHIFT, SHIFT, 1)
        np.testing.assert_array_equal(model.predict(found), wanted)


def nearest_by_programme(x: Vector, slopes: Vector, bias: float, ends: Matrix) -> float:
    """Return the least cost of an outcome that holds: move up, move down, sizes of the columns."""
    eye = np.eye(2)
    rows = np.vstack(
        [
            np.hstack([eye, -eye, -eye]),
            np.hstack([-eye, eye, -eye]),
            np.hstack([-slopes, slopes, np.full(2, SHIFT)])[None, :],
        ]
    )
    limits = np.concatenate([-x, x, [slopes @ x + bias - SHIFT]])
    bounds = [(0, end) for end in (*(ends[1] - x), *(x - ends[0]))] + [(0, None)] * 2
    solved = linprog(np.concatenate([np.ones(4), np.zeros(2)]), rows, limits, bounds=bounds)
    return float(solved.fun)


def test_with_fine_weights_the_cost_is_that_of_a_linear_programme(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(roar, "WEIGHTS", np.geomspace(10.0, 0.01, 300))
    monkeypatch.setattr(roar, "STEPS", 1000)
    X, y = two_features()
    model = LogisticRegression().fit(X, y)
    peer = find_peer("roar", 1)
    peer.fit(model, X)
    ends = np.array([X.min(axis=0), X.max(axis=0)])
    ratios = []
    for x, found in zip(X[:20], peer.explain_many(X[:20]), strict=True):
        sign = 1.0 if model.predict(x[None, :])[0] == 0 else -1.0
        least = nearest_by_programme(
            x, sign * model.coef_[0], sign * float(model.intercept_[0]), ends
        )
        ratios.append(np.abs(found - x).sum() / least)
    assert min(ratios) >= 1 - 1e-6
    assert max(ratios) < 1.05


def test_a_larger_shift_costs_more() -> None:
    X, y = two_features()
    model = LogisticRegression().fit(X, y)
    costs = []
    for shift in (0.0, 0.1, 0.3):
        peer: Any = find_peer("roar", 1)
        peer.shift = shift
        peer.fit(model, X)
        costs.append(np.abs(np.concatenate(peer.explain_many(X[:20])) - X[:20]).sum())
    assert costs == sorted(costs)


def test_a_network_is_followed_by_a_surrogate(split: Split) -> None:
    network = train(split, epochs=30)
    peer = find_peer("roar", 1)
    peer.fit(network, split.X_train)
    X = split.X_test[:20]
    found = np.concatenate(peer.explain_many(X))
    assert (network.predict(found) != network.predict(X)).mean() >= 0.9
    np.testing.assert_array_equal(found, np.concatenate(peer.explain_many(X)))  # nothing is left
    np.testing.assert_array_equal(found[:1], peer.explain_many(X[:1])[0])  # to chance or company


def test_a_linear_surrogate_of_a_linear_model_has_its_slopes() -> None:
    X, y = two_features()
    model = LogisticRegression(C=0.01).fit(X, y)  # flat, so that no probability is cut off
    peer: Any = find_peer("roar", 1)
    peer.fit(model, X)
    exact, fitted = peer._exact(X[:5]), peer._surrogate(X[:5])
    np.testing.assert_allclose(fitted.weights, exact.weights, rtol=0.05)
    at = np.zeros((5, 2))
    np.testing.assert_allclose(fitted.worst(at, 0.0), exact.worst(at, 0.0), rtol=0.05, atol=0.02)


@pytest.mark.parametrize("model", [LogisticRegression(), GradientBoostingClassifier()])
def test_in_a_table_only_numbers_that_may_change_move(model: Any) -> None:
    frame, y = homes()
    fitted = pipeline_for(model).fit(frame, y)
    peer = find_peer("roar", 1, immutable=["income"])
    peer.fit(fitted, frame)
    for i, found in enumerate(peer.explain_many(frame[:5])):
        assert found.dtypes.equals(frame.dtypes)
        assert found[["home", "income"]].iloc[0].equals(frame[["home", "income"]].iloc[i])


def test_a_linear_machine_without_probabilities_is_read_and_another_is_refused() -> None:
    X, y = two_features()
    peer = find_peer("roar", 1)
    peer.fit(LinearSVC().fit(X, y), X)
    assert len(peer.explain_many(X[:1])) == 1
    with pytest.raises(UnsupportedModelError, match="predict_proba"):
        find_peer("roar", 1).fit(SVC().fit(X, y), X)
