"""The way from an input to a candidate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset.constraints.constraints import Constraints
from counterset.distances import L1, L2, Distance, LInf
from counterset.strategies.line_search import Paths, unit_costs
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

FRAME = pd.DataFrame({"f": [0.0, 1.0, np.nan], "n": [0, 9, 4], "a": list("xyz"), "b": list("xyz")})
TABLE, MATRIX = Table.learn(FRAME, Schema(step=0))
COSTS = TableDistance(TABLE, Space.learn(MATRIX, TABLE, "range"), L1([1.0, 1.0, 3.0, 2.0]))
ALONE = Constraints()


def rows_at(
    share: float, start: list[float], end: list[float], constraints: Constraints
) -> list[float]:
    rules = constraints.compile(TABLE, MATRIX)
    rows = np.array([start]), np.array([end])
    coordinates = COSTS.coordinates(rows[0]), COSTS.coordinates(rows[1])
    paths = Paths(COSTS, *rows, coordinates, rules)
    points = paths.starts + share * (paths.ends - paths.starts)
    found: list[float] = paths.rows(points, np.array([0]))[0].tolist()
    return found


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
    together = Constraints(together=[["f", "n"]])
    assert rows_at(0.4, start, end, together) == start
    assert rows_at(0.5, start, end, together) == end


@pytest.mark.parametrize("together", [[], [["f", "a"]]])
@pytest.mark.parametrize(
    "inner", [L1(), L1([1.0, 1.0, 3.0, 2.0]), L2(), L2([4.0, 1, 1, 1]), LInf()]
)
def test_a_unit_costs_the_distance_to_where_it_alone_has_changed(
    inner: Distance, together: list[list[str]]
) -> None:
    distance = TableDistance(TABLE, COSTS.space, inner)
    starts, ends = (
        np.array([[0.2, 3.0, 0.0, 1.0]] * 2),
        np.array([[0.9, 1, 2, 1], [np.nan, 3, 0, 0]]),
    )
    rules = Constraints(together=together).compile(TABLE, MATRIX)
    costs = unit_costs(distance, distance.coordinates(starts), distance.coordinates(ends), rules)
    assert costs.shape == (2, len(rules.units))
    for (i, j), cost in np.ndenumerate(costs):
        moved = starts[[i]].copy()
        moved[:, rules.units[j]] = ends[i, rules.units[j]]
        assert cost == pytest.approx(distance.pairwise(starts[[i]], moved)[0, 0])
