"""Values as JSON has them, and back."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from support.json_kinds import values_of_any_type

from counterset import InvalidInputError
from counterset.explanations.json_values import (
    comes_back,
    from_json_number,
    from_json_tree,
    from_json_value,
    to_json_number,
    to_json_value,
)

#: Of a time when clocks were 5 hours, 21 minutes and 10 seconds ahead.
LOCAL_TIME = pd.Timestamp("1905-01-01", tz="Asia/Kolkata")


@given(values_of_any_type())
def test_values_go_through_json_and_back(value: Any) -> None:
    text = json.dumps(to_json_value(value), allow_nan=False)
    again = from_json_value(json.loads(text))
    assert again == value
    assert type(again) is type(value)
    assert repr(again) == repr(value)  # a time zone is no part of ==
    assert comes_back(value)


@pytest.mark.parametrize("value", [b"raw", 1 + 2j, frozenset({1}), object()])
def test_what_does_not_come_back_is_known(value: Any) -> None:
    assert not comes_back(value)


def test_whether_a_time_of_other_clocks_comes_back_is_known() -> None:
    # That depends on the library of time zones.
    try:
        again = from_json_value(json.loads(json.dumps(to_json_value(LOCAL_TIME))))
        equal = repr(again) == repr(LOCAL_TIME)
    except InvalidInputError:
        equal = False
    assert comes_back(LOCAL_TIME) == equal


def test_a_feature_called_type_is_no_value() -> None:
    limits = {"ranges": {"type": (0.5, np.inf), "value": (pd.Timestamp("2024-01-01"), None)}}
    again = from_json_tree(json.loads(json.dumps(to_json_value(limits), allow_nan=False)))
    assert again == {"ranges": {"type": [0.5, np.inf], "value": [pd.Timestamp("2024-01-01"), None]}}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.str_("ü"), "ü"),
        (float("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (np.float64("inf"), {"type": "float", "value": "inf"}),
        (pd.Timestamp("2024-02-29 12:00"), {"type": "time", "value": "2024-02-29T12:00:00"}),
        (datetime(2024, 2, 29, 12), {"type": "datetime", "value": "2024-02-29T12:00:00"}),
        (date(2024, 2, 29), {"type": "date", "value": "2024-02-29"}),
        (Decimal("1.50"), {"type": "decimal", "value": "1.50"}),
        (("a", 1), ["a", 1]),
        (b"raw", {"type": "text", "value": "b'raw'"}),
        ({3: [None, np.float32(0.5)]}, {"3": [None, 0.5]}),
    ],
)
def test_a_value_of_each_type(value: Any, written: Any) -> None:
    assert to_json_value(value) == written
    json.dumps(written, allow_nan=False)


def test_times_keep_their_zone() -> None:
    moment = pd.Timestamp("2024-02-29 12:00", tz="Europe/Berlin")
    assert from_json_value(to_json_value(moment)) == moment


@pytest.mark.parametrize("number", [0.1, -2.5, float("inf"), float("-inf")])
def test_numbers_come_back(number: float) -> None:
    assert from_json_number(json.loads(json.dumps(to_json_number(number)))) == number


def test_what_is_not_known_is_null() -> None:
    assert to_json_number(None) is to_json_number(float("nan")) is None
    assert np.isnan(from_json_number(None))


@pytest.mark.parametrize("value", [{"type": "date", "value": "soon"}, {"type": "date"}, {}])
def test_what_is_no_value_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="is no value"):
        from_json_value(value)
