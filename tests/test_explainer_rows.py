"""Rows go in and come out: containers, dtypes, and nothing is modified."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys import FRAME, Recorder, X, approve, fitted

from counterset import (
    CountersetError,
    LineSearch,
)


def test_one_row_may_come_as_a_vector_a_series_or_a_table() -> None:
    of_frame, of_array = fitted(FRAME), fitted(X)
    expected = of_array.explain(X[0]).values
    for explanation in (
        of_array.explain(X[:1]),
        of_array.explain(X[0].tolist()),
        of_frame.explain(FRAME.iloc[0]),
        of_frame.explain(FRAME.iloc[:1]),
        of_frame.explain(X[0]),
    ):
        np.testing.assert_array_equal(explanation.values, expected)
    assert of_frame.explain(FRAME.iloc[3]).index == "p3"
    assert of_frame.explain(FRAME.iloc[[3]]).index == "p3"


def test_a_row_of_a_frame_of_several_dtypes_is_taken() -> None:
    frame = FRAME.assign(age=np.arange(80))
    explainer = fitted(frame, lambda rows: rows["age"] > 40)
    one = explainer.explain(frame.iloc[3])
    pd.testing.assert_frame_equal(
        pd.DataFrame(one.counterfactuals),
        pd.DataFrame(explainer.explain(frame.iloc[[3]]).counterfactuals),
    )


def test_integer_columns_stay_integers_and_the_model_is_asked_only_about_integers() -> None:
    frame = pd.DataFrame({"age": np.arange(20, 60), "rate": np.linspace(0, 1, 40)})
    model = Recorder(lambda rows: rows["age"] + rows["rate"] > 40)
    explanations = fitted(frame, model, search=LineSearch(0.01)).explain_many(frame.iloc[:5])
    for rows in model.asked:
        assert rows.dtypes.equals(frame.dtypes)
    for explanation in explanations:
        rows = explanation.counterfactuals
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(frame.dtypes)
        assert (rows["age"] + rows["rate"] > 40).all()


def test_a_fraction_in_an_integer_column_is_not_cut_off_in_silence() -> None:
    data = np.arange(20).reshape(10, 2)
    explainer = fitted(data, lambda rows: rows.sum(axis=1) > 20, max_counterfactuals=1)
    try:
        explanation = explainer.explain([2.7, 3.0])
    except CountersetError:
        return  # refusing it is fine
    # Otherwise the row explained is the nearest that the column can hold, and is told as such.
    assert explanation.input.tolist() == [3, 3]
    assert explanation.distances[0] == explainer.distance_([3, 3], explanation.values)[0, 0]


def test_a_number_that_the_dtype_cannot_hold_is_refused() -> None:
    explainer = fitted(np.arange(20, dtype=np.uint8).reshape(10, 2), lambda rows: rows[:, 0] > 9)
    with pytest.raises(CountersetError):
        explainer.explain([-3, 0])


def test_columns_of_single_precision_stay_so_and_what_is_returned_was_asked() -> None:
    data = X.astype(np.float32)
    model = Recorder(lambda rows: rows.sum(axis=1) > 1)
    explanations = fitted(data, model, search=LineSearch(1e-9)).explain_many(data[:5])
    assert {rows.dtype for rows in model.asked} == {np.dtype(np.float32)}
    asked = {tuple(row) for rows in model.asked for row in rows.tolist()}
    for explanation in explanations:
        assert explanation.values.dtype == np.float32
        assert {tuple(row) for row in explanation.values.tolist()} <= asked


def test_a_value_rounded_to_single_precision_has_not_changed() -> None:
    data = np.array([[0.1, 0.0], [0.1, 1.0]], dtype=np.float32)
    explainer = fitted(data, lambda rows: rows[:, 1] > 0.5, max_counterfactuals=1)
    explanation = explainer.explain([0.1, 0.0])  # the double 0.1 is not the single 0.1
    assert explanation.changed.tolist() == [[False, True]]


def test_constant_and_single_features() -> None:
    data = np.column_stack([np.ones(10), np.arange(10.0)])
    explanation = fitted(data, lambda rows: rows[:, 1] > 4).explain(data[0])
    assert (explanation.values[:, 0] == 1).all()
    single = fitted(data[:, 1:], lambda rows: rows[:, 0] > 4).explain([0.0])
    assert (single.values > 4).all()


def test_what_is_passed_in_is_not_modified() -> None:
    frame, array = FRAME.copy(), X.copy()
    fitted(frame).explain_many(frame)
    fitted(frame).explain(frame.iloc[0])
    fitted(array).explain_many(array)
    pd.testing.assert_frame_equal(frame, FRAME)
    np.testing.assert_array_equal(array, X)


def test_read_only_data_is_taken() -> None:
    array = X.copy()
    array.setflags(write=False)
    np.testing.assert_array_equal(
        fitted(array).explain_many(array).to_frame(), fitted(X).explain_many(X).to_frame()
    )


def test_changing_the_data_after_fit_changes_nothing() -> None:
    for data in (X.copy(), FRAME.copy()):
        explainer = fitted(data)
        before = explainer.explain(X[0]).values
        data[:] = 0.0
        np.testing.assert_array_equal(explainer.explain(X[0]).values, before)


def test_a_model_that_scribbles_on_its_rows_does_no_harm() -> None:
    def scribble(rows: Any) -> Any:
        labels = approve(rows)
        rows[:] = 0.0
        return labels

    for data in (X, FRAME):
        honest, scribbled = fitted(data), fitted(data, scribble)
        pd.testing.assert_frame_equal(
            honest.explain_many(data[:5]).to_frame(), scribbled.explain_many(data[:5]).to_frame()
        )
