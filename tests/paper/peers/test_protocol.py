"""The peers that are known by name."""

from __future__ import annotations

import pytest

from counterset import InvalidInputError
from counterset.paper.peers import PEERS, find_peer
from counterset.paper.peers.protocol import check_peer


def test_an_unknown_peer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"'lime'.*nearest-rows"):
        find_peer("lime", 1)


def test_all_methods_of_dice_are_known_in_both_settings() -> None:
    assert sum(name.startswith("dice-") for name in PEERS) == 8


@pytest.mark.parametrize("name", PEERS)
def test_every_known_peer_can_be_made_without_its_library(name: str) -> None:
    assert find_peer(name, 2).name == name


def test_what_may_not_change_is_refused_by_peers_that_cannot_keep_it() -> None:
    with pytest.raises(InvalidInputError, match="'nice' cannot keep"):
        find_peer("nice", 1, immutable=["age"])


def test_a_class_of_ones_own_is_a_peer() -> None:
    peer = find_peer("counterset.paper.peers.simple:Own", 1)
    assert type(peer).__name__ == "Own"
    assert peer.name == "counterset.paper.peers.simple:Own"


@pytest.mark.parametrize("name", ["foo", "foo:", ":Bar", "my module:Bar", "../foo:Bar", "a:b:c"])
def test_what_is_neither_known_nor_a_class_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="no peer named"):
        check_peer(name)
