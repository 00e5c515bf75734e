"""A frame in, a frame out: every row is there, those that fail with their status."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.loan_frames import FEATURES, Lender, lender, loans
from support.toys import fitted

from counterset import (
    Constraints,
    CountersetError,
    DiverseExplainer,
    ExhaustiveExplainer,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.batch import FrameExplainer
from counterset.exceptions import NotFittedError

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
    assert told["p3"].startswith("InvalidInputError: X has 'boat' in feature 'home', which is not")
    assert "'income'" in told["p7"]
    assert told["p8"].startswith(
        "ModelError: The model raised RuntimeError when asked about 1 rows"
    )
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
        "InvalidInputError: The function constraints raised LookupError for this row: nobody knows "
        "p2."
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
        ({"keep": ["income"]}, InvalidInputError, "keep names columns beside the features"),
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
    with pytest.raises(InvalidInputError, match=r"misses the columns \['case', 'debt'\]"):
        explain(loans(3).drop(columns=["debt", "case"]))
    for name in ("case", "debt"):
        twice = pd.concat([loans(3), loans(3)[[name]]], axis=1)
        with pytest.raises(InvalidInputError, match="several columns of the same name"):
            explain(twice)
