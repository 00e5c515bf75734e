"""The command itself: its version, its help, and both ways to start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterset import __version__
from counterset.cli import main

COMMANDS = ["demo", "explain", "report", "verify", "evaluate", "tune", "reproduce", "datasets"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("command", ["demo", "reproduce", "tune", "verify"])
def test_the_help_lists_the_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert command in capsys.readouterr().out


def test_the_package_can_be_run_as_a_module() -> None:
    run = [sys.executable, "-m", "counterset", "--version"]
    assert subprocess.check_output(run, text=True).strip() == f"counterset {__version__}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to write to")
def test_output_that_cannot_be_written_is_a_failure_told_in_one_line() -> None:
    # Python complained when it exited, after the command had said that all was well.
    with Path("/dev/full").open("w") as full:
        run = [sys.executable, "-m", "counterset", "demo"]
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "counterset: No space left on device\n")


def test_a_reader_that_stops_early_is_no_error_to_tell() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = [sys.executable, "-m", "counterset", "demo"]
    done = subprocess.run(run, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
