"""A programme that grows: against answers by hand."""

from __future__ import annotations

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from support.toys_exact import LINEAR, disguised, problem_of, random_network

from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box, ReluNetwork, counterfactual_distance
from counterset.exact.linear import HalfSpaces
from counterset.exact.milp import MESSAGE, Moves, Programme, quiet_solver
from counterset.exceptions import DomainError


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


# Shortest moves as programmes: against the closed form --------------------------------------------


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


# The library prints nothing, whatever its solver writes -------------------------------------------


on_posix = pytest.mark.skipif(os.name != "posix", reason="nothing is redirected elsewhere")


def write_as_compiled_code(text: bytes) -> None:
    ctypes.CDLL(None).printf(text)


def flush() -> None:
    ctypes.CDLL(None).fflush(None)  # a C stream that leads to a file is buffered


@on_posix
@pytest.mark.parametrize("seed", [9, 21, 28, 39, 51])
def test_a_solver_that_repairs_a_solution_does_not_write(
    seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    # Some of these make HiGHS 1.12 write MESSAGE.
    rng = np.random.default_rng(seed)
    network = ReluNetwork(
        [
            (rng.normal(size=(4, 8)), rng.normal(size=8)),
            (rng.normal(size=(8, 2)), 0.3 * rng.normal(size=2)),
        ]
    )
    assert counterfactual_distance(network, rng.uniform(-1, 1, 4), "l2", Box(-1, 1)).exact
    flush()
    assert capfd.readouterr() == ("", "")


@on_posix
def test_only_the_message_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    write_as_compiled_code(b"before ")  # still in a buffer when the solver starts
    with quiet_solver(), quiet_solver():
        write_as_compiled_code(MESSAGE)
        write_as_compiled_code(b"compiled ")
        os.write(1, b"raw ")
    write_as_compiled_code(b"after\n")
    flush()
    written = capfd.readouterr().out
    assert sorted(written.split()) == ["after", "before", "compiled", "raw"]
    assert written.index("before") < written.index("compiled") < written.index("after")


@on_posix
def test_python_writes_past_it(capsys: pytest.CaptureFixture[str]) -> None:
    with quiet_solver():
        sys.stdout.write("Python's\n")
        assert capsys.readouterr().out == "Python's\n"


@on_posix
def test_threads_share_the_redirection(capfd: pytest.CaptureFixture[str]) -> None:
    together = Barrier(4)

    def solve(i: int) -> None:
        with quiet_solver():
            together.wait(timeout=30)  # all are inside at once
            os.write(1, f"{i}\n".encode())
            write_as_compiled_code(MESSAGE)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(solve, range(4)))
    flush()
    assert sorted(capfd.readouterr().out.split()) == ["0", "1", "2", "3"]


@on_posix
def test_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet_solver():
        _ = 1 / 0
    write_as_compiled_code(b"after\n")
    flush()
    assert capfd.readouterr().out == "after\n"


@on_posix
def test_a_process_without_output_has_nothing_to_redirect() -> None:
    flush()
    stdout = os.dup(1)
    os.close(1)
    try:
        with quiet_solver():
            pass
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(1)  # it stays closed
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
