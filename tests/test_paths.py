"""The way from an input to a candidate."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset.paths import Paths
from counterset.schema import Table

FRAME = pd.DataFrame({"f": [0.0, 1.0, np.nan], "n": [0, 9, 4], "a": list("xyz"), "b": list("xyz")})
TABLE, _ = Table.learn(FRAME)
ALONE = [np.array([i]) for i in range(4)]


def rows_at(
    share: float, start: list[float], end: list[float], units: list[np.ndarray]
) -> list[float]:
    costs = np.array([[1.0, 1.0, 3.0, 2.0][: len(units)]])
    paths = Paths(TABLE, np.array([start]), np.array([end]), units, costs)
    points = paths.starts + share * (paths.ends - paths.starts)
    rows: list[float] = paths.rows(points, np.array([0]))[0].tolist()
    return rows


def test_numbers_move_and_are_rounded_and_categories_switch_cheapest_first() -> None:
    start, end = [0.0, 0.0, 0.0, 0.0], [1.0, 9.0, 1.0, 2.0]
    assert rows_at(0.25, start, end, ALONE) == [0.25, 2, 0, 0]
    assert rows_at(0.4, start, end, ALONE) == [0.4, 4, 0, 2]
    assert rows_at(0.75, start, end, ALONE) == [0.75, 7, 1, 2]
    assert rows_at(1.0, start, end, ALONE) == end


def test_a_number_with_a_missing_end_switches() -> None:
    start, end = [np.nan, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(rows_at(0.4, start, end, ALONE), start)
    np.testing.assert_array_equal(rows_at(0.6, start, end, ALONE), end)


def test_features_that_change_together_switch_at_once() -> None:
    start, end = [0.0, 0.0, 0.0, 0.0], [1.0, 9.0, 0.0, 0.0]
    units = [np.array([0, 1]), np.array([2]), np.array([3])]
    assert rows_at(0.4, start, end, units) == start
    assert rows_at(0.5, start, end, units) == end
