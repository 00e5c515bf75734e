"""Reading tree ensembles, with every split as "left if the value is at most the cut".

Libraries differ in how they compare: in single or double precision, with ``<=`` or ``<``. Each
threshold becomes the largest double that the library sends to the left, so that everything after
this module compares as the model does, to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from counterset.arrays import Codes, Labels, Matrix

__all__ = ["Tree", "TreeEnsemble", "last_left", "read_trees"]

LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree: node 0 is the root; a node with ``left == LEAF`` is a leaf.

    Attributes
    ----------
    feature, cut
        A value of at most ``cut`` goes to the left.
    left, right
        The nodes below.
    values
        What a leaf adds to the score of each class, ``(nodes, classes)``.
    left_values
        For a node that splits a feature of a few values: those that go to the left, as a whole
        number whose bit ``j`` stands for value ``j``. Its ``cut`` means nothing.
    """

    feature: Codes
    cut: Matrix
    left: Codes
    right: Codes
    values: Matrix
    left_values: Mapping[int, int] = field(default_factory=dict)

    def leaf_of(self, row: Matrix) -> int:
        """Give the leaf that a row falls into."""
        node = 0
        while self.left[node] != LEAF:
            node = int(self.left[node] if self._goes_left(row, node) else self.right[node])
        return node

    def _goes_left(self, row: Matrix, node: int) -> bool:
        value = row[self.feature[node]]
        if node in self.left_values:
            return bool(self.left_values[node] >> int(value) & 1)
        return bool(value <= self.cut[node])


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Trees whose leaves are added up to a score per class; the highest decides.

    Attributes
    ----------
    base
        The scores to start from.
    rounding
        A bound on the error of the model's own sum.
    """

    trees: list[Tree]
    base: Matrix
    labels: Labels
    rounding: float

    def scores(self, row: Matrix) -> Matrix:
        """Add up the scores of one row."""
        leaves = [tree.values[tree.leaf_of(row)] for tree in self.trees]
        total: Matrix = self.base + np.sum(leaves, axis=0)
        return total


def read_trees(model: Any) -> TreeEnsemble | None:
    """Read a model as a tree ensemble; None where it is not one."""
    if not hasattr(model, "classes_") or np.ndim(model.classes_) != 1:
        return None
    for family, read in _READERS:
        if isinstance(model, family):
            return read(model)
    library = type(model).__module__.partition(".")[0]
    if type(model).__name__ == "XGBClassifier" and library == "xgboost":
        return _read_xgboost(model)
    if type(model).__name__ == "LGBMClassifier" and library == "lightgbm":
        return _read_lightgbm(model)
    return None


def last_left(thresholds: Matrix, single: bool = False, strict: bool = False) -> Matrix:
    """Give the largest double that ``value <= threshold`` (``<`` if strict) sends to the left.

    Parameters
    ----------
    single
        The value is rounded to single precision before it is compared.

    Examples
    --------
    >>> cut = last_left(np.array([0.1]), single=True)
    >>> [float(np.float32(value)) <= 0.1 for value in (cut[0], np.nextafter(cut[0], 1))]
    [True, False]
    """
    cuts = np.asarray(thresholds, dtype=np.float64)
    if not single:
        return np.nextafter(cuts, -np.inf) if strict else cuts
    last = cuts.astype(np.float32)
    beyond = (last >= cuts) if strict else (last > cuts)
    last = np.where(beyond, np.nextafter(last, np.float32(-np.inf)), last)
    after = np.nextafter(last, np.float32(np.inf))
    middle = (last.astype(np.float64) + after.astype(np.float64)) / 2
    stays = middle.astype(np.float32) == last  # halfway rounds to the even neighbour
    return np.where(stays, middle, np.nextafter(middle, -np.inf))


def _rounding(trees: list[Tree], base: Matrix, unit: float) -> float:
    leaves = (np.abs(tree.values[tree.left == LEAF]).max() for tree in trees)
    sizes = sum(leaves, float(np.abs(base).max()))
    return float(4 * (len(trees) + 4) * unit * sizes)


def _read_decision_tree(model: DecisionTreeClassifier) -> TreeEnsemble:
    trees = [_sklearn_tree(model.tree_, _shares(model.tree_))]
    base = np.zeros(len(model.classes_))
    return TreeEnsemble(trees, base, model.classes_, 0.0)


def _read_forest(model: RandomForestClassifier | ExtraTreesClassifier) -> TreeEnsemble:
    trees = [_sklearn_tree(tree.tree_, _shares(tree.tree_)) for tree in model.estimators_]
    base = np.zeros(len(model.classes_))
    unit = 0.0 if _all_whole(trees) else np.finfo(np.float64).eps
    return TreeEnsemble(trees, base, model.classes_, _rounding(trees, base, unit))


def _all_whole(trees: list[Tree]) -> bool:
    # Whole votes add up without rounding, so that a tie is a tie.
    leaves = [tree.values[tree.left == LEAF] for tree in trees]
    return all(np.array_equal(values, np.rint(values)) for values in leaves)


def _shares(tree: Any) -> Matrix:
    counts = tree.value[:, 0, :]
    shares: Matrix = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _sklearn_tree(tree: Any, values: Matrix) -> Tree:
    cuts = last_left(tree.threshold, single=True)
    return Tree(tree.feature, cuts, tree.children_left, tree.children_right, values)


def _read_gradient_boosting(model: GradientBoostingClassifier) -> TreeEnsemble | None:
    if not (model.init_ == "zero" or isinstance(model.init_, DummyClassifier)):
        return None  # it starts from another model
    n_classes = len(model.classes_)
    trees = []
    for stage in model.estimators_:
        for column, regressor in enumerate(stage):
            added = model.learning_rate * regressor.tree_.value[:, 0, 0]
            trees.append(_sklearn_tree(regressor.tree_, _in_column(added, column, n_classes)))
    return _calibrated(trees, model, np.finfo(np.float64).eps)


def _read_hist_gradient_boosting(model: HistGradientBoostingClassifier) -> TreeEnsemble | None:
    n_classes = len(model.classes_)
    trees = []
    for stage in model._predictors:
        for column, predictor in enumerate(stage):
            nodes = predictor.nodes
            if nodes["is_categorical"].any():
                return None
            leaf = nodes["is_leaf"].astype(bool)
            trees.append(
                Tree(
                    nodes["feature_idx"].astype(np.intp),
                    last_left(nodes["num_threshold"]),
                    np.where(leaf, LEAF, nodes["left"].astype(np.intp)),
                    np.where(leaf, LEAF, nodes["right"].astype(np.intp)),
                    _in_column(nodes["value"], column, n_classes),
                )
            )
    return _calibrated(trees, model, np.finfo(np.float64).eps)


def _in_column(values: Matrix, column: int, n_classes: int) -> Matrix:
    """Give a leaf's value to its class; with two classes, there is one score, of the second."""
    column = 1 if n_classes == 2 else column
    columns = np.zeros((len(values), n_classes))
    columns[:, column] = values
    return columns


def _calibrated(
    trees: list[Tree],
    model: Any,
    unit: float,
    margins: Callable[[Any], Any] | None = None,
) -> TreeEnsemble:
    """Learn the scores to start from by asking for those of one row."""
    row = np.zeros(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    asked = row[None, :] if names is None else pd.DataFrame(row[None, :], columns=names)
    raw = np.asarray((margins or model.decision_function)(asked), dtype=np.float64).ravel()
    given = np.append(0.0, raw) if len(model.classes_) == 2 else raw
    added = TreeEnsemble(trees, np.zeros(len(given)), model.classes_, 0.0).scores(row)
    base = given - added
    return TreeEnsemble(trees, base, model.classes_, _rounding(trees, base, unit))


def _read_xgboost(model: Any) -> TreeEnsemble | None:
    booster = model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        return None
    stored = learner["gradient_booster"]["model"]
    n_classes = len(model.classes_)
    trees = []
    for tree, column in zip(stored["trees"], stored["tree_info"], strict=True):
        if any(tree["split_type"]):
            return None  # splits by category
        left = np.array(tree["left_children"], dtype=np.intp)
        stored_numbers = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
        trees.append(
            Tree(
                np.array(tree["split_indices"], dtype=np.intp),
                last_left(stored_numbers, single=True, strict=True),
                left,
                np.array(tree["right_children"], dtype=np.intp),
                _in_column(stored_numbers, int(column), n_classes),  # of a leaf: its value
            )
        )

    def margins(rows: Any) -> Any:
        return model.predict(rows, output_margin=True)

    return _calibrated(trees, model, float(np.finfo(np.float32).eps), margins)


def _read_lightgbm(model: Any) -> TreeEnsemble | None:
    n_classes = len(model.classes_)
    trees = []
    for i, stored in enumerate(model.booster_.dump_model()["tree_info"]):
        nodes = _LightGBMNodes()
        if not nodes.add(stored["tree_structure"]):
            return None
        column = i % n_classes if n_classes > 2 else 1
        trees.append(nodes.tree(column, n_classes))

    def margins(rows: Any) -> Any:
        return model.predict(rows, raw_score=True)

    return _calibrated(trees, model, np.finfo(np.float64).eps, margins)


class _LightGBMNodes:
    """Flattens lightgbm's nested nodes."""

    def __init__(self) -> None:
        self._nodes: list[list[float]] = []

    def add(self, node: dict[str, Any]) -> bool:
        """Add a node and those below; False for a split by category."""
        if "leaf_value" in node:
            self._nodes.append([0, 0.0, LEAF, LEAF, node["leaf_value"]])
            return True
        if node["decision_type"] != "<=":
            return False
        here = len(self._nodes)
        self._nodes.append([node["split_feature"], float(node["threshold"]), LEAF, LEAF, 0.0])
        for side, child in ((2, "left_child"), (3, "right_child")):
            self._nodes[here][side] = len(self._nodes)
            if not self.add(node[child]):
                return False
        return True

    def tree(self, column: int, n_classes: int) -> Tree:
        """Give the flattened tree."""
        feature, cut, left, right, value = np.array(self._nodes, dtype=np.float64).T
        values = _in_column(value, column, n_classes)
        return Tree(
            feature.astype(np.intp), cut, left.astype(np.intp), right.astype(np.intp), values
        )


_READERS: tuple[tuple[Any, Callable[[Any], TreeEnsemble | None]], ...] = (
    (DecisionTreeClassifier, _read_decision_tree),
    ((RandomForestClassifier, ExtraTreesClassifier), _read_forest),
    (GradientBoostingClassifier, _read_gradient_boosting),
    (HistGradientBoostingClassifier, _read_hist_gradient_boosting),
)
