"""What the counterfactuals of one input change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from counterset.explanations.option import Coded
from counterset.tables.table import Table

FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", None], "c": [1, 2, 3]})
TABLE, MATRIX = Table.learn(FRAME)


def test_two_missing_values_are_no_change() -> None:
    coded = Coded(TABLE, MATRIX[2], MATRIX)
    assert coded.changed.tolist() == [[True, True, True], [True, True, True], [False] * 3]


def test_what_changes_most_often_comes_first_then_the_order_of_columns() -> None:
    rows = np.array([[1.5, 1, 1], [1.5, 1, 2], [1.5, 0, 2]])
    assert Coded(TABLE, MATRIX[0], rows).features.tolist() == [1, 2]
    assert Coded(TABLE, MATRIX[0], rows[1:]).features.tolist() == [2, 1]


def test_the_frame_shows_what_it_is_told_to() -> None:
    shown = Coded(TABLE, MATRIX[0], MATRIX[2:]).frame(lambda f, code: f"{f.name}={f.format(code)}")
    told: Any = shown.loc["b"]
    assert told.tolist() == ["b=x", "b=missing"]
    assert shown.columns.tolist() == ["input", 1]
