"""From a solver's point on the boundary to one that flips."""

from typing import Any

import numpy as np
import pytest
from support.toys_exact import problem_of

from counterset.exact import Box
from counterset.exact.sampling import past_boundary


def right(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] > 0.5


def test_the_nearest_point_that_flips_lies_just_past_the_boundary() -> None:
    problem = problem_of(right, [0.0, 0.2], "l1", Box(0, 1))
    found = past_boundary(problem, np.array([0.5, 0.2]))
    assert found is not None
    assert right(found[None, :])[0]
    assert found[0] == pytest.approx(0.5, abs=1e-14)
    assert found[1] == 0.2
    # A solver that stopped short of the boundary by its tolerance is helped on.
    short = past_boundary(problem, np.array([0.5 - 1e-7, 0.2]))
    assert short is not None
    assert 0.5 < short[0] < 0.5 + 1e-7


def test_values_that_a_solver_moved_by_its_tolerance_are_moved_back() -> None:
    problem = problem_of(right, [0.0, 0.2], "l1", Box(0, 1))
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
