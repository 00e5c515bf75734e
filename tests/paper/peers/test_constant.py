"""The constant explainer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


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


@pytest.mark.parametrize("name", ["constant", "nearest-rows"])
def test_an_input_of_a_class_that_no_training_row_has_is_explained(name: str) -> None:
    # It ended in a KeyError.
    class Half:
        def predict(self, X: Any) -> Any:
            return (np.asarray(X)[:, 0] > 0.5).astype(int)

    rows = np.linspace(0, 0.5, 12)[:, None].repeat(2, axis=1)
    peer = find_peer(name, 1)
    peer.fit(Half(), rows)
    [found] = peer.explain_many(np.array([[0.9, 0.9]]))
    assert len(found) == 5
    assert set(map(tuple, np.asarray(found))) <= set(map(tuple, rows))
    if name == "nearest-rows":
        np.testing.assert_array_equal(found, rows[:-6:-1])
