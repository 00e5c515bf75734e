"""What an explainer gives back: readable, frozen, and in the shape of the training data."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.four_people import FRAME, explainer_of

from counterset import Explanation, Explanations, LineSearch


@pytest.fixture
def explanation() -> Explanation:
    return explainer_of(FRAME).explain(FRAME.loc["ann"])


@pytest.fixture
def explanations() -> Explanations:
    return explainer_of(FRAME).explain_many(FRAME.iloc[:2])


def test_the_attributes_worked_out_by_hand(explanation: Explanation) -> None:
    assert len(explanation) == 2
    assert explanation.label == "no"
    assert type(explanation.label) is str
    assert explanation.labels.tolist() == ["yes", "yes"]
    assert explanation.examples.tolist() == [2, 3]
    assert explanation.index == "ann"
    assert explanation.certificate is None
    # The ranges are 20 and 3000.
    assert explanation.distances.tolist() == pytest.approx([2 / 3, 2.0])
    assert explanation.changed.tolist() == [[False, True], [True, True]]
    assert explanation.values.tolist() == [[30, 3000], [50, 4000]]


def test_a_person_can_read_it(explanation: Explanation) -> None:
    text = repr(explanation)
    assert (
        text.splitlines()[0]
        == "Input ann is classified as 'no'. 2 options lead to 'yes', the nearest first:"
    )
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()[2:]}
    assert rows["income"] == ["1,000", "3,000", "4,000"]
    assert rows["age"] == ["30", "·", "50"]  # the mark of what does not change
    assert rows["features"] == ["changed", "1", "2"]
    assert rows["distance"] == ["0.667", "2"]


def test_one_option_is_not_called_options() -> None:
    one = explainer_of(FRAME, max_counterfactuals=1).explain(FRAME.loc["ann"])
    assert "One option leads to 'yes':" in repr(one)
    assert "age" not in repr(one)  # a feature that no option changes is not listed


def test_several_classes_are_told_apart() -> None:
    def three(rows: pd.DataFrame) -> Any:
        return (rows["income"] // 2000).astype(int).to_numpy()

    text = repr(explainer_of(FRAME, three, max_counterfactuals=3).explain(FRAME.loc["ann"]))
    assert text.startswith("Input ann is classified as 0. 3 options lead to 1 or 2,")
    # Cem is at 2/3, Bob at 5/6, Dee at 2.
    assert text.splitlines()[-1].split() == ["classified", "as", "1", "1", "2"]


def test_the_most_features_are_not_all_listed() -> None:
    X = np.random.default_rng(0).random((50, 70))
    text = repr(explainer_of(X, lambda rows: rows.sum(axis=1) > 35).explain(np.zeros(70)))
    assert "... and 10 more features that change." in text
    assert len(text.splitlines()) < 70


def test_features_named_as_the_lines_below_them_keep_their_own_line() -> None:
    frame = pd.DataFrame({"distance": [1.0, 2.0, 7.25], "features changed": [1.0, 3.5, 9.75]})
    one = explainer_of(frame, lambda rows: rows["distance"] > 5, max_counterfactuals=1)
    text = repr(one.explain(frame.iloc[0]))
    assert "7.25" in text
    assert "9.75" in text


def test_html_for_notebooks_escapes_what_users_named() -> None:
    frame = pd.DataFrame(
        {"<script>age": [30, 40, 50], "a&b": [1.0, 2.0, 3.0]}, index=["<i>1", "<i>2", "<i>3"]
    )

    def model(rows: pd.DataFrame) -> Any:
        return np.where(rows["a&b"] > 1.5, "<b>yes", "<b>no")

    explainer = explainer_of(frame, model)
    for shown in (
        explainer.explain(frame.iloc[0])._repr_html_(),
        explainer.explain_many(frame.iloc[:1])._repr_html_(),
    ):
        assert "<table" in shown
        assert "&lt;script&gt;age" in shown
        assert "a&amp;b" in shown
        for raw in ("<script>", "<b>yes", "<b>no", "<i>1"):
            assert raw not in shown
        assert "&lt;b&gt;yes" in shown


def test_changes_list_the_features_that_change_most_often_first(explanation: Explanation) -> None:
    changes: Any = explanation.changes
    assert changes.index.tolist() == ["income", "age"]
    assert changes.columns.tolist() == ["input", 1, 2]
    assert changes.loc["age"].tolist() == [30, 30, 50]
    assert changes.loc["income"].tolist() == [1000.0, 3000.0, 4000.0]


def test_a_frame_comes_back_as_a_frame(explanation: Explanation) -> None:
    rows = explanation.counterfactuals
    assert isinstance(rows, pd.DataFrame)
    assert rows.columns.equals(FRAME.columns)
    assert rows.dtypes.tolist() == FRAME.dtypes.tolist()
    assert rows.index.tolist() == [1, 2]
    row = explanation.input
    assert isinstance(row, pd.Series)
    assert row.name == "ann"
    assert list(row) == [30, 1000.0]


def test_an_array_comes_back_as_an_array() -> None:
    explanation = explainer_of(FRAME.to_numpy()).explain(FRAME.to_numpy()[0])
    assert isinstance(explanation.counterfactuals, np.ndarray)
    assert explanation.counterfactuals.tolist() == [[30, 3000], [50, 4000]]
    row = explanation.input
    assert isinstance(row, np.ndarray)
    assert row.tolist() == [30, 1000]
    assert "x1" in repr(explanation)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "float32", "float64"])
def test_the_dtype_of_an_array_is_kept(dtype: str) -> None:
    X = np.array([[0, 0], [1, 9], [2, 40], [3, 80]], dtype=dtype)
    explainer = explainer_of(X, lambda rows: rows[:, 1] > 30)
    explanation = explainer.explain(X[0])
    assert explanation.values.dtype == X.dtype
    assert explanation.input.dtype == X.dtype
    assert explanation.values.tolist() == [[2, 40], [3, 80]]


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64", "Int64", "Float64"])
def test_the_dtype_of_a_column_is_kept(dtype: str) -> None:
    frame = FRAME.astype({"income": dtype})

    def model(rows: pd.DataFrame) -> Any:
        assert rows.dtypes.equals(frame.dtypes)
        return (rows["income"] >= 3000).to_numpy(dtype=bool)

    explainer = explainer_of(frame, model, search=LineSearch(0.1))
    explanations = explainer.explain_many(frame.iloc[:2])
    for explanation in explanations:
        rows = explanation.counterfactuals
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(frame.dtypes)
    tidy = explanations.to_frame()
    assert tidy.dtypes[frame.columns].equals(frame.dtypes)


def test_results_cannot_be_assigned_to(
    explanation: Explanation, explanations: Explanations
) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        explanation.label = "yes"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        explanations.labels = np.array(["yes"])  # type: ignore[misc]


def test_the_arrays_of_a_result_are_read_only(explanations: Explanations) -> None:
    one = explanations[0]
    for array in (one.labels, one.distances, one.examples, explanations.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[-1]
