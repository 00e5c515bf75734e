"""What a command reads and writes, checked before the work."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cli_files import write_loans

from counterset import InvalidInputError, MissingExtraError
from counterset.cli import main
from counterset.cli.files import check_files, check_folder


def given(**files: Any) -> argparse.Namespace:
    return argparse.Namespace(**files)


def contents(folder: Path) -> dict[str, bytes]:
    """Return what every file under a folder holds."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_nothing_is_made(tmp_path: Path) -> None:
    check_folder(tmp_path / "a" / "b", plots=True)
    check_files(given(html=tmp_path / "report.html", out=Path("a.csv")), "html", "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions do not bind the administrator, who may run these tests.
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(InvalidInputError, match=r"you may not write to .*--output"):
        check_folder(tmp_path / "out", plots=False)


def test_missing_matplotlib_is_told_with_both_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It was missed after the work was done.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_folder(tmp_path, plots=False)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]', or .*: --no-plots\."):
        check_folder(tmp_path, plots=True)


def test_a_file_that_cannot_be_written_is_told_with_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInputError, match=r"^--html: .* because it is a folder"):
        check_files(given(html=tmp_path), "html")
    with pytest.raises(InvalidInputError, match=r"because there is no folder .*a\. Make it"):
        check_files(given(html=tmp_path / "a" / "b.html"), "html")
    with pytest.raises(InvalidInputError, match="because it is a device"):
        check_files(given(html=Path(os.devnull)), "html")
    protected = tmp_path / "protected.html"
    protected.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: path != protected)
    with pytest.raises(InvalidInputError, match="it exists and you may not write to it"):
        check_files(given(html=protected), "html")
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(InvalidInputError, match="because you may not write to"):
        check_files(given(html=tmp_path / "b.html"), "html")


def test_a_file_to_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"There is no file .*none\.csv\."):
        check_files(given(data=tmp_path / "none.csv", model=None))
    with pytest.raises(InvalidInputError, match="is a folder, not a file"):
        check_files(given(data=tmp_path))


@pytest.mark.parametrize("link", ["path", "relative", "symlink", "hard link", "linked folder"])
def test_a_file_that_is_read_is_not_written_whatever_it_is_called(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = tmp_path / "data.csv"
    read.write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    written = tmp_path / "out.csv"
    if link == "path":
        written = tmp_path / "." / "data.csv"
    elif link == "relative":
        written = Path("..") / tmp_path.name / "data.csv"
    elif link == "symlink":
        written.symlink_to(read)
    elif link == "hard link":
        os.link(read, written)
    else:
        (tmp_path / "same").symlink_to(tmp_path)
        written = tmp_path / "same" / "data.csv"
    with pytest.raises(InvalidInputError, match=r"--out: .* would overwrite .* this command"):
        check_files(given(data=read, out=written), "out")


def test_two_files_that_are_written_differ(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="--output and --schema name the same file"):
        check_files(given(output=tmp_path / "a", schema=tmp_path / "a"), "output", "schema")


def test_a_folder_that_is_removed_holds_nothing_that_is_read(tmp_path: Path) -> None:
    (parts := tmp_path / "out.csv.parts").mkdir()
    (read := parts / "00000000.csv").touch()
    with pytest.raises(InvalidInputError, match="would overwrite"):
        check_files(given(data=read, out=tmp_path / "out.csv"), "out", more={"out": [parts]})


@pytest.mark.parametrize("lost", ["model.joblib", "data.csv", "train.csv", "c.toml", "s.json"])
@pytest.mark.parametrize(
    "command",
    [
        "explain MODEL DATA --row 0 --html LOST",
        "explain MODEL DATA --out LOST",
        "report MODEL DATA --html LOST",
        "evaluate MODEL DATA --inputs 3 --output LOST",
    ],
)
def test_no_command_overwrites_what_it_reads(
    command: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each was overwritten, with the exit code 0.
    model, data = write_loans(tmp_path)
    (tmp_path / "train.csv").write_bytes(Path(data).read_bytes())
    (tmp_path / "c.toml").write_text("immutable = []\n", encoding="utf-8")
    (tmp_path / "s.json").write_text("{}", encoding="utf-8")
    before = contents(tmp_path)
    names = {"MODEL": model, "DATA": data, "LOST": str(tmp_path / lost)}
    typed = [names.get(word, word) for word in command.split()]
    typed += ["--trust", "--train", str(tmp_path / "train.csv")]
    typed += ["--constraints", str(tmp_path / "c.toml"), "--schema", str(tmp_path / "s.json")]
    assert main(typed) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_tune_does_not_overwrite_its_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = write_loans(tmp_path)
    Path(data).rename(tmp_path / "tuning.csv")
    before = contents(tmp_path)
    command = ["tune", model, str(tmp_path / "tuning.csv"), "--trust", "--no-plots", "--quiet"]
    assert main([*command, "--inputs", "2", "--output", str(tmp_path)]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "command",
    ["explain --row 0", "explain --out o.csv", "report --html r.html", "evaluate", "tune"],
)
def test_a_model_and_a_table_in_each_others_place_are_told(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The advice was to trust the table as a pickle.
    model, data = write_loans(tmp_path)
    name, *options = command.split()
    assert main([name, data, model, *options]) == 2
    assert capsys.readouterr().err == (
        f"counterset: {data} is a table, and {model} is a model. Name the model first: {model} "
        f"{data}.\n"
    )
    assert main([name, model, model, "--trust", *options]) == 2
    assert (
        f"{model} is a model, by the ending of its name, and not a table."
        in capsys.readouterr().err
    )
    assert main([name, data, data, *options]) == 2
    assert f"{data} is a table, by its ending, and no model." in capsys.readouterr().err


def test_a_model_in_place_of_a_report_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_loans(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("report.html").touch()
    assert main(["verify", "model.joblib", "--model", "report.html"]) == 2
    assert capsys.readouterr().err == (
        "counterset: model.joblib is a model. Name the report first: report.html --model "
        "model.joblib.\n"
    )


@pytest.mark.parametrize("option", ["--row 0 --html", "--out"])
def test_an_empty_name_is_told(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # It was a traceback.
    assert main(["explain", *write_loans(tmp_path), *option.split(), ""]) == 2
    assert "cannot be written, because it is a folder" in capsys.readouterr().err
