"""The same columns and dtypes come back, whatever goes in."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.container_tables import above, to_arrow
from support.container_tables import tables as container_tables
from support.mixed_tables import constrained, models

from counterset import DiverseExplainer, InvalidInputError, Schema
from counterset.batch import FrameExplainer
from counterset.batch.frame_explainer import Layout
from counterset.exceptions import UnsuitableScaleWarning


def assert_same_schema(a: pd.DataFrame, b: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(a.iloc[:0], b.iloc[:0], check_index_type=False)
    assert a.dtypes.tolist() == b.dtypes.tolist()


@settings(max_examples=30)
@given(st.data())
def test_dtypes_are_those_of_meta_and_values_those_of_to_frame(data: Any) -> None:
    case = data.draw(constrained(most=2))
    model = data.draw(models(case))
    assume(len(set(model.predict(case.X))) > 1)
    explainer = DiverseExplainer.paper(
        model, schema=case.schema, constraints=case.constraints, max_counterfactuals=2
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsuitableScaleWarning)
            explainer.fit(case.X)
    except InvalidInputError:  # a range between two values that an ordinal has not
        assume(False)
    explain = FrameExplainer(explainer)
    for rows in (case.inputs, case.X, case.inputs[:0], case.inputs[:1]):
        out = explain(rows)
        assert_same_schema(out, explain.meta)
        assert set(out.index) == set(rows.index)
    explanations = explainer.explain_many(case.inputs, if_none="ignore")
    expected = explanations.to_frame()
    expected = expected[expected.pop("status") == "explained"]
    out = explain(case.inputs)
    found = out[out["status"] == "explained"]
    assert found["rank"].tolist() == expected.index.get_level_values("rank").tolist()
    assert found.index.tolist() == expected.index.get_level_values("input").tolist()
    pd.testing.assert_frame_equal(
        found[list(expected)].reset_index(drop=True),
        expected.reset_index(drop=True),
        check_dtype=False,
    )
    assert set(out.columns) == {"rank", *expected.columns, "status", "message"}


@settings(max_examples=20)
@given(container_tables())
def test_training_data_of_any_container_leads_to_pandas_frames(tables: Any) -> None:
    pandas, polars = tables
    outs = []
    for X in (polars, to_arrow(polars)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsuitableScaleWarning)
            explainer = DiverseExplainer.paper(above, max_counterfactuals=1).fit(X)
        explain = FrameExplainer(explainer)
        outs.append(explain(X))
        assert_same_schema(outs[-1], explain.meta)
        assert outs[-1]["status"].unique().tolist() == ["explained"]
    assert outs[0]["score"].tolist() == outs[1]["score"].tolist()
    assert len(outs[0]) == len(pandas)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int8", "Int8"),
        ("uint32", "UInt32"),
        ("int64", "Int64"),
        ("Int64", "Int64"),
        ("bool", "boolean"),
        ("float32", "float32"),
        (pd.CategoricalDtype([0, 1, 2]), pd.CategoricalDtype([0, 1, 2])),
        ("datetime64[us]", "datetime64[us]"),
        (object, object),
    ],
)
def test_numbers_and_booleans_get_dtypes_that_can_miss_values(before: Any, after: Any) -> None:
    values = pd.Series([0, 1, 0, 1]).astype(before)
    X = pd.DataFrame({"a": values, "b": [0.0, 1.0, 2.0, 3.0]})
    explainer = DiverseExplainer.paper(lambda rows: np.asarray(rows["b"]) > 1).fit(X)
    layout = Layout.of(explainer, [])
    assert layout.found["a"] == pd.api.types.pandas_dtype(after)
    assert layout.found["label"] == pd.BooleanDtype()
    assert layout.found["distance"] == np.float64


def test_large_whole_numbers_stay_exact_beside_missing_ones() -> None:
    # Through floats, 2**60 + 1 would become 2**60.
    X = pd.DataFrame({"a": np.array([0, 1, 2, 3]), "b": 2**60 + np.arange(4)})
    explainer = DiverseExplainer.paper(
        lambda rows: np.asarray(rows["a"]) > 1,
        max_counterfactuals=1,
        schema=Schema(categorical=["b"]),
    ).fit(X)
    out = FrameExplainer(explainer, keep=["case"], target=True)(X.assign(case=2**60 + X["a"]))
    assert out["case"].tolist() == (2**60 + X["a"]).tolist()
    assert out["b"].dtype == "Int64"
    assert set(out["b"].dropna()) <= set(X["b"])
    assert out["b"].isna().tolist() == [False, False, True, True]


def test_names_that_are_taken_get_others() -> None:
    X = pd.DataFrame({"rank": [0.0, 1, 2, 3], "status": [0.0, 1, 2, 3], "label": [1.0, 1, 2, 2]})
    explainer = DiverseExplainer.paper(lambda rows: np.asarray(rows["rank"]) > 1).fit(X)
    out = FrameExplainer(explainer, keep=["message"])(X.assign(message="mine"))
    assert list(out) == [
        "message", "counterfactual_rank", "rank", "status", "label", "counterfactual_label",
        "distance", "counterfactual_status", "counterfactual_message",
    ]  # fmt: skip
    assert set(out["message"]) == {"mine"}


def test_columns_of_several_levels_stay() -> None:
    columns = pd.MultiIndex.from_tuples([("money", "income"), ("money", "debt")])
    X = pd.DataFrame(np.random.default_rng(0).random((20, 2)), columns=columns)
    explainer = DiverseExplainer.paper(lambda rows: np.asarray(rows).sum(axis=1) > 1).fit(X)
    out = FrameExplainer(explainer)(X[:3])
    assert out[("money", "income")].notna().all()
    assert set(out[("status", "")]) == {"explained"}
