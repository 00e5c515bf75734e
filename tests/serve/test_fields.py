"""What each column of a request may hold: in words, as a schema, and in fact."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from counterset import InvalidInputError, Schema
from counterset.explanations.json_values import row_to_json
from counterset.serve.rows import Field, fields_of, instance_schema
from counterset.tables.table import Table

FRAME = pd.DataFrame(
    {
        "whole": np.array([1, 2, 5], dtype=np.int8),
        "number": [0.5, np.nan, 2.0],
        "flag": [True, False, True],
        "home": pd.Categorical(["own", None, "rent"]),
        "rooms": ["3", "4", "3"],
        "price": ["1.50", "2.25", "3.00"],
        "amount": [Decimal("1.5"), Decimal("2.5"), None],
        "since": pd.to_datetime(["2024-01-01", "2024-02-29", "2025-01-01"]),
        "cat": [1.0, 0.0, 0.0],
        "dog": [0.0, 1.0, 0.0],
    }
)
TABLE, MATRIX = Table.learn(
    FRAME,
    Schema(continuous=["price"], ordinal={"rooms": ["3", "4"]}, one_hot={"pet": ["cat", "dog"]}),
)
FIELDS = {each.name: each for each in fields_of(TABLE)}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["own", "3", "1.50", "2024-02-29", "2024-02-29T12:00:00", "9999-12-31"])
)


def read(field: Field, value: Any) -> Any:
    try:
        return field.read(value)
    except InvalidInputError:
        return "refused"


@pytest.mark.parametrize("name", FIELDS)
@given(value=SCALARS)
def test_what_a_field_reads_the_table_takes_and_the_schema_allows(name: str, value: Any) -> None:
    field = FIELDS[name]
    cell = read(field, value)
    if isinstance(cell, str) and cell == "refused":
        return
    # Texts of numbers and of times have more to them than a schema can say.
    assert Draft202012Validator(field.allowed).is_valid(value)
    row = FRAME.iloc[[0]].astype(object)
    row[name] = pd.Series([cell], dtype=object)
    if name == "cat":
        row["dog"] = 0.0
    elif name == "dog":
        row["cat"] = 0.0
    matrix, _ = TABLE.encode(row)
    assert matrix.shape == (1, len(TABLE.features))


@given(value=SCALARS)
@pytest.mark.parametrize("name", ["whole", "number", "flag", "home", "rooms"])
def test_what_the_schema_allows_a_field_reads(name: str, value: Any) -> None:
    field = FIELDS[name]
    if Draft202012Validator(field.allowed).is_valid(value):
        assert read(field, value) == value


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("whole", 200, "a whole number from -128 to 127"),
        ("whole", 1.5, "a whole number"),
        ("whole", True, "a whole number"),
        ("whole", None, "a whole number from -128 to 127$"),
        ("number", 1e300, r"a number from -2e\+15 to 2e\+15, or null"),
        ("number", "1", "a number"),
        ("flag", 1, "one of false, true"),
        ("home", "tent", 'one of "own", "rent", or null'),
        ("home", ["own"], "one of"),
        ("price", "1.5000", "a number, written as"),
        ("since", "yesterday evening", "a time, written as 2024-02-29"),
        ("since", 20240229, "a time"),
        ("since", {"type": "time", "value": "nonsense"}, "a time"),
        ("cat", 2, "one of 0, 1, false, true"),
    ],
)
def test_a_refusal_says_what_a_field_may_hold(name: str, value: Any, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        FIELDS[name].read(value)


def test_values_of_answers_can_be_sent_back() -> None:
    answer = row_to_json(TABLE, MATRIX[1])
    assert FIELDS["since"].read(answer["since"]) == date(2024, 2, 29)
    assert FIELDS["price"].read(answer["price"]) == "2.25"
    assert FIELDS["amount"].read(answer["amount"]) == Decimal("2.5")
    assert FIELDS["number"].read(answer["number"]) is None


def test_the_schema_of_an_instance_takes_mappings_and_lists() -> None:
    table, _ = Table.learn(pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]}))
    schema = Draft202012Validator(instance_schema(table))
    assert schema.is_valid({"age": 3, "home": "own"})
    assert schema.is_valid([3, "own"])
    for wrong in ({"age": 3}, [3], [3, "tent"], {"age": 3, "home": "own", "name": "Eve"}, 3):
        assert not schema.is_valid(wrong)
