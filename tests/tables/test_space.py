"""Rows as points: what a change counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.distances import Gower, get
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

FRAME = pd.DataFrame({"n": [0.0, 4.0, np.nan, 2.0], "c": ["x", "y", "z", "x"]})
TABLE, MATRIX = Table.learn(FRAME)


def distance(inner: Any, scale: Any = "range") -> TableDistance:
    return TableDistance(TABLE, Space.learn(MATRIX, TABLE, scale), get(inner))


@pytest.mark.parametrize("name", ["l0", "l1", "l2", "linf"])
def test_a_changed_category_counts_one(name: str) -> None:
    x, c = np.array([[0.0, 0.0]]), np.array([[0.0, 2.0]])
    np.testing.assert_allclose(distance(name).pairwise(x, c), 1)
    np.testing.assert_allclose(distance(name).rowwise(x, c[:, None]), 1)
    points = distance(name).embed(np.concatenate([x, c])).directions
    np.testing.assert_allclose(np.linalg.norm(points[1] - points[0]), 1)


def test_gower_is_the_mean_or_the_weighted_mean() -> None:
    x, c = np.array([[0.0, 0.0]]), np.array([[2.0, 1.0]])
    np.testing.assert_allclose(distance("gower").pairwise(x, c), (0.5 + 1) / 2)
    np.testing.assert_allclose(distance(Gower([3, 1])).pairwise(x, c), (1.5 + 1) / 4)


def test_a_missing_number_lies_at_the_median_and_counts_one_more() -> None:
    x, c = np.array([[np.nan, 0.0]]), np.array([[4.0, 0.0]])
    np.testing.assert_allclose(distance("l1").pairwise(x, c), 0.5 + 1)
    np.testing.assert_allclose(distance("l1").pairwise(x, x), 0)
    np.testing.assert_allclose(distance("l0").pairwise(x, c), 1)


def test_each_coordinate_knows_its_feature() -> None:
    assert distance("l1").feature_of_coordinate.tolist() == [0, 1, 1, 1, 1, 0]
    assert distance("l0").feature_of_coordinate.tolist() == [0, 1]


def test_weights_of_features_scale_numbers_and_categories() -> None:
    x, c = np.array([[0.0, 0.0]]), np.array([[4.0, 1.0]])
    np.testing.assert_allclose(distance("l1", {"c": 3.0}).pairwise(x, c), 4 + 3)
    np.testing.assert_allclose(distance("l1", None).pairwise(x, c), 4 + 1)
    np.testing.assert_allclose(distance("l1", "mad").pairwise(x, c), 4 / 2 + 1)


@pytest.mark.parametrize("scale", ["wide", {"zip": 1.0}, [1.0], [0.0, 1.0]])
def test_an_unusable_scale_is_refused(scale: Any) -> None:
    with pytest.raises(InvalidInputError):
        distance("l1", scale)


def test_rows_of_the_frame_can_be_compared() -> None:
    assert distance("l1")(FRAME.iloc[[0]], FRAME.iloc[[1]]).tolist() == [[2.0]]
    assert distance("l1").symmetric
    assert distance("l1").triangle_inequality


def test_costs_multiply_numbers_categories_and_what_a_missing_value_counts() -> None:
    space = Space.learn(MATRIX, TABLE, "range", np.array([2.0, 3.0]))
    costly = TableDistance(TABLE, space, get("l1"))
    x = np.array([[0.0, 0.0]])
    assert costly.pairwise(x, np.array([[4.0, 0.0]])).tolist() == [[2.0]]
    assert costly.pairwise(x, np.array([[0.0, 1.0]])).tolist() == [[3.0]]
    # From 0 to the median, which is half the range, and 1 for being missing: both twice.
    assert costly.pairwise(x, np.array([[np.nan, 0.0]])).tolist() == [[3.0]]


def test_a_robust_scale_is_the_range_of_a_handful_of_values() -> None:
    x, c = np.array([[0.0, 0.0]]), np.array([[4.0, 1.0]])
    np.testing.assert_allclose(distance("l1", "robust").pairwise(x, c), 1 + 1)
