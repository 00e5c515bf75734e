"""Finite domains: points and grids, the nearest first."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles_exact import nearest_other
from support.toys_exact import problem_of

from counterset import Constraints
from counterset.distances import L0, L1, L2, CustomDistance, Distance, LInf
from counterset.exact import Grid, counterfactual_distance
from counterset.exact import finite as finite_module
from counterset.exact.finite import nearest_first
from counterset.exceptions import UnsupportedDistanceError

whole = st.integers(0, 5).map(float)
axes = st.lists(st.lists(whole, min_size=1, max_size=4, unique=True), min_size=3, max_size=3)
rows = st.lists(whole, min_size=3, max_size=3)
DISTANCES = [L0(), L1(), L2(), LInf(), L0([1, 2, 3]), L1([1, 0, 3]), L2([1, 2, 0.5])]


def checkered(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.asarray(X).sum(axis=1) % 3, dtype=int)


@given(values=axes, x=rows, distance=st.sampled_from(DISTANCES))
def test_a_grid_is_the_set_of_its_points(
    values: list[list[float]], x: list[float], distance: Distance
) -> None:
    points = np.array(list(itertools.product(*values)))
    expected = nearest_other(checkered, np.array(x), points, distance)
    for domain in (Grid(values), points):
        if np.isinf(expected):
            assert counterfactual_distance(checkered, x, distance, domain).none_exists
            continue
        bounds = counterfactual_distance(checkered, x, distance, domain)
        assert bounds.exact
        assert bounds.lower == bounds.upper == pytest.approx(expected)


@given(values=axes, x=rows, distance=st.sampled_from(DISTANCES))
def test_a_grid_is_listed_once_and_in_order(
    values: list[list[float]], x: list[float], distance: Distance
) -> None:
    problem = problem_of(checkered, x, distance, Grid(values))
    with pytest.MonkeyPatch.context() as patch:  # so that a batch does not put all in order
        patch.setattr(finite_module, "FIRST_BATCH", 1)
        patch.setattr(finite_module, "LARGEST_BATCH", 3)
        listed = list(nearest_first(problem, Grid(values)))
    points = np.concatenate([batch for batch, _ in listed])
    lengths = np.concatenate([part for _, part in listed])
    assert sorted(map(tuple, points)) == sorted(itertools.product(*values))
    assert (np.diff(lengths) >= -1e-12).all()


def test_a_grid_of_millions_is_built_no_further_than_needed() -> None:
    asked = []

    def model(X: np.ndarray) -> np.ndarray:
        asked.append(len(X))
        return np.asarray(X.sum(axis=1) >= 3)

    grid = Grid([np.arange(10)] * 9)
    bounds = counterfactual_distance(model, np.zeros(9), "l1", grid)
    assert bounds.upper == 3
    assert sum(asked) < 1000


def test_other_distances_sort_a_small_grid_and_refuse_a_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rise_only = CustomDistance(lambda A, B: np.maximum(B[None] - A[:, None], 0).sum(axis=2))
    grid = Grid([[0, 1, 2], [0, 1, 2]])
    bounds = counterfactual_distance(checkered, [1, 1], rise_only, grid)
    assert bounds.upper == 0  # to fall costs nothing
    monkeypatch.setattr(finite_module, "LARGEST_SORTED_GRID", 8)
    with pytest.raises(UnsupportedDistanceError, match="9 points"):
        counterfactual_distance(checkered, [1, 1], rise_only, grid)


def test_a_feature_of_a_grid_that_may_not_change() -> None:
    grid, kept = Grid([[0, 1, 2], [5, 6]]), Constraints(immutable=["x1"])
    bounds = counterfactual_distance(checkered, [0, 1], "l1", grid, constraints=kept)
    assert bounds.witness.tolist() == [1, 1]


def test_points_of_a_frame_are_asked_as_a_frame() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.0, 0.5, 1.0]})
    bounds = counterfactual_distance(lambda X: X["a"] > 1, frame.iloc[[0]], "l1", frame)
    assert bounds.witness["a"] == 2
    assert bounds.upper == 1.5


def test_out_of_time_gives_the_distance_reached() -> None:
    bounds = counterfactual_distance(
        checkered, [0, 0, 0], "l1", Grid([[1], [1], [1]]), time_limit=1e-9
    )
    assert bounds.lower == 3
    assert bounds.upper == np.inf
    assert bounds.witness is None
    assert not bounds.exact
