"""alibi, CFNOW, ElliCE, recourse and CEL, played by stand-ins: they are not installed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support.peer_tables import homes, pipeline_for

from counterset._base.arrays import Matrix
from counterset.exceptions import MissingExtraError, UnsupportedModelError
from counterset.paper.peers import cel, find_peer
from counterset.paper.peers.columns import Columns
from counterset.paper.setups import Network, Split


@pytest.fixture(autouse=True)
def own_random_state() -> Any:
    """Keep what peers seed in processes of their own from other tests."""
    state = np.random.get_state()
    yield
    np.random.set_state(state)


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    module: Any = ModuleType(name)
    for key, value in contents.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def fitted() -> tuple[pd.DataFrame, Any]:
    frame, accepted = homes()
    return frame, pipeline_for(LogisticRegression()).fit(frame, accepted)


@pytest.mark.parametrize(
    ("peer", "module", "library"),
    [
        ("alibi-proto", "tensorflow.compat.v1", "alibi"),
        ("cfnow", "cfnow", "cfnow"),
        ("ellice", "ellice", "ellice"),
        ("recourse", "recourse", "recourse"),
    ],
)
def test_a_missing_library_is_named(
    peer: str, module: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    frame, model = fitted()
    with pytest.raises(MissingExtraError, match=f"counterset peers --install {library}"):
        find_peer(peer, 1).fit(model, frame)


class FakeAlibi:
    """Both explainers: remembers what it was given, and moves numbers to the middle."""

    def __init__(self, ask: Any, shape: Any, **given: Any) -> None:
        self.ask, self.shape, self.given = ask, shape, given
        self.found = True

    def fit(self, rows: Matrix) -> None:
        self.rows = rows

    def explain(self, x: Matrix) -> Any:
        assert x.shape == self.shape
        assert self.ask(x).shape == (1, 2)
        return SimpleNamespace(cf={"X": np.full_like(x, 0.5)} if self.found else None)


@pytest.fixture
def alibi(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "tensorflow.compat.v1", disable_v2_behavior=lambda: None)
    stand_in(
        monkeypatch, "alibi.explainers", CounterfactualProto=FakeAlibi, Counterfactual=FakeAlibi
    )


@pytest.mark.usefixtures("alibi")
def test_proto_gets_one_hot_columns_and_the_ranges_of_features() -> None:
    frame, model = fitted()
    peer: Any = find_peer("alibi-proto", 1)
    peer.fit(model, frame)
    explainer = peer._explainer
    assert explainer.given["cat_vars"] == {0: 3}
    assert explainer.given["ohe"]
    low, high = explainer.given["feature_range"]
    assert (low.tolist(), high.tolist()) == ([[0.0, 0.0, 0.0]], [[2.0, 1.0, 1.0]])
    assert explainer.rows.shape == (200, 5)
    (found,) = peer.explain_many(frame[:1])
    assert found["age"].tolist() == [round((frame["age"].min() + frame["age"].max()) / 2)]
    explainer.found = False
    assert peer.explain_many(frame[:1])[0].shape == (0, 3)


@pytest.mark.usefixtures("alibi")
def test_alibis_wachter_moves_numbers_beside_the_inputs_own_categories() -> None:
    frame, model = fitted()
    peer: Any = find_peer("alibi-counterfactual", 1)
    peer.fit(model, frame)
    assert peer._explainer.shape == (1, 2)
    sets = peer.explain_many(frame[:6])
    assert [each["home"].iloc[0] for each in sets] == frame["home"][:6].tolist()
    asked = peer._columns.decode(peer._filled(np.full((1, 2), 0.5)))
    assert asked["home"].iloc[0] == frame["home"].iloc[5]
    peer._explainer.found = False
    assert peer.explain_many(frame[:1])[0].shape == (0, 3)


def test_cfnow_gets_names_and_kinds_of_columns_and_at_most_5_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {}

    def find_tabular(**arguments: Any) -> Any:
        given.update(arguments)
        x = arguments["factual"].to_numpy()
        assert arguments["model_predict_proba"](arguments["factual"]).shape == (1, 2)
        options = np.tile(x, (7, 1))
        options[:, 3] += np.arange(1.0, 8.0)
        return SimpleNamespace(cfs=options)

    stand_in(monkeypatch, "cfnow", find_tabular=find_tabular)
    frame, model = fitted()
    peer = find_peer("cfnow", 1)
    peer.fit(model, frame)
    (found,) = peer.explain_many(frame[:1])
    np.testing.assert_allclose(found["income"], frame["income"].iloc[0] + np.arange(1.0, 6.0))
    assert given["feat_types"] == {
        "f0_0": "cat", "f0_1": "cat", "f0_2": "cat", "f1": "num", "f2": "num",
    }  # fmt: skip
    assert given["has_ohe"]
    assert given["count_cf"] == 5


class FakeEllice:
    """Stands in for ElliCE: remembers what it was given, and answers with fixed changes."""

    given: dict[str, Any]

    def __init__(self, network: Any, data: Any, **_: Any) -> None:
        self.network, self.data = network, data
        self.move: Any = 0.25

    def generate_counterfactuals(self, query: pd.DataFrame, **given: Any) -> pd.DataFrame:
        self.given = given
        if self.move is None:
            return pd.DataFrame()
        moved: pd.DataFrame = query.astype(np.float32) + self.move
        return moved.assign(original_index=0)


class FakeLinear:
    """Stands in for torch's layer."""

    def __init__(self, n_in: int, n_out: int) -> None:
        self.weight = SimpleNamespace(copy_=lambda value: setattr(self, "w", value))
        self.bias = SimpleNamespace(copy_=lambda value: setattr(self, "b", value))
        self.shape = (n_out, n_in)


@pytest.fixture
def ellice(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    stand_in(monkeypatch, "ellice", Explainer=FakeEllice, Data=lambda *a, **k: (a, k))
    nn = SimpleNamespace(Linear=FakeLinear, ReLU=lambda: "relu", Sequential=lambda *layers: layers)
    stand_in(monkeypatch, "torch", nn=nn, tensor=np.asarray, no_grad=nullcontext)


@pytest.mark.usefixtures("ellice")
def test_ellice_gets_a_linear_model_as_a_layer_and_what_may_change() -> None:
    frame, model = fitted()
    peer: Any = find_peer("ellice", 1, immutable=["age"])
    peer.fit(model, frame)
    (layer,) = peer._explainer.network
    rows = peer._columns.encode(frame)
    np.testing.assert_allclose((rows @ layer.w.T + layer.b)[:, 0], model.decision_function(frame))
    (table, target), kinds = peer._explainer.data
    np.testing.assert_array_equal(table[target], model.predict(frame))
    assert kinds["continuous_features"] == ["f1", "f2"]
    (found,) = peer.explain_many(frame[:1])
    assert len(found) == 1
    given = peer._explainer.given
    assert given["features_to_vary"] == ["f0_0", "f0_1", "f0_2", "f1"]
    assert given["one_hot_groups"] == [["f0_0", "f0_1", "f0_2"]]
    assert given["target_class"] == 1 - model.predict(frame[:1])[0]
    for nothing in (0.0, None):  # the input itself, and no row
        peer._explainer.move = nothing
        assert peer.explain_many(frame[:1])[0].shape == (0, 3)


@pytest.mark.usefixtures("ellice")
def test_ellice_gets_a_network_with_one_score(split: Split) -> None:
    random = np.random.default_rng(0)
    layers = [(random.normal(size=(8, 4)), random.normal(size=4))]
    network = Network([*layers, (random.normal(size=(4, 2)), random.normal(size=2))])
    peer: Any = find_peer("ellice-rows", 1)
    peer.fit(network, split.X_train)
    first, relu, last = peer._explainer.network
    assert relu == "relu"
    scores = np.maximum(split.X_test @ first.w.T + first.b, 0.0) @ last.w.T + last.b
    np.testing.assert_array_equal(scores[:, 0] > 0, network.predict(split.X_test))
    peer.explain_many(split.X_test[:1])
    assert peer._explainer.given["total_CFs"] == 5
    three = Network([(random.normal(size=(8, 3)), random.normal(size=3))])
    with pytest.raises(UnsupportedModelError, match="two classes, got 3"):
        find_peer("ellice", 1).fit(three, split.X_train)


def test_recourse_gets_the_coefficients_and_what_may_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[dict[str, Any]] = []

    class ActionSet(dict):  # type: ignore[type-arg]
        def __init__(self, frame: pd.DataFrame, y_desired: int) -> None:
            self.y_desired = y_desired
            super().__init__({name: SimpleNamespace(actionable=True) for name in frame})

        def set_alignment(self, coefficients: Any, intercept: Any) -> None:
            self.aligned = coefficients, intercept

    class RecourseBuilder:
        def __init__(self, **given: Any) -> None:
            built.append(given)

        def populate(self, **_: Any) -> list[dict[str, Any]]:
            return [{"actions": np.array([0.0, 0.0, 0.0, 100.0, 0.0])}]

    stand_in(monkeypatch, "recourse", ActionSet=ActionSet, RecourseBuilder=RecourseBuilder)
    frame, model = fitted()
    peer = find_peer("recourse", 1, immutable=["age"])
    peer.fit(model, frame)
    (found,) = peer.explain_many(frame[:1])
    assert found["income"].iloc[0] == pytest.approx(frame["income"].iloc[0] + 100)
    [given] = built
    actions = given["action_set"]
    assert [name for name, each in actions.items() if each.actionable] == ["f1"]
    assert actions.y_desired == (-1 if model.predict(frame[:1])[0] else 1)
    rows = Columns.learn(frame, scaled=False)[1]
    scores = rows @ given["coefficients"] + given["intercept"]
    np.testing.assert_allclose(scores, model.decision_function(frame))


def test_a_box_of_a_tree_holds_exactly_the_rows_of_its_leaf() -> None:
    X = np.random.default_rng(0).random((300, 3))
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, X.sum(axis=1) > 1.5)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        low, high = np.array(cel.box_of(tree.tree_, leaf)).T
        inside = ((low <= X) & (high >= X)).all(axis=1)
        np.testing.assert_array_equal(inside, leaves == leaf)


class FakeGlobeCe:
    """Stands in for GLOBE-CE: the direction is to a larger income."""

    def __init__(self, leaves: Any, described: Any, frame: pd.DataFrame) -> None:
        self.described, self.frame = described, frame
        assert not leaves(frame).any()  # the rows of the class

    def get_best_delta(self) -> Any:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0])

    def bisection(self, delta: Any) -> float:
        return 2.0

    def round_categorical(self, rows: Matrix) -> Matrix:
        return rows


def test_globe_ce_gives_the_first_point_along_its_direction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cel, "_module", lambda _: SimpleNamespace(GLOBE_CE=FakeGlobeCe))
    frame, model = fitted()
    peer: Any = find_peer("globe-ce", 1)
    peer.fit(model, frame)
    described = peer._learned[False][0].described
    assert described.features == ["f0 = 0", "f0 = 1", "f0 = 2", "f1", "f2"]
    assert described.features_tree["f1"] == []
    declined = frame[~model.predict(frame)].iloc[[0]]
    (found,) = peer.explain_many(declined)
    assert model.predict(found).all()
    nearer = found.assign(income=found["income"] - 0.002 * np.ptp(frame["income"]))
    assert not model.predict(nearer).any()
    (nothing,) = peer.explain_many(frame[model.predict(frame)].iloc[[0]])
    assert nothing.shape == (0, 3)  # a larger income leads nowhere else


def test_where_cel_is_missing_it_is_named() -> None:
    if "cel" in sys.modules:
        raise AssertionError("no test imports CEL")
    frame, model = fitted()
    for name in ("globe-ce", "ares", "t-crex", "glance"):
        with pytest.raises(MissingExtraError, match="counterset peers --install cel"):
            find_peer(name, 1).fit(model, frame)


class FakeTCREx:
    """Stands in for T-CREx: keeps what it was fitted to, and moves every point."""

    def __init__(self, target_model: Any, **_: Any) -> None:
        self.target_model = target_model

    def fit(self, rows: Matrix, y: Any) -> FakeTCREx:
        self.rows, self.y = rows, y
        self.tree = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(rows, y)
        self._assign_optimal_rules()
        return self

    def _assign_optimal_rules(self) -> None:
        assert self.maximal_rules_

    def explain(self, rows: Matrix) -> Matrix:
        moved: Matrix = rows + np.array([[0.0, 0.0, 0.0, self.move, 0.0]])
        return moved

    move = 0.1
    maximal_rules_ = ("a box",)


def test_t_crex_has_no_options_where_the_wanted_class_prevails_in_no_box(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # CEL ended in a KeyError.
    monkeypatch.setattr(cel, "_module", lambda _: SimpleNamespace(TCREx=FakeTCREx))
    monkeypatch.setattr(FakeTCREx, "maximal_rules_", ())
    frame, model = fitted()
    peer: Any = find_peer("t-crex", 1)
    peer.fit(model, frame)
    assert peer.explain_many(frame[:1])[0].shape == (0, 3)


def test_t_crex_gets_the_labels_and_counts_the_wanted_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cel, "_module", lambda _: SimpleNamespace(TCREx=FakeTCREx))
    frame, model = fitted()
    peer: Any = find_peer("t-crex", 1)
    peer.fit(model, frame)
    learned = peer._learned[False]
    np.testing.assert_array_equal(learned.y, model.predict(frame).astype(int))
    assert learned.target_model.predict(frame).all()
    node = learned.tree.apply(learned.rows)[0]
    assert learned._get_node_bounds(learned.tree, node) == cel.box_of(learned.tree.tree_, node)
    (found,) = peer.explain_many(frame[:1])
    assert found["income"].iloc[0] > frame["income"].iloc[0]
    monkeypatch.setattr(FakeTCREx, "move", 0.0)
    assert peer.explain_many(frame[:1])[0].shape == (0, 3)


class FakeGLANCE:
    """Stands in for GLANCE: asks its model as DiCE does."""

    def __init__(self, rows: Matrix, y: Any, module: Any, names: list[str], k: int, s: int) -> None:
        tensor = SimpleNamespace(detach=lambda: SimpleNamespace(numpy=lambda: rows))
        self.same = (module.forward(tensor)[:, 0] == y).all()
        self.names, self.k, self.s = names, k, s
        self.final_clusters = [1]

    def prep(self, rows: Matrix, y: Any) -> None:
        assert len(rows) == len(y)

    def get_counterfactual(self, x: Matrix) -> Matrix:
        return np.asarray(x[0] + [0.0, 0.0, 0.0, 0.1, 0.0])


def test_glance_gets_a_model_that_answers_with_the_wanted_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = SimpleNamespace
    stand_in(
        monkeypatch,
        "torch",
        nn=SimpleNamespace(Module=module),
        tensor=np.asarray,
        float32=np.float32,
    )
    monkeypatch.setattr(cel, "_module", lambda _: SimpleNamespace(GLANCE=FakeGLANCE))
    frame, model = fitted()
    peer: Any = find_peer("glance", 1)
    peer.fit(model, frame)
    learned = peer._learned[False]
    assert learned.same
    assert (learned.names, learned.k, learned.s) == (["f0_0", "f0_1", "f0_2", "f1", "f2"], 10, 4)
    (found,) = peer.explain_many(frame[~model.predict(frame)].iloc[[0]])
    assert len(found) == 1
    learned.final_clusters = []
    assert peer.explain_many(frame[~model.predict(frame)].iloc[[0]])[0].shape == (0, 3)


class FakeAReS:
    """Stands in for AReS: three rules that raise the income, one of them for others."""

    length = 7

    def __init__(self, leaves: Any, described: Any, frame: pd.DataFrame, n_bins: int) -> None:
        self.described = described
        self.V = SimpleNamespace(
            length=self.length,
            triples_array=np.arange(self.length),
            triple_cost=self.triple_cost,
        )
        always, never = frozenset({"always"}), frozenset({"never"})
        self.R = SimpleNamespace(
            triples={
                (always, always, frozenset({"0.9"})),
                (always, always, frozenset({"0.0"})),
                (never, always, frozenset({"0.8"})),
            }
        )

    def generate_itemsets(self, share: float, max_width: int) -> None: ...

    def generate_groundset(self, max_width: int, then_generation: float) -> None: ...

    def evaluate_groundset(self, weights: Any, r: int, **_: Any) -> None:
        assert r == self.length

    def select_groundset(self, s: int) -> None: ...

    def optimise_groundset(self, weights: Any, **_: Any) -> None: ...

    def bin_X_test(self, frame: pd.DataFrame) -> pd.DataFrame:
        assert list(frame) == self.described.features
        return pd.DataFrame({"always": [True], "never": [False]})

    def triple_cost(self, rule: Any, explainer: Any, frame: pd.DataFrame) -> Any:
        [then] = rule[2]
        return 0, 0, frame.assign(f1=float(then))


def test_of_the_rules_of_ares_those_count_that_apply_and_change_the_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(monkeypatch, "matplotlib", use=lambda _: None)
    monkeypatch.setattr(cel, "_module", lambda _: SimpleNamespace(AReS=FakeAReS))
    frame, model = fitted()
    peer = find_peer("ares", 1)
    peer.fit(model, frame)
    declined = frame[~model.predict(frame)].iloc[[0]]
    (found,) = peer.explain_many(declined)
    assert model.predict(found).all()
    income = frame["income"]
    np.testing.assert_allclose(found["income"], [income.min() + 0.9 * np.ptp(income)])
    monkeypatch.setattr(FakeAReS, "length", 0)
    peer.fit(model, frame)  # no rule at all
    assert peer.explain_many(declined)[0].shape == (0, 3)
