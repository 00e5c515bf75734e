"""Reading the trees of xgboost and lightgbm, where they are installed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from counterset.exact.trees.ensembles import (
    LEAF,
    Tree,
    TreeEnsemble,
    calibrated,
    in_column,
    last_left,
)

__all__ = ["read_lightgbm", "read_xgboost"]


def read_xgboost(model: Any) -> TreeEnsemble | None:
    """Read an ``XGBClassifier``; None if its trees do more than compare numbers."""
    booster = model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
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
        if any(tree["split_type"]) or outputs > 1:
            return None  # splits by category, or leaves for all classes at once
        left = np.array(tree["left_children"], dtype=np.intp)
        stored_numbers = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
        trees.append(
            Tree(
                np.array(tree["split_indices"], dtype=np.intp),
                last_left(stored_numbers, single=True, strict=True),
                left,
                np.array(tree["right_children"], dtype=np.intp),
                in_column(stored_numbers, int(column), n_classes),  # of a leaf: its value
            )
        )

    def margins(rows: Any) -> Any:
        return model.predict(rows, output_margin=True)

    return calibrated(trees, model, float(np.finfo(np.float32).eps), margins)


def _trees_used(model: Any, n_trees: int) -> int:
    """Return the number of trees that predictions use, after early stopping."""
    best = getattr(model, "best_iteration", None)
    if best is None:
        return n_trees
    return (int(best) + 1) * (n_trees // int(model.get_booster().num_boosted_rounds()))


def read_lightgbm(model: Any) -> TreeEnsemble | None:
    """Read an ``LGBMClassifier``; None if its trees do more than compare numbers."""
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

    def margins(rows: Any) -> Any:
        return model.predict(rows, raw_score=True)

    return calibrated(trees, model, np.finfo(np.float64).eps, margins)


class _LightGBMNodes:
    """Flattens lightgbm's nested nodes."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._nodes: list[list[float]] = []

    def add(self, node: dict[str, Any]) -> bool:
        """Add a node and those below; return False for one that does not compare a number."""
        if "leaf_value" in node:
            self._nodes.append([0, 0.0, LEAF, LEAF, node["leaf_value"] * self._share])
            return "leaf_coeff" not in node  # a leaf that is a linear model
        if node["decision_type"] != "<=" or node.get("missing_type") == "Zero":
            return False
        here = len(self._nodes)
        self._nodes.append([node["split_feature"], float(node["threshold"]), LEAF, LEAF, 0.0])
        for side, child in ((2, "left_child"), (3, "right_child")):
            self._nodes[here][side] = len(self._nodes)
            if not self.add(node[child]):
                return False
        return True

    def tree(self, column: int, n_classes: int) -> Tree:
        """Return the flattened tree."""
        feature, cut, left, right, value = np.array(self._nodes, dtype=np.float64).T
        values = in_column(value, column, n_classes)
        return Tree(
            feature.astype(np.intp), cut, left.astype(np.intp), right.astype(np.intp), values
        )
