"""Search by sampling: an upper bound for any model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toys_exact import CURVED, problem_of

from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance
from counterset.exact.sampling import (
    BallResult,
    Incumbent,
    covering_radius,
    past_boundary,
    search_growing_balls,
)


def test_any_other_model_gets_an_upper_bound_and_is_told_so() -> None:
    for domain in (Box(0, 1), None):
        bounds = counterfactual_distance(CURVED, [0.5, 0.5], "l2", domain)
        assert bounds.lower == 0
        assert 0.1 < bounds.upper < 0.45
        assert not bounds.exact
        assert bounds.method == "search"
        assert "only an upper bound" in bounds.reason
        assert CURVED.predict([bounds.witness])[0] != CURVED.predict([[0.5, 0.5]])[0]


def test_search_is_the_same_every_time() -> None:
    first, second = (counterfactual_distance(CURVED, [0.5, 0.5], "l1", Box(0, 1)) for _ in "ab")
    assert first.upper == second.upper
    np.testing.assert_array_equal(first.witness, second.witness)


def test_search_that_finds_nothing_is_no_proof() -> None:
    bounds = counterfactual_distance(lambda rows: np.zeros(len(rows)), [0.5], "l1", Box(0, 1))
    assert (bounds.lower, bounds.upper, bounds.witness) == (0, np.inf, None)
    assert "found no counterfactual" in bounds.reason
    hurried = counterfactual_distance(
        lambda rows: rows[:, 0] > 0.9, [0.5], "l1", Box(0, 1), time_limit=1e-9
    )
    assert hurried.upper <= 0.5


def test_what_a_search_finds_flips_the_model_alone_too() -> None:
    # A stand-in for sums that are rounded differently in a batch: its border is nearer there.
    def batched(rows: np.ndarray) -> np.ndarray:
        border = 0.7 if len(rows) > 1 else 0.7001
        return np.asarray(rows[:, 0] > border)

    bounds = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1))
    assert bounds.witness is not None
    assert batched(bounds.witness[None, :])[0]
    started = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1), start=[0.70011, 0.5])
    assert started.witness is not None
    assert batched(started.witness[None, :])[0]


def test_search_takes_a_start_and_walks_back_from_it() -> None:
    def corner(rows: np.ndarray) -> np.ndarray:
        return np.asarray((np.abs(rows - 0.9999) < 1e-5).all(axis=1))

    bounds = counterfactual_distance(
        corner, [0.5, 0.5], "l1", Box(0, 1), start=[[0.9999, 0.9999], [0.99991, 0.9999]]
    )
    assert bounds.upper == pytest.approx(2 * 0.4999, abs=1e-4)


# Search in growing balls: what a solver proves about single balls, put together -------------------


def right(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] > 5


class Ball:
    """A solver that finds a counterfactual at a distance, once the ball holds it."""

    def __init__(self, at: float) -> None:
        self.incumbent = Incumbent(problem_of(right, [0.0], "l1", Box(0, 10)))
        self.at = at
        self.radii: list[float] = []

    def __call__(self, radius: float) -> BallResult:
        self.radii.append(radius)
        if radius < self.at:
            return BallResult(radius, empty=True)
        self.incumbent.offer(np.array([self.at]))
        return BallResult(self.at, empty=False)


def test_balls_grow_until_one_holds_a_counterfactual() -> None:
    ball = Ball(5.0)
    assert search_growing_balls(ball, ball.incumbent, 1.0, 2.0, 10.0) == 5.0
    assert ball.radii == [1.0, 2.0, 4.0, 8.0]
    assert ball.incumbent.upper == 5.0


def test_no_ball_is_larger_than_the_domain_or_the_incumbent() -> None:
    nothing = Ball(np.inf)
    assert search_growing_balls(nothing, nothing.incumbent, 1.0, 4.0, 10.0) == np.inf
    assert nothing.radii == [1.0, 4.0, 10.0]
    known = Ball(np.inf)
    known.incumbent.offer(np.array([6.0]))
    assert search_growing_balls(known, known.incumbent, 1.0, 4.0, 10.0) == 6.0
    assert known.radii == [1.0, 4.0, 6.0]


def test_only_nearer_counterfactuals_are_kept() -> None:
    incumbent = Incumbent(problem_of(right, [0.0], "l1", Box(0, 10)))
    for offered in (np.array([7.0]), None, np.array([9.0])):
        incumbent.offer(offered)
    assert incumbent.upper == 7.0


@pytest.mark.parametrize("distance", [L1([1, 2]), L2([1, 2]), LInf([1, 2])])
def test_the_covering_radius_reaches_the_farthest_corner(distance: Distance) -> None:
    problem = problem_of(right, [1.0, 2.0], distance, Box([0, 0], [10, 3]))
    assert problem.norm is not None
    farthest = distance([[1.0, 2.0]], [[10.0, 0.0]])[0, 0]
    assert covering_radius(problem, problem.norm) == pytest.approx(farthest)


# From a solver's point on the boundary to one that flips ------------------------------------------


def right_half(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] > 0.5


def test_the_nearest_point_that_flips_lies_just_past_the_boundary() -> None:
    problem = problem_of(right_half, [0.0, 0.2], "l1", Box(0, 1))
    found = past_boundary(problem, np.array([0.5, 0.2]))
    assert found is not None
    assert right_half(found[None, :])[0]
    assert found[0] == pytest.approx(0.5, abs=1e-14)
    assert found[1] == 0.2
    # A solver that stopped short of the boundary by its tolerance is helped on.
    short = past_boundary(problem, np.array([0.5 - 1e-7, 0.2]))
    assert short is not None
    assert 0.5 < short[0] < 0.5 + 1e-7


def test_values_that_a_solver_moved_by_its_tolerance_are_moved_back() -> None:
    problem = problem_of(right_half, [0.0, 0.2], "l1", Box(0, 1))
    found = past_boundary(problem, np.array([0.6, 0.2 + 1e-12]))
    assert found is not None
    assert found[1] == 0.2


def test_other_directions_are_tried_where_the_straight_one_does_not_flip() -> None:
    def upper_right(rows: Any) -> Any:
        return (np.asarray(rows) > 0.5).all(axis=1)

    problem = problem_of(upper_right, [0.0, 0.4], "l1", Box(0, 1))
    corner = np.array([0.6, 0.5])
    assert past_boundary(problem, corner) is not None
    edge = np.array([0.6, 0.4])  # straight on, the second feature stays
    assert past_boundary(problem, edge) is None
    found = past_boundary(problem, edge, [np.array([0.0, 20.0])])
    assert found is not None
    assert upper_right(found[None, :])[0]
