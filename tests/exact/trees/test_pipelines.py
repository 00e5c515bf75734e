"""Trees behind scalers and encoders, and mixed tables: against every combination of values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from support.oracles_exact import mixed_distance
from support.toys_exact import ENCODERS, VALUES, flats
from threadpoolctl import threadpool_limits

from counterset import Constraints, DiverseExplainer, ExhaustiveExplainer, Schema
from counterset.distances import L1
from counterset.exact import Box, counterfactual_distance, counterfactual_distances
from counterset.exact.trees.pipelines import last_at_most, read_tree_pipeline
from counterset.exceptions import UnsupportedModelError

KINDS = ["gower", "l0", "l1", "l2", "linf"]


@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(KINDS),
    encoder=st.sampled_from(list(ENCODERS)),
    n_classes=st.integers(2, 3),
    trees=st.sampled_from(["tree", "forest", "votes", "boosted"]),
)
def test_mixed_tables_against_every_combination(
    seed: int, kind: str, encoder: str, n_classes: int, trees: str
) -> None:
    frame, y = flats(seed, n_classes)
    last = {
        "tree": DecisionTreeClassifier(max_depth=5, random_state=seed),
        "forest": RandomForestClassifier(5, max_depth=3, random_state=seed),
        "votes": ExtraTreesClassifier(4, random_state=seed),
        "boosted": GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=seed),
    }[trees]
    model = Pipeline([("encode", ENCODERS[encoder]), ("trees", last)]).fit(frame, y)
    every = pd.DataFrame(list(itertools.product(*VALUES.values())), columns=list(VALUES))
    x = frame.iloc[[0]]
    others = every[model.predict(every) != model.predict(x)[0]]
    spans = [3.0, 2.0, 1.0, 1.0]
    expected = min(
        mixed_distance(kind, x.iloc[0].tolist(), row, spans)
        for row in others.itertuples(index=False)
    )
    bounds = counterfactual_distance(model, x, kind, Box.of(frame), method="exact")
    assert bounds.exact, bounds
    assert bounds.upper == pytest.approx(expected, abs=1e-12)
    witness = bounds.witness.to_frame().T.astype(frame.dtypes.to_dict())
    assert model.predict(witness)[0] != model.predict(x)[0]


def test_codes_and_one_hot_columns_that_are_declared() -> None:
    frame, y = flats(1)
    coded = frame.assign(
        heating=pd.Categorical(frame["heating"]).codes.astype(float),
        owner=(frame["owner"] == "private").astype(float),
    )
    model = RandomForestClassifier(6, max_depth=4, random_state=0).fit(coded, y)
    box = Box.of(coded, schema=Schema(categorical=["heating", "owner"]))
    every = pd.DataFrame(
        list(itertools.product(VALUES["rooms"], VALUES["floor"], range(4), range(2))),
        columns=coded.columns,
    ).astype(coded.dtypes.to_dict())
    for i in range(4):
        x = coded.iloc[[i]]
        others = every[model.predict(every) != model.predict(x)[0]]
        changed = (others != x.to_numpy()[0]).to_numpy(dtype=float)
        far = np.abs(others - x.to_numpy()[0]).to_numpy() / [3, 2, 1, 1]
        expected = np.hstack([far[:, :2], changed[:, 2:]]).mean(axis=1).min()
        bounds = counterfactual_distance(model, x, "gower", box)
        assert bounds.exact
        assert bounds.upper == pytest.approx(expected)


def test_a_group_of_one_hot_columns_is_one_category() -> None:
    frame, y = flats(2)
    hot = pd.get_dummies(frame, dtype=float)
    groups = {
        name: [str(column) for column in hot if str(column).startswith(f"{name}_")]
        for name in ("heating", "owner")
    }
    model = RandomForestClassifier(6, max_depth=4, random_state=0).fit(hot, y)
    twin = Pipeline([("encode", FunctionTransformer().fit(hot)), ("trees", model)])
    box = Box.of(hot, schema=Schema(one_hot=groups))
    every = pd.get_dummies(
        pd.DataFrame(list(itertools.product(*VALUES.values())), columns=list(VALUES)), dtype=float
    )[hot.columns]
    for i in range(4):
        x = hot.iloc[[i]]
        others = every[model.predict(every) != model.predict(x)[0]]
        far = np.abs(others - x.to_numpy()[0]).to_numpy()
        # Two columns of a group change together.
        expected = (far[:, :2] / [3, 2]).sum(axis=1) + far[:, 2:].sum(axis=1) / 2
        for each in (model, twin):
            bounds = counterfactual_distance(each, x, "gower", box)
            assert bounds.exact
            assert bounds.upper == pytest.approx(expected.min() / 4)


def test_the_explainers_own_distance_and_certificate() -> None:
    frame, y = flats(3)
    model = Pipeline(
        [("encode", ENCODERS["one-hot"]), ("trees", RandomForestClassifier(5, random_state=0))]
    ).fit(frame, y)
    explainer = DiverseExplainer.paper(model, distance="gower", max_counterfactuals=2).fit(frame)
    by_name = counterfactual_distance(model, frame.iloc[[0]], "gower", Box.of(frame))
    own = counterfactual_distance(model, frame.iloc[[0]], explainer.distance_, explainer)
    assert own.exact
    assert own.upper == pytest.approx(by_name.upper)
    without_a_domain = counterfactual_distance(model, frame.iloc[[0]], explainer.distance_)
    assert without_a_domain.upper <= own.upper + 1e-9
    explanation = explainer.explain(frame.iloc[[0]])
    certificate = explainer.certify(explanation, epsilon=0.5).certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.distance_bounds.exact
    exhaustive = ExhaustiveExplainer(model, 0.2, "gower", Box.of(frame))
    assert exhaustive.contains(frame.iloc[[0]], own.witness).value == "yes"


def test_what_may_not_change_stays() -> None:
    frame, y = flats(4)
    model = Pipeline(
        [("encode", ENCODERS["one-hot"]), ("trees", RandomForestClassifier(5, random_state=0))]
    ).fit(frame, y)
    x = frame.iloc[[0]]
    kept = Constraints(immutable=["heating", "owner"])
    bounds = counterfactual_distance(model, x, "l1", Box.of(frame), constraints=kept)
    assert bounds.exact
    assert bounds.witness["heating"] == x["heating"].iloc[0]
    assert bounds.witness["owner"] == x["owner"].iloc[0]


SCALERS = [
    StandardScaler(),
    MinMaxScaler(feature_range=(-3, 7)),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    make_pipeline(RobustScaler(with_centering=False), "passthrough", StandardScaler()),
    "passthrough",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_cuts_are_where_the_scaler_puts_them(scaler: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        (rng.random((60, 2)) * [1e3, 1e-3] + [5e3, 0]).astype(dtype), columns=["a", "b"]
    )
    y = X["a"] / 1e3 - 5 + X["b"] * 1e3 > 1
    model = Pipeline([("scale", scaler), ("tree", DecisionTreeClassifier(max_depth=4))]).fit(X, y)
    for i in range(5):
        x = X.iloc[[i]]
        own = model.predict(x)[0]
        bounds = counterfactual_distance(model, x, L1([1e-3, 1e3]), Box.of(X), method="exact")
        assert bounds.exact
        witness = bounds.witness.to_frame().T.astype(dtype)
        assert model.predict(witness)[0] != own
        for name in X.columns:
            if witness[name].iloc[0] != x[name].iloc[0]:  # the next number back does not flip
                back = witness.copy()
                back[name] = np.nextafter(
                    witness[name].to_numpy(dtype), x[name].to_numpy(dtype), dtype=dtype
                )
                assert model.predict(back)[0] == own


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), distance=st.sampled_from(["l1", "l2", "linf", "l0"]))
def test_scaled_forests_are_as_far_as_their_twins_without(seed: int, distance: str) -> None:
    # Powers of two scale without rounding, so that both forests have the same cells.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 64, (60, 3)) / 8
    y = X @ [1, -1, 0.5] + rng.random(60) > 2
    forest = RandomForestClassifier(5, max_depth=4, random_state=seed).fit(X / 8, y)
    scaler = MaxAbsScaler().fit(np.full((1, 3), 8.0))
    plain = RandomForestClassifier(5, max_depth=4, random_state=seed).fit(X, y)
    model = Pipeline([("scale", scaler), ("forest", forest)])
    first = counterfactual_distance(model, X[0], distance, Box.of(X))
    second = counterfactual_distance(plain, X[0], distance, Box.of(X))
    assert first.exact
    assert first.upper == pytest.approx(second.upper, abs=1e-6)


def test_a_pipeline_without_bounds() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    model.fit(X, [0, 0, 1, 1])
    bounds = counterfactual_distance(model, [0.0], "l1", method="exact")
    assert bounds.exact
    assert bounds.upper == pytest.approx(1.5, abs=1.0)
    assert counterfactual_distances(model, X, "l1").exact.all()


def test_whole_numbers_without_bounds_and_an_unscaled_gower() -> None:
    frame = pd.DataFrame({"n": np.arange(8, dtype=np.int8), "m": np.arange(8) % 3})
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(frame, frame["n"] > 3)
    bounds = counterfactual_distance(model, frame.iloc[[0]], "l1", method="exact")
    assert bounds.upper == 4
    # Without a table of data there are no ranges to scale by: the plain mean.
    assert counterfactual_distance(model, frame.iloc[[0]], "gower").upper == 2
    declared = Box.of(frame.astype(float), schema=Schema(integer=["n", "m"]))
    floats = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    floats.fit(frame.astype(float), frame["n"] > 3)
    unbounded = Box(table=declared.table)
    assert (
        counterfactual_distance(floats, frame.astype(float).iloc[[0]], "l1", unbounded).upper == 4
    )


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_pipelines_that_are_not_read_are_searched() -> None:
    frame, y = flats(5)
    numbers = frame[["rooms", "floor"]].astype(float)
    forest = RandomForestClassifier(3, random_state=0)
    imputed = numbers.assign(empty=np.nan)
    unknown_too = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    cases = [
        (make_pipeline(PCA(2), forest), numbers),
        (make_pipeline(FunctionTransformer(np.log1p), forest), numbers),
        (make_pipeline(SimpleImputer(add_indicator=True), forest), numbers),
        (make_pipeline(ColumnTransformer([("p", PCA(1), ["rooms", "floor"])]), forest), numbers),
        (make_pipeline(unknown_too, forest), numbers),  # numbers taken for names
    ]
    for model, X in cases:
        bounds = counterfactual_distance(model.fit(X, y), X.iloc[[0]], "l1", Box.of(X))
        assert bounds.method == "search"
        with pytest.raises(UnsupportedModelError, match="Pipeline"):
            counterfactual_distance(model, X.iloc[[0]], "l1", Box.of(X), method="exact")
    assert read_tree_pipeline(Pipeline([("trees", RandomForestClassifier())])) is None
    dropped = make_pipeline(SimpleImputer(), forest).fit(imputed.to_numpy(), y)
    assert read_tree_pipeline(dropped) is None
    alone = Pipeline([("trees", forest.fit(numbers, y))])
    assert counterfactual_distance(alone, numbers.iloc[[0]], "l1", Box.of(numbers)).exact


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Histogram boosting starts threads, which wait for each other on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scaled", [False, True])
def test_trees_that_split_categories_themselves(n_classes: int, scaled: bool) -> None:
    frame, y = flats(6, n_classes)
    types = {"heating": "category", "owner": "category"}
    typed = frame.astype(types)
    last = HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=4, categorical_features="from_dtype"
    )
    # The model puts its categories first, whatever the order of the columns.
    scaler = make_column_transformer((StandardScaler(), ["rooms"]), remainder="passthrough")
    before = [scaler.set_output(transform="pandas")] if scaled else []
    model = make_pipeline(*before, last).fit(typed, y)
    every = pd.DataFrame(list(itertools.product(*VALUES.values())), columns=list(VALUES))
    for i in range(3):
        x = typed.iloc[[i]]
        predicted = model.predict(every.astype(typed.dtypes.to_dict()))
        others = every[predicted != model.predict(x)[0]]
        expected = min(
            mixed_distance("gower", x.iloc[0].tolist(), row, [3.0, 2.0, 1.0, 1.0])
            for row in others.itertuples(index=False)
        )
        bounds = counterfactual_distance(model, x, "gower", Box.of(typed), method="exact")
        assert bounds.exact
        assert bounds.upper == pytest.approx(expected)


@pytest.mark.usefixtures("one_thread")
def test_sets_of_codes_that_are_not_declared_are_searched() -> None:
    frame, y = flats(6)
    coded = frame[["rooms", "floor"]].assign(heating=pd.Categorical(frame["heating"]).codes)
    model = HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=4, categorical_features=[2]
    ).fit(coded.to_numpy(dtype=float), y)
    X = coded.to_numpy(dtype=float)
    assert counterfactual_distance(model, X[0], "l1", Box.of(X)).method == "search"
    declared = Box.of(X, schema=Schema(categorical=["x2"]))
    assert counterfactual_distance(model, X[0], "l1", declared).exact
    # A value that the model has never seen is sent where missing values go.
    more = np.vstack([X, [1.0, 1.0, 7.0]])
    unseen = Box.of(more, schema=Schema(categorical=["x2"]))
    assert counterfactual_distance(model, X[0], "l1", unseen).method == "search"


def test_values_that_an_encoder_does_not_know_are_searched() -> None:
    frame, y = flats(8)
    encoder = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), ["heating"]),
        remainder="drop",
    )
    known = frame[frame["heating"] != "oil"]
    model = make_pipeline(encoder, DecisionTreeClassifier()).fit(known, y[known.index])
    bounds = counterfactual_distance(model, known.iloc[[0]], "l0", Box.of(frame))
    assert bounds.method == "search"
    assert counterfactual_distance(model, known.iloc[[0]], "l0", Box.of(known)).exact


def test_a_forest_without_splits() -> None:
    frame, _ = flats(8)
    model = make_pipeline(ENCODERS["one-hot"], RandomForestClassifier(2)).fit(
        frame, frame["rooms"] > 9
    )
    assert counterfactual_distance(model, frame.iloc[[0]], "gower", Box.of(frame)).none_exists


# The last number at most a limit ------------------------------------------------------------------


@given(
    limit=st.floats(-50, 50),
    factor=st.floats(1e-3, 1e3),
    shift=st.floats(-10, 10),
    whole=st.booleans(),
)
def test_the_last_number_at_most(limit: float, factor: float, shift: float, whole: bool) -> None:
    def scaled(values: np.ndarray) -> np.ndarray:
        return values * factor + shift

    low, high = np.array([-1e6]), np.array([1e6])
    last = last_at_most(scaled, np.array([limit]), low, high, np.array([whole]))
    after = last + 1 if whole else np.nextafter(last, np.inf)
    assert scaled(last)[0] <= limit < scaled(after)[0]
    assert not whole or last[0] == np.floor(last[0])
