"""Which set is nearest, and how far an input can move before another one is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from counterset import distances
from counterset.anchors import stability
from counterset.anchors.stability import Sets
from counterset.distances import L1, L2, CustomDistance, Distance
from counterset.steps.selection import NONE_LEFT

Rows = NDArray[np.float64]
SIZE = 3


def roots(A: Rows, B: Rows) -> Rows:
    result: Rows = np.sqrt(np.abs(A[:, None] - B[None]).sum(axis=2))  # concave, so still a metric
    return result


METRICS: dict[str, Distance] = {
    "l1": L1(),
    "l2": L2(),
    "weighted l1": L1([1.0, 0.2, 5.0]),
    "weighted l2": L2([1.0, 0.2, 5.0]),
    "linf": distances.get("linf"),
    "l0": distances.get("l0"),
    "custom": CustomDistance(roots, is_symmetric=True, has_triangle_inequality=True),
}


any_sets = given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 12),
    on_grid=st.booleans(),
)


def some_sets(rng: Any, distance: Distance, count: int, on_grid: bool) -> Sets:
    """Sets of one to three of eight options, no two of them equal."""
    options = rng.random((8, 3))
    if on_grid:
        options = np.rint(4 * options) / 4
    members = np.full((count, SIZE), NONE_LEFT)
    for row in members:
        size = rng.integers(1, SIZE + 1)
        row[:size] = np.sort(rng.choice(8, size, replace=False))
    members = np.unique(members, axis=0)
    bonus = rng.choice([0.0, 0.1], len(members))
    return Sets(options, members, bonus, distance)


def distance_of(sets: Sets, i: int, x: Rows) -> float:
    """Read the definition: the mean distance from the options, less the bonus."""
    own = sets.options[sets.members[i][sets.members[i] != NONE_LEFT]]
    return float(sets.distance.pairwise(x[None], own).mean() - sets.bonus[i])


def test_an_example_worked_out_by_hand() -> None:
    # From 0, the set {1, 3} is at 2 on average, {-2} is at 2 less a bonus of 0.5.
    options, bonus = np.array([[1.0], [3.0], [-2.0]]), np.array([0.0, 0.5])
    members = np.array([[0, 1], [2, NONE_LEFT]])
    sets = Sets(options, members, bonus, L1())
    x = np.array([[0.0]])
    assert sets.nearest(x).tolist() == [1]
    # To the right, the gap of 0.5 shrinks by 2 a unit as far as 1: at 0.25 the two are equal.
    assert sets.radius(x) == pytest.approx([0.25])
    assert sets.nearest(np.array([[0.26]])).tolist() == [0]
    # At 2 the first set is at 1, the other at 3.5. On the way to -2 the gap of 2.5 shrinks by 7,
    # which is 7/4 a unit: less steep than that it is at first, and the two meet at 0.25.
    x = np.array([[2.0]])
    assert sets.nearest(x).tolist() == [0]
    assert sets.radius(x) == pytest.approx([2.5 / (7 / 4)])
    assert sets.nearest(np.array([[0.26], [0.24]])).tolist() == [0, 1]


@pytest.mark.parametrize("name", METRICS)
@any_sets
def test_the_nearest_set_is_the_first_of_the_nearest(
    name: str, seed: int, count: int, on_grid: bool
) -> None:
    rng = np.random.default_rng(seed)
    sets = some_sets(rng, METRICS[name], count, on_grid)
    x = rng.random((5, 3))
    first = sets.nearest(x)
    for i, row in enumerate(x):
        expected = [distance_of(sets, j, row) for j in range(len(sets.members))]
        assert expected[first[i]] == pytest.approx(min(expected), abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
@any_sets
def test_no_step_within_the_radius_leads_to_another_choice(
    name: str, seed: int, count: int, on_grid: bool
) -> None:
    rng = np.random.default_rng(seed)
    sets = some_sets(rng, METRICS[name], count, on_grid)
    x = sets.options[:2] if on_grid else rng.random((2, 3))
    first, radius = sets.nearest(x), sets.radius(x)
    for i, row in enumerate(x):
        # Towards every option, in all features and in each alone; and anywhere.
        ways = sets.options - row
        alone = (ways[:, None, :] * np.eye(3)).reshape(-1, 3)
        steps = np.vstack([ways, alone, -alone, rng.normal(size=(40, 3))])
        lengths = sets.distance.pairwise(row[None], row + steps)[0]
        reach = min(float(radius[i]), 1e12) / np.maximum(lengths, 1e-9)
        shares = np.array([0.3, 0.999, 1 - 1e-9])
        tried = row + (reach[:, None] * shares)[:, :, None] * steps[:, None, :]
        # Distances that are not norms need not grow along a line as lengths do.
        tried = np.vstack([tried.reshape(-1, 3), row + rng.random((len(steps), 1)) * steps])
        inside = sets.distance.pairwise(row[None], tried)[0] <= radius[i]
        assert (sets.nearest(tried[inside]) == first[i]).all()


@pytest.mark.parametrize("name", ["l1", "l2", "weighted l1", "weighted l2"])
@given(seed=st.integers(0, 10**6), count=st.integers(2, 12))
def test_the_tighter_bounds_are_never_looser_and_none_is_left_out(
    name: str, seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    sets = some_sets(rng, METRICS[name], count, False)
    as_any_metric = CustomDistance(
        sets.distance.pairwise, is_symmetric=True, has_triangle_inequality=True
    )
    x = rng.random((5, 3))
    first, radius = sets.nearest(x), sets.radius(x)
    loose = replace(sets, distance=as_any_metric).radius(x)
    assert (radius >= loose * (1 - 1e-9)).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stability, "RIVALS", 100)
        assert np.allclose(sets.radius(x), radius)
        patch.setattr(stability, "BATCH", 1)
        assert np.array_equal(sets.nearest(x), first)
        assert np.allclose(sets.radius(x), radius)


def test_they_are_tighter_by_far_where_options_lie_on_all_sides() -> None:
    rng = np.random.default_rng(0)
    options, x = rng.random((40, 6)), rng.random((50, 6))
    members = np.array([rng.choice(40, 5, replace=False) for _ in range(12)])
    for distance in (L1(), L2()):
        as_any_metric = CustomDistance(
            distance.pairwise, is_symmetric=True, has_triangle_inequality=True
        )
        tight, loose = (
            Sets(options, members, np.zeros(12), d).radius(x) for d in (distance, as_any_metric)
        )
        assert np.median(tight / loose) > 1.5


@given(seed=st.integers(0, 10**6), count=st.integers(2, 8))
def test_for_l2_it_is_the_distance_to_the_nearest_plane_between_single_options(
    seed: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    options, x = rng.random((count, 3)), rng.random(3)
    sets = Sets(options, np.arange(count)[:, None], np.zeros(count), L2())
    order = np.argsort(np.linalg.norm(options - x, axis=1))
    own, others = options[order[0]], options[order[1:]]
    middles, normals = (own + others) / 2, others - own
    away = np.sum((middles - x) * normals, axis=1) / np.linalg.norm(normals, axis=1)
    assert sets.radius(x[None]) == pytest.approx([away.min()])


def test_a_single_set_stays_the_nearest_for_ever() -> None:
    sets = Sets(np.eye(3), np.array([[0, 1]]), np.zeros(1), L2())
    assert sets.radius(np.zeros((2, 3))).tolist() == [np.inf, np.inf]


def test_an_empty_set_is_the_nearest_only_if_there_is_no_other() -> None:
    nothing, x = np.array([[NONE_LEFT, NONE_LEFT]]), np.zeros((1, 3))
    sets = Sets(np.eye(3), np.vstack([nothing, [[0, 1]]]), np.zeros(2), L1())
    assert (sets.nearest(x).tolist(), sets.radius(x).tolist()) == ([1], [np.inf])
    alone = Sets(np.empty((0, 3)), nothing, np.zeros(1), L1())
    assert (alone.nearest(x).tolist(), alone.radius(x).tolist()) == ([0], [np.inf])


@pytest.mark.parametrize(
    "distance",
    [CustomDistance(roots, has_triangle_inequality=True), CustomDistance(roots, is_symmetric=True)],
)
def test_nothing_is_proved_without_symmetry_and_the_triangle_inequality(distance: Distance) -> None:
    sets = Sets(np.eye(3), np.array([[0], [1]]), np.zeros(2), distance)
    assert np.isnan(sets.radius(np.zeros((1, 3)))).all()


@pytest.mark.parametrize("name", ["l1", "l2"])
def test_the_radius_is_less_than_the_way_to_the_border_by_more_than_rounding(name: str) -> None:
    # Between two sets of one option each, on a line, the border is in the middle.
    rng = np.random.default_rng(0)
    for offset in (0.0, 1.0, 1e6):
        for _ in range(200):
            a, b, x = np.sort(rng.random(3))[[0, 2, 1]] + offset
            members = np.array([[0], [1]])
            sets = Sets(np.array([[a], [b]]), members, np.zeros(2), distances.get(name))
            border = (Fraction(a) + Fraction(b)) / 2
            radius = Fraction(float(sets.radius(np.array([[x]]))[0]))
            assert radius <= abs(Fraction(x) - border) * (1 - Fraction(1, 2 * 10**9))
