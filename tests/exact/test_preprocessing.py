"""Linear models and networks behind scalers and encoders: against every combination of values."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from support.oracles_exact import half_space_distance, mixed_distance
from support.toys_exact import CUBE, ENCODERS, TWO, VALUES, flats, problem_of

from counterset import Constraints, DiverseExplainer, Schema, datasets
from counterset.exact import Box, counterfactual_distance, counterfactual_distances
from counterset.exact.preprocessing import (
    CategoryCodes,
    Columns,
    Preprocessing,
    read_scaler,
    sources_of,
)

KINDS = ["gower", "l0", "l1", "l2", "linf"]
SPANS = [3.0, 2.0, 1.0, 1.0]


def network(seed: int) -> MLPClassifier:
    return MLPClassifier((4,), solver="lbfgs", max_iter=40, random_state=seed)


def fitted(seed: int, encoder: str, last: Any, n_classes: int = 2) -> tuple[Any, pd.DataFrame]:
    frame, y = flats(seed, n_classes)
    model = Pipeline([("encode", ENCODERS[encoder]), ("last", last)])
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return model.fit(frame, y), frame


def by_brute_force(model: Any, x: pd.DataFrame, kind: str) -> float:
    every = pd.DataFrame(list(itertools.product(*VALUES.values())), columns=list(VALUES))
    others = every[model.predict(every) != model.predict(x)[0]]
    return min(
        mixed_distance(kind, x.iloc[0].tolist(), row, SPANS)
        for row in others.itertuples(index=False)
    )


@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(KINDS),
    encoder=st.sampled_from(list(ENCODERS)),
    n_classes=st.integers(2, 3),
    last=st.sampled_from(["logistic", "ridge", "svm", "network"]),
)
def test_mixed_tables_against_every_combination(
    seed: int, kind: str, encoder: str, n_classes: int, last: str
) -> None:
    # Such pipelines were searched, with 0 as the lower bound.
    steps = {
        "logistic": LogisticRegression(),
        "ridge": RidgeClassifier(),
        "svm": LinearSVC(),
        "network": network(seed),
    }
    model, frame = fitted(seed, encoder, steps[last], n_classes)
    x = frame.iloc[[0]]
    expected = by_brute_force(model, x, kind)
    bounds = counterfactual_distance(model, x, kind, Box.of(frame), method="exact")
    assert bounds.exact, bounds
    assert bounds.lower <= expected
    assert bounds.upper == pytest.approx(expected, abs=1e-12)
    witness = bounds.witness.to_frame().T.astype(frame.dtypes.to_dict())
    assert model.predict(witness)[0] != model.predict(x)[0]


@settings(max_examples=20)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["l1", "linf"]),
    offset=st.sampled_from([0.0, 1e6]),
)
def test_numbers_and_categories_against_the_closed_form_of_each_choice(
    seed: int, kind: str, offset: float
) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": offset + rng.random(40),
            "home": rng.choice(["own", "rent", "none"], 40),
            "debt": rng.random(40),
        }
    )
    score = frame["age"] - offset + frame["debt"] + 0.7 * (frame["home"] == "own")
    encode = make_column_transformer(
        (OneHotEncoder(), ["home"]), (StandardScaler(), ["debt", "age"])
    )
    model = make_pipeline(encode, LogisticRegression(C=10)).fit(frame, score > score.median())
    x, numbers = frame.iloc[[0]], ["age", "debt"]
    low, high = frame[numbers].min().to_numpy(), frame[numbers].max().to_numpy()
    own = 1 if model.predict(x)[0] else -1
    scale = model[0].named_transformers_["standardscaler"].scale_
    gradient = -own * (model[-1].coef_[0, 3:] / scale)[::-1]
    lengths = []
    for home in ("own", "rent", "none"):
        need = own * model.decision_function(x.assign(home=home))[0]
        at = x[numbers].to_numpy()[0]
        moved = half_space_distance(gradient, need, at, low, high, kind, np.ones(2))
        changed = float(home != x["home"].iloc[0])
        lengths.append(changed + moved if kind == "l1" else max(changed, moved))
    bounds = counterfactual_distance(model, x, kind, Box.of(frame))
    assert bounds.exact, bounds
    assert bounds.lower <= min(lengths) * (1 + 1e-12)
    assert bounds.upper == pytest.approx(min(lengths), rel=2e-5, abs=1e-9)


def test_german_credit_behind_the_usual_encoder_is_exact() -> None:
    credit = datasets.load("german_credit")
    text, numbers = (make_column_selector(dtype_include=kind) for kind in ("category", "number"))
    encode = make_column_transformer((OneHotEncoder(), text), (StandardScaler(), numbers))
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(credit.X, credit.y)
    declined = credit.X[model.predict(credit.X) == "bad"].iloc[:3]
    explainer = DiverseExplainer.paper(model).fit(credit.X)
    for distance, domain in (("gower", Box.of(credit.X)), (explainer.distance_, explainer)):
        for i in range(3):
            bounds = counterfactual_distance(model, declined.iloc[i], distance, domain)
            assert bounds.exact, bounds
            witness = bounds.witness.to_frame().T.astype(credit.X.dtypes.to_dict())
            assert model.predict(witness)[0] == "good"


@pytest.mark.parametrize(
    "last", [LogisticRegression(), RandomForestClassifier(5, random_state=0)], ids=repr
)
def test_steps_find_their_columns_by_name(last: Any) -> None:
    # The columns were taken to be in the order that the steps were fitted on.
    model, frame = fitted(3, "one-hot", last)
    x, box = frame.iloc[0], Box.of(frame)
    expected = counterfactual_distance(model, x, "l1", box)
    other = frame[["heating", "rooms", "owner", "floor"]]
    found = counterfactual_distance(model, other.iloc[0], "l1", Box.of(other))
    assert found.exact
    assert found.upper == expected.upper


def test_a_table_without_a_column_that_the_steps_name_is_not_read() -> None:
    model, frame = fitted(3, "one-hot", LogisticRegression())
    problem = problem_of(model, frame.iloc[0], "l1", Box.of(frame))
    renamed = problem_of(
        lambda rows: rows["rooms"] > 2,
        frame.rename(columns={"owner": "o"}).iloc[0],
        "l1",
        Box.of(frame.rename(columns={"owner": "o"})),
    )
    before, _ = Preprocessing.of(model)
    assert Columns.of(before, problem) is not None
    assert Columns.of(before, renamed) is None


def test_only_what_may_change_changes() -> None:
    model, frame = fitted(5, "one-hot", LogisticRegression())
    x = frame.iloc[0]
    kept = Constraints(immutable=["floor", "owner"])
    bounds = counterfactual_distance(model, x, "l1", Box.of(frame), constraints=kept)
    assert bounds.exact
    assert bounds.witness["owner"] == x["owner"]
    assert bounds.witness["floor"] == x["floor"]


def test_numbers_behind_a_column_transformer_keep_the_closed_form() -> None:
    encode = make_column_transformer((StandardScaler(), [0, 2]), remainder=MinMaxScaler())
    model = make_pipeline(encode, LogisticRegression()).fit(CUBE, TWO)
    many = counterfactual_distances(model, CUBE[:10], "l2", Box(0, 1))
    assert many.exact.all()
    assert {bounds.method for bounds in many} == {"closed form of a linear model"}


def test_a_scaler_that_clips_is_read_for_trees_only() -> None:
    encode = make_column_transformer((MinMaxScaler(clip=True), [0, 1]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(CUBE, TWO)
    bounds = counterfactual_distance(model, CUBE[0], "l1", Box(0, 1))
    assert (bounds.method, bounds.lower) == ("search", 0.0)
    mixed = make_pipeline(PCA(2), LogisticRegression()).fit(CUBE, TWO)
    assert counterfactual_distance(mixed, CUBE[0], "l1", Box(0, 1)).method == "search"


def test_columns_of_one_group_and_ranks_are_choices_too() -> None:
    frame, y = flats(2)
    homes = pd.get_dummies(frame["heating"], prefix="h", dtype=float)
    table = pd.concat([frame[["rooms"]], homes], axis=1).assign(
        size=frame["floor"].map("smL".__getitem__)
    )
    schema = Schema(one_hot={"heating": list(homes.columns)}, ordinal={"size": ["s", "m", "L"]})
    encode = make_column_transformer(
        (OrdinalEncoder(categories=[["s", "m", "L"]]), ["size"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression()).fit(table, y)
    box = Box.of(table, schema=schema)
    bounds = counterfactual_distance(model, table.iloc[0], "l1", box)
    assert bounds.exact
    combinations = itertools.product(VALUES["rooms"], range(4), "smL")
    every = pd.DataFrame(
        [[rooms, *np.eye(4)[home], size] for rooms, home, size in combinations],
        columns=table.columns,
    )
    own = table.iloc[[0]]
    lengths = (
        (every["rooms"] - own["rooms"].iloc[0]).abs()
        + (every[homes.columns] != own[homes.columns].iloc[0]).any(axis=1)
        + (every["size"].map("smL".index) - "smL".index(own["size"].iloc[0])).abs()
    )
    expected = lengths[model.predict(every) != model.predict(own)[0]].min()
    assert bounds.upper == pytest.approx(expected, abs=1e-12)


# Linear scalers as a centre, a factor and a shift -------------------------------------------------


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False, with_std=False),
        MinMaxScaler(feature_range=(-2, 5)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
    ],
    ids=repr,
)
def test_a_scaler_is_a_centre_a_factor_and_a_shift(scaler: Any) -> None:
    read = read_scaler(scaler.fit(CUBE))
    assert read is not None
    expected = scaler.transform(CUBE)
    scaled = (CUBE - read.centre) * read.factor + read.shift
    np.testing.assert_allclose(scaled, expected, atol=1e-12)


def test_a_scaler_that_clips_is_not_linear() -> None:
    assert read_scaler(MinMaxScaler(clip=True).fit(CUBE)) is None


# Which input column each made column comes from ---------------------------------------------------


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_made_column_changes_with_its_source_alone(encoder: str) -> None:
    frame, y = flats(0)
    step = ENCODERS[encoder].fit(frame, y)
    sources = sources_of(step, frame.shape[1])
    assert sources is not None

    def made(rows: pd.DataFrame) -> Any:
        found = step.transform(rows)
        return found.toarray() if hasattr(found, "toarray") else np.asarray(found)

    assert made(frame).shape[1] == len(sources)
    for i, (name, values) in enumerate(VALUES.items()):
        rows = pd.concat([frame.iloc[[0]]] * len(values), ignore_index=True)
        rows[name] = values
        columns = made(rows)
        changed = (columns != columns[0]).any(axis=0)
        assert {source.column for source, c in zip(sources, changed, strict=True) if c} <= {i}
        for source, column in zip(sources, columns.T, strict=True):
            if source.column == i and source.rises:
                assert (np.diff(column) > 0).all()


def test_steps_that_mix_or_drop_columns_are_not_known() -> None:
    X = np.random.default_rng(0).random((20, 3))
    empty = np.column_stack([X, np.full(20, np.nan)])
    for step in (
        PCA(2).fit(X),
        FunctionTransformer(np.log1p).fit(X),
        SimpleImputer(add_indicator=True).fit(X),
        make_pipeline(StandardScaler(), PCA(2)).fit(X),
        make_column_transformer((PCA(1), [0, 1]), remainder="passthrough").fit(X),
    ):
        assert sources_of(step, 3) is None
    assert sources_of(SimpleImputer().fit(empty), 4) is None


def test_a_number_that_stands_for_a_missing_value_does_not_rise() -> None:
    # Cuts were searched by bisection, as though the imputer kept the order of numbers.
    step = SimpleImputer(missing_values=0).fit(np.array([[0], [3], [5]]))
    sources = sources_of(step, 1)
    assert sources is not None
    assert not sources[0].rises


def test_scalers_one_after_another_are_one() -> None:
    X = 1e6 + np.random.default_rng(0).random((30, 2))
    steps = make_pipeline(StandardScaler(), MinMaxScaler((-3, 1)), RobustScaler()).fit(X)
    sources = sources_of(steps, 2)
    assert sources is not None
    for source, column, made in zip(sources, X.T, steps.transform(X).T, strict=True):
        scaled = (column - source.centre) * source.factor + source.shift
        np.testing.assert_allclose(scaled, made, atol=1e-12)
        assert source.centre == pytest.approx(column.mean())
        assert source.rounds > 0


def test_a_dropped_column_has_no_source() -> None:
    frame, _ = flats(0)
    step = make_column_transformer(
        (OneHotEncoder(), ["owner"]), ("drop", ["heating"]), remainder="passthrough"
    ).fit(frame)
    sources = sources_of(step, 4)
    assert sources is not None
    assert [source.column for source in sources] == [3, 3, 0, 1]
    assert [source.rises for source in sources] == [False, False, True, True]


# The codes that boosting libraries give to the values of categories -------------------------------


FRAME = pd.DataFrame({"age": [31, 52, 40], "home": pd.Categorical(["rent", "own", None])})


def test_codes_are_those_of_the_values_the_model_was_trained_on() -> None:
    asked: list[list[int]] = []

    def categories(positions: list[int]) -> list[list[str]]:
        asked.append(positions)
        return [["rent", "free"]]

    made = CategoryCodes(2, categories).transform(FRAME)
    assert asked == [[1]]
    # "own" is not known, and the last one is missing.
    np.testing.assert_array_equal(made, [[31, 0], [52, np.nan], [40, np.nan]])


def test_without_values_the_codes_are_the_tables_own() -> None:
    made = CategoryCodes(2, lambda positions: [None]).transform(FRAME)
    np.testing.assert_array_equal(made, [[31, 1], [52, 0], [40, np.nan]])


def test_an_array_is_taken_as_it_is() -> None:
    made = CategoryCodes(2, lambda positions: []).transform([[1, 2]])
    np.testing.assert_array_equal(made, [[1.0, 2.0]])
