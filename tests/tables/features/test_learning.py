"""Every dtype finds its kind and its class, and comes back as it came."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from support.mixed_tables import Case, tables
from support.one_feature import learn

from counterset import DiverseExplainer, InvalidInputError, Schema
from counterset.tables.features.category import Category, OneHotGroup, Ordinal
from counterset.tables.features.feature import Feature
from counterset.tables.features.learning import FEATURE_CLASSES
from counterset.tables.features.number import Number
from counterset.tables.features.time import Time
from counterset.tables.features.written import WrittenNumber
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
    "category of booleans": (pd.Series([True, False]).astype("category"), "binary"),
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


@given(tables())
def test_random_tables_come_back_as_they_came(case: Case) -> None:
    table, matrix = Table.learn(case.X, case.schema)
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), case.X, check_exact=True)
    codes, _ = table.encode(case.inputs)
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(codes)), case.inputs, check_exact=True)
    np.testing.assert_array_equal(table.hold(matrix), matrix)
    snapped = table.snap(matrix)
    np.testing.assert_array_equal(table.snap(snapped), snapped)


FRAME = pd.DataFrame(
    {
        "n": [1.5, 2.0],
        "d": [Decimal("1.5"), Decimal("2.25")],
        "since": pd.to_datetime(["2020-01-01", "2020-02-01"]),
        "job": ["cook", "nurse"],
        "size": ["s", "l"],
        "red": [0, 1],
        "blue": [1, 0],
    }
)
SCHEMA = Schema(ordinal={"size": ["s", "l"]}, one_hot={"colour": ["red", "blue"]})


def test_each_kind_has_its_class_and_every_class_is_used() -> None:
    table, _ = Table.learn(FRAME, SCHEMA)
    found = [type(feature) for feature in table.features]
    assert found == [Number, WrittenNumber, Time, Category, Ordinal, OneHotGroup]
    assert set(found) == set(FEATURE_CLASSES)


def test_features_can_be_pickled() -> None:
    table, _ = Table.learn(FRAME, SCHEMA)
    assert pickle.loads(pickle.dumps(table)).features == table.features


@pytest.mark.parametrize(
    ("schema", "kind", "feature"),
    [
        ({"integer": ["a"]}, "integer", Time),
        ({"categorical": ["a"]}, "binary", Category),
        ({"ordinal": {"a": MOMENTS[[0, 2]]}}, "ordinal", Ordinal),
    ],
)
def test_what_the_user_declares_comes_before_the_dtype(
    schema: Any, kind: str, feature: type[Feature]
) -> None:
    learned = learn(MOMENTS, **schema)
    assert (learned.kind, type(learned)) == (kind, feature)
    assert learned.is_time


@pytest.mark.parametrize("column", [pd.to_timedelta([1, 2], unit="s"), [1j, 2j]])
def test_a_dtype_without_a_kind_is_refused(column: Any) -> None:
    with pytest.raises(InvalidInputError, match="not supported"):
        learn(column)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema(categorical=["zip"]), r"unknown columns \['zip'\]"),
        (Schema(one_hot={"job": ["red", "blue"]}), "named like columns outside"),
    ],
)
def test_a_schema_names_columns_of_the_training_data(schema: Schema, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Table.learn(FRAME, schema)


# Labels, units and texts of learned features ------------------------------------------------------


WORDED = pd.DataFrame(
    {
        "credit_amount": [1200.0, 3400.0, -9.0, np.nan],
        "savings": ["<100", ">500", "<100", ">500"],
        "late": [True, False, True, False],
        "p_car": [1, 0, 0, 0],
        "p_house": [0, 1, 0, 0],
        7: [1.0, 2.0, 3.0, 4.5],
    }
)
WORDING = Schema(
    special={"credit_amount": [-9]},
    one_hot={"purpose": ["p_car", "p_house"]},
    labels={"purpose": "purpose of the loan", "late": "paid late", 7: "rate"},
    units={"credit_amount": "DM", "7": "%"},
    texts={
        "credit_amount": {-9: "no record", None: "not stated"},
        "savings": {"<100": "less than 100 DM"},
        "purpose": {"p_car": "a car", "none of them": "another"},
        "late": {True: "yes"},
    },
)
TABLE = Table.learn(WORDED, WORDING)[0]


def feature(name: str) -> Feature:
    return TABLE.features[TABLE.position(name)]


def test_features_are_called_as_declared_or_as_their_column_in_words() -> None:
    labels = [each.label for each in TABLE.features]
    assert labels == ["credit amount", "savings", "paid late", "purpose of the loan", "rate"]
    assert [each.unit for each in TABLE.features] == ["DM", "", "", "", "%"]


def test_values_have_their_texts_and_others_read_as_they_are() -> None:
    amount = feature("credit_amount")
    told = [amount.text_of(code) for code in (-9.0, np.nan, 3400.0)]
    assert told == ["no record", "not stated", "3,400"]
    assert [feature("savings").text_of(code) for code in (0.0, 1.0)] == ["less than 100 DM", ">500"]
    assert [feature("purpose").text_of(code) for code in (0.0, 1.0, 2.0)] == [
        "a car",
        "p_house",
        "another",
    ]
    assert [feature("late").text_of(code) for code in (0.0, 1.0)] == ["False", "yes"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"labels": {"amount": "x"}}, r"unknown columns \['amount'\]"),
        ({"units": {"amount": "DM"}}, r"unknown columns \['amount'\]"),
        ({"texts": {"amount": {1: "x"}}}, r"unknown columns \['amount'\]"),
        ({"units": {"savings": "DM"}}, r"units\['savings'\] is for numbers, but 'savings' is bin"),
        ({"texts": {"savings": {"<200": "x"}}}, "has no value '<200'"),
        ({"texts": {7: {"a": "x"}}}, "'7' holds numbers, got 'a'"),
        ({"texts": {7: {float("inf"): "x"}}}, "infinite value"),
    ],
)
def test_a_declaration_that_does_not_fit_the_data_is_refused(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Table.learn(WORDED, Schema(**parameters))


def test_wording_changes_no_answer() -> None:
    X = WORDED[["savings", 7]]

    def model(rows: pd.DataFrame) -> Any:
        return rows[7] > 2.5

    def explained(schema: Schema | None) -> Any:
        explainer = DiverseExplainer.paper(model, schema=schema, max_counterfactuals=1)
        return explainer.fit(X).explain(X.iloc[0])

    plain = explained(None)
    worded = explained(Schema(labels={7: "rate"}, units={7: "%"}, texts={"savings": {"<100": "x"}}))
    assert worded.distances.tolist() == plain.distances.tolist()
    assert worded.values.tolist() == plain.values.tolist()
    hashes = [each.context.training.value.hash for each in (plain, worded)]
    assert hashes[0] == hashes[1]


def test_wording_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(TABLE)).features == TABLE.features
