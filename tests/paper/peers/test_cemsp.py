"""CEMSP, compared with all subsets of the features."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from support.peer_tables import homes, pipeline_for

from counterset._base.arrays import Labels, Matrix
from counterset.paper.peers import cemsp, find_peer
from counterset.paper.peers.cemsp import Features, minimal_sets
from counterset.paper.setups import Network, Split


def literal_sets(n: int, works: Any) -> set[Features]:
    """Return every set that works and of which no part does, by trying all subsets."""
    subsets = [
        frozenset(each)
        for size in range(1, n + 1)
        for each in itertools.combinations(range(n), size)
    ]
    working = [each for each in subsets if works(each)]
    return {each for each in working if not any(other < each for other in working)}


families = st.lists(st.frozensets(st.integers(0, 5), min_size=1), max_size=6)


@given(families)
@settings(deadline=None)
def test_where_more_never_undoes_it_all_minimal_sets_are_found(enough: list[Features]) -> None:
    def works(each: Features) -> bool:
        return any(one <= each for one in enough)

    found = minimal_sets(6, works, limit=64)
    assert len(found) == len(set(found))
    assert set(found) == literal_sets(6, works)
    assert [len(each) for each in found] == sorted(len(each) for each in found)
    fewest = sorted(len(each) for each in literal_sets(6, works))
    assert [len(each) for each in minimal_sets(6, works, limit=2)] == fewest[:2]


@given(st.sets(st.frozensets(st.integers(0, 3), min_size=1)))
@settings(deadline=None)
def test_where_more_can_undo_it_no_feature_can_be_left_out(working: set[Features]) -> None:
    found = minimal_sets(4, working.__contains__, limit=16)
    for each in found:
        assert each in working
        assert not any(each - {i} in working for i in each)


def test_without_time_nothing_is_found() -> None:
    assert minimal_sets(3, lambda each: True, limit=5, seconds=0.0) == []


def test_of_a_linear_model_the_sets_are_those_of_all_subsets(monkeypatch: Any) -> None:
    monkeypatch.setattr(cemsp, "LIMIT", 64)
    random = np.random.default_rng(0)
    # The features rise together, so that the normal ranges of the classes lie apart.
    X = random.normal(size=(300, 1)) + 0.5 * random.normal(size=(300, 6))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    peer = find_peer("cemsp", 1)
    peer.fit(model, X)
    labels, counts = model.predict(X), []
    for x, own, options in zip(X[:40], labels, peer.explain_many(X[:40]), strict=False):
        low, high = np.quantile(X[labels != own], [0.25, 0.75], axis=0, method="nearest")
        targets = np.clip(x, low, high)
        places = np.flatnonzero(targets != x).tolist()
        gains = np.abs(model.coef_[0] * (targets - x))[places]
        signs = np.sign(model.coef_[0] * (targets - x))[places]
        if (signs != signs[0]).any() or not len(gains):
            continue  # a target leads away from the class, so more features can undo the change
        need = abs(model.decision_function(x[None, :])[0])
        literal = literal_sets(len(places), lambda each: gains[list(each)].sum() > need)  # noqa: B023
        assert {frozenset(np.flatnonzero(option != x).tolist()) for option in options} == {
            frozenset(places[i] for i in each) for each in literal
        }
        assert np.isin(options, [x, targets]).all()
        counts.append(len(options))
    assert len(counts) >= 10
    assert max(counts) >= 3


def test_in_a_table_words_become_the_most_common_and_immutable_features_stay() -> None:
    frame, accepted = homes()
    model = pipeline_for(RandomForestClassifier(20, random_state=0)).fit(frame, accepted)
    peer = find_peer("cemsp", 1, immutable=["age"])
    peer.fit(model, frame)
    labels = model.predict(frame)
    sets: Any = peer.explain_many(frame[:20])
    assert sum(map(len, sets)) >= 5
    for i, found in enumerate(sets):
        assert found.dtypes.equals(frame.dtypes)
        assert (found["age"] == frame["age"].iloc[i]).all()
        assert not len(found) or (model.predict(found) != labels[i]).all()
        usual = frame["home"][labels != labels[i]].mode()[0]
        assert found["home"].isin([usual, frame["home"].iloc[i]]).all()


def test_where_no_target_helps_the_set_is_empty(split: Split) -> None:
    constant = Network([(np.zeros((8, 2)), np.array([1.0, 0.0]))])
    peer = find_peer("cemsp", 1)
    peer.fit(constant, split.X_train)
    assert peer.explain_many(split.X_test[:1])[0].shape == (0, 8)


class Third:
    """Class 2 where the number is beyond all training rows."""

    def predict(self, X: Matrix) -> Labels:
        return np.digitize(np.asarray(X)[:, 0], [0.5, 10.0])


@pytest.mark.parametrize("as_frame", [False, True])
def test_an_input_of_a_class_without_training_rows_moves_to_the_others(as_frame: bool) -> None:
    X: Any = np.linspace(0.0, 1.0, 9)[:, None]
    x: Any = np.array([[20.0]])
    if as_frame:
        X, x = pd.DataFrame(X, columns=["a"]), pd.DataFrame(x, columns=["a"])
    peer = find_peer("cemsp", 1)
    peer.fit(Third(), X)
    (found,) = peer.explain_many(x)
    assert np.asarray(found).tolist() == [[0.75]]
