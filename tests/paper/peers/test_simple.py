"""The constant explainer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer
from counterset.paper.classifiers import Network
from counterset.paper.data import Split
from counterset.paper.peers import find_peer


def test_every_input_of_a_class_gets_the_same_rows_of_the_other(
    network: Network, split: Split
) -> None:
    peer = find_peer("constant", 1)
    peer.fit(network, split.X_train)
    inputs, labels = split.X_test[:20], network.predict(split.X_test[:20])
    found = peer.explain_many(inputs)
    for label in (0, 1):
        sets = [found[i] for i in np.flatnonzero(labels == label).tolist()]
        assert len(sets) > 1
        for each in sets:
            np.testing.assert_array_equal(each, sets[0])
            np.testing.assert_array_equal(network.predict(each), np.full(5, 1 - label))


def test_they_are_the_nearest_on_average(network: Network, split: Split) -> None:
    peer = find_peer("constant", 1)
    peer.fit(network, split.X_train)
    (found,) = peer.explain_many(split.X_test[:1])
    label = network.predict(split.X_test[:1])[0]
    labels = network.predict(split.X_train)
    own, others = split.X_train[labels == label], split.X_train[labels != label]
    means = [np.abs(own[:500] - other).sum(axis=1).mean() for other in others]
    np.testing.assert_array_equal(found, others[np.argsort(means, kind="stable")[:5]])


class OldPeople:
    def predict(self, X: pd.DataFrame) -> Any:
        return np.where(X["age"] > 40, "old", "young")


def test_a_table_keeps_what_may_not_change() -> None:
    ages = [20, 30, 50, 60, 70, 80, 90]
    X = pd.DataFrame(
        {"age": ages, "home": ["flat", "ship", "flat", "ship", "flat", "flat", "flat"]}
    )
    peer = find_peer("constant", 1, immutable=["home"])
    peer.fit(OldPeople(), X)
    young, old = peer.explain_many(X.iloc[[1, 2]])
    assert set(young["home"]) == {"ship"}
    assert sorted(young["age"]) == ages[2:]
    assert sorted(old["age"]) == ages[:2]
    assert set(old["home"]) == {"flat"}


# The nearest rows of the other class --------------------------------------------------------------


def test_the_nearest_rows_are_the_nearest_of_the_other_class(
    network: Network, split: Split
) -> None:
    peer = find_peer("nearest-rows", 1)
    peer.fit(network, split.X_train)
    x = split.X_test[0]
    found = peer.explain_many(x[None, :])[0]
    other = split.X_train[network.predict(split.X_train) != network.predict(x[None, :])[0]]
    distances = np.sort(np.abs(other - x).sum(axis=1))
    np.testing.assert_allclose(np.abs(found - x).sum(axis=1), distances[:5])


def test_rows_of_a_table_are_nearest_in_the_distance_of_the_defaults() -> None:
    random = np.random.default_rng(0)
    homes = random.choice(["flat", "ship"], 80)
    X = pd.DataFrame({"age": random.integers(20, 60, 80), "home": homes})
    peer = find_peer("nearest-rows", 1)
    peer.fit(OldPeople(), X)
    distance = DiverseExplainer(OldPeople()).fit(X).distance_
    x = X.iloc[[0]]
    (found,) = peer.explain_many(x)
    other = X[OldPeople().predict(X) != OldPeople().predict(x)[0]]
    assert found.dtypes.equals(X.dtypes)
    np.testing.assert_allclose(distance(x, found)[0], np.sort(distance(x, other)[0])[:5])


# The library's own explainer as a peer ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("norm", [1, 2])
def test_the_sets_are_those_of_the_defaults_in_the_norm_that_is_measured(
    network: Network, split: Split, norm: int
) -> None:
    peer = find_peer("counterset", norm)
    peer.fit(network, split.X_train)
    explainer = DiverseExplainer.paper(network, distance=f"l{norm}", scale=None).fit(split.X_train)
    inputs = split.X_test[:3]
    for found, x in zip(peer.explain_many(inputs), inputs, strict=True):
        np.testing.assert_array_equal(found, explainer.explain(x).values)


def test_a_shortfall_is_no_warning(network: Network) -> None:
    peer = find_peer("counterset", 1)
    rows = np.zeros((2, 8))
    rows[1, 1] = 1.0
    peer.fit(network, rows)
    assert len(peer.explain_many(rows[:1])[0]) == 1
