"""Search in growing balls: what a solver proves about single balls, put together."""

from typing import Any

import numpy as np
import pytest
from support.toys_exact import problem_of

from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box
from counterset.exact.sampling import (
    BallResult,
    Incumbent,
    covering_radius,
    search_growing_balls,
)


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
