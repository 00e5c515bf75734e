"""treecf, played by a stand-in: it is not installed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import InvalidInputError
from counterset.exceptions import MissingExtraError
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network, Split


class FakeTreecf:
    """Stands in for treecf: remembers what it was given, and answers with fixed rows."""

    def __init__(self, link: str) -> None:
        self.given: dict[str, Any] = {}
        self.ask: dict[str, Any] = {}
        self.answers: list[Any] = []
        self.ir = SimpleNamespace(link=SimpleNamespace(name=link))

    def module(self) -> ModuleType:
        module: Any = ModuleType("treecf")

        def explainer(trees: Any, **given: Any) -> FakeTreecf:
            self.given = given | {"trees": trees}
            return self

        module.Explainer = explainer
        module.OneHot = lambda names: ("one-hot", names)
        module.Freeze = lambda name: ("freeze", name)
        module.Target = SimpleNamespace(raw=lambda op, value: (op, value))
        module.TreecfWarning = UserWarning
        stand_in: ModuleType = module
        return stand_in

    def explain_batch(self, X: Any, target: Any, **ask: Any) -> list[Any]:
        self.ask = ask | {"x": X[0], "target": target}
        return self.answers

    def explain(self, x: Any, target: Any, **ask: Any) -> Any:
        self.ask = ask | {"x": x, "target": target}
        return self.answers[0]


def install(monkeypatch: pytest.MonkeyPatch, link: str = "SIGMOID") -> FakeTreecf:
    fake = FakeTreecf(link)
    monkeypatch.setitem(sys.modules, "treecf", fake.module())
    return fake


def people() -> tuple[pd.DataFrame, list[str]]:
    random = np.random.default_rng(0)
    age = random.integers(20, 60, 60)
    home = pd.Categorical(random.choice(["flat", "house", "ship"], 60))
    frame = pd.DataFrame({"home": home, "age": age, "income": random.random(60)})
    return frame, ["yes" if each > 40 else "no" for each in age]


def pipeline(trees: Any, numbers: Any = "passthrough") -> Any:
    words = OneHotEncoder(sparse_output=False)
    encode = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (numbers, make_column_selector(dtype_include="number")),
    )
    return make_pipeline(encode, trees)


def test_treecf_gets_the_trees_the_groups_and_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    X, y = people()
    model = pipeline(GradientBoostingClassifier(n_estimators=3)).fit(X, y)
    find_peer("treecf", 1, immutable=["home", "age"]).fit(model, X)
    assert fake.given["trees"] is model[-1]
    frozen = [("freeze", f"f{i}") for i in range(4)]
    assert fake.given["constraints"] == [("one-hot", ("f0", "f1", "f2")), *frozen]
    # A change of a category moves two columns by 1, and costs 1 in all.
    np.testing.assert_allclose(fake.given["normalizers"][:3], 2.0)
    assert fake.given["normalizers"][3] > fake.given["normalizers"][4] > 0
    assert fake.given["value_policy"] == {"f3": "integer"}


def test_what_treecf_finds_comes_back_as_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    X, y = people()
    model = pipeline(GradientBoostingClassifier(n_estimators=3)).fit(X, y)
    peer = find_peer("treecf", 1)
    peer.fit(model, X)
    fake.answers = [
        SimpleNamespace(x_cf=np.array([0.0, 0.0, 1.0, 44.0, 0.5])),
        SimpleNamespace(x_cf=None),
    ]
    old = X[X["age"] > 45].iloc[[0]]
    (found,) = peer.explain_many(old)
    wanted = pd.DataFrame({"home": ["ship"], "age": [44], "income": [0.5]})
    pd.testing.assert_frame_equal(found, wanted.astype(X.dtypes.to_dict()))
    np.testing.assert_array_equal(fake.ask["x"], model[0].transform(old)[0])
    assert fake.ask["target"][0] == "<="
    assert fake.ask["target"][1] < 0
    assert fake.ask["n_per_example"] == 5

    fake.answers = [SimpleNamespace(reason="none")]
    (nothing,) = peer.explain_many(X[X["age"] < 35].iloc[[0]])
    assert nothing.shape == (0, 3)
    assert fake.ask["target"][0] == ">="


def test_a_forest_on_an_array_is_asked_for_a_proof(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = install(monkeypatch, link="IDENTITY")
    forest = RandomForestClassifier(3, random_state=0).fit(split.X_train, split.y_train)
    peer = find_peer("treecf-exact", 1)
    peer.fit(forest, split.X_train)
    np.testing.assert_array_equal(fake.given["normalizers"], np.ones(8))
    fake.answers = [SimpleNamespace(x_cf=split.X_train[0])]
    (found,) = peer.explain_many(split.X_test[:1])
    np.testing.assert_array_equal(found, split.X_train[:1])
    assert fake.ask["backend"] == "exact"
    assert abs(fake.ask["target"][1] - 0.5) < 1e-6


def test_trees_on_a_frame_keep_their_names(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    X = pd.DataFrame(split.X_train).add_prefix("feature ")
    model = GradientBoostingClassifier(n_estimators=2).fit(X, split.y_train)
    peer = find_peer("treecf", 1, immutable=["feature 2"])
    peer.fit(model, X)
    assert fake.given["constraints"] == [("freeze", "feature 2")]
    fake.answers = [SimpleNamespace(x_cf=X.iloc[3].to_numpy())]
    pd.testing.assert_frame_equal(peer.explain_many(X[:1])[0], X[3:4].reset_index(drop=True))


def test_a_table_without_categories_has_no_one_hot_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    X, y = people()
    X = X[["age", "income"]]
    peer = find_peer("treecf", 1)
    peer.fit(pipeline(GradientBoostingClassifier(n_estimators=2)).fit(X, y), X)
    assert fake.given["constraints"] == []
    fake.answers = [SimpleNamespace(x_cf=np.array([44.0, 0.5]))]
    assert peer.explain_many(X[:1])[0].to_dict("list") == {"age": [44], "income": [0.5]}


def test_encoders_that_cannot_be_read_back_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    X, y = people()
    model = pipeline(GradientBoostingClassifier(n_estimators=2), StandardScaler()).fit(X, y)
    with pytest.raises(InvalidInputError, match="StandardScaler"):
        find_peer("treecf", 1).fit(model, X)


def test_a_missing_library_is_named(
    network: Network, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "treecf", None)
    with pytest.raises(MissingExtraError, match="pip install treecf"):
        find_peer("treecf", 1).fit(network, split.X_train)
