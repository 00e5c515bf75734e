"""Reading the trees of scikit-learn, and of libraries with its interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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

from counterset._base.arrays import Matrix
from counterset.exact.trees.boosters import (
    lightgbm_codes,
    read_lightgbm,
    read_xgboost,
    xgboost_codes,
)
from counterset.exact.trees.ensembles import (
    LEAF,
    Tree,
    TreeEnsemble,
    calibrated,
    in_column,
    last_left,
    rounding_of,
)

__all__ = ["own_encoder", "read_trees"]


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
