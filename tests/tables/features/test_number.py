"""Numbers: what their columns can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.one_feature import learn

from counterset import InvalidInputError
from counterset.tables.features.number import decode_numbers, numpy_dtype
from counterset.tables.table import Table


def test_values_between_steps_snap_to_what_the_column_holds() -> None:
    assert learn([1, 5]).snap(np.array([2.6, np.nan])).tolist()[0] == 3
    assert learn([1, 5], continuous=["a"]).snap(np.array([2.6])).tolist() == [3]
    single = learn(np.array([0, 1], dtype="float32"), step=0).snap(np.array([0.1]))
    assert single == np.float64(np.float32(0.1))


def test_ends_are_what_the_column_can_hold() -> None:
    assert learn([1, 5]).ends(1.5, 3.5) == (2, 3)
    assert learn([1.0, 5.0], integer=["a"]).ends(1.5, 3.5) == (2, 3)
    assert learn(np.array([1, 5], dtype="int8")).ends(-np.inf, 1e9) == (-128, 127)
    assert learn([0.5, 1.5]).ends(0.2, 0.7) == (0.2, 0.7)


def test_only_numbers_that_float64_holds_exactly_count_as_such() -> None:
    assert learn([0.5, 1.5]).is_number
    assert learn(np.array([1, 5], dtype="int8")).is_number
    assert not learn(np.array([0, 1], dtype="float32")).is_number
    assert not learn([0.5, np.nan]).is_number
    assert not learn(pd.array([1, 5], dtype="Int64")).is_number


def test_codes_of_values_as_users_write_them() -> None:
    assert learn([1, 5]).code_of(2.5) == 2.5
    for value in ("two", np.nan):
        with pytest.raises(InvalidInputError, match="holds numbers, got"):
            learn([1, 5]).code_of(value)


def test_whole_numbers_are_described_without_a_fraction() -> None:
    assert repr(learn([1, 5]).describe(3.0)) == "3"
    assert repr(learn([1.0, 5.0]).describe(3.0)) == "3"
    assert repr(learn([1.0, 5.5]).describe(3.0)) == "3.0"


def test_whole_numbers_are_rounded_when_they_are_given_back() -> None:
    assert decode_numbers(np.array([[0.6], [2.0]]), np.dtype("int8")).tolist() == [[1], [2]]
    assert numpy_dtype(pd.Int8Dtype()) == np.int8


@pytest.mark.parametrize("value", [2**53 + 1, 2.0**63, -(2.0**53)])
def test_whole_numbers_that_floats_do_not_hold_are_refused(value: float) -> None:
    # 2**53 + 1 used to be taken for 2**53, and 2**63 to be cast to a negative number.
    table, _ = Table.learn(pd.DataFrame({"a": [1, 5]}))
    with pytest.raises(InvalidInputError, match="no float holds exactly"):
        table.encode_one([value])


@pytest.mark.parametrize(
    ("column", "schema", "message"),
    [
        ([2**60 + 1, 3], {}, "beyond 2"),
        ([1.5, 2.0], {"integer": ["a"]}, r"declared integer, but has 1.5 in row 0"),
        ([1.0, np.inf], {}, "infinite value in feature 'a', row 1"),
        (pd.Series([10**400, 3], dtype=object), {}, "too large for a float"),
        (["1", "two"], {"continuous": ["a"]}, "not numeric in feature 'a'"),
        (["007", "12"], {"continuous": ["a"]}, "not numeric in feature 'a'"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(column: Any, schema: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        learn(column, **schema)
