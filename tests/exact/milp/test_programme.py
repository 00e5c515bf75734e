"""A programme that grows: against answers by hand."""

import numpy as np
import pytest

from counterset.exact.milp import Programme


def knapsack(whole: bool) -> Programme:
    """Fill 5 by parts of size 2 and 3, which cost 1 and 2."""
    programme = Programme()
    columns = programme.add_variables(0.0, np.array([2.0, 4.0]), whole=whole)
    programme.add_row(columns, np.array([2.0, 3.0]), 5.0, np.inf)
    programme.cost.update({0: 1.0, 1: 2.0})
    return programme


def test_whole_numbers_cost_more_than_any_numbers() -> None:
    relaxed, whole = knapsack(False).minimise(10.0), knapsack(True).minimise(10.0)
    assert relaxed.bound == pytest.approx(2 + 2 / 3)
    assert whole.bound == pytest.approx(3.0)
    assert whole.values is not None
    assert whole.values.tolist() == [1.0, 1.0]


def test_whole_numbers_may_be_fixed_as_they_are() -> None:
    programme = knapsack(True)
    more = programme.add_variables(0.0, np.array([9.0]))
    programme.add_row(np.array([0, 1, more[0]]), np.array([2.0, 3.0, 1.0]), 8.0, np.inf)
    programme.cost[int(more[0])] = 5.0
    fixed = programme.minimise(10.0, like=np.array([1.0, 1.0, 0.0]))
    assert fixed.values is not None
    np.testing.assert_allclose(fixed.values, [1.0, 1.0, 3.0])


def test_rows_are_raised_until_nothing_is_feasible() -> None:
    programme = knapsack(True)
    programme.raise_lower(0, 11.0)
    assert programme.minimise(10.0).values is not None  # 16 is all there is
    programme.raise_lower(0, 1.0)
    nothing = programme.minimise(10.0)
    assert nothing.infeasible
    assert nothing.bound == np.inf
    assert programme.most(np.array([0]), np.ones(1), 10.0) == -np.inf


def test_ranges_are_bounded_by_variables_and_more_tightly_by_rows() -> None:
    programme = knapsack(False)
    columns, row = np.arange(2), np.array([-1.0, -1.0])
    low, high = programme.intervals(columns, row[:, None])
    assert (low[0], high[0]) == (-6.0, 0.0)
    assert programme.most(columns, row, 10.0) == pytest.approx(-5 / 3)
