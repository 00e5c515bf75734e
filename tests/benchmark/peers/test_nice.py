"""NICE, played by a stand-in: it is not installed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from counterset import MissingExtraError
from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.benchmark.data import Split
from counterset.benchmark.peers import find_peer


def test_nice_gives_a_set_of_one(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    class NICE:
        def __init__(self, **arguments: Any) -> None:
            given.update(arguments)

        def explain(self, X: Matrix) -> Matrix:
            return 1 - X

    module: Any = ModuleType("nice")
    module.NICE = NICE
    monkeypatch.setitem(sys.modules, "nice", module)
    peer = find_peer("nice", 2)
    peer.fit(network, split.X_train)
    np.testing.assert_array_equal(peer.explain_many(split.X_test[:1])[0], 1 - split.X_test[:1])
    assert given["optimization"] == "proximity"


def test_a_missing_library_is_named(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nice", None)
    with pytest.raises(MissingExtraError, match="NICEx"):
        find_peer("nice", 1).fit(network, split.X_train)
