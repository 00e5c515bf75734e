"""Categories and ordinals: their values, and which of them the training data has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.one_feature import learn

from counterset import InvalidInputError, Schema
from counterset.tables.table import Table


def test_an_ordinal_skips_values_that_no_training_row_has() -> None:
    feature = learn(["low", "top"], ordinal={"a": ["low", "mid", "high", "top"]})
    codes = feature.snap(np.array([0.0, 1.0, 1.4, 1.6, 3.0, np.nan]))
    np.testing.assert_array_equal(codes, [0, 0, 0, 3, 3, np.nan])
    assert feature.ends(0, 2) == (0, 0)


def test_an_ordinal_moves_and_a_category_switches() -> None:
    assert not learn(["low", "top"], ordinal={"a": ["low", "top"]}).is_category
    assert learn(["low", "top"]).is_category


def test_an_ordinal_needs_an_order() -> None:
    with pytest.raises(InvalidInputError, match=r"order of the ordinal feature 'a' is not known"):
        learn(["cook", "nurse"], ordinal={"a": None})
    with pytest.raises(InvalidInputError, match=r"order of the ordinal feature 'a' is not known"):
        learn(pd.Categorical(["cook", "nurse"]), ordinal={"a": None})
    ordered = pd.Categorical(["top", "low"], ["low", "top"], ordered=True)
    assert learn(ordered, ordinal={"a": None}).values == ("low", "top")


def test_an_ordinal_of_times_moves_by_ranks() -> None:
    # It used to be read as microseconds, so that a limit of a day was a limit of 86 400 000 000
    # ranks.
    years = pd.to_datetime(["2019", "2020", "2021"], format="%Y")
    feature = learn(years, ordinal={"a": years})
    assert feature.amount_of(1) == 1
    with pytest.raises(InvalidInputError, match="must be a number"):
        feature.amount_of(pd.Timedelta("1D"))


def test_the_code_of_a_value_is_its_position() -> None:
    assert learn(["x", "y"]).code_of("y") == 1
    with pytest.raises(InvalidInputError, match=r"no value 'z'. Its values are 'x', 'y'"):
        learn(["x", "y"]).code_of("z")


def test_values_are_listed_for_people() -> None:
    assert str(learn([True, False])) == "binary       2 values: False, True"
    assert "(12 in all)" in str(learn([f"v{i}" for i in range(12)]))


@pytest.mark.parametrize(
    ("column", "schema", "message"),
    [
        ([[1], [2]], {}, "neither numbers nor categories"),
        (["x", "y"], {"ordinal": {"a": ["x"]}}, r"has 'y' in feature 'a', row 1"),
        (["x", "y"], {"ordinal": {"a": ["x", "y", "x"]}}, "names a value twice"),
        ([1, 2, 3], {"binary": ["a"]}, "declared binary, but has the values 1, 2, 3"),
        ([f"v{i}" for i in range(2001)], {}, "as a name or an identifier would"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(column: Any, schema: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        learn(column, **schema)


# One-hot groups: several columns, one category ----------------------------------------------------


FRAME = pd.DataFrame({"j_a": [1, 0, 0], "n": [1.0, 2.0, 3.0], "j_b": [0, 1, 0]})
SCHEMA = Schema(one_hot={"j": ["j_a", "j_b"]})


def test_one_hot_columns_are_one_category() -> None:
    table, matrix = Table.learn(FRAME, SCHEMA)
    assert table.names == ["j", "n"]
    assert matrix[:, 0].tolist() == [0, 1, 2]
    assert table.position("j_b") == 0
    pd.testing.assert_frame_equal(pd.DataFrame(table.decode(matrix)), FRAME)
    assert [table.features[0].describe(code) for code in (0, 2)] == ["j_a", "none of them"]


@pytest.mark.parametrize("value", [1, 0.5, None, "yes"])
def test_rows_that_are_not_one_hot_are_refused(value: Any) -> None:
    table, _ = Table.learn(FRAME, SCHEMA)
    with pytest.raises(InvalidInputError, match=r"not one-hot in the group 'j', row 0"):
        table.encode(FRAME.assign(j_b=[value, 0, 0]))


@pytest.mark.parametrize(
    ("members", "message"), [(["n"], "Name at least two"), (["n", "j_a"], "several dtypes")]
)
def test_a_group_is_two_columns_or_more_of_one_dtype(members: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Table.learn(FRAME, Schema(one_hot={"g": members}))
