"""Reading the trees of scikit-learn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support.toys_exact import tree_data

from counterset.distances import L1
from counterset.exact import Box, counterfactual_distance
from counterset.exact.trees.models import (
    LEAF,
    Tree,
    TreeEnsemble,
    in_column,
    last_left,
    lightgbm_codes,
    read_trees,
    xgboost_codes,
)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, max_depth=3, random_state=0),
        ExtraTreesClassifier(5, max_depth=3, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_scores_that_are_read_predict_as_the_model_does(model: Any, n_classes: int) -> None:
    X, y = tree_data(0, n_classes)
    ensemble = read_trees(model.fit(X, y))
    assert ensemble is not None
    rows = np.random.default_rng(0).random((200, 2))
    scores = np.array([ensemble.scores(row) for row in rows])
    clear = np.diff(np.sort(scores, axis=1)[:, -2:], axis=1).ravel() > ensemble.rounding
    assert ensemble.labels is not None
    predicted = ensemble.labels[scores.argmax(axis=1)]
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(predicted[clear], model.predict(rows)[clear])


def test_models_that_are_not_read() -> None:
    X, y = tree_data(0)
    assert read_trees(LogisticRegression().fit(X, y)) is None
    assert read_trees(DecisionTreeClassifier()) is None
    started = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X, y)
    assert read_trees(started) is None
    zero = GradientBoostingClassifier(init="zero", n_estimators=2).fit(X, y)
    assert read_trees(zero) is not None


def test_leaves_of_whole_votes_are_counted_without_rounding() -> None:
    # Inner nodes hold shares; only leaves are added up.
    X, y = tree_data(0)
    ensemble = read_trees(RandomForestClassifier(5, random_state=0).fit(X, y))
    assert ensemble is not None
    assert ensemble.rounding == 0


def test_histograms_of_gradients_compare_in_double_precision() -> None:
    X, y = tree_data(1, 3)
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, y)
    bounds = counterfactual_distance(model, X[0], "l1", Box(0, 1))
    assert bounds.exact
    assert model.predict(bounds.witness[None, :])[0] != model.predict(X[:1])[0]
    samples = np.random.default_rng(0).random((4000, 2))
    others = samples[model.predict(samples) != model.predict(X[:1])[0]]
    assert bounds.lower <= L1()(X[0], others).min()


# Trees as the solvers see them: cuts to the last bit ----------------------------------------------


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


def test_rows_go_left_by_cuts_and_by_sets_of_values() -> None:
    # The first feature is cut at 0.5; to its right, values 0 and 2 of the second go left.
    feature, left, right = np.array([0, 0, 1, 0, 0]), [1, LEAF, 3, LEAF, LEAF], [2, -1, 4, -1, -1]
    tree = Tree(
        feature,
        np.array([0.5, 0.0, 0.0, 0.0, 0.0]),
        np.array(left),
        np.array(right),
        in_column(np.array([0.0, 1.0, 0.0, 2.0, 4.0]), 0, 2),
        {2: 0b101},
    )
    ensemble = TreeEnsemble([tree, tree], np.array([0.5, 0.25]), np.array(["a", "b"]), 0.0)
    rows = ([0.5, 1.0], [0.6, 0.0], [0.6, 1.0], [0.6, 2.0])
    scores = [ensemble.scores(np.array(row)).tolist() for row in rows]
    assert scores == [[0.5, 2.25], [0.5, 4.25], [0.5, 8.25], [0.5, 4.25]]


# Reading the trees of xgboost and lightgbm, as they store them ------------------------------------


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

    def get_booster(self) -> XGBClassifier:
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


class LGBMClassifier(_Fake):
    __module__ = "lightgbm.sklearn"
    feature_names_in_ = np.array(["a", "b"], dtype=object)
    threshold: Any = 0.5
    decision_type = "<="
    missing_type = "None"

    def margins(self, X: Any) -> np.ndarray:
        return np.where(np.asarray(X)[:, 0] <= 0.5, -1.0, 1.0)

    @property
    def booster_(self) -> LGBMClassifier:
        return self

    def dump_model(self) -> dict[str, Any]:
        root = {
            "split_feature": 0,
            "threshold": self.threshold,
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
    for name, value in (("booster", "gblinear"), ("missing", 0.0)):
        model = XGBClassifier()
        setattr(model, name, value)
        assert read_trees(model) is None


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


def test_lightgbm_sends_equal_values_to_the_left() -> None:
    bounds = counterfactual_distance(LGBMClassifier(), [0.25, 0.0], "l1")
    assert bounds.exact
    assert bounds.witness[0] == np.nextafter(0.5, 1)
    for name, value in (("decision_type", "<"), ("missing_type", "Zero")):
        model = LGBMClassifier()
        setattr(model, name, value)
        assert read_trees(model) is None


def test_lightgbm_takes_tiny_numbers_for_zero() -> None:
    # The nearest point beyond the split did not flip, and so the whole cell was ruled out.
    zero = float(np.float32(1e-35))
    model = LGBMClassifier()
    for threshold, last in ((-zero, np.nextafter(-zero, -1)), (zero / 2, zero), (0.25, 0.25)):
        model.threshold = threshold
        read = read_trees(model)
        assert read is not None
        assert read.trees[0].cut[0] == last


def test_splits_by_category_are_sets_of_codes() -> None:
    lightgbm = LGBMClassifier()
    lightgbm.decision_type, lightgbm.threshold = "==", "0||2"
    read = read_trees(lightgbm)
    assert read is not None
    assert [read.trees[0].left_values[0] >> code & 1 for code in range(4)] == [1, 0, 1, 0]

    class WithSets(XGBClassifier):
        def save_raw(self, form: str) -> bytes:
            stored = json.loads(super().save_raw(form))
            sets = {"categories_nodes": [0], "categories_segments": [0], "categories_sizes": [2]}
            stored["learner"]["gradient_booster"]["model"]["trees"][0] |= {
                **sets,
                "categories": [0, 2],
            }
            return json.dumps(stored).encode()

    WithSets.__name__, WithSets.__module__ = "XGBClassifier", "xgboost.sklearn"
    stored_go_right = read_trees(WithSets())
    assert stored_go_right is not None
    sides = [stored_go_right.trees[0].left_values[0] >> code & 1 for code in range(4)]
    assert sides == [0, 1, 0, 1]


def test_codes_of_categories_are_those_of_the_training_data() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["own", "rent"])})

    class Trained(LGBMClassifier):
        def dump_model(self) -> dict[str, Any]:
            return {**super().dump_model(), "pandas_categorical": [["rent", "own"]]}

        booster_ = property(lambda self: self)

    codes = lightgbm_codes(Trained())
    assert codes is not None
    assert codes.transform(frame).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert lightgbm_codes(LGBMClassifier()) is None
    assert xgboost_codes(XGBClassifier()) is None

    class Typed(XGBClassifier):
        def __init__(self, encoded: Any) -> None:
            self.encoded = encoded

        def save_raw(self, form: str) -> bytes:
            stored = json.loads(super().save_raw(form))
            stored["learner"]["feature_types"] = ["float", "c"]
            cats = {"enc": [{"offsets": [], "values": []}, self.encoded]}
            stored["learner"]["gradient_booster"]["model"]["cats"] = cats
            return json.dumps(stored).encode()

    typed = Typed({"offsets": [0, 4, 7], "values": list(b"rentown")})
    found = xgboost_codes(typed)
    assert found is not None
    assert found.transform(frame).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    typed.encoded = {"offsets": [], "values": []}  # an old version takes the table's own codes
    own = xgboost_codes(typed)
    assert own is not None
    assert own.transform(frame).tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert own.transform(np.array([[0.5, 1.0]])).tolist() == [[0.5, 1.0]]
    typed.encoded = {"values": [7, 3]}
    of_numbers = xgboost_codes(typed)
    assert of_numbers is not None
    held = frame.assign(b=pd.Categorical([3, 5], categories=[3, 5, 7]))
    np.testing.assert_array_equal(of_numbers.transform(held), [[1.0, 1.0], [2.0, np.nan]])
