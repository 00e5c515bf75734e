"""The columns of a table as JSON has them, and back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_kinds import COLUMNS, KINDS
from support.worded import MATRIX, TABLE

from counterset import InvalidInputError, Schema
from counterset.explanations.json_values import (
    row_from_json,
    row_to_json,
    table_from_json,
    table_to_json,
)
from counterset.tables.table import Table

TABLES: dict[str, Any] = {
    "array": np.array([[0.5, 2.0], [1.5, 3.0]]),
    "float32": np.array([[0.1, 2.0], [1.7, 3.0]], dtype=np.float32),
    "integers": np.array([[1, 2], [3, 4]], dtype=np.uint16),
    "objects": pd.DataFrame({"a": ["x", None, "y"], "b": [1, "1", True]}, dtype=object),
    "nullable": pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True]}
    ),
    "decimals": pd.DataFrame({"a": [Decimal("1.50"), Decimal("2.25"), None]}),
    "zones": pd.DataFrame({"a": pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin")}),
    "levels": pd.DataFrame(
        [[1.5, 2.5], [3.0, 4.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    ),
    "numbered": pd.DataFrame({0: [1.5, 2.5], 1: [2.5, 3.0]}),
    "categories": pd.DataFrame(
        {"a": pd.Categorical(["<i>", "ü", None], ["ü", "<i>", "never"], ordered=True)}
    ),
    "text of digits": pd.DataFrame({"a": ["1.50", "2.25"], "b": ["x", "y"]}),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_and_columns_come_back_as_they_were(name: str) -> None:
    table, matrix = Table.learn(TABLES[name])
    again = table_from_json(json.loads(json.dumps(table_to_json(table), allow_nan=False)))
    assert again.columns.equals(table.columns)
    assert repr(again) == repr(table)
    codes = np.array(
        [
            row_from_json(again, json.loads(json.dumps(row_to_json(table, row), allow_nan=False)))
            for row in matrix
        ]
    )
    np.testing.assert_array_equal(codes, matrix)
    expected: Any = table.decode(matrix)
    found: Any = again.decode(codes)
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    else:
        pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_categories_comes_back(name: str) -> None:
    # Intervals, periods and spans were written as text, and no row could be read again.
    assert_comes_back(pd.DataFrame({"c": COLUMNS[name]}))


@given(st.data(), st.sampled_from(sorted(KINDS)), st.booleans())
def test_values_of_every_type_come_back(data: Any, kind: str, is_category: bool) -> None:
    values = data.draw(st.lists(KINDS[kind], min_size=2, max_size=4, unique=True))
    # Texts that stand for numbers, and numbers, are no categories unless they are declared.
    column = pd.Series([*values, *values, None], dtype=object)
    if is_category:
        column = pd.Series(pd.Categorical(column, pd.Index(values, tupleize_cols=False)))
    assert_comes_back(pd.DataFrame({"c": column}), Schema(categorical=["c"]))


@pytest.mark.parametrize("value", [b"raw", 1 + 2j, frozenset({1})])
def test_a_value_that_would_not_come_back_is_refused(value: Any) -> None:
    table, _ = Table.learn(pd.DataFrame({"c": pd.Series([value, "x", None], dtype=object)}))
    with pytest.raises(InvalidInputError, match=r"'c' has the value .* of type .* into text"):
        table_to_json(table)


def assert_comes_back(frame: pd.DataFrame, schema: Schema | None = None) -> None:
    table, matrix = Table.learn(frame, schema)
    again = table_from_json(json.loads(json.dumps(table_to_json(table), allow_nan=False)))
    rows = [json.loads(json.dumps(row_to_json(table, row), allow_nan=False)) for row in matrix]
    codes = np.array([row_from_json(again, row) for row in rows])
    np.testing.assert_array_equal(codes, matrix)
    found: Any = again.decode(codes)
    expected: Any = table.decode(matrix)
    pd.testing.assert_frame_equal(found, expected)
    assert [repr(each) for each in found["c"]] == [repr(each) for each in expected["c"]]


def test_wording_and_special_codes_come_back() -> None:
    again = table_from_json(json.loads(json.dumps(table_to_json(TABLE))))
    assert again.features == TABLE.features
    for row in MATRIX:
        np.testing.assert_array_equal(row_from_json(again, row_to_json(TABLE, row)), row)


def test_cells_are_what_people_and_programs_read() -> None:
    row = row_to_json(TABLE, MATRIX[0])
    assert row["credit_amount"] == 5951
    assert row["purpose"] == "business"
    assert row["late"] is True
    assert row["start"] == {"type": "date", "value": "2024-02-29"}
    assert row["housing"] == "h_own"
    assert row_to_json(TABLE, MATRIX[2])["purpose"] is None


def test_a_value_that_a_feature_has_not_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'purpose' has no value 'yacht'"):
        row_from_json(TABLE, row_to_json(TABLE, MATRIX[0]) | {"purpose": "yacht"})


@pytest.mark.parametrize(
    ("change", "message"),
    [({"class": "colour"}, "unknown class 'colour'"), ({"dtype": "float7"}, "'float7'")],
)
def test_a_feature_of_no_known_kind_is_refused(change: dict[str, str], message: str) -> None:
    data = table_to_json(TABLE)
    data["features"][0] |= change
    with pytest.raises(InvalidInputError, match=message):
        table_from_json(data)
