"""Bad input gets a clear error that says what, got and the way out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys import FRAME, Rows, X, approve, fitted

from counterset import (
    CountersetError,
    DiverseExplainer,
    InvalidInputError,
    Nearest,
    NoCounterfactualError,
    Paper,
    Shared,
)
from counterset.distances import L0, L1, L2, Distance, Gower, LInf
from counterset.exceptions import ModelError


def with_value(data: Rows, value: float) -> Rows:
    changed = data.copy()
    changed[3, 1] = value
    return changed


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"(?s)inf.*'x1', row 3.*drop"):
        fitted(with_value(X, value))
    with pytest.raises(InvalidInputError, match=r"(?s)inf.*'x1', row 3.*drop"):
        fitted().explain_many(with_value(X, value))
    with pytest.raises(InvalidInputError, match=r"'income'"):
        fitted(FRAME).explain_many(pd.DataFrame(with_value(X, value), columns=FRAME.columns))


def test_a_missing_value_where_the_training_data_has_none_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'x1', row 3.*[Ff]ill"):
        fitted().explain_many(with_value(X, np.nan))
    with pytest.raises(InvalidInputError, match=r"'income', row 0.*[Ff]ill"):
        fitted(FRAME).explain(pd.Series({"age": 1.0, "income": None}))
    integers = FRAME.assign(age=pd.array(range(80), dtype="Int64"))
    with pytest.raises(InvalidInputError, match=r"'age'.*[Ff]ill"):
        fitted(integers, lambda rows: rows["income"] > 0.5).explain_many(
            integers.assign(age=pd.array([None] * 80, dtype="Int64"))
        )


@pytest.mark.parametrize("data", [X[:, :1], np.hstack([X, X])])
def test_the_wrong_number_of_columns_is_refused(data: Rows) -> None:
    with pytest.raises(InvalidInputError, match=rf"X has {data.shape[1]} features.*fitted on 2"):
        fitted().explain_many(data)
    with pytest.raises(InvalidInputError, match=rf"X has {data.shape[1]} features"):
        fitted(FRAME).explain(data[0])


def test_columns_in_another_order_are_found_by_their_names() -> None:
    # They used to be refused.
    explainer, turned = fitted(FRAME), FRAME[["income", "age"]]
    expected = explainer.explain_many(FRAME[:3]).to_frame()
    pd.testing.assert_frame_equal(explainer.explain_many(turned[:3]).to_frame(), expected)
    one = explainer.explain(turned.iloc[0])
    pd.testing.assert_frame_equal(
        one.counterfactuals, explainer.explain(FRAME.iloc[0]).counterfactuals
    )
    assert list(one.counterfactuals) == ["age", "income"]


def test_missing_and_extra_columns_are_named() -> None:
    with pytest.raises(InvalidInputError, match=r"missing \['income'\], extra \['wage'\]"):
        fitted(FRAME).explain_many(FRAME.rename(columns={"income": "wage"}))
    with pytest.raises(InvalidInputError, match=r"missing \[\], extra \['wage'\].*Pass exactly"):
        fitted(FRAME).explain_many(FRAME.assign(wage=1.0))


def test_a_repeated_column_is_refused() -> None:
    twice = FRAME.set_axis(["age", "age"], axis=1)
    with pytest.raises(InvalidInputError, match=r"unique, got \['age'\] more than once"):
        fitted(twice)
    with pytest.raises(InvalidInputError):
        fitted(FRAME).explain_many(pd.concat([FRAME, FRAME["age"]], axis=1))


def test_a_frame_where_an_array_was_fitted_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"fitted on an array.*to_numpy\(\)"):
        fitted(X).explain_many(FRAME)


@pytest.mark.parametrize(
    "data", [np.empty((0, 2)), np.empty((3, 0)), FRAME.iloc[:0], FRAME[[]]],
    ids=["no rows", "no columns", "no rows in a frame", "no columns in a frame"],
)  # fmt: skip
def test_empty_training_data_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"empty: \d+ row\(s\) and \d+ feature.* Fit on"):
        fitted(data)


def test_no_rows_to_explain_are_refused() -> None:
    with pytest.raises(CountersetError, match="no rows"):
        fitted().explain_many(X[:0])


def test_a_model_of_one_class_is_refused() -> None:
    with pytest.raises(NoCounterfactualError, match=r"predicts 'yes' for all 80 .*Fit on data"):
        fitted(model=lambda rows: ["yes"] * len(rows))


def test_a_target_that_no_row_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        NoCounterfactualError, match=r"predicted 'maybe'.*target of \['no', 'yes'\]"
    ):
        fitted().explain(X[0], target="maybe")


def test_a_target_that_is_already_reached_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"already predicts .* of 80 .*Leave"):
        fitted().explain_many(X, target="yes")


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("distance", "l3", r"Unknown distance 'l3'\. Choose one of"),
        ("distance", 2, r"A distance is .*, got int"),
        ("strategy", "nearest", r"strategy must be Nearest\(\.\.\.\), .*, got 'nearest'"),
        ("strategy", Nearest, r"strategy must be Nearest\(\.\.\.\), .*, got <class"),
        ("max_counterfactuals", 0, r"max_counterfactuals must be .* at least 1, got 0"),
        ("max_counterfactuals", 2.5, r"max_counterfactuals must be .* at least 1, got 2\.5"),
        ("scale", "z", r"Unknown scale 'z'\. Choose 'robust'"),
        ("scale", [1.0], r"one finite number above 0 for each of the 2 features"),
        ("scale", [1.0, -1.0], r"one finite number above 0"),
        ("scale", ["a", "b"], r"one finite number above 0"),
        ("scale", {"wage": 2.0}, r"unknown features \['wage'\]\. Known: "),
        ("model", None, r"A model has a predict method .*, got NoneType"),
    ],
)  # fmt: skip
def test_unusable_parameters_are_refused_in_fit(parameter: str, value: Any, message: str) -> None:
    explainer = DiverseExplainer.paper(approve).set_params(**{parameter: value})
    with pytest.raises(InvalidInputError, match=message):
        explainer.fit(X)


@pytest.mark.parametrize(
    ("strategy", "given", "message"),
    [
        (Paper, {"candidates": 50}, r"candidates must be NearestCandidates, .*, got 50"),
        (Paper, {"candidates": None}, r"candidates must be .*, got None"),
        (Paper, {"search": 0.1}, r"search must be LineSearch, .*, or None, got 0\.1"),
        (Nearest, {"search": None}, r"search must be .*Paper\(search=None\).*, got None"),
        (Shared, {"search": None}, r"search must be .*Paper\(search=None\).*, got None"),
        (Shared, {"own": -1}, r"own must be a whole number of at least 0, got -1"),
        (Shared, {"regions": None}, r"regions must be a whole number .* or 'auto', got None"),
        (Paper, {"regions": "many"}, r"regions must be a whole number .* or 'auto', got 'many'"),
        *(
            (each, {"diversity": 0.5}, r"diversity must be AngleDiversity.*, got 0\.5")
            for each in (Paper, Nearest, Shared)
        ),
    ],
)
def test_unusable_parameters_of_a_strategy_are_refused_when_it_is_made(
    strategy: Any, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        strategy(**given)


def test_unusable_parameters_set_after_fit_are_refused_too() -> None:
    explainer = fitted().set_params(max_counterfactuals=0)
    with pytest.raises(InvalidInputError, match="max_counterfactuals must be"):
        explainer.explain(X[0])


@pytest.mark.parametrize(
    ("distance", "instead"),
    [
        (L1(weights=[1, 3]), "distance='l1', costs={'x0': 1.0, 'x1': 3.0}"),
        (L2(weights=[1, 9]), "distance='l2', costs={'x0': 1.0, 'x1': 3.0}"),
        (LInf(weights=[0.5, 1]), "distance='linf', costs={'x0': 0.5, 'x1': 1.0}"),
        (L0(weights=[2, 1, 1]), "distance='l0', costs={'x0': 2.0, 'x1': 1.0}"),
        (Gower(weights=[2, 1]), "distance='gower', costs={'x0': 2.0, 'x1': 1.0}"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_distance_with_weights_is_refused_with_the_line_to_write(
    distance: Distance, instead: str
) -> None:
    # Weights and costs would say the same thing twice.
    with pytest.raises(InvalidInputError, match=re.escape(instead)):
        fitted(distance=distance)


def test_a_model_that_gives_the_wrong_number_of_labels_is_refused() -> None:
    with pytest.raises(ModelError, match=r"asked about 80 rows, got an answer of shape \(79,\)"):
        fitted(model=lambda rows: approve(rows)[1:])


def test_a_model_that_raises_is_named_in_the_error() -> None:
    def broken(rows: Any) -> Any:
        raise ZeroDivisionError("oops")

    with pytest.raises(ModelError, match=r"The model raised ZeroDivisionError .*: oops"):
        fitted(model=broken)


def test_a_vector_where_a_table_is_meant_is_refused() -> None:
    for call in (fitted, fitted().explain_many):
        with pytest.raises(InvalidInputError, match=r"must be 2-d.*got shape \(2,\).*reshape"):
            call(X[0])
    with pytest.raises(InvalidInputError):
        fitted(FRAME).explain_many(FRAME.iloc[0])


@pytest.mark.parametrize("rows", [X[:2], X[:0], np.zeros((1, 1, 2)), np.float64(3.0)])
def test_a_table_where_a_row_is_meant_is_refused(rows: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"one row, got .* shape .*explain_many"):
        fitted().explain(rows)
    with pytest.raises(InvalidInputError, match=r"one row, got .* shape \(2, 2\)"):
        fitted(FRAME).explain(FRAME.iloc[:2])


def test_rows_of_different_length_are_refused() -> None:
    for call in (fitted, fitted().explain_many, fitted().explain):
        with pytest.raises(InvalidInputError):
            call([[1.0, 2.0], [3.0]])


def test_text_where_numbers_were_fitted_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="not numeric"):
        fitted(FRAME).explain_many(FRAME.assign(income="much"))
    with pytest.raises(InvalidInputError):
        fitted().explain(["a", "b"])


def test_complex_numbers_are_refused() -> None:
    for data in (X + 0j, FRAME.astype(complex)):
        with pytest.raises(InvalidInputError, match="complex128"):
            fitted(data)


def test_a_sparse_matrix_is_refused_with_a_way_out() -> None:
    from scipy import sparse

    with pytest.raises(InvalidInputError, match=r"sparse matrix\. Pass X\.toarray\(\)"):
        fitted(sparse.csr_matrix(X))


def test_a_model_that_contradicts_itself_gives_no_input_as_its_own_counterfactual() -> None:
    def fickle(rows: Any) -> Any:
        # Fits as two classes of one and the same row, then decides it the first way.
        return np.arange(len(rows)) % 2 == 1

    for distance in ("l1", "l2", lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2)):
        explainer = fitted(np.ones((4, 2)), fickle, distance=distance)
        with pytest.raises(NoCounterfactualError, match=r"equal to the input.*the same label"):
            explainer.explain([1.0, 1.0])
