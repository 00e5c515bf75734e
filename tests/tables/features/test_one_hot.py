"""One-hot groups: several columns, one category."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from counterset import InvalidInputError, Schema
from counterset.tables.table import Table

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
