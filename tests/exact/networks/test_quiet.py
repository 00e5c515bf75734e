"""The library never prints, whatever its solver does."""

import ctypes
import platform
import sys

import numpy as np
import pytest

from counterset import Box
from counterset.exact import ReluNetwork, counterfactual_distance
from counterset.exact.networks import quiet as quiet_module
from counterset.exact.networks.quiet import quiet_solver

on_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")


def flush() -> None:
    ctypes.CDLL(None).fflush(None)  # a C stream that leads to a file keeps what it is told


@on_glibc
@pytest.mark.parametrize("seed", [9, 21, 28, 39])
def test_a_solver_that_repairs_a_solution_does_not_say_so(
    seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    # These used to print "HighsMipSolverData::transformNewIntegerFeasibleSolution ...".
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


@on_glibc
def test_only_the_output_of_compiled_code_is_dropped_and_only_meanwhile(
    capfd: pytest.CaptureFixture[str],
) -> None:
    puts = ctypes.CDLL(None).puts
    with quiet_solver(), quiet_solver():
        puts(b"dropped")
        sys.stdout.write("Python's\n")
    puts(b"after")
    flush()
    told = capfd.readouterr().out.split("\n")
    assert sorted(told) == ["", "Python's", "after"]


@on_glibc
def test_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet_solver():
        _ = 1 / 0
    ctypes.CDLL(None).puts(b"after")
    flush()
    assert capfd.readouterr().out == "after\n"


def test_elsewhere_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    quiet_module._nowhere.cache_clear()
    try:
        with quiet_solver():
            assert quiet_module._running == 0
    finally:
        quiet_module._nowhere.cache_clear()
