"""The library's own explainer as a peer."""

from __future__ import annotations

import numpy as np
import pytest

from counterset import DiverseExplainer
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


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
