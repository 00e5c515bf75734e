"""What an explainer holds, as values of JSON and arrays, and back."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from counterset import InvalidInputError, Nearest, NearestCandidates, Paper
from counterset.saving.values import Reader, Writer

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.decimals()
    | st.sampled_from([pd.NA, pd.NaT, np.float32(0.1), np.int8(-3), np.datetime64("2020-01-01")])
)
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def there_and_back(value: Any, model: Any = None) -> Any:
    writer = Writer(model)
    written = json.dumps([writer.value(value, "value"), writer.objects])
    value, objects = json.loads(written)
    return Reader(model, objects, writer.arrays).value(value)


@given(NESTED)
def test_plain_values_come_back(value: Any) -> None:
    back = there_and_back(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        np.dtype("float32"),
        np.dtype("datetime64[us]"),
        pd.Int64Dtype(),
        pd.BooleanDtype(),
        pd.StringDtype(),
        pd.Series(["a"]).dtype,
        pd.DatetimeTZDtype("us", "Europe/Berlin"),
        pd.CategoricalDtype(["b", "a"], ordered=True),
        pd.CategoricalDtype([2.5, 1.0]),
        pd.CategoricalDtype(pd.interval_range(0, 3)),
        pd.CategoricalDtype(pd.to_datetime(["2020-01-01", "2021-01-01"])),
        pd.RangeIndex(3),
        pd.Index(["age", 1], name="columns"),
        pd.Index([1.5, 2.0]),
        pd.Timestamp("2020-03-29 02:30", tz="UTC").tz_convert("Europe/Berlin"),
        pd.Timestamp("2020-01-01").as_unit("s"),
        pd.Timedelta("3 days 00:00:01"),
        pd.Timedelta(-5, "s").as_unit("ms"),
        dt.timedelta(days=-3, microseconds=7),
        pd.Interval(1, 2.5, closed="left"),
        pl.Series("k", ["b", "a", None], dtype=pl.Categorical),
        pl.Series([], dtype=pl.Enum(["low", "high"])).dtype,
        pl.Series([], dtype=pl.Datetime("ms", "Europe/Berlin")).dtype,
        pl.Series([], dtype=pl.UInt16).dtype,
        pa.float32(),
        pa.large_string(),
        pa.timestamp("us", "Europe/Berlin"),
        pa.date32(),
        pa.dictionary(pa.int8(), pa.string(), ordered=True),
    ],
    ids=repr,
)
def test_dtypes_and_times_come_back(value: Any) -> None:
    back = there_and_back(value)
    if isinstance(value, pd.Index):
        pd.testing.assert_index_equal(back, value, exact=True)
    elif isinstance(value, pl.Series):
        assert back.dtype == value.dtype
        assert back.to_list() == value.to_list()
    else:
        assert back == value
        assert repr(back) == repr(value)


@pytest.mark.parametrize("dtype", [np.float64, np.int8, bool, "<U3", "M8[us]"])
def test_arrays_come_back(dtype: Any) -> None:
    array = np.arange(6).reshape(2, 3).astype("i8").astype(dtype)
    back = there_and_back({"rows": array})["rows"]
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_arrays_of_objects_come_back() -> None:
    array = np.array([["a", None], [Decimal("1.50"), dt.date(2020, 1, 1)]], dtype=object)
    assert there_and_back(array).tolist() == array.tolist()


def test_what_is_held_twice_is_one_object_again() -> None:
    # A pool and a distance that are two objects would compute their points twice.
    cut, rows = NearestCandidates(7), np.arange(3)
    first, second, third, fourth = there_and_back((Paper(cut), cut, rows, rows))
    assert first.candidates is second
    assert second == cut
    assert third is fourth


def test_the_model_is_left_out() -> None:
    model = LogisticRegression()
    writer = Writer(model)
    written = writer.value({"model": model}, "")
    assert Reader("another", writer.objects, writer.arrays).value(written) == {"model": "another"}


@pytest.mark.parametrize(
    "value",
    [len, print, LogisticRegression(), object(), 1j, range(3), Nearest, np.dtype([("a", "O")])],
)
def test_what_cannot_be_saved_is_named_with_its_place(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot be saved, because steps\['own'\]\[1\] is"):
        Writer(None).value({"own": [0, value]}, "steps")


PARTS = {"candidates": None, "diversity": None, "search": None, "regions": None}


@pytest.mark.parametrize(
    "objects",
    [
        [["eval", {}]],
        [["Paper", {"candidates": None}]],
        [["Paper", PARTS | {"x": 1}]],
    ],
)
def test_other_classes_and_other_parts_are_refused(objects: Any) -> None:
    with pytest.raises((KeyError, ValueError)):
        Reader(None, objects, []).value({"object": 0})
