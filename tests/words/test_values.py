"""Values and features as people write them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worded import TABLE

from counterset import Schema
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table
from counterset.words.templates import Templates
from counterset.words.values import Writer, exact_percent, percent

WRITER = Writer(Templates.read())


def feature(name: str) -> Feature:
    return TABLE.features[TABLE.position(name)]


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("credit_amount", 5951.0, "5,951 DM"),
        ("credit_amount", 1250.5, "1,250.5 DM"),
        ("credit_amount", np.nan, "not stated"),
        ("duration", 48.0, "48 months"),
        ("duration", 1.0, "1 month"),
        ("score", -9.0, "no record"),
        ("score", 620.0, "620"),
        ("purpose", 2.0, "used car"),
        ("purpose", 0.0, '"bed, table"'),  # a comma would end the value
        ("savings", 0.0, "less than 100 DM"),
        ("savings", 1.0, ">500"),
        ("late", 1.0, "yes"),
        ("late", 0.0, "no"),
        ("start", TABLE.features[7].code_of("2024-02-29"), "2024-02-29"),
        ("housing", 1.0, "rented"),
        ("housing", 2.0, "none of them"),
        ("x1", 0.125, "0.125"),
    ],
)
def test_a_value_of_each_kind(name: str, code: float, text: str) -> None:
    assert WRITER.value(feature(name), code) == text


def test_a_unit_that_is_a_word_is_written_once_and_agrees_with_the_last_number() -> None:
    assert WRITER.pair(feature("duration"), 48.0, 24.0) == ("48", "24 months")
    assert WRITER.pair(feature("duration"), 2.0, 1.0) == ("2", "1 month")
    assert WRITER.pair_turned(feature("duration"), 1.0, 2.0) == ("1 month", "2")
    assert WRITER.pair(feature("credit_amount"), 1.0, 2.0) == ("1 DM", "2 DM")
    assert WRITER.pair(feature("score"), -9.0, 620.0) == ("no record", "620")


@pytest.mark.parametrize("value", ["", " a", "a ", "a and b", "from a", "a; b", "this or that"])
def test_values_that_would_be_misread_stand_in_quotes(value: str) -> None:
    table = Table.learn([[value], ["plain"], ["other"]])[0]
    texts = {WRITER.value(table.features[0], code) for code in (0.0, 1.0, 2.0)}
    assert texts == {f'"{value}"', "plain", "other"}


@pytest.mark.parametrize(
    ("name", "label", "words"),
    [
        ("credit_amount", None, "the credit amount"),
        ("x1", None, "x1"),
        ("x1", "rate", "the rate"),
        ("x1", "your income", "your income"),
        ("x1", "The rate", "The rate"),
        ("x1", "V 2", "V 2"),
        ("late", None, '"late"'),
        ("late", "late payment", "the late payment"),
    ],
)
def test_a_feature_gets_an_article_if_it_is_a_word(
    name: str, label: str | None, words: str
) -> None:
    schema = Schema() if label is None else Schema(labels={name: label})
    rows = pd.DataFrame(
        {"credit_amount": [1.5, 2.5, 3.0], "x1": [1.5, 2.5, 3.0], "late": [True, False, True]}
    )
    table = Table.learn(rows, schema)[0]
    assert WRITER.feature(table.features[table.position(name)]) == words


def test_a_column_named_by_a_number_reads_as_a_column() -> None:
    table = Table.learn([{7: 1.5}, {7: 2.5}])[0]
    assert WRITER.feature(table.features[0]) == "column 7"


def test_own_numbers_are_about_a_rounded_one_and_proposed_ones_have_all_digits() -> None:
    x1, many = feature("x1"), 0.39283923300581075
    assert WRITER.own(x1, many) == "about 0.3928"  # it used to be told as if it were the number
    assert WRITER.value(x1, many) == "0.39283923300581075"
    assert WRITER.pair(x1, many, 0.62) == ("about 0.3928", "0.62")
    assert WRITER.pair(x1, 0.62, many) == ("0.62", "0.39283923300581075")
    assert WRITER.own(x1, 1234567.0) == "1,234,567"
    assert WRITER.own(x1, 1250.25) == "1,250.25"


def test_a_rounded_number_keeps_its_difference_from_the_other() -> None:
    # "Reduce x1 from 0.3928 to 0.39281" was said where x1 does fall.
    assert WRITER.pair(feature("x1"), 0.39283923300581075, 0.39281) == ("about 0.39284", "0.39281")
    assert WRITER.pair(feature("x1"), 0.39283923300581075, 0.3928) == ("about 0.39284", "0.3928")


def test_a_special_code_has_no_unit() -> None:
    schema = Schema(special={"x0": [-9]}, units={"x0": "months"})
    months = Table.learn([[-9.0], [5.0], [7.0]], schema)[0].features[0]
    assert (WRITER.value(months, -9.0), WRITER.value(months, 5.0)) == ("-9", "5 months")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (1e-9, "less than 1%"),
        (0.00017, "less than 1%"),
        (0.0051, "1%"),
        (0.994, "99%"),
        (0.9951, "more than 99%"),
        (1.0, "100%"),
        (1.001, "more than 100%"),
    ],
)
def test_a_share_is_0_or_100_percent_only_if_it_is_exactly_that(share: float, text: str) -> None:
    assert percent(share, WRITER.templates) == text


@given(st.floats(1e-9, 1))
def test_a_share_that_somebody_chose_has_all_its_digits(share: float) -> None:
    assert float(Decimal(exact_percent(share).removesuffix("%")) / 100) == share
