"""``counterset reproduce``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterset.cli import main


def test_reproduce_writes_a_report_and_goes_on_from_there(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    command = ["reproduce", "--as-published", "--weights", str(weights), "--datasets", "diabetes"]
    command += ["--tables", "final", "--output", str(output), "--no-plots"]
    assert main([*command, "--quiet"]) == 0
    printed = capsys.readouterr()
    assert "Ours vs published" in printed.out
    assert printed.err == ""
    before = {file: file.stat().st_mtime_ns for file in (output / "cells").iterdir()}
    assert len(before) == 5  # four cells and the settings
    assert main(command) == 0
    assert {file: file.stat().st_mtime_ns for file in (output / "cells").iterdir()} == before


def test_reproduce_measures_peers(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--tables"]
    command += ["--peers", "nearest-rows", "--peer-inputs", "2", "--peer-repeats", "1"]
    command += ["--norms", "1", "--output", str(tmp_path / "out"), "--no-plots", "--quiet"]
    assert main(command) == 0
    assert "nearest-rows" in capsys.readouterr().out


def test_an_error_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "--weights", str(tmp_path), "--datasets", "diabetes", "--quiet"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("counterset: There are no weights at")
