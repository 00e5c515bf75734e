"""Wachter's gradients, compared with the closed form of a linear model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.peer_tables import homes, pipeline_for

from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers import find_peer
from counterset.paper.peers.wachter import TOLERANCE, WANTED
from counterset.paper.setups import Network, Split, train


@given(st.lists(st.floats(0.3, 3.0), min_size=2, max_size=4, unique=True), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_of_a_linear_model_the_feature_with_the_steepest_deviation_moves_alone(
    slopes: list[float], seed: int
) -> None:
    random = np.random.default_rng(seed)
    X = random.uniform(-50.0, 50.0, (300, len(slopes)))
    deviation = np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    pull = np.abs(slopes) * deviation
    if np.sort(pull)[-2] > 0.95 * pull.max():
        return  # nearly a tie, which a descent of so many steps does not tell apart
    weights = np.array(slopes)[:, None]
    network = Network([(np.hstack([-weights / 2, weights / 2]), [0.5, -0.5])])
    peer = find_peer("wachter", 1)
    peer.fit(network, X)
    x = -0.2 * np.ones((1, len(slopes)))
    (found,) = peer.explain_many(x)
    moved = (found - x)[0]
    best = int(pull.argmax())
    score = float(x[0] @ slopes - 1.0)
    np.testing.assert_array_equal(np.flatnonzero(moved), [best])
    # The closed form: along one axis, up to the wanted score.
    assert moved[best] * slopes[best] == pytest.approx(WANTED - score, abs=TOLERANCE + 1e-6)
    assert network.predict(found) != network.predict(x)


def test_of_a_trained_network_every_end_has_the_other_class(split: Split) -> None:
    network = train(split, epochs=30)
    peer = find_peer("wachter", 1)
    peer.fit(network, split.X_train)
    X = split.X_test[:30]
    found = np.concatenate(peer.explain_many(X))
    assert (network.predict(found) != network.predict(X)).all()
    low, high = split.X_train.min(axis=0), split.X_train.max(axis=0)
    assert ((found >= np.minimum(low, X)) & (found <= np.maximum(high, X))).all()


def test_in_a_table_only_numbers_that_may_change_move() -> None:
    frame, y = homes()
    model = pipeline_for(LogisticRegression()).fit(frame, y)
    peer = find_peer("wachter", 1, immutable=["income"])
    peer.fit(model, frame)
    sets: Any = peer.explain_many(frame[:10])
    for i, found in enumerate(sets):
        assert found.dtypes.equals(frame.dtypes)
        assert found[["home", "income"]].iloc[0].equals(frame[["home", "income"]].iloc[i])
        # The class changes wherever any age in the data changes it.
        ages = frame.iloc[[i] * 50].assign(age=np.arange(20, 70))
        own = model.predict(frame[i : i + 1])[0]
        assert (model.predict(found)[0] != own) == (model.predict(ages) != own).any()


def test_a_row_without_a_slope_comes_back_as_it_was() -> None:
    network = Network([([[1.0, 0.0]], [-2.0, 0.0]), ([[1.0, 0.0], [0.0, 0.0]], [-0.5, 0.0])])
    peer = find_peer("wachter", 1)
    peer.fit(network, np.array([[0.0], [1.0], [3.0]]))
    (found,) = peer.explain_many(np.array([[0.5]]))
    np.testing.assert_array_equal(found, [[0.5]])


def test_a_tree_is_refused() -> None:
    from sklearn.ensemble import RandomForestClassifier

    X = np.array([[0.0], [1.0]])
    with pytest.raises(UnsupportedModelError, match="follows gradients"):
        find_peer("wachter", 1).fit(RandomForestClassifier().fit(X, [0, 1]), X)
