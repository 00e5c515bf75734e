"""``counterset peers``, as a person would use it; pip is played by a stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from counterset.cli import main
from counterset.paper.peers import PEERS
from counterset.paper.peers.libraries import LIBRARIES


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that would have run; venv makes its folder, and treecf fails."""
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        ran.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        failed = any("treecf" in part for part in command) and "pip" in command
        error = "Collecting treecf\nERROR: No matching distribution\n" if failed else ""
        return SimpleNamespace(returncode=int(failed), stderr=error, stdout="")

    monkeypatch.setattr(subprocess, "run", run)
    return ran


def test_every_peer_is_listed_under_its_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["peers", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    lines = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert sorted(lines) == sorted(PEERS)
    assert "nice (NICE, not installed):\n  nice  " in out
    assert max(map(len, out.splitlines()[:-4])) <= 88
    assert " ".join(out.split()).endswith(f"To remove one, delete its folder in {tmp_path}.")


def test_a_library_gets_an_environment_and_is_then_listed_as_installed(
    tmp_path: Path, commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["peers", "--install", "nice-sparsity", "nice", "--folder", str(tmp_path)]) == 0
    assert commands[0] == [sys.executable, "-m", "venv", str(tmp_path / "nice")]
    assert commands[-1][-2:] == ["--no-deps", "NICEx==0.2.3"]
    out = capsys.readouterr().out
    assert [line.strip() for line in out.splitlines()[:-1]] == [" ".join(c) for c in commands]
    assert out.endswith(f"NICE is installed in {tmp_path / 'nice'}\n")
    assert main(["peers", "--folder", str(tmp_path)]) == 0
    assert "nice (NICE, installed):" in capsys.readouterr().out
    ran = len(commands)
    assert main(["peers", "--install", "nice", "--folder", str(tmp_path)]) == 0
    assert len(commands) == ran  # it is there already


def test_one_that_fails_does_not_keep_the_others_from_being_installed(
    tmp_path: Path, commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["peers", "--install", "treecf", "nice", "--folder", str(tmp_path)]
    assert main(command) == 2
    captured = capsys.readouterr()
    assert "NICE is installed" in captured.out
    assert captured.err == (
        "counterset: treecf cannot be installed here: ERROR: No matching distribution\n"
    )
    assert not (tmp_path / "treecf" / "installed.json").exists()


def test_all_means_every_library(
    tmp_path: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, library in LIBRARIES.items():
        if name != "nice":
            (tmp_path / name).mkdir()
            contents = [*library.requirements, *library.alone]
            (tmp_path / name / "installed.json").write_text(json.dumps(contents))
    assert main(["peers", "--install", "all", "--folder", str(tmp_path)]) == 0
    assert {Path(command[0]).parent for command in commands[1:]} == {tmp_path / "nice" / "bin"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lime", "There is no library or peer named 'lime'. Choose from alibi, cel,"),
        ("face", "The peer 'face' needs no other library."),
    ],
)
def test_what_cannot_be_installed_is_told(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["peers", "--install", name, "--folder", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
