"""Exact distances of real xgboost and lightgbm models, against every combination of a grid."""

from __future__ import annotations

import itertools
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from support.oracles_exact import mixed_distance

from counterset.exact import Box, Grid, counterfactual_distance
from counterset.exact.trees.models import read_trees

SIDE = 6
KINDS = ["l1", "l2", "linf", "l0"]


def table(seed: int, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers from 0 to 5 in three columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, SIDE, (150, 3)), columns=["a", "b", "c"])
    score = X["a"] - 0.7 * X["b"] + X["a"] * X["c"] / 4 + rng.random(150)
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.digitize(score, edges)


def every_point() -> pd.DataFrame:
    points = list(itertools.product(range(SIDE), repeat=3))
    return pd.DataFrame(points, columns=["a", "b", "c"])


def xgb(**settings: Any) -> Any:
    return xgboost.XGBClassifier(
        **{"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "learning_rate": 0.5} | settings
    )


def lgbm(**settings: Any) -> Any:
    given = {"n_estimators": 8, "num_leaves": 6, "min_child_samples": 5, "n_jobs": 1}
    return lightgbm.LGBMClassifier(**given | {"verbose": -1} | settings)


def check(model: Any, x: pd.DataFrame, kind: str, X: pd.DataFrame) -> None:
    every = every_point().astype(X.dtypes.to_dict())
    others = every[model.predict(every) != model.predict(x)[0]]
    expected = min(
        mixed_distance(kind, x.iloc[0].tolist(), row, [1.0] * 3)
        for row in others.itertuples(index=False)
    )
    bounds = counterfactual_distance(model, x, kind, Box.of(X), method="exact")
    assert bounds.exact, bounds
    assert bounds.upper == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(KINDS),
    n_classes=st.integers(2, 3),
    library=st.sampled_from([xgb, lgbm]),
)
def test_whole_numbers_against_every_combination(
    seed: int, kind: str, n_classes: int, library: Any
) -> None:
    X, y = table(seed, n_classes)
    model = library().fit(X, y)
    check(model, X.iloc[[0]], kind, X)


FOR_ANY_CLASSES = [
    xgb(subsample=0.7, colsample_bytree=0.7, random_state=0),
    xgb(num_parallel_tree=3, n_estimators=3),
    xgb(grow_policy="lossguide", max_leaves=5, tree_method="hist"),
    xgb(n_estimators=1),
    lgbm(boosting_type="dart"),
    lgbm(boosting_type="rf", subsample=0.7, subsample_freq=1),
    lgbm(n_estimators=1),
    lgbm(extra_trees=True),
]
FOR_TWO_CLASSES = [xgb(base_score=0.8), lgbm(objective="binary", scale_pos_weight=2.0)]


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        *itertools.product(FOR_ANY_CLASSES, [2, 3]),
        *itertools.product(FOR_TWO_CLASSES, [2]),
    ],
    ids=str,
)
def test_kinds_of_boosting(model: Any, n_classes: int) -> None:
    X, y = table(7, n_classes)
    model.fit(X, y)
    for i in range(6):
        check(model, X.iloc[[i]], "l1", X)


@pytest.mark.parametrize("library", [xgb, lgbm])
def test_classes_are_named_as_the_model_names_them(library: Any) -> None:
    X, y = table(1)
    model = lgbm().fit(X, np.array(["no", "yes"])[y]) if library is lgbm else xgb().fit(X, y)
    check(model, X.iloc[[3]], "l1", X)


@settings(max_examples=25, deadline=None)
@example(seed=883, dtype=np.float64, library=lgbm)  # a split at 0, about which lightgbm is lax
@given(
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([np.float64, np.float32]),
    library=st.sampled_from([xgb, lgbm]),
)
def test_the_witness_is_at_the_last_bit(seed: int, dtype: Any, library: Any) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(0.1, 0.7, (120, 2)).astype(dtype), columns=["a", "b"])
    model = library().fit(X, X["a"] + 0.3 * X["b"] > 0.1)
    x = X.iloc[[0]]
    own = model.predict(x)[0]
    bounds = counterfactual_distance(model, x, "l1", Box.of(X), method="exact")
    assert bounds.exact
    witness = bounds.witness.to_frame().T.astype(dtype)
    assert model.predict(witness)[0] != own
    for name in X.columns:
        if witness[name].iloc[0] != x[name].iloc[0]:
            back = witness.copy()
            start, end = witness[name].to_numpy(dtype), x[name].to_numpy(dtype)
            back[name] = np.nextafter(start, end, dtype=dtype)
            assert model.predict(back)[0] == own


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(KINDS),
    n_classes=st.integers(2, 3),
    library=st.sampled_from([xgb, lgbm]),
)
def test_boosted_floats_against_a_fine_grid(
    seed: int, kind: str, n_classes: int, library: Any
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((80, 2))
    score = X[:, 0] + X[:, 1] ** 2
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    model = library(n_estimators=4).fit(X, y)
    bounds = counterfactual_distance(model, X[0], kind, Box(0, 1), method="exact")
    assert bounds.exact
    assert model.predict(bounds.witness[None, :])[0] != model.predict(X[:1])[0]
    lines = [np.append(np.linspace(0, 1, 101), X[0, i]) for i in range(2)]
    on_grid = counterfactual_distance(model, X[0], kind, Grid(lines))
    assert bounds.lower <= on_grid.upper + 1e-9
    assert on_grid.upper <= bounds.upper + 0.03 or kind == "l0"


@pytest.mark.parametrize("library", [xgb, lgbm])
def test_training_data_that_misses_values(library: Any) -> None:
    X, y = table(3)
    holes = X.astype(float).mask(np.random.default_rng(0).random(X.shape) < 0.2)
    model = library().fit(holes, y)
    known = holes.dropna()
    domain = Box.of(holes)
    every = every_point().astype(float)
    for i in range(4):
        x = known.iloc[[i]]
        others = every[model.predict(every) != model.predict(x)[0]]
        bounds = counterfactual_distance(model, x, "l1", domain, method="exact")
        assert bounds.exact
        assert bounds.upper <= np.abs(others.to_numpy() - x.to_numpy()).sum(axis=1).min()
        assert not bounds.witness.isna().any()  # a known value does not become missing
        witness = bounds.witness.to_frame().T.astype(float)
        assert model.predict(witness)[0] != model.predict(x)[0]


def test_trees_that_do_more_than_compare_numbers_are_not_read() -> None:
    X, y = table(4)
    zeros = X.astype(float)
    assert read_trees(xgb(missing=0.0).fit(zeros, y)) is None
    assert read_trees(lgbm(zero_as_missing=True).fit(zeros, y)) is None
    assert read_trees(lgbm(linear_tree=True).fit(zeros, y)) is None
    linear = xgboost.XGBClassifier(booster="gblinear", n_estimators=2)
    assert read_trees(linear.fit(zeros, y)) is None
    _, three = table(4, 3)
    together = xgb(multi_strategy="multi_output_tree", tree_method="hist")
    assert read_trees(together.fit(zeros, three)) is None


LETTERS = dict(enumerate("uvwxyz"))


def with_categories(library: Any, one_by_one: bool = False) -> Any:
    if library is xgb:
        return xgb(enable_categorical=True, max_cat_to_onehot=20 if one_by_one else 1)
    return lgbm(min_data_per_group=1, cat_smooth=1, max_cat_to_onehot=20 if one_by_one else 1)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["gower", "l1", "l0"]),
    n_classes=st.integers(2, 3),
    library=st.sampled_from([xgb, lgbm]),
    one_by_one=st.booleans(),
    numbers=st.booleans(),
)
def test_splits_by_category_against_every_combination(
    seed: int, kind: str, n_classes: int, library: Any, one_by_one: bool, numbers: bool
) -> None:
    # Such models were searched, with 0 as the lower bound.
    X, y = table(seed, n_classes)
    jumbled = X["c"].map(dict(enumerate([3, 0, 4, 1, 5, 2])))
    values = dict(enumerate(range(10, 16))) if numbers else LETTERS
    typed = X.assign(c=jumbled.map(values).astype("category"))
    model = with_categories(library, one_by_one).fit(typed, y)
    every = every_point()
    every["c"] = every["c"].map(values).astype(typed["c"].dtype)
    x = typed.iloc[[0]]
    others = every[model.predict(every) != model.predict(x)[0]]
    own = x.astype({"c": str}).iloc[0].tolist()
    expected = min(
        mixed_distance(kind, own, row, [5.0, 5.0, 1.0])
        for row in others.astype({"c": str}).itertuples(index=False)
    )
    bounds = counterfactual_distance(model, x, kind, Box.of(typed), method="exact")
    assert bounds.exact, bounds
    assert bounds.upper == pytest.approx(expected)


@pytest.mark.parametrize("library", [xgb, lgbm])
def test_a_table_with_its_categories_in_another_order(library: Any) -> None:
    # Their codes in the table are not those that the trees split.
    X, y = table(5)
    typed = X.assign(c=pd.Categorical(X["c"].map(LETTERS)))
    model = with_categories(library).fit(typed, (y + (X["c"] % 2)) > 0)
    other = typed.assign(c=typed["c"].cat.set_categories(list("zyxwvu")))
    for i in range(5):
        first, second = (
            counterfactual_distance(model, frame.iloc[[i]], "gower", Box.of(frame))
            for frame in (typed, other)
        )
        assert first.exact
        assert second.exact
        assert first.upper == pytest.approx(second.upper)


@pytest.mark.parametrize("library", [xgb, lgbm])
def test_categories_that_no_tree_splits(library: Any) -> None:
    X, y = table(5)
    typed = X.assign(c=pd.Categorical(["u"] * len(X)))
    model = with_categories(library).fit(typed, y)
    bounds = counterfactual_distance(model, typed.iloc[[0]], "gower", Box.of(typed))
    assert bounds.exact


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_early_stopping_uses_the_trees_that_predict_uses() -> None:
    X, y = table(6)
    noise = np.random.default_rng(0).integers(0, 2, 50)
    held_out = [(X[:50], noise)]
    early = xgb(n_estimators=40, early_stopping_rounds=2, learning_rate=0.9)
    early.fit(X[50:], y[50:], eval_set=held_out, verbose=False)
    assert early.best_iteration < 39
    check(early, X.iloc[[0]], "l1", X)
    stopped = lgbm(n_estimators=40)
    stopped.fit(
        X[50:], y[50:], eval_set=held_out, callbacks=[lightgbm.early_stopping(2, verbose=False)]
    )
    assert stopped.best_iteration_ < 40
    check(stopped, X.iloc[[0]], "l1", X)


@pytest.mark.parametrize("library", [xgb, lgbm])
def test_boosted_trees_behind_encoders(library: Any) -> None:
    X, y = table(8)
    mixed = X.assign(c=X["c"].map(dict(enumerate("uvwxyz"))))
    encoder = make_column_transformer(
        (StandardScaler(), ["a", "b"]), (OneHotEncoder(sparse_output=False), ["c"])
    )
    model = make_pipeline(encoder.set_output(transform="pandas"), library()).fit(mixed, y)
    every = every_point().assign(c=lambda frame: frame["c"].map(dict(enumerate("uvwxyz"))))
    for i in range(3):
        x = mixed.iloc[[i]]
        others = every[model.predict(every) != model.predict(x)[0]]
        expected = min(
            mixed_distance("gower", x.iloc[0].tolist(), row, [5.0, 5.0, 1.0])
            for row in others.itertuples(index=False)
        )
        bounds = counterfactual_distance(model, x, "gower", Box.of(mixed), method="exact")
        assert bounds.exact
        assert bounds.upper == pytest.approx(expected)


def test_zeros_of_a_sparse_matrix_are_missing_to_xgboost() -> None:
    X, y = table(9)
    text = X.astype(str)
    for library, method in ((xgb, "search"), (lgbm, "constraint programme of a tree ensemble")):
        model = make_pipeline(OneHotEncoder(dtype=np.float32), library()).fit(text, y)
        bounds = counterfactual_distance(model, text.iloc[[0]], "gower", Box.of(text))
        assert bounds.method == method
