"""Columns to codes and back, for every kind and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from mixed_tables import Case, tables

from counterset import InvalidInputError, Schema
from counterset.tables.features import Feature
from counterset.tables.table import Table

MOMENTS = pd.DatetimeIndex(["2020-01-01", pd.NaT, "2021-05-05 12:00"])
ZONED = pd.Series(MOMENTS).dt.tz_localize("Europe/Berlin")

COLUMNS: dict[str, tuple[Any, str]] = {
    "float64": (pd.Series([0.1, np.nan, 3.0]), "continuous"),
    "float32": (pd.Series([0.1, None, 3], dtype="float32"), "continuous"),
    "Float32": (pd.Series([0.1, None, 3], dtype="Float32"), "continuous"),
    "int64": (pd.Series([1, -2, 3]), "integer"),
    "uint8": (pd.Series([1, 255, 0], dtype="uint8"), "integer"),
    "Int64": (pd.Series([1, None, 3], dtype="Int64"), "integer"),
    "bool": (pd.Series([True, False, True]), "binary"),
    "boolean": (pd.Series([True, None, False], dtype="boolean"), "binary"),
    "category": (pd.Series(["a", None, "b", "c"], dtype="category"), "categorical"),
    "ordered": (pd.Series(pd.Categorical(["b", None], ["b", "a"], ordered=True)), "ordinal"),
    "category of numbers": (pd.Series([3, 1, None, 2]).astype("category"), "categorical"),
    "object with None": (pd.Series(["x", None, "y", "z"], dtype=object), "categorical"),
    "object with NaN": (pd.Series(["x", np.nan, "y", "z"], dtype=object), "categorical"),
    "object with NA": (pd.Series(["x", pd.NA, "y", "z"], dtype=object), "categorical"),
    "mixed objects": (pd.Series([1, "x", 2.5], dtype=object), "categorical"),
    "string": (pd.Series(["x", None, "y", "z"], dtype="string"), "categorical"),
    "text": (pd.Series(["x", "y", "x"]), "binary"),
    "seconds": (pd.Series(MOMENTS).astype("datetime64[s]"), "continuous"),
    "nanoseconds": (pd.Series(MOMENTS).astype("datetime64[ns]"), "continuous"),
    "zoned": (ZONED, "continuous"),
    "all missing floats": (pd.Series([np.nan, np.nan]), "continuous"),
    "all missing objects": (pd.Series([None, None], dtype=object), "categorical"),
    "all missing times": (pd.Series([None, None], dtype="datetime64[ns]"), "continuous"),
    "constant": (pd.Series([7, 7]), "integer"),
}


def learn(column: Any, **schema: Any) -> Feature:
    frame = pd.DataFrame({"a": column})
    return Table.learn(frame, Schema(**schema))[0].features[0]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_back_as_it_came(name: str) -> None:
    column, kind = COLUMNS[name]
    frame = pd.DataFrame({"a": column})
    table, matrix = Table.learn(frame)
    assert table.features[0].kind == kind
    assert table.features[0].can_be_missing == column.isna().any()
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), frame, check_exact=True)
    pd.testing.assert_frame_equal(
        pd.DataFrame(table.decode(table.encode(frame)[0])), frame, check_exact=True
    )
    assert isinstance(repr(table), str)


@pytest.mark.parametrize("name", ["Int64", "seconds", "zoned", "float64", "category"])
def test_a_column_declared_categorical_comes_back_too(name: str) -> None:
    frame = pd.DataFrame({"a": COLUMNS[name][0]})
    table, matrix = Table.learn(frame, Schema(categorical=["a"]))
    assert table.features[0].is_category
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), frame)


@settings(max_examples=60)
@given(tables())
def test_random_tables_come_back_as_they_came(case: Case) -> None:
    table, matrix = Table.learn(case.X, case.schema)
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), case.X, check_exact=True)
    codes, _ = table.encode(case.inputs)
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(codes)), case.inputs, check_exact=True)
    np.testing.assert_array_equal(table.snap(matrix), matrix)


def test_one_hot_columns_are_one_category() -> None:
    frame = pd.DataFrame({"j_a": [1, 0, 0], "n": [1.0, 2.0, 3.0], "j_b": [0, 1, 0]})
    table, matrix = Table.learn(frame, Schema(one_hot={"j": ["j_a", "j_b"]}))
    assert table.names == ["j", "n"]
    assert matrix[:, 0].tolist() == [0, 1, 2]
    assert table.position("j_b") == 0
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), frame)
    assert [table.features[0].describe(code) for code in (0, 2)] == ["j_a", "none of them"]
    with pytest.raises(InvalidInputError, match=r"not one-hot in the group 'j', row 0"):
        table.encode(frame.assign(j_b=1))


def test_values_between_steps_snap_to_what_the_column_holds() -> None:
    assert learn([1, 5]).snap(np.array([2.6, np.nan])).tolist()[0] == 3
    assert learn([1, 5], continuous=["a"]).snap(np.array([2.6])).tolist() == [3]
    days = learn(pd.to_datetime(["2020-01-01", "2020-02-01"]))
    noon = days.code_of("2020-01-05 13:00")
    assert days.snap(np.array([noon])) == days.code_of("2020-01-06")
    single = learn(np.array([0, 1], dtype="float32")).snap(np.array([0.1]))
    assert single == np.float64(np.float32(0.1))


def test_an_ordinal_skips_values_that_no_training_row_has() -> None:
    feature = learn(["low", "top"], ordinal={"a": ["low", "mid", "high", "top"]})
    codes = feature.snap(np.array([0.0, 1.0, 1.4, 1.6, 3.0, np.nan]))
    np.testing.assert_array_equal(codes, [0, 0, 0, 3, 3, np.nan])
    assert feature.ends(0, 2) == (0, 0)


def test_ends_are_what_the_column_can_hold() -> None:
    assert learn([1, 5]).ends(1.5, 3.5) == (2, 3)
    assert learn(np.array([1, 5], dtype="int8")).ends(-np.inf, 1e9) == (-128, 127)
    assert learn([0.5, 1.5]).ends(0.2, 0.7) == (0.2, 0.7)


def test_codes_of_values_as_users_write_them() -> None:
    assert learn(["x", "y"]).code_of("y") == 1
    assert learn([1, 5]).code_of(2.5) == 2.5
    assert learn(np.array([0, 1], dtype="float32")).code_of(0.1) == np.float64(np.float32(0.1))
    berlin = learn(ZONED)
    assert berlin.code_of("2020-01-01") == berlin.low
    assert berlin.describe(berlin.low) == pd.Timestamp("2020-01-01", tz="Europe/Berlin")
    with pytest.raises(InvalidInputError, match=r"no value 'z'. Its values are 'x', 'y'"):
        learn(["x", "y"]).code_of("z")
    for column, value, held in (([1, 5], "two", "numbers"), ([1, 5], np.nan, "numbers")):
        with pytest.raises(InvalidInputError, match=f"holds {held}, got"):
            learn(column).code_of(value)
    with pytest.raises(InvalidInputError, match="holds times, got 'soon'"):
        berlin.code_of("soon")


def test_values_are_described_for_people() -> None:
    assert learn([1, 5]).describe(3.0) == 3
    assert learn([1.0, np.nan]).describe(np.nan) == "missing"
    assert str(learn([True, False])) == "binary       2 values: False, True"
    days = learn(pd.to_datetime(["2020-01-01", "2020-02-01"]))
    assert str(days) == "continuous   2020-01-01 to 2020-02-01"
    assert "may be missing" in str(learn([1.0, np.nan]))
    assert "(12 in all)" in str(learn([f"v{i}" for i in range(12)]))


@pytest.mark.parametrize(
    ("column", "schema", "message"),
    [
        ([[1], [2]], {}, "neither numbers nor categories"),
        (pd.to_timedelta([1, 2], unit="s"), {}, "not supported"),
        ([1j, 2j], {}, "not supported"),
        ([2**60 + 1, 3], {}, "beyond 2"),
        ([1.5, 2.0], {"integer": ["a"]}, r"declared integer, but has 1.5 in row 0"),
        ([1.0, np.inf], {}, "infinite value in feature 'a', row 1"),
        (["1", "2"], {"continuous": ["a"]}, "not numeric in feature 'a'"),
        (["x", "y"], {"ordinal": {"a": ["x"]}}, r"has 'y' in feature 'a', row 1"),
        (["x", "y"], {"ordinal": {"a": ["x", "y", "x"]}}, "names a value twice"),
        ([1, 2, 3], {"binary": ["a"]}, "declared binary, but has the values 1, 2, 3"),
        ([f"v{i}" for i in range(2001)], {}, "as a name or an identifier would"),
        (pd.to_datetime([1, 2001], unit="ns"), {}, "finer than a microsecond"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(column: Any, schema: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        learn(column, **schema)
