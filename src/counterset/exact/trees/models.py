"""Tree ensembles as the solvers see them, every split as "left if the value is at most the cut".

Libraries compare in single or double precision, with ``<=`` or ``<``. Each threshold becomes the
largest double that the library sends to the left. So the solvers compare as the model does, to the
last bit.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from counterset._base.arrays import Indices, Labels, Matrix, Vector
from counterset.exact.preprocessing import CategoryCodes

__all__ = [
    "LEAF",
    "Tree",
    "TreeEnsemble",
    "calibrated",
    "in_column",
    "last_left",
    "lightgbm_codes",
    "own_encoder",
    "read_lightgbm",
    "read_trees",
    "read_xgboost",
    "rounding_of",
    "xgboost_codes",
]

#: The child of a node that has none, as in scikit-learn.
LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree: node 0 is the root; a node with ``left == LEAF`` is a leaf.

    Attributes
    ----------
    feature, cut
        A value of the feature of at most ``cut`` goes to the left, ``(nodes,)``.
    left, right
        The nodes below, ``(nodes,)``.
    values
        What a leaf adds to the score of each class, ``(nodes, classes)``.
    left_values
        For a node that splits a category: the values that go to the left, as an integer whose bit
        ``j`` stands for value ``j``. The ``cut`` of such a node has no meaning.
    """

    feature: Indices
    cut: Vector
    left: Indices
    right: Indices
    values: Matrix
    left_values: Mapping[int, int] = field(default_factory=dict)

    def leaf_of(self, row: Vector) -> int:
        """Return the leaf that a row falls into."""
        node = 0
        while self.left[node] != LEAF:
            node = int(self.left[node] if self._goes_left(row, node) else self.right[node])
        return node

    def _goes_left(self, row: Vector, node: int) -> bool:
        value = row[self.feature[node]]
        if node in self.left_values:
            return bool(self.left_values[node] >> int(value) & 1)
        return bool(value <= self.cut[node])


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Trees whose leaves add up to a score per class; the class with the highest is predicted.

    A regression has one score: its prediction.

    Attributes
    ----------
    base
        The scores before the leaves are added, ``(classes,)``.
    labels
        The label of each class; None for a regression.
    rounding
        A bound on the error of the model's own sum.
    model
        What was read.
    averaged
        Whether the model's probabilities are the scores, divided by the number of trees.
    """

    trees: list[Tree]
    base: Vector
    labels: Labels | None
    rounding: float
    model: Any = None
    averaged: bool = False

    def scores(self, row: Vector) -> Vector:
        """Return the score of each class for one row."""
        leaves = [tree.values[tree.leaf_of(row)] for tree in self.trees]
        total: Vector = self.base + np.sum(leaves, axis=0)
        return total


def last_left(thresholds: Vector, single: bool = False, strict: bool = False) -> Vector:
    """Return the largest doubles with ``value <= threshold`` (``<`` if strict).

    Parameters
    ----------
    single
        Whether the value is rounded to single precision before it is compared.

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


def rounding_of(trees: list[Tree], base: Vector, unit: float) -> float:
    """Bound the error of adding up leaves; ``unit`` is the last place of the precision used.

    A model's own probabilities are rounded too, so those of nearly equal scores may tie.
    """
    leaves = (np.abs(tree.values[tree.left == LEAF]).max() for tree in trees)
    sizes = sum(leaves, float(np.abs(base).max()))
    return float(unit * ((len(trees) + 8) * sizes + 8))


def in_column(values: Vector, column: int, n_classes: int) -> Matrix:
    """Return leaves' values as scores of one class, ``(nodes, classes)``.

    With two classes there is a single score, which is that of the second.
    """
    column = 1 if n_classes == 2 else column
    columns = np.zeros((len(values), n_classes))
    columns[:, column] = values
    return columns


def calibrated(
    trees: list[Tree],
    model: Any,
    unit: float,
    margins: Callable[[Any], Any] | None = None,
) -> TreeEnsemble:
    """Return the ensemble with base scores computed from the model's scores of one row.

    ``margins`` returns the model's raw scores; by default its decision function, or the prediction
    of a regression.
    """
    row = np.zeros(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    asked = row[None, :] if names is None else pd.DataFrame(row[None, :], columns=names)
    labels = getattr(model, "classes_", None)
    scores_of = margins or (model.predict if labels is None else model.decision_function)
    raw = np.asarray(scores_of(asked), dtype=np.float64).ravel()
    given = np.append(0.0, raw) if labels is not None and len(labels) == 2 else raw
    added = TreeEnsemble(trees, np.zeros(len(given)), labels, 0.0).scores(row)
    base = given - added
    return TreeEnsemble(trees, base, labels, rounding_of(trees, base, unit), model)


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


def read_trees(model: Any) -> TreeEnsemble | None:
    """Read a model as a tree ensemble; None if it is not one."""
    for kind, read_regression in _REGRESSIONS:
        if isinstance(model, kind):
            return read_regression(model)
    if not hasattr(model, "classes_") or np.ndim(model.classes_) != 1:
        return None
    for kind, read in _READERS:
        if isinstance(model, kind):
            return read(model)
    if _is_xgboost(model):
        return read_xgboost(model)
    if _is_lightgbm(model):
        return read_lightgbm(model)
    return None


def own_encoder(model: Any) -> Any:
    """Return what a model does to categories before its trees see them; None if it does nothing."""
    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return getattr(model, "_preprocessor", None)
    if _is_xgboost(model):
        return xgboost_codes(model)
    return lightgbm_codes(model) if _is_lightgbm(model) else None


def _is_xgboost(model: Any) -> bool:
    # By name, so that the library need not be installed, nor imported to find out.
    library = type(model).__module__.partition(".")[0]
    return type(model).__name__ == "XGBClassifier" and library == "xgboost"


def _is_lightgbm(model: Any) -> bool:
    library = type(model).__module__.partition(".")[0]
    return type(model).__name__ == "LGBMClassifier" and library == "lightgbm"


def _read_decision_tree(model: DecisionTreeClassifier) -> TreeEnsemble:
    trees = [_sklearn_tree(model.tree_, _shares(model.tree_))]
    base = np.zeros(len(model.classes_))
    return TreeEnsemble(trees, base, model.classes_, 0.0, model, averaged=True)


def _read_forest(model: RandomForestClassifier | ExtraTreesClassifier) -> TreeEnsemble:
    trees = [_sklearn_tree(tree.tree_, _shares(tree.tree_)) for tree in model.estimators_]
    base = np.zeros(len(model.classes_))
    unit = 0.0 if _all_whole(trees) else np.finfo(np.float64).eps
    rounding = rounding_of(trees, base, unit)
    return TreeEnsemble(trees, base, model.classes_, rounding, model, averaged=True)


def _all_whole(trees: list[Tree]) -> bool:
    # Whole votes add up without rounding, so ties are exact.
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
        return None  # its base scores come from another model
    n_classes = len(model.classes_)
    trees = []
    for stage in model.estimators_:
        for column, regressor in enumerate(stage):
            added = model.learning_rate * regressor.tree_.value[:, 0, 0]
            trees.append(_sklearn_tree(regressor.tree_, in_column(added, column, n_classes)))
    return calibrated(trees, model, np.finfo(np.float64).eps)


def _read_hist_gradient_boosting(model: HistGradientBoostingClassifier) -> TreeEnsemble:
    n_classes = len(model.classes_)
    trees = [
        _hist_tree(predictor, column, n_classes)
        for stage in model._predictors
        for column, predictor in enumerate(stage)
    ]
    start = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    base = np.append(0.0, start) if n_classes == 2 else start
    rounding = rounding_of(trees, base, np.finfo(np.float64).eps)
    return TreeEnsemble(trees, base, model.classes_, rounding, model)


def _read_regression_tree(model: DecisionTreeRegressor) -> TreeEnsemble | None:
    return _read_averages([model.tree_], model)


def _read_regression_forest(
    model: RandomForestRegressor | ExtraTreesRegressor,
) -> TreeEnsemble | None:
    return _read_averages([tree.tree_ for tree in model.estimators_], model)


def _read_averages(stored: list[Any], model: Any) -> TreeEnsemble | None:
    """Read trees whose predictions are averaged; None if there are several for each row."""
    if model.n_outputs_ != 1:
        return None
    trees = [_sklearn_tree(tree, tree.value[:, 0, :] / len(stored)) for tree in stored]
    base = np.zeros(1)
    rounding = rounding_of(trees, base, np.finfo(np.float64).eps)
    return TreeEnsemble(trees, base, None, rounding, model)


def _read_boosted_regression(model: GradientBoostingRegressor) -> TreeEnsemble | None:
    if not (model.init_ == "zero" or isinstance(model.init_, DummyRegressor)):
        return None  # its base comes from another model
    trees = [
        _sklearn_tree(each.tree_, model.learning_rate * each.tree_.value[:, 0, :])
        for each in model.estimators_.ravel()
    ]
    return calibrated(trees, model, np.finfo(np.float64).eps)


def _read_hist_regression(model: HistGradientBoostingRegressor) -> TreeEnsemble | None:
    if model.loss not in ("squared_error", "absolute_error", "quantile"):
        return None  # its prediction is no sum of leaves
    trees = [_hist_tree(predictor, 0, 1) for (predictor,) in model._predictors]
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    rounding = rounding_of(trees, base, np.finfo(np.float64).eps)
    return TreeEnsemble(trees, base, None, rounding, model)


def _hist_tree(predictor: Any, column: int, n_classes: int) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    by_category = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    sets = {
        int(node): sum(
            int(word) << (32 * i)
            for i, word in enumerate(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        )
        for node in by_category
    }
    return Tree(
        nodes["feature_idx"].astype(np.intp),
        last_left(nodes["num_threshold"]),
        np.where(leaf, LEAF, nodes["left"].astype(np.intp)),
        np.where(leaf, LEAF, nodes["right"].astype(np.intp)),
        in_column(nodes["value"], column, n_classes),
        sets,
    )


_READERS: tuple[tuple[Any, Callable[[Any], TreeEnsemble | None]], ...] = (
    (DecisionTreeClassifier, _read_decision_tree),
    ((RandomForestClassifier, ExtraTreesClassifier), _read_forest),
    (GradientBoostingClassifier, _read_gradient_boosting),
    (HistGradientBoostingClassifier, _read_hist_gradient_boosting),
)
_REGRESSIONS: tuple[tuple[Any, Callable[[Any], TreeEnsemble | None]], ...] = (
    (DecisionTreeRegressor, _read_regression_tree),
    ((RandomForestRegressor, ExtraTreesRegressor), _read_regression_forest),
    (GradientBoostingRegressor, _read_boosted_regression),
    (HistGradientBoostingRegressor, _read_hist_regression),
)
