"""Reading the trees of xgboost and lightgbm, as they store them."""

import json
from typing import Any

import numpy as np
import pytest

from counterset.exact import counterfactual_distance
from counterset.exact.trees.models import read_trees


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
    for name, value in (("decision_type", "=="), ("missing_type", "Zero")):
        model = LGBMClassifier()
        setattr(model, name, value)
        assert read_trees(model) is None
