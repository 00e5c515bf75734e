"""The paper read literally."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.paper.experiment import PrototypeExplainer
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


@pytest.mark.parametrize("norm", [1, 2])
def test_the_literal_reading_gives_the_librarys_sets(
    network: Network, split: Split, norm: int
) -> None:
    literal, own = find_peer("literal", norm), find_peer("counterset", norm)
    for peer in (literal, own):
        peer.fit(network, split.X_train)
    inputs = split.X_test[:3]
    for one, two in zip(literal.explain_many(inputs), own.explain_many(inputs), strict=True):
        assert {tuple(row) for row in one} == {tuple(row) for row in two}


@pytest.mark.filterwarnings("ignore::counterset.exceptions.FewerCounterfactualsWarning")
def test_the_prototype_is_the_one_behind_the_published_figures(
    network: Network, split: Split
) -> None:
    peer = find_peer("prototype", 1, alpha=50)
    peer.fit(network, split.X_train)
    expected = PrototypeExplainer(network, 2, 50, "angle", 0.5, 0.1).fit(split.X_train)
    inputs = split.X_test[:5]
    for one, two in zip(peer.explain_many(inputs), expected.explain_many(inputs), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["literal", "prototype"])
def test_explainers_of_scaled_numbers_refuse_a_table(network: Network, name: str) -> None:
    # It was an AttributeError of pandas.
    with pytest.raises(InvalidInputError, match="arrays of scaled numbers"):
        find_peer(name, 1).fit(network, pd.DataFrame({"a": [0.1, 0.9]}))
