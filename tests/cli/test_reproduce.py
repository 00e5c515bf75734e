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


def test_an_unknown_peer_is_refused_before_anything_runs(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # All of the paper's experiments were run first.
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--quiet"]
    assert main([*command, "--peers", "foo", "--output", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("counterset: There is no peer named 'foo'.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--peer-inputs", "21"], "must be a whole number from 1 to 20, got '21'"),
        (["--peer-repeats", "0"], "must be a whole number of at least 1, got '0'"),
        (["--peer-time-limit", "inf"], "must be a number above 0, got 'inf'"),
    ],
)
def test_numbers_that_cannot_be_used_are_told(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_an_interpreter_that_is_not_there_is_told_before_anything_runs(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--weights", str(weights), "--output", str(tmp_path / "out")]
    assert main([*command, "--peers", "nice", "--peer-python", "no/such/python"]) == 2
    assert "there is no program 'no/such/python'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("default")
def test_a_damaged_result_is_told_and_run_again(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The figures of a truncated file were shown, with exit code 0 and without a word.
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--norms", "1"]
    command += ["--tables", "final", "--output", str(tmp_path), "--no-plots", "--quiet"]
    assert main(command) == 0
    before = capsys.readouterr().out
    file = next((tmp_path / "cells").glob("final-*.csv"))
    content = file.read_bytes()
    file.write_bytes(content[: content[:-1].rindex(b"\n") + 1])  # a row less
    assert main(command) == 0
    told = capsys.readouterr()
    assert told.err == (
        f"counterset: warning: The result in {file} is damaged (its checksum does not match), so "
        f"it does not count as finished.\n"
    )
    measured = [line for line in before.splitlines() if "measured" in line]
    for line in measured:  # the last column is the time
        assert line.rsplit(maxsplit=1)[0] in told.out


def test_a_folder_that_cannot_be_written_to_is_told(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--quiet"]
    assert main([*command, "--output", str(file)]) == 2
    assert f"because {file} is a file, not a folder" in capsys.readouterr().err


def test_weights_are_checked_without_running_anything(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--check-weights", "--datasets", "diabetes"]
    command += ["--output", str(tmp_path / "out")]
    assert main(command) == 2
    assert "--check-weights needs --weights" in capsys.readouterr().err
    assert main([*command, "--weights", str(weights)]) == 1
    printed = capsys.readouterr().out
    assert "8-1-2" in printed
    assert "diabetes: the published networks have layers of (20, 10, 2) units" in printed
    assert not (tmp_path / "out").exists()
