"""The command itself: its version, its help, and both ways to start it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from counterset import __version__
from counterset.cli import main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("command", ["demo", "reproduce", "tune"])
def test_the_help_lists_the_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert command in capsys.readouterr().out


def test_the_package_can_be_run_as_a_module() -> None:
    run = [sys.executable, "-m", "counterset", "--version"]
    assert subprocess.check_output(run, text=True).strip() == f"counterset {__version__}"
