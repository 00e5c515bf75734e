"""The nearest rows of the other class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset import DiverseExplainer
from counterset._base.arrays import Labels
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


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


class OldPeople:
    def predict(self, X: pd.DataFrame) -> Labels:
        return np.where(X["age"] > 40, "old", "young")


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
