"""How people speak of a feature."""

from __future__ import annotations

from typing import Any

import pytest

from counterset import InvalidInputError, Schema
from counterset.tables.wording import Wording, check_unit, readable


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("credit_amount", "credit amount"),
        ("existing_credits", "existing credits"),
        ("hours-per-week", "hours per week"),
        ("DiabetesPedigreeFunction", "diabetes pedigree function"),
        ("NumberOfTime30-59DaysPastDueNotWorse", "number of time 30-59 days past due not worse"),
        ("BMI", "BMI"),
        ("BMIValue", "BMI value"),
        ("x0", "x0"),
        ("savings (kEUR)", "savings (kEUR)"),
        ("power_kWh", "power kWh"),
        ("pH", "pH"),
        ("Age", "age"),
        ("A", "a"),
        ("own telephone", "own telephone"),
        ("Größe_in_cm", "größe in cm"),
        ("12", "column 12"),
        ("", "column"),
        ("<script>", "<script>"),
        ("___", "___"),
    ],
)
def test_names_of_columns_become_words(name: str, words: str) -> None:
    assert readable(name) == words


def test_words_are_written_once_and_symbols_with_each_number() -> None:
    for unit in ("months", "years", "hours per week", "people"):
        assert Wording("", unit).unit_is_word
    for unit in ("DM", "EUR", "kg", "%", "${}", "€", "cm"):
        assert not Wording("", unit).unit_is_word


def test_a_unit_stands_where_people_write_it() -> None:
    told = {unit: Wording("", unit).with_unit("3") for unit in ("DM", "%", "°C", "${}", "")}
    assert list(told.values()) == ["3 DM", "3%", "3°C", "$3", "3"]


@pytest.mark.parametrize(
    ("unit", "pair"),
    [
        ("months", ("months", "month")),
        ("hours per week", ("hours per week", "hour per week")),
        ("DMs", ("DMs", "DMs")),
        (("child", "children"), ("children", "child")),
        (["inch", "inches"], ("inches", "inch")),
    ],
)
def test_one_has_a_unit_of_its_own(unit: Any, pair: tuple[str, str]) -> None:
    assert check_unit("x", unit) == pair


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"labels": {"a": 3}}, r"labels\['a'\] must be a text"),
        ({"labels": {"a": " "}}, r"labels\['a'\] must be a text"),
        ({"labels": ["a"]}, "labels takes a mapping"),
        ({"units": {"a": ("m", "n", "o")}}, r"units\['a'\] must be a text such as 'months'"),
        ({"units": {"a": ""}}, r"units\['a'\] must be"),
        ({"units": "months"}, "units takes a mapping"),
        ({"texts": {"a": "none"}}, r"texts\['a'\] takes a mapping from values to texts"),
        ({"texts": {"a": {1: 2}}}, r"texts\['a'\] takes a mapping from values to texts"),
    ],
)
def test_a_declaration_that_makes_no_words_is_refused(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Schema(**parameters)
