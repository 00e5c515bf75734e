"""The nearest rows of the other class."""

from __future__ import annotations

import numpy as np

from counterset.benchmark.classifiers import Network
from counterset.benchmark.data import Split
from counterset.benchmark.peers import find_peer


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
