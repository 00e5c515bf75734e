"""NICE, played by a stand-in: it is not installed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset._base.arrays import Matrix
from counterset.exceptions import MissingExtraError
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


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


def test_nice_gets_the_codes_of_categories_and_the_model_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {}

    class NICE:
        def __init__(self, **arguments: Any) -> None:
            given.update(arguments)

        def explain(self, X: Matrix) -> Matrix:
            return np.array([[1.0, 30.0]])

    class Homes:
        def predict_proba(self, X: pd.DataFrame) -> Matrix:
            share = np.where(X["home"] == "ship", 0.9, 0.2)
            return np.column_stack([1 - share, share])

    module: Any = ModuleType("nice")
    module.NICE = NICE
    monkeypatch.setitem(sys.modules, "nice", module)
    X = pd.DataFrame({"home": ["flat", "ship", "flat"], "age": [20, 30, 40]})
    peer = find_peer("nice-sparsity", 1)
    peer.fit(Homes(), X)
    assert (given["cat_feat"], given["num_feat"]) == ([0], [1])
    assert given["optimization"] == "sparsity"
    np.testing.assert_array_equal(given["y_train"], [0, 1, 0])
    np.testing.assert_array_equal(given["predict_fn"](given["X_train"])[:, 1], [0.2, 0.9, 0.2])
    (found,) = peer.explain_many(X[:1])
    assert found.to_dict("records") == [{"home": "ship", "age": 30}]


def test_a_missing_library_is_named(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nice", None)
    with pytest.raises(MissingExtraError, match="NICEx"):
        find_peer("nice", 1).fit(network, split.X_train)
