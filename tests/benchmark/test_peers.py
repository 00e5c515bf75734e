"""The adapters; libraries that are not installed are played by stand-ins."""

from __future__ import annotations

import contextlib
import json
import sys
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import InvalidInputError, MissingExtraError
from counterset._base.arrays import Matrix
from counterset.benchmark import worker
from counterset.benchmark.classifiers import Network
from counterset.benchmark.data import Split, prepare
from counterset.benchmark.peers import PEERS, find_peer
from counterset.benchmark.peers.dice import _torch_network


@pytest.fixture
def split() -> Split:
    return prepare("diabetes")


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


def test_an_unknown_peer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"'lime'.*nearest-rows"):
        find_peer("lime", 1)


def test_all_methods_of_dice_are_known_in_both_settings() -> None:
    assert sum(name.startswith("dice-") for name in PEERS) == 8


class FakeDice:
    """Stands in for DiCE: remembers what it was given, and answers with fixed rows."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.answer: Any = None

    def module(self) -> ModuleType:
        module = ModuleType("dice_ml")

        def remember(name: str) -> Any:
            def make(*args: Any, **kwargs: Any) -> Any:
                self.given[name] = kwargs
                self.given[f"{name}_args"] = args
                return self

            return make

        for name in ("Data", "Model", "Dice"):
            setattr(module, name, remember(name))
        return module

    def generate_counterfactuals(self, query: pd.DataFrame, **kwargs: Any) -> Any:
        self.given["query"], self.given["ask"] = query, kwargs
        if isinstance(self.answer, Exception):
            raise self.answer
        return SimpleNamespace(cf_examples_list=[SimpleNamespace(final_cfs_df=self.answer)])


@pytest.fixture
def fake_dice(monkeypatch: pytest.MonkeyPatch) -> FakeDice:
    fake = FakeDice()
    monkeypatch.setitem(sys.modules, "dice_ml", fake.module())
    return fake


def test_dice_gets_scaled_rows_with_the_models_labels(
    network: Network, split: Split, fake_dice: FakeDice
) -> None:
    peer = find_peer("dice-random-binary", 1)
    peer.fit(network, split.X_train)
    frame = fake_dice.given["Data"]["dataframe"]
    np.testing.assert_array_equal(frame["outcome"], network.predict(split.X_train))
    assert fake_dice.given["Data"]["continuous_features_precision"]["x0"] == 12
    asked = fake_dice.given["Model"]["model"]
    rows = frame.drop(columns="outcome")
    np.testing.assert_array_equal(asked.predict(rows), network.predict(split.X_train))
    np.testing.assert_array_equal(asked.predict_proba(rows), network.predict_proba(split.X_train))

    fake_dice.answer = rows.iloc[:2].astype(str)
    found = peer.explain_many(split.X_test[:1])[0]
    np.testing.assert_array_equal(found, split.X_train[:2])
    assert fake_dice.given["ask"]["posthoc_sparsity_algorithm"] == "binary"
    assert fake_dice.given["ask"]["random_seed"] == 0


def test_dice_by_its_defaults_rounds_and_searches_linearly(
    network: Network, split: Split, fake_dice: FakeDice
) -> None:
    peer = find_peer("dice-genetic", 1)
    peer.fit(network, split.X_train)
    peer.explain_many(split.X_test[:1])
    assert "continuous_features_precision" not in fake_dice.given["Data"]
    assert fake_dice.given["ask"]["posthoc_sparsity_algorithm"] == "linear"


class UserConfigValidationException(Exception):
    """What DiCE raises when it finds nothing."""


def test_no_answer_of_dice_is_an_empty_set(
    network: Network, split: Split, fake_dice: FakeDice
) -> None:
    peer = find_peer("dice-kdtree", 1)
    peer.fit(network, split.X_train)
    for nothing in (None, UserConfigValidationException("no counterfactuals found")):
        fake_dice.answer = nothing
        assert peer.explain_many(split.X_test[:1])[0].shape == (0, 8)
    fake_dice.answer = ValueError("a real failure")
    with pytest.raises(ValueError, match="a real failure"):
        peer.explain_many(split.X_test[:1])


@pytest.mark.parametrize(("name", "package"), [("dice-random", "dice-ml"), ("nice", "NICEx")])
def test_a_missing_library_is_named(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    for module in ("dice_ml", "nice"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=package):
        find_peer(name, 1).fit(network, split.X_train)


def fake_torch() -> Any:
    """Stand in for torch: layers on numpy arrays."""

    class Parameter:
        def copy_(self, value: Matrix) -> None:
            self.value = value

    class Linear:
        def __init__(self, n_in: int, n_out: int) -> None:
            self.shape = (n_out, n_in)
            self.weight, self.bias = Parameter(), Parameter()

        def __call__(self, X: Matrix) -> Matrix:
            assert self.weight.value.shape == self.shape
            return np.asarray(X @ self.weight.value.T + self.bias.value)

    def sequential(*layers: Any) -> Any:
        def run(X: Matrix) -> Matrix:
            for layer in layers:
                X = layer(X)
            return X

        return run

    nn = SimpleNamespace(
        Linear=Linear,
        ReLU=lambda: lambda X: np.maximum(X, 0),
        Sigmoid=lambda: lambda X: 1 / (1 + np.exp(-X)),
        Sequential=sequential,
    )
    module: Any = ModuleType("torch")
    module.nn, module.tensor, module.no_grad = nn, np.asarray, contextlib.nullcontext
    return module


def test_the_network_in_torch_gives_the_probability_of_class_1(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    random = np.random.default_rng(0)
    shapes = [((8, 4), 4), ((4, 2), 2)]
    network = Network(
        [(random.normal(size=weights), random.normal(size=bias)) for weights, bias in shapes]
    )
    low, high = split.X_train.min(axis=0), split.X_train.max(axis=0)
    scaled = (split.X_test - low) / (high - low)
    probability = _torch_network(network, low, high)(scaled)
    np.testing.assert_allclose(probability[:, 0], network.predict_proba(split.X_test)[:, 1])


def test_dice_by_gradient_gets_the_network_in_torch(
    network: Network, split: Split, fake_dice: FakeDice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    find_peer("dice-gradient", 1).fit(network, split.X_train)
    assert fake_dice.given["Model"]["backend"] == "PYT"
    assert fake_dice.given["Dice"]["method"] == "gradient"


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


def test_the_worker_reads_a_job_and_writes_a_table_per_norm(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = {
        "peer": "nearest-rows",
        "dataset": "diabetes",
        "norms": [1, 2],
        "weights": str(weights),
        "cache": str(tmp_path),
        "inputs": 2,
        "repeats": 1,
        "outputs": {"1": str(tmp_path / "1.csv"), "2": str(tmp_path / "2.csv")},
    }
    monkeypatch.setattr(sys, "stdin", StringIO(json.dumps(job)))
    worker.main()
    l1, l2 = (pd.read_csv(tmp_path / f"{norm}.csv") for norm in (1, 2))
    assert len(l1) == 2
    assert (l1["k_distance"] > l2["k_distance"]).all()
    toy = {**job, "peer": "toy_peers:Corner"}
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    tables = worker.measure(toy)
    assert tables[1]["seconds"].tolist() == tables[2]["seconds"].tolist()
