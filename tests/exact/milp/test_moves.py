"""Shortest moves as programmes: against the closed form."""

import numpy as np
import pandas as pd
import pytest
from support.toys_exact import LINEAR, disguised, problem_of, random_network

from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance
from counterset.exact.linear import HalfSpaces
from counterset.exact.milp import Moves
from counterset.exceptions import DomainError


@pytest.mark.parametrize(
    "distance", [L1(), L2(), LInf(), L1([1, 3]), L2([1, 3]), LInf([1, 3])], ids=repr
)
def test_the_shortest_move_into_a_half_space_is_that_of_the_closed_form(
    distance: Distance,
) -> None:
    gradient, need = np.array([1.0, -2.0]), 0.7
    problem = problem_of(LINEAR, [0.2, 0.3], distance, Box(0, 1))
    assert problem.norm is not None
    half_space = HalfSpaces.around(
        problem.x[None, :], gradient, problem.low, problem.high, problem.norm
    )
    expected = float(problem.norm.of(half_space.moves(np.array([need])))[0])
    for radius in (1.1 * expected, 0.9 * expected):
        moves = Moves(problem, problem.norm, radius)
        point = moves.point()
        moves.programme.add_row(point.columns, point.coefficients @ gradient, need, np.inf)
        solution = moves.solve()
        assert solution.empty == (radius < expected)
        assert solution.lower <= expected
        if solution.empty:
            assert solution.lower == pytest.approx(radius, rel=1e-5)
            continue
        assert solution.lower == pytest.approx(expected, rel=1e-5)
        assert solution.point is not None
        assert gradient @ (solution.point - problem.x) >= need - 1e-6
        low, high = moves.ends()
        assert (solution.point >= low - 1e-9).all()
        assert (solution.point <= high + 1e-9).all()


def test_whole_numbers_stay_whole() -> None:
    network = disguised(np.array([1.0, 0.3]), -2.05)
    frame = pd.DataFrame({"count": [0, 5], "size": [0.0, 1.0]})
    bounds = counterfactual_distance(network, frame.iloc[[0]], "l1", Box.of(frame))
    assert bounds.exact
    # 3 counts, or 2 counts and a sixth of the size
    assert bounds.witness["count"] == 2
    assert bounds.upper == pytest.approx(2 + 0.05 / 0.3, abs=1e-4)


def test_a_feature_that_moves_freely_needs_bounds() -> None:
    network = random_network(5)
    with pytest.raises(DomainError, match="without end at no cost"):
        counterfactual_distance(network, [0.5, 0.5], L1([1, 0]))
