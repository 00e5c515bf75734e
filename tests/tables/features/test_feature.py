"""What features of every kind share: missing values, and how they are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.one_feature import learn

from counterset import InvalidInputError
from counterset.tables.features.feature import range_of

KINDS: dict[str, Any] = {
    "number": [1.0, 2.0],
    "time": pd.to_datetime(["2020-01-01", "2020-02-01"]),
    "category": ["x", "y"],
    "ordinal": pd.Categorical(["x", "y"], ["x", "y"], ordered=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_is_refused_where_the_training_data_has_none(kind: str) -> None:
    known = pd.DataFrame({"a": KINDS[kind]})
    gap = known.reindex([0, 7])
    with pytest.raises(InvalidInputError, match=r"^X misses a value in feature 'a', row 1"):
        learn(known["a"]).encode(gap, "X")
    assert np.isnan(learn(gap["a"]).encode(gap, "X")).tolist() == [False, True]


def test_a_missing_value_is_called_missing() -> None:
    assert learn([1.0, np.nan]).describe(np.nan) == "missing"
    assert (
        str(learn([1.5, np.nan], step=0))
        == "continuous   1.5 to 1.5, usually 1.5 to 1.5, may be missing"
    )


def test_single_precision_is_respected_in_values_that_users_write() -> None:
    assert learn(np.array([0.5, 1], dtype="float32")).code_of(0.1) == np.float64(np.float32(0.1))


def test_an_amount_is_cut_to_what_the_column_can_hold() -> None:
    assert learn([1, 5]).amount_of(2.5) == 2
    assert learn([1.0, 5.5]).amount_of(2.54) == 2.54
    assert learn([100, 500]).amount_of(2.5) == 2
    assert learn(KINDS["ordinal"]).amount_of("1.5") == 1
    day = pd.Timedelta("1D") / pd.Timedelta("1us")
    assert learn(KINDS["time"]).amount_of("36h") == day


@pytest.mark.parametrize("wrong", [-1, np.nan, "much", [1]])
def test_an_amount_is_a_number_of_at_least_0(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="'a' may move must be a number of at least 0"):
        learn([1, 5]).amount_of(wrong)


def test_the_range_of_codes_leaves_missing_ones_out() -> None:
    assert range_of(np.array([3.0, np.nan, -1.0])) == (-1, 3)
    assert range_of(np.array([np.nan])) == (0, 0)
