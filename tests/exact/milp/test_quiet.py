"""The library prints nothing, whatever its solver writes."""

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from counterset.exact import Box, ReluNetwork, counterfactual_distance
from counterset.exact.milp import MESSAGE, quiet_solver

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
