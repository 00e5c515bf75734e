"""Tree ensembles: against every cell, in single precision, with whole numbers and ties."""

import itertools
import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_exact import cell_points, nearest_other
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from counterset import Box, MissingExtraError, NoCounterfactualExistsError
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import counterfactual_distance
from counterset.exact.trees.ensembles import last_left
from counterset.exact.trees.models import read_trees

DISTANCES = [L1(), L2(), LInf(), L0(), L1([1, 2]), L2([0.5, 2]), LInf([1, 3]), L0([1, 2])]


def data(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((50, 2))
    score = X[:, 0] * X[:, 1] + 0.1 * rng.random(50)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def thresholds(model: Any) -> list[set[float]]:
    trees = [model] if isinstance(model, DecisionTreeClassifier) else np.ravel(model.estimators_)
    found: list[set[float]] = [set(), set()]
    for tree in trees:
        inner = tree.tree_.children_left >= 0
        pairs = zip(tree.tree_.feature[inner], tree.tree_.threshold[inner], strict=True)
        for feature, threshold in pairs:
            found[feature].add(float(threshold))
    return found


@settings(max_examples=40)
@given(
    seed=st.integers(0, 1000),
    distance=st.sampled_from(DISTANCES),
    n_classes=st.integers(2, 3),
    kind=st.sampled_from(["tree", "pure forest", "forest", "extra", "boosted"]),
)
def test_every_cell_agrees(seed: int, distance: Distance, n_classes: int, kind: str) -> None:
    X, y = data(seed, n_classes)
    model = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "pure forest": RandomForestClassifier(4, random_state=seed, max_leaf_nodes=None),
        "forest": RandomForestClassifier(4, max_depth=2, random_state=seed),
        "extra": ExtraTreesClassifier(3, max_depth=3, random_state=seed),
        "boosted": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed),
    }[kind].fit(X[:25], y[:25])
    x = X[30]
    points = cell_points(x, thresholds(model), 0.0, 1.0)
    labels = model.predict(points)
    others = points[labels != model.predict(x[None, :])[0]]
    if len(others) == 0:
        with pytest.raises(NoCounterfactualExistsError):
            counterfactual_distance(model, x, distance, Box(0, 1))
        return
    bounds = counterfactual_distance(model, x, distance, Box(0, 1))
    assert bounds.exact, bounds
    assert bounds.upper == pytest.approx(distance(x, others).min(), abs=1e-12)
    assert bounds.lower <= bounds.upper
    assert model.predict(bounds.witness[None, :])[0] != model.predict(x[None, :])[0]


def test_a_tree_is_a_finite_set_of_boxes() -> None:
    X, y = data(0)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    points = cell_points(X[0], thresholds(model), 0.0, 1.0)
    bounds = counterfactual_distance(model, X[0], "l2", Box(0, 1))
    assert bounds.method == "leaves of a tree"
    assert bounds.upper == nearest_other(model.predict, X[0], points, L2())


def test_histograms_of_gradients_compare_in_double_precision() -> None:
    X, y = data(1, 3)
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, y)
    bounds = counterfactual_distance(model, X[0], "l1", Box(0, 1))
    assert bounds.exact
    assert model.predict(bounds.witness[None, :])[0] != model.predict(X[:1])[0]
    samples = np.random.default_rng(0).random((4000, 2))
    others = samples[model.predict(samples) != model.predict(X[:1])[0]]
    assert bounds.lower <= L1()(X[0], others).min()


@settings(max_examples=100)
@given(
    threshold=st.floats(-1e6, 1e6).map(float),
    single=st.booleans(),
    strict=st.booleans(),
)
def test_the_last_double_to_the_left(threshold: float, single: bool, strict: bool) -> None:
    if single and strict:
        threshold = float(np.float32(threshold))
    cut = float(last_left(np.array([threshold]), single=single, strict=strict)[0])

    def goes_left(value: float) -> bool:
        seen = float(np.float32(value)) if single else value
        return seen < threshold if strict else seen <= threshold

    assert goes_left(cut)
    assert not goes_left(float(np.nextafter(cut, np.inf)))


def test_the_witness_is_on_the_right_side_in_single_precision() -> None:
    # 0.1 is above its neighbour in single precision, 0.3 below.
    X = np.array([[0.1], [0.3], [0.1], [0.3]])
    model = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    for x in X[:2]:
        bounds = counterfactual_distance(model, x, "l1")
        assert model.predict(bounds.witness[None, :])[0] != model.predict(x[None, :])[0]
        step = np.nextafter(bounds.witness, x)
        assert model.predict(step[None, :])[0] == model.predict(x[None, :])[0]


def test_whole_numbers_and_single_precision_columns_stay_what_they_are() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"count": rng.integers(0, 9, 60), "size": rng.random(60).astype(np.float32)}
    )
    y = frame["count"] / 9 + frame["size"] > 1
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(frame, y)
    for i in range(4):
        bounds = counterfactual_distance(model, frame.iloc[[i]], "l1", Box.of(frame))
        assert bounds.exact
        witness = bounds.witness.to_frame().T.astype(frame.dtypes.to_dict())
        assert model.predict(witness)[0] != model.predict(frame.iloc[[i]])[0]
        assert witness["count"].iloc[0] == bounds.witness["count"]
        assert np.float32(bounds.witness["size"]) == bounds.witness["size"]


def test_ties_go_to_the_first_class() -> None:
    # Two trees that disagree on the right half: a tie there, for class 0.
    X = np.array([[0.0], [1.0]])
    model = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(X, [0, 1])
    other = RandomForestClassifier(2, bootstrap=False, random_state=0).fit([[0.0], [3.0]], [0, 1])
    model.estimators_[1] = other.estimators_[1]
    bounds = counterfactual_distance(model, [0.0], "l1", Box(0, 3))
    assert bounds.upper == pytest.approx(1.5, abs=1e-6)
    back = counterfactual_distance(model, [3.0], "l1", Box(0, 3))
    assert back.upper == pytest.approx(1.5, abs=1e-6)


def test_rounded_scores_that_the_model_does_not_confirm_are_ruled_out() -> None:
    # Shares of thirds: their sums tie up to rounding only.
    X = np.repeat([[0.0], [1.0], [2.0]], 3, axis=0)
    y = np.array([0, 0, 1, 1, 1, 0, 1, 1, 1])
    model = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(X, y)
    flipped = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(
        X, np.array([0, 0, 1, 0, 0, 1, 1, 1, 1])
    )
    model.estimators_[1] = flipped.estimators_[1]
    bounds = counterfactual_distance(model, [0.0], "l1", Box(0, 2))
    points = cell_points(np.array([0.0]), [thresholds(model)[0]], 0.0, 2.0)
    expected = nearest_other(model.predict, np.array([0.0]), points, L1())
    assert bounds.exact
    assert bounds.upper == pytest.approx(expected, abs=1e-12)


def test_a_domain_of_one_class_is_proved() -> None:
    X, y = data(0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(NoCounterfactualExistsError, match="constraint programme"):
        counterfactual_distance(model, X[0], "l1", Box(X[0] - 1e-9, X[0] + 1e-9))


def test_leaves_of_whole_votes_are_counted_without_rounding() -> None:
    # Inner nodes hold shares; only the leaves are added up.
    X, y = data(0)
    ensemble = read_trees(RandomForestClassifier(5, random_state=0).fit(X, y))
    assert ensemble is not None
    assert ensemble.rounding == 0


def test_the_same_witness_whenever_asked() -> None:
    # Symmetric in its two features, so that there are two nearest points.
    X = np.random.default_rng(0).integers(0, 9, (200, 2)) / 8
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, X.sum(axis=1) > 1)
    first, second = (counterfactual_distance(model, [0.2, 0.2], "l1", Box(0, 1)) for _ in "ab")
    assert first.exact
    np.testing.assert_array_equal(first.witness, second.witness)


@pytest.mark.parametrize("distance", [L1(), L2(), LInf(), L0()])
def test_more_features_against_a_finite_grid(distance: Distance) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (150, 5)).astype(float)
    y = (X @ [1, -2, 1, 0.5, 1] + (X[:, 0] > 2) * X[:, 1]) > 3
    frame = pd.DataFrame(X.astype(int), columns=list("abcde"))
    model = RandomForestClassifier(15, max_depth=5, random_state=0).fit(frame, y)
    points = np.array(list(itertools.product(range(5), repeat=5)), dtype=float)
    labels = model.predict(pd.DataFrame(points.astype(int), columns=frame.columns))
    for i in range(6):
        own = model.predict(frame.iloc[[i]])[0]
        bounds = counterfactual_distance(model, frame.iloc[[i]], distance, Box.of(frame))
        assert bounds.exact
        assert bounds.upper == pytest.approx(distance(X[i], points[labels != own]).min())


def test_out_of_time_gives_the_bounds_so_far() -> None:
    X, y = data(0)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    hurried = counterfactual_distance(model, X[0], "l1", Box(0, 1), time_limit=1e-9)
    assert not hurried.exact
    assert hurried.lower == 0
    assert model.predict(hurried.witness[None, :])[0] != model.predict(X[:1])[0]


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[exact\]"):
        counterfactual_distance(model, X[0], "l1", Box(0, 1))


def test_models_that_are_not_read() -> None:
    X, y = data(0)
    assert read_trees(LogisticRegression().fit(X, y)) is None
    assert read_trees(DecisionTreeClassifier()) is None
    started = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X, y)
    assert read_trees(started) is None
    zero = GradientBoostingClassifier(init="zero", n_estimators=2).fit(X, y)
    assert read_trees(zero) is not None


class _Fake:
    """Boosted trees as xgboost and lightgbm store them: 0.5 splits the first feature."""

    classes_ = np.array(["no", "yes"])
    n_features_in_ = 2

    def margins(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def predict(self, X: Any, **margins: bool) -> np.ndarray:
        raw = self.margins(np.asarray(X))
        return raw if margins else self.classes_[(raw > 0).astype(int)]


class XGBClassifier(_Fake):
    __module__ = "xgboost.sklearn"
    booster = "gbtree"
    split_type = 0

    def margins(self, X: Any) -> np.ndarray:
        first = np.asarray(X)[:, 0].astype(np.float32)
        return np.where(first < np.float32(0.5), -1.0, 1.0) + 0.25

    def get_booster(self) -> "XGBClassifier":
        return self

    def save_raw(self, form: str) -> bytes:
        tree = {
            "left_children": [1, -1, -1],
            "right_children": [2, -1, -1],
            "split_indices": [0, 0, 0],
            "split_conditions": [0.5, -1.0, 1.0],
            "split_type": [self.split_type, 0, 0],
        }
        model = {"trees": [tree], "tree_info": [0]}
        return json.dumps(
            {"learner": {"gradient_booster": {"name": self.booster, "model": model}}}
        ).encode()


def test_xgboost_predicts_up_to_its_best_iteration() -> None:
    class Stopped(XGBClassifier):
        __module__ = "xgboost.sklearn"
        best_iteration = 0

        def num_boosted_rounds(self) -> int:
            return 2

        def save_raw(self, form: str) -> bytes:
            learner = json.loads(super().save_raw(form))
            model = learner["learner"]["gradient_booster"]["model"]
            model["trees"] *= 2
            model["tree_info"] *= 2
            return json.dumps(learner).encode()

    Stopped.__name__ = "XGBClassifier"
    ensemble = read_trees(Stopped())
    assert ensemble is not None
    assert len(ensemble.trees) == 1


class LGBMClassifier(_Fake):
    __module__ = "lightgbm.sklearn"
    feature_names_in_ = np.array(["a", "b"], dtype=object)
    decision_type = "<="
    missing_type = "None"

    def margins(self, X: Any) -> np.ndarray:
        return np.where(np.asarray(X)[:, 0] <= 0.5, -1.0, 1.0)

    @property
    def booster_(self) -> "LGBMClassifier":
        return self

    def dump_model(self) -> dict[str, Any]:
        root = {
            "split_feature": 0,
            "threshold": 0.5,
            "decision_type": self.decision_type,
            "missing_type": self.missing_type,
            "left_child": {"leaf_value": -1.0},
            "right_child": {"leaf_value": 1.0},
        }
        return {"tree_info": [{"tree_structure": root}]}


def test_xgboost_sends_equal_values_to_the_right() -> None:
    bounds = counterfactual_distance(XGBClassifier(), [0.25, 0.0], "l1")
    # The nearest double that single precision rounds up to 0.5.
    assert bounds.exact
    assert bounds.upper == pytest.approx(0.25, abs=1e-7)
    assert bounds.upper < 0.25
    for name, value in (("booster", "gblinear"), ("split_type", 1), ("missing", 0.0)):
        model = XGBClassifier()
        setattr(model, name, value)
        assert read_trees(model) is None


def test_lightgbm_sends_equal_values_to_the_left() -> None:
    bounds = counterfactual_distance(LGBMClassifier(), [0.25, 0.0], "l1")
    assert bounds.exact
    assert bounds.witness[0] == np.nextafter(0.5, 1)
    for name, value in (("decision_type", "=="), ("missing_type", "Zero")):
        model = LGBMClassifier()
        setattr(model, name, value)
        assert read_trees(model) is None
