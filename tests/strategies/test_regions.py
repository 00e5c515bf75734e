"""Regions: who belongs to which, and how far it is to the border at least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.distances import L1, L2, CustomDistance, Distance, get
from counterset.strategies.regions import Regions, medoids
from counterset.tables.space import Embedded


def root_of_l1(A: Any, B: Any) -> Any:
    return np.sqrt(np.abs(A[:, None] - B[None]).sum(axis=2))  # concave, so still a metric


METRICS = [
    get("l1"),
    get("l2"),
    get("linf"),
    get("l0"),
    get("gower"),
    L1(weights=[1.0, 3.0, 0.2]),
    L2(weights=[1.0, 3.0, 0.2]),
    CustomDistance(root_of_l1, is_symmetric=True, has_triangle_inequality=True),
]


def points(rows: Any) -> Embedded:
    matrix = np.array(rows, dtype=float)
    return Embedded(matrix, matrix)


def regions(centres: Any, distance: Distance, codes: Any = None) -> Regions:
    count = len(centres)
    codes = np.zeros(count, dtype=np.intp) if codes is None else np.array(codes)
    return Regions(points(centres), np.arange(count), codes, distance)


def of(some: Regions, rows: Any) -> list[int]:
    found = some.of_points(points(rows), np.zeros(len(rows), dtype=np.intp))
    return [int(each) for each in found]


def radius(some: Regions, rows: Any) -> Any:
    return some.radius_of_points(points(rows), np.zeros(len(rows), dtype=np.intp))


def test_an_input_belongs_to_the_nearest_centre_of_its_class_the_first_of_equally_near() -> None:
    some = regions([[0.0], [4.0], [1.0]], get("l1"), [0, 0, 1])
    x = points([[0.9], [2.0], [0.9], [3.0]])
    assert some.of_points(x, np.array([0, 0, 1, 5])).tolist() == [0, 0, 2, -1]


def test_the_radius_is_half_of_what_the_next_centre_is_farther() -> None:
    some = regions([[0.0, 0.0], [4.0, 0.0]], get("l1"))
    assert radius(some, [[1.0, 0.0], [2.0, 0.0]]) == pytest.approx([1.0, 0.0], abs=1e-8)


def test_for_l2_the_radius_is_the_distance_to_the_plane_between_two_centres() -> None:
    some = regions([[0.0, 0.0], [4.0, 0.0]], get("l2"))
    found = radius(some, [[1.0, 50.0]])
    assert found == pytest.approx([1.0])
    assert found[0] < 1


def test_a_class_with_one_region_has_no_border_and_one_without_has_no_radius() -> None:
    some = regions([[0.0], [4.0], [1.0]], get("l1"), [0, 0, 1])
    found = some.radius_of_points(points([[0.9], [0.9]]), np.array([1, 5]))
    assert np.isinf(found[0])
    assert np.isnan(found[1])


@pytest.mark.parametrize(
    "distance",
    [
        CustomDistance(root_of_l1, has_triangle_inequality=True),
        CustomDistance(root_of_l1, is_symmetric=True),
    ],
)
def test_nothing_is_proved_without_symmetry_and_the_triangle_inequality(distance: Any) -> None:
    assert np.isnan(radius(regions([[0.0], [1.0]], distance), [[0.1]])).all()


@pytest.mark.parametrize("distance", METRICS, ids=lambda each: type(each).__name__)
@given(st.integers(0, 10**6), st.integers(2, 12), st.booleans(), st.sampled_from([1.0, 1e6]))
def test_no_step_within_the_radius_leads_to_another_region(
    distance: Any, seed: int, count: int, on_grid: bool, far: float
) -> None:
    rng = np.random.default_rng(seed)
    centres, x = rng.random((count, 3)), rng.random((3, 3))
    if on_grid:  # ties everywhere
        centres, x = np.rint(3 * centres) / 3, np.rint(3 * x) / 3
    centres, x = np.unique(centres, axis=0) + far, x + far
    some = regions(centres, distance)
    own, limits = of(some, x), radius(some, x)
    for i in range(len(x)):
        towards = np.vstack([centres, x[i] + rng.normal(size=(20, 3)), x[i] + np.eye(3)])
        steps = towards - x[i]
        lengths = distance.pairwise(x[[i]], towards)[0]
        reach = min(float(limits[i]), 1e3) / np.maximum(lengths, 1e-9)
        shares = np.array([0.5, 0.999, 1 - 1e-9, 1.0])
        tried = x[i] + (reach[:, None] * shares)[:, :, None] * steps[:, None, :]
        tried = np.vstack([tried.reshape(-1, 3), x[i] + rng.random((len(steps), 1)) * steps])
        inside = distance.pairwise(x[[i]], tried)[0] <= limits[i]
        assert set(of(some, tried[inside])) <= {own[i]}


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_medoids_are_rows_and_the_same_each_time(seed: int, count: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 3, (20, 2)).astype(float)
    found = medoids(rows, count)
    assert found.tolist() == medoids(rows, count).tolist()
    assert 1 <= len(found) <= count
    assert len(np.unique(rows[found], axis=0)) == len(found)  # copies of a row are one
