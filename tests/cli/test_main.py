"""The command itself: its version, its help, and both ways to start it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from support.cli_files import write_loans

from counterset import __version__
from counterset.cli import main

#: The modules of the commands; the name of theirs is that of the function in the package.
MODULES = import_module("counterset.cli.main").COMMANDS
COMMANDS = [
    "demo",
    "explain",
    "letter",
    "report",
    "serve",
    "verify",
    "evaluate",
    "tune",
    "compare",
    "reproduce",
    "peers",
    "datasets",
]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


def help_of(command: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_the_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(line.split()[:1] == [command] for line in help_of([], capsys))


@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)])
def test_the_help_fits_on_a_screen_and_ends_with_an_example_that_the_command_takes(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = help_of(command, capsys)
    # Those that take one row or a whole file, or the paper's data or one's own, are two commands in
    # one, and a report says much.
    long = (["explain"], ["letter"], ["report"], ["reproduce"])
    assert len(shown) <= (33 if command in long else 24)
    assert max(map(len, shown)) <= 80
    example, program, *arguments = shown[-1].split()
    assert (example, program) == ("example:", "counterset")
    for each in MODULES:  # only the arguments are read
        monkeypatch.setattr(each, "_run", lambda arguments: 0)
    assert main(arguments) == 0


def test_all_commands_are_tested_here() -> None:
    assert [each.__name__.rsplit(".", 1)[1] for each in MODULES] == COMMANDS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "counterset: name a command, such as 'counterset demo' (see ",
        ),
        (["demo", "--aplicant", "1"], "counterset: unrecognized arguments: --aplicant 1"),
        (["explain", "m"], "counterset explain: the following arguments are required: DATA"),
    ],
)
def test_wrong_use_is_told_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "word"),
    [("counterset rep", "reproduce"), ("counterset explain m d --imm", "--immutable")],
)
def test_the_shell_is_told_what_can_follow(typed: str, word: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(told),
        "COMP_LINE": typed,
        "COMP_POINT": str(len(typed)),
    }
    run = [sys.executable, "-m", "counterset"]
    subprocess.run(run, env=os.environ | asked, check=True, capture_output=True)
    assert word in told.read_text(encoding="utf-8")


def test_the_package_can_be_run_as_a_module() -> None:
    run = [sys.executable, "-m", "counterset", "--version"]
    assert subprocess.check_output(run, text=True).strip() == f"counterset {__version__}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to write to")
def test_output_that_cannot_be_written_is_a_failure_told_in_one_line() -> None:
    # Python complained when it exited, after the command had said that all was well.
    with Path("/dev/full").open("w") as full:
        run = [sys.executable, "-m", "counterset", "datasets"]
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "counterset: No space left on device\n")


def test_a_letter_that_the_terminal_does_not_know_is_shown_as_its_code(tmp_path: Path) -> None:
    # It was a traceback, after the work was done.
    model, data = write_loans(tmp_path)
    schema = tmp_path / "schema.json"
    schema.write_text('{"labels": {"debt": "crédit", "income": "crédit €"}}', encoding="utf-8")
    command = ["explain", model, data, "--trust", "--row", "1", "--schema", str(schema)]
    run = [sys.executable, "-m", "counterset", *command]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(run, env=ascii_only, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cr\\xe9dit" in done.stdout


def test_a_reader_that_stops_early_is_no_error_to_tell() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = [sys.executable, "-m", "counterset", "datasets"]
    done = subprocess.run(run, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
