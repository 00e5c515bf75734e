"""Reading the trees of xgboost and lightgbm, where they are installed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from counterset._base.arrays import Vector
from counterset.exact.category_codes import CategoryCodes
from counterset.exact.trees.ensembles import (
    LEAF,
    Tree,
    TreeEnsemble,
    calibrated,
    in_column,
    last_left,
)

__all__ = ["lightgbm_codes", "read_lightgbm", "read_xgboost", "xgboost_codes"]

#: Up to this size lightgbm takes a number for 0: its kZeroThreshold.
LIGHTGBM_ZERO = float(np.float32(1e-35))


def read_xgboost(model: Any) -> TreeEnsemble | None:
    """Read an ``XGBClassifier``; None if its trees do more than divide numbers and categories."""
    learner = _xgboost_learner(model)
    if learner["gradient_booster"]["name"] != "gbtree":
        return None
    if not np.isnan(getattr(model, "missing", np.nan)):
        return None  # a number that stands for a missing value is not compared
    stored = learner["gradient_booster"]["model"]
    n_classes = len(model.classes_)
    trees = []
    used = _trees_used(model, len(stored["trees"]))
    for tree, column in zip(stored["trees"][:used], stored["tree_info"][:used], strict=True):
        outputs = int(tree.get("tree_param", {}).get("size_leaf_vector", 1))
        if outputs > 1:
            return None  # leaves for all classes at once
        left = np.array(tree["left_children"], dtype=np.intp)
        stored_numbers = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
        trees.append(
            Tree(
                np.array(tree["split_indices"], dtype=np.intp),
                last_left(stored_numbers, single=True, strict=True),
                left,
                np.array(tree["right_children"], dtype=np.intp),
                in_column(stored_numbers, int(column), n_classes),  # of a leaf: its value
                _xgboost_sets(tree),
            )
        )
    margins = _xgboost_margins(model, "c" in learner.get("feature_types", []))
    return calibrated(trees, model, float(np.finfo(np.float32).eps), margins)


def _xgboost_learner(model: Any) -> Any:
    return json.loads(bytes(model.get_booster().save_raw("json")))["learner"]


def _xgboost_sets(tree: dict[str, Any]) -> dict[int, int]:
    """Return the codes that each node that splits a category sends to the left.

    The stored ones go to the right, and all others to the left.
    """
    sets = {}
    for node, start, size in zip(
        tree.get("categories_nodes", []),
        tree.get("categories_segments", []),
        tree.get("categories_sizes", []),
        strict=True,
    ):
        sets[int(node)] = ~sum(1 << int(code) for code in tree["categories"][start : start + size])
    return sets


def _xgboost_margins(model: Any, with_categories: bool) -> Callable[[Any], Any]:
    if not with_categories:
        return lambda rows: model.predict(rows, output_margin=True)
    best = getattr(model, "best_iteration", None)
    used = (0, 0 if best is None else int(best) + 1)

    def margins(rows: Any) -> Any:  # of codes, which need no categories of pandas
        return model.get_booster().inplace_predict(
            np.asarray(rows), iteration_range=used, predict_type="margin", validate_features=False
        )

    return margins


def xgboost_codes(model: Any) -> CategoryCodes | None:
    """Return how an ``XGBClassifier`` encodes categories; None if it was trained without."""
    learner = _xgboost_learner(model)
    if "c" not in learner.get("feature_types", []):
        return None
    # Before version 3.1 it took the codes of whichever table it got.
    stored = learner["gradient_booster"]["model"].get("cats", {}).get("enc", [])

    def categories(positions: list[int]) -> list[Sequence[Any] | None]:
        return [_xgboost_values(stored[i]) if i < len(stored) else None for i in positions]

    return CategoryCodes(int(model.n_features_in_), categories)


def _xgboost_values(stored: dict[str, Any]) -> Sequence[Any] | None:
    values = stored["values"]
    if "offsets" not in stored:
        return list(values) or None
    text, ends = bytes(value % 256 for value in values), stored["offsets"]
    parts = [text[start:end].decode() for start, end in itertools.pairwise(ends)]
    return parts or None


def _trees_used(model: Any, n_trees: int) -> int:
    """Return the number of trees that predictions use, after early stopping."""
    best = getattr(model, "best_iteration", None)
    if best is None:
        return n_trees
    return (int(best) + 1) * (n_trees // int(model.get_booster().num_boosted_rounds()))


def read_lightgbm(model: Any) -> TreeEnsemble | None:
    """Read an ``LGBMClassifier``; None if its trees do more than divide numbers and categories."""
    n_classes = len(model.classes_)
    dumped = model.booster_.dump_model()
    # The trees of a random forest are averaged, not added up.
    averaged = dumped.get("average_output", False)
    share = dumped["num_tree_per_iteration"] / len(dumped["tree_info"]) if averaged else 1.0
    trees = []
    for i, stored in enumerate(dumped["tree_info"]):
        nodes = _LightGBMNodes(share)
        if not nodes.add(stored["tree_structure"]):
            return None
        column = i % n_classes if n_classes > 2 else 1
        trees.append(nodes.tree(column, n_classes))

    with_categories = bool(dumped.get("pandas_categorical"))

    def margins(rows: Any) -> Any:
        if with_categories:  # codes need no categories of pandas
            return model.booster_.predict(np.asarray(rows), raw_score=True)
        return model.predict(rows, raw_score=True)

    return calibrated(trees, model, np.finfo(np.float64).eps, margins)


def lightgbm_codes(model: Any) -> CategoryCodes | None:
    """Return how an ``LGBMClassifier`` encodes categories; None if it was trained without."""
    stored = model.booster_.dump_model().get("pandas_categorical")
    if not stored:
        return None
    return CategoryCodes(int(model.n_features_in_), lambda positions: stored)


class _LightGBMNodes:
    """Flattens lightgbm's nested nodes."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._nodes: list[list[float]] = []
        self._sets: dict[int, int] = {}

    def add(self, node: dict[str, Any]) -> bool:
        """Add a node and those below; return False for one that is not known."""
        if "leaf_value" in node:
            self._nodes.append([0, 0.0, LEAF, LEAF, node["leaf_value"] * self._share])
            return "leaf_coeff" not in node  # a leaf that is a linear model
        by_category = node["decision_type"] == "=="
        if not by_category and (
            node["decision_type"] != "<=" or node.get("missing_type") == "Zero"
        ):
            return False
        here = len(self._nodes)
        if by_category:
            codes = str(node["threshold"]).split("||")
            self._sets[here] = sum(1 << int(code) for code in codes)
        cut = np.nan if by_category else float(node["threshold"])
        self._nodes.append([node["split_feature"], cut, LEAF, LEAF, 0.0])
        for side, child in ((2, "left_child"), (3, "right_child")):
            self._nodes[here][side] = len(self._nodes)
            if not self.add(node[child]):
                return False
        return True

    def tree(self, column: int, n_classes: int) -> Tree:
        """Return the flattened tree."""
        feature, cut, left, right, value = np.array(self._nodes, dtype=np.float64).T
        values = in_column(value, column, n_classes)
        left, right = left.astype(np.intp), right.astype(np.intp)
        return Tree(feature.astype(np.intp), _around_zero(cut), left, right, values, self._sets)


def _around_zero(cuts: Vector) -> Vector:
    """Return the largest doubles that lightgbm sends to the left: it takes tiny numbers for 0."""
    below = np.nextafter(-LIGHTGBM_ZERO, -np.inf)
    cuts = np.where((cuts >= -LIGHTGBM_ZERO) & (cuts < 0), below, cuts)
    return np.where((cuts >= 0) & (cuts < LIGHTGBM_ZERO), LIGHTGBM_ZERO, cuts)
