"""The paper read literally."""

from __future__ import annotations

import pytest

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
