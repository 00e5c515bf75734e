"""A frame in, a frame out: every row is there, those that fail with their status."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.container_tables import above, to_arrow
from support.container_tables import tables as container_tables
from support.loan_frames import FEATURES, Lender, lender, loans
from support.mixed_tables import constrained, models
from support.toys import fitted

from counterset import (
    Constraints,
    CountersetError,
    DiverseExplainer,
    ExhaustiveExplainer,
    InvalidInputError,
    NoCounterfactualError,
    Schema,
)
from counterset.batch import FrameExplainer
from counterset.batch.frame_explainer import Layout
from counterset.exceptions import NotFittedError, UnsuitableScaleWarning

EXPLAINER = lender()


def with_failures() -> pd.DataFrame:
    """Return loans of which some fail, each in its own way."""
    rows = loans(24, seed=1)
    rows["income"] = rows["income"].astype("Int64")
    rows["home"] = rows["home"].astype(object)
    rows.loc["p3", "home"] = "boat"
    rows.loc["p7", "income"] = pd.NA
    rows.loc["p8", "debt"] = 99.95
    rows.loc["p9", "debt"] = np.inf
    return rows


def one_by_one(explain: FrameExplainer, rows: pd.DataFrame) -> pd.DataFrame:
    """Return what comes back for each row alone: the oracle."""
    return pd.concat([explain(rows.iloc[[i]]) for i in range(len(rows))])


def test_rows_that_fail_are_rows_with_their_status() -> None:
    explain = FrameExplainer(EXPLAINER, keep=["case"], target="approved")
    out = explain(with_failures())
    status = out.groupby(level=0, sort=False)["status"].first()
    assert list(status.index) == [f"p{i}" for i in range(24)]
    failed = status[~status.isin(["explained", "already_reached"])]
    assert failed.to_dict() == {
        "p3": "invalid_input",
        "p7": "invalid_input",
        "p8": "model_error",
        "p9": "invalid_input",
    }
    assert {"explained", "already_reached"} < set(status)
    told = out.loc[list(failed.index), "message"]
    assert told["p3"].startswith("The row has 'boat' in feature 'home', which is not")
    assert "'income'" in told["p7"]
    assert told["p8"].startswith("The model raised RuntimeError when asked about 1 rows")
    assert "the server is tired" in told["p8"]
    assert "infinite value in feature 'debt'." in told["p9"]
    assert out.loc["p3", "case"] == 1003
    missing = out.loc[list(failed.index), ["rank", *FEATURES, "label", "distance"]]
    assert missing.isna().all(axis=None)


@pytest.mark.parametrize("target", [None, "approved"])
def test_the_whole_frame_comes_back_as_its_rows_alone_would(target: Any) -> None:
    explain = FrameExplainer(EXPLAINER, keep=["case"], target=target)
    rows = with_failures()
    pd.testing.assert_frame_equal(explain(rows), one_by_one(explain, rows))


def test_it_can_be_pickled() -> None:
    explain = FrameExplainer(EXPLAINER, target="approved", constraints=Constraints(["home"]))
    again = pickle.loads(pickle.dumps(explain))
    pd.testing.assert_frame_equal(again(with_failures()), explain(with_failures()))


def test_a_frame_without_rows_has_all_columns() -> None:
    explain = FrameExplainer(EXPLAINER, keep=["case"])
    rows = loans()
    out, empty = explain(rows), explain(rows[:0])
    assert len(empty) == 0
    pd.testing.assert_frame_equal(out[:0], empty)
    with pytest.raises(InvalidInputError, match=r"dtypes of the kept columns \['case'\] are not"):
        _ = explain.meta
    meta = FrameExplainer(EXPLAINER).meta
    assert meta.dtypes.to_dict() == {
        name: dtype for name, dtype in empty.dtypes.items() if name != "case"
    }
    assert meta.dtypes["income"] == "Int64"


def test_columns_may_come_in_any_order_among_others() -> None:
    explain, rows = FrameExplainer(EXPLAINER), loans(5)
    shuffled = rows.assign(colour="red")[["colour", *reversed(FEATURES)]]
    pd.testing.assert_frame_equal(explain(shuffled), explain(rows))


def test_fewer_than_asked_for_are_told() -> None:
    explainer = lender(constraints=Constraints(immutable=["home", "member", "since", "income"]))
    out = FrameExplainer(explainer)(loans(10))
    found = out.groupby(level=0)["rank"].max()
    few = found[found < 3].index
    assert len(few)
    assert set(out.loc[few, "message"]) == {
        f"{n} of 3 counterfactuals were found." for n in found[few]
    }
    assert set(out.loc[found[found == 3].index, "message"]) <= {""}


def test_the_reason_is_told_where_there_is_no_counterfactual() -> None:
    everything = Constraints(immutable=FEATURES)
    out = FrameExplainer(EXPLAINER, constraints=everything)(loans(3))
    assert out["status"].tolist() == ["none_found"] * 3
    told = "No counterfactual was found, because (the|each of the) constraints? immutable"
    assert out["message"].str.match(told).all()


def test_a_function_gives_each_row_its_constraints_and_may_fail_for_one() -> None:
    def keep_home(row: Any) -> Constraints:
        if row.name == "p2":
            raise LookupError("nobody knows p2")
        return Constraints(immutable=["home"] if row["member"] else [])

    rows = loans(8)
    explain = FrameExplainer(EXPLAINER, constraints=keep_home)
    out = explain(rows)
    pd.testing.assert_frame_equal(out, one_by_one(explain, rows))
    assert out.loc["p2", "status"] == "invalid_input"
    assert out.loc["p2", "message"] == (
        "The function constraints raised LookupError for this row: nobody knows p2. It is called "
        "with each row, as the training data has it."
    )
    kept = out.join(rows.add_suffix("_before")).drop(index="p2")
    assert (kept["home"] == kept["home_before"])[kept["member_before"]].all()


def test_the_goal_is_that_of_explain_many() -> None:
    X = loans()[["income", "debt"]]
    explainer = DiverseExplainer(lambda rows: np.asarray(rows["income"] - rows["debt"])).fit(X)
    out = FrameExplainer(explainer, interval=(10, 20))(X[:10])
    assert out["label"].dropna().between(10, 20).all()
    assert (out["status"] == "explained").any()


def test_an_error_that_no_row_causes_is_raised() -> None:
    class Broken(DiverseExplainer):
        def explain_many(self, X: Any, **request: Any) -> Any:
            if len(X) != 2:  # the two that are tried first
                raise ZeroDivisionError
            return super().explain_many(X, **request)

    explain = FrameExplainer(Broken(Lender()).fit(loans()[FEATURES]))
    with pytest.raises(ZeroDivisionError):
        explain(loans(5))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"target": "refunded"}, NoCounterfactualError, "No training row is predicted 'refunded'"),
        ({"n_jobs": 0}, InvalidInputError, "n_jobs must be None"),
        ({"target_probability": 2}, InvalidInputError, "target_probability"),
        ({"constraints": Constraints(immutable=["age"])}, InvalidInputError, "no feature 'age'"),
        ({"constraints": [None]}, InvalidInputError, "or a function of the row, because a frame"),
        ({"keep": "case"}, InvalidInputError, "Put it in brackets"),
        ({"keep": ["income"]}, InvalidInputError, "keep takes columns that are not features"),
        ({"keep": ["case", "case"]}, InvalidInputError, "each once"),
    ],
)
def test_what_cannot_be_asked_shows_at_once(
    wrong: dict[str, Any], error: type[CountersetError], message: str
) -> None:
    with pytest.raises(error, match=message):
        FrameExplainer(EXPLAINER, **wrong)


def test_the_explainer_must_be_fitted_on_a_frame() -> None:
    with pytest.raises(NotFittedError, match="Call its fit first"):
        FrameExplainer(DiverseExplainer(Lender()))
    with pytest.raises(InvalidInputError, match="fitted on an array without column names"):
        FrameExplainer(fitted())
    other: Any = ExhaustiveExplainer(Lender(), epsilon=0.1)
    with pytest.raises(InvalidInputError, match="must be a DiverseExplainer"):
        FrameExplainer(other)


def test_a_frame_that_is_none_is_refused() -> None:
    explain = FrameExplainer(EXPLAINER, keep=["case"])
    wrong: Any = [1, 2]
    with pytest.raises(InvalidInputError, match="takes a DataFrame, got a list"):
        explain(wrong)
    with pytest.raises(InvalidInputError, match=r"lacks the columns \['case', 'debt'\]"):
        explain(loans(3).drop(columns=["debt", "case"]))
    for name in ("case", "debt"):
        twice = pd.concat([loans(3), loans(3)[[name]]], axis=1)
        with pytest.raises(InvalidInputError, match="several columns of the same name"):
            explain(twice)


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
