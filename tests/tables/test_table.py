"""Rows to a matrix and back, and rows that do not look like the training data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import paper_by_steps

from counterset import DiverseExplainer, InvalidInputError
from counterset.tables.table import Table, changed

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "job": ["cook", "nurse", "cook", "judge"],
        "pay": [1.0, np.nan, 3.0, 4.0],
    }
)


def approve(rows: pd.DataFrame) -> Any:
    return rows["age"] > 35


def table() -> Table:
    return Table.learn(FRAME)[0]


def test_rows_of_an_array_of_numbers_never_become_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).random((50, 2))
    explainer = DiverseExplainer.paper(lambda X: X[:, 0] > 0.5, max_counterfactuals=1).fit(rows)
    monkeypatch.setattr(pd.DataFrame, "__init__", None)
    explanation = explainer.explain(rows[0])
    assert explanation.values.shape == (1, 2)
    assert len(explainer.explain_many(rows[:3].tolist())) == 3


WHOLE = pd.DataFrame({"a": [0, 3, 7], "b": [1, 5, 2]})


@pytest.mark.parametrize(
    "X",
    [
        WHOLE,
        WHOLE.astype({"a": "int8", "b": "float64"}),
        WHOLE.astype("uint8"),
        WHOLE.to_numpy(),
        WHOLE.to_numpy(dtype=np.int8),
    ],
)
def test_columns_of_numbers_are_read_and_given_back_as_one_matrix(X: Any) -> None:
    learned, matrix = Table.learn(X)
    assert learned.is_numeric
    read, index = learned.encode(X)
    np.testing.assert_array_equal(read, matrix)
    assert index.tolist() == [0, 1, 2]
    given = learned.decode(read + 0.25 * np.array([1, 0]))
    if isinstance(X, pd.DataFrame):
        assert isinstance(given, pd.DataFrame)
        pd.testing.assert_frame_equal(given, X)
    else:
        np.testing.assert_array_equal(given, X, strict=True)
    assert learned.snap(np.array([[0.75, 2.0]])).tolist() == [[1, 2]]
    read[:] = -1
    assert (np.asarray(X) >= 0).all()


@pytest.mark.parametrize("X", [WHOLE.astype("int8"), WHOLE.to_numpy(dtype=np.int8)])
def test_a_number_that_its_column_cannot_hold_is_refused(X: Any) -> None:
    learned, _ = Table.learn(X)
    for wrong in (0.5, 200.0, np.nan, np.inf):
        row = np.array([[0.0, wrong]])
        with pytest.raises(InvalidInputError, match=r"'(b|x1)'"):
            learned.encode(row)


def test_a_series_of_numbers_keeps_its_name() -> None:
    learned, _ = Table.learn(WHOLE)
    for name, told in ((None, 0), ("me", "me"), (("a", 1), ("a", 1))):
        matrix, index = learned.encode_one(WHOLE.iloc[1].rename(name))
        assert matrix.tolist() == [[3, 5]]
        assert index[0] == told


def test_changed_takes_two_missing_values_for_equal() -> None:
    a, b = np.array([1.0, np.nan, np.nan]), np.array([1.0, np.nan, 2.0])
    assert changed(a, b).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (FRAME[["job", "age", "pay", "age"]], r"has the columns \['age'\] more than once"),
        (FRAME.drop(columns="job"), r"missing \['job'\], extra \[\]"),
        (FRAME.assign(zip=1), r"missing \[\], extra \['zip'\]"),
        (FRAME.assign(job="pilot"), r"'pilot' in feature 'job', row 0.*'cook', 'judge', 'nurse'"),
        (FRAME.assign(job=None), r"misses a value in feature 'job', row 0"),
        (FRAME[:0], "no rows"),
    ],
)
def test_a_table_unlike_the_training_data_is_refused(rows: pd.DataFrame, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table().encode(rows)


@pytest.mark.parametrize(
    "index",
    [
        [5, 5, 6, 6],
        pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["side", "n"]),
        pd.date_range("2020", periods=4),
    ],
)
def test_any_index_goes_through(index: Any) -> None:
    frame = FRAME.set_axis(index, axis=0)
    explainer = DiverseExplainer.paper(approve, max_counterfactuals=1).fit(frame)
    explanations = explainer.explain_many(frame)
    assert explanations.counts.tolist() == [1, 1, 1, 1]
    assert explanations.to_frame().index.nlevels == frame.index.nlevels + 1
    first = explanations[0].input
    assert isinstance(first, pd.Series)
    assert first["job"] == "cook"
    pd.testing.assert_series_equal(explanations.to_frame().dtypes[:3], FRAME.dtypes)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, "a", True, None], [2, "b", False, "x"]], dtype=object),
        np.array([[1.5, 2.5], [2.5, 3.0]], dtype=object),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[True, False], [False, False]]),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_come_back_as_they_came(array: Any) -> None:
    learned, matrix = Table.learn(array)
    back = learned.decode(matrix)
    assert isinstance(back, np.ndarray)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()
    assert [type(v) for v in back.ravel().tolist()] == [type(v) for v in array.ravel().tolist()]


def test_a_row_may_come_as_a_series_of_objects() -> None:
    frame = FRAME.assign(
        since=pd.to_datetime(["2020-01-01"] * 4), size=pd.array([1, None, 2, 3], dtype="Int64")
    )
    learned, matrix = Table.learn(frame)
    for i in range(len(frame)):
        codes, index = learned.encode_one(frame.iloc[i])
        np.testing.assert_array_equal(codes[0], matrix[i])
        assert index.tolist() == [i]


def test_constant_and_all_missing_columns_take_part_without_harm() -> None:
    frame = FRAME.assign(same=1.0, none=np.nan, blank=pd.Series([None] * 4, dtype=object))
    explainer = DiverseExplainer.paper(approve, max_counterfactuals=1).fit(frame)
    explanation = explainer.explain(frame.iloc[0])
    found = explanation.counterfactuals
    assert isinstance(found, pd.DataFrame)
    assert found["none"].isna().all()
    assert found["blank"].isna().all()
    assert (found["same"] == 1).all()
    assert (found["age"] > 35).all()


def test_an_input_finer_than_the_training_data_keeps_its_own_value() -> None:
    frame = FRAME.assign(since=pd.to_datetime(["2020-01-01", "2020-03-01"] * 2))
    explainer = paper_by_steps(approve, max_counterfactuals=1, sparse=True).fit(frame)
    noon = frame.iloc[[0]].assign(since=pd.Timestamp("2020-01-01 12:00"))
    found = explainer.explain(noon).counterfactuals
    assert isinstance(found, pd.DataFrame)
    assert found["since"].tolist() == [pd.Timestamp("2020-01-01 12:00")]


MIXED = FRAME.assign(
    since=pd.to_datetime(["2020-01-01", "2020-03-01"] * 2), size=pd.Categorical(["s", "l"] * 2)
)


def test_a_row_may_come_as_a_mapping_in_any_order() -> None:
    learned, matrix = Table.learn(MIXED)
    for i in range(len(MIXED)):
        row = MIXED.iloc[i].to_dict()
        for values in (row, dict(reversed(row.items()))):
            codes, index = learned.encode_one(values)
            np.testing.assert_array_equal(codes, matrix[[i]])
            assert index.tolist() == [0]


def test_a_mapping_names_the_columns_of_an_array() -> None:
    learned, _ = Table.learn(np.array([[1.0, 2.0], [3.0, 4.0]]))
    codes, _ = learned.encode_one({"x1": 7, "x0": 5.5})
    assert codes.tolist() == [[5.5, 7]]


def test_a_mapping_may_name_columns_by_their_text_but_only_once() -> None:
    learned, _ = Table.learn(pd.DataFrame({0: [1.0], 1: [2.0]}))
    assert learned.encode_one({"1": 4, 0: 3})[0].tolist() == [[3, 4]]
    with pytest.raises(InvalidInputError, match="Pass each column once"):
        learned.encode_one({"1": 4, 0: 3, 1: 5})


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "object"])
def test_masked_entries_are_missing_values(dtype: str) -> None:
    # The mask used to be lost, and whatever was below it was taken for a value.
    values = np.array([[1, 2], [3, 4], [5, 6]], dtype=dtype)
    masked: Any = np.ma.array(values, mask=values == 4)
    for rows in (masked, list(masked)):
        learned, matrix = Table.learn(rows)
        assert np.isnan(matrix).tolist() == masked.mask.tolist()
        assert [each.can_be_missing for each in learned.features] == [False, True]
        np.testing.assert_array_equal(learned.encode_one(masked[1])[0], matrix[[1]])
        np.testing.assert_array_equal(learned.encode(masked)[0], matrix)


def test_a_masked_array_without_masked_entries_keeps_its_dtype() -> None:
    learned, matrix = Table.learn(np.ma.array([[1, 2], [3, 4]]))
    assert learned.array_dtype == np.int64
    assert matrix.tolist() == [[1, 2], [3, 4]]
