"""DiCE, played by a stand-in: it is not installed."""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset._base.arrays import Matrix
from counterset.exceptions import MissingExtraError
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


class FakeDice:
    """Stands in for DiCE: remembers what it was given, and answers with fixed rows."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.answer: Any = None
        self.sparse: Any = None

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
        examples = SimpleNamespace(final_cfs_df=self.answer, final_cfs_df_sparse=self.sparse)
        return SimpleNamespace(cf_examples_list=[examples])


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

    fake_dice.answer, fake_dice.sparse = rows.iloc[2:3], rows.iloc[:2].astype(str)
    found = peer.explain_many(split.X_test[:1])[0]
    np.testing.assert_array_equal(found, split.X_train[:2])
    assert fake_dice.given["ask"]["posthoc_sparsity_algorithm"] == "binary"
    assert fake_dice.given["ask"]["random_seed"] == 0


def test_dice_as_the_paper_used_it_rounds_and_is_read_before_its_search_for_sparsity(
    network: Network, split: Split, fake_dice: FakeDice
) -> None:
    # The search took most of the time, and its result was thrown away, in the refined form too.
    peer = find_peer("dice-genetic", 1)
    peer.fit(network, split.X_train)
    rows = fake_dice.given["Data"]["dataframe"].drop(columns="outcome")
    fake_dice.answer, fake_dice.sparse = rows.iloc[2:3], rows.iloc[:2]
    found = peer.explain_many(split.X_test[:1])[0]
    np.testing.assert_array_equal(found, split.X_train[2:3])
    assert "continuous_features_precision" not in fake_dice.given["Data"]
    assert fake_dice.given["ask"]["posthoc_sparsity_param"] == 0


class Homes:
    """Says that people on ships are of class "sailor"; it is asked in the table's own dtypes."""

    def __init__(self, dtypes: Any) -> None:
        self.dtypes = dtypes

    def predict_proba(self, X: pd.DataFrame) -> Matrix:
        assert X.dtypes.to_dict() == self.dtypes
        share = np.where(X["home"] == "ship", 0.9, 0.2)
        return np.column_stack([1 - share, share])


def test_dice_gets_the_words_of_a_table_and_what_may_not_change(fake_dice: FakeDice) -> None:
    homes = pd.Categorical(["flat", "ship", "flat"], ordered=True)
    X = pd.DataFrame({"home": homes, "age": [20, 30, 40], "income": [0.1, 0.2, 0.3]})
    peer = find_peer("dice-random-binary", 1, immutable=["income"])
    peer.fit(Homes(X.dtypes.to_dict()), X)
    assert fake_dice.given["Data"]["continuous_features"] == ["age", "income"]
    frame = fake_dice.given["Data"]["dataframe"]
    assert frame["home"].tolist() == ["flat", "ship", "flat"]
    assert frame["outcome"].tolist() == [0, 1, 0]
    fake_dice.sparse = pd.DataFrame({"home": ["ship"], "age": [24.6], "income": ["0.1"]})
    (found,) = peer.explain_many(X[:1])
    assert found["age"].tolist() == [25]
    assert found.dtypes.to_dict() == X.dtypes.to_dict()
    assert fake_dice.given["ask"]["features_to_vary"] == ["home", "age"]


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


def test_a_missing_library_is_named(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    with pytest.raises(MissingExtraError, match="dice-ml"):
        find_peer("dice-random", 1).fit(network, split.X_train)


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
    split: Split, fake_dice: FakeDice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    random = np.random.default_rng(0)
    shapes = [((8, 4), 4), ((4, 2), 2)]
    network = Network(
        [(random.normal(size=weights), random.normal(size=bias)) for weights, bias in shapes]
    )
    low, high = split.X_train.min(axis=0), split.X_train.max(axis=0)
    scaled = (split.X_test - low) / (high - low)
    find_peer("dice-gradient", 1).fit(network, split.X_train)
    probability = fake_dice.given["Model"]["model"](scaled)
    np.testing.assert_allclose(probability[:, 0], network.predict_proba(split.X_test)[:, 1])


def test_dice_by_gradient_gets_the_network_in_torch(
    network: Network, split: Split, fake_dice: FakeDice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    find_peer("dice-gradient", 1).fit(network, split.X_train)
    assert fake_dice.given["Model"]["backend"] == "PYT"
    assert fake_dice.given["Dice"]["method"] == "gradient"
