"""``counterset letter``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import joblib
import pandas as pd
import pytest
from support.cli_files import write_loans

from counterset import DiverseExplainer
from counterset._base.files import write_text
from counterset.cli import letter as module_of_letter
from counterset.cli import main

DETAILS = 'institution = "Example Bank"\ncontact = "Ms Lee"\ndeadline = "18 December 2026"\n'
OUTCOMES = {"declined": "turned down", "approved": "accepted"}


def command(folder: Path, *more: str) -> list[str]:
    model, data = write_loans(folder)
    (folder / "letter.toml").write_text(DETAILS, encoding="utf-8")
    named = ["--target", "approved", "--options", "1", "--date", "18 November 2026"]
    return ["letter", model, data, "--trust", *named, *more]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def declined(folder: Path) -> list[int]:
    data = pd.read_csv(folder / "data.csv")
    model = joblib.load(folder / "model.joblib")
    return [i for i, y in enumerate(model.predict(data[["income", "debt"]])) if y == "declined"]


def expected(folder: Path, row: int, **more: str) -> str:
    """Return the letter that the library writes."""
    rows = pd.read_csv(folder / "data.csv")[["income", "debt"]]
    explainer = DiverseExplainer(joblib.load(folder / "model.joblib"), max_counterfactuals=1)
    explanation = explainer.fit(rows).explain(rows.loc[row], target="approved")
    details = {
        "institution": "Example Bank",
        "contact": "Ms Lee",
        "deadline": "18 December 2026",
        "date": "18 November 2026",
    }
    return explanation.letter(details=details | more, outcomes=OUTCOMES)


@pytest.fixture
def row(tmp_path: Path) -> int:
    write_loans(tmp_path)
    return declined(tmp_path)[0]


def test_a_letter_is_printed_with_details_and_outcomes(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = ["--details", str(tmp_path / "letter.toml")]
    called = ["--outcomes", "declined=turned down,approved=accepted"]
    assert main(command(tmp_path, "--rows", str(row), *filled, *called)) == 0
    assert capsys.readouterr().out == f"{expected(tmp_path, row)}\n"


def test_a_letter_is_written_as_text_and_as_html(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, file, start in (
        ("--output", tmp_path / "a.txt", "[institution]\n\nDate: 18 November 2026\n"),
        ("--html", tmp_path / "a.html", "<!DOCTYPE html>"),
    ):
        assert main(command(tmp_path, "--rows", str(row), option, str(file))) == 0
        assert capsys.readouterr().out == f"Written to {file}\n"
        assert file.read_text(encoding="utf-8").startswith(start)


def test_the_date_is_of_the_argument_then_of_the_file_then_today(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterset.cli.letter._today", lambda: "5 May 2005")
    undated = [each for each in command(tmp_path, "--rows", str(row)) if each != "--date"]
    undated.remove("18 November 2026")
    (tmp_path / "dated.toml").write_text("date = 2004-04-04")
    dated = ["--details", str(tmp_path / "dated.toml")]
    for more, date in (
        ([], "5 May 2005"),
        (dated, "2004-04-04"),
        ([*dated, "--date", "3 March 2003"], "3 March 2003"),
    ):
        assert main([*undated, *more]) == 0
        assert f"\nDate: {date}\n" in capsys.readouterr().out


def test_a_reviewer_gets_figures(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, "--rows", str(row), "--audience", "reviewer")) == 0
    assert f"Explanation of input {row}, for review" in capsys.readouterr().out


def test_a_folder_has_a_letter_for_each_person_who_was_declined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "letters"
    filled = ["--details", str(tmp_path / "letter.toml"), "--case", "case", "--text"]
    called = ["--outcomes", "declined=turned down,approved=accepted"]
    arguments = command(tmp_path, "--folder", str(folder), *filled, *called)
    data = pd.read_csv(tmp_path / "data.csv")
    # Leading zeros stay.
    data.assign(case=[f"{i:04}" for i in data.index]).to_csv(tmp_path / "data.csv", index=False)
    assert main(arguments) == 0
    people = declined(tmp_path)
    assert capsys.readouterr().out == (
        f"{len(people)} letters, 0 of them without an option; {120 - len(people)} rows already had "
        f"the wanted class or value\nWritten to {folder}\n"
    )
    assert names(folder) == sorted(f"{i}.txt" for i in people)
    last = people[-1]
    assert last >= module_of_letter.ROWS  # it is in the second batch
    shown = (folder / f"{last}.txt").read_text(encoding="utf-8")
    assert shown == f"{expected(tmp_path, last, case=f'{last:04}')}\n"


def test_people_without_an_option_get_reasons(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()  # an empty folder may exist
    fixed = ["--immutable", "income", "debt"]
    assert main(command(tmp_path, "--rows", str(row), "--folder", str(folder), *fixed)) == 0
    assert capsys.readouterr().out.startswith("1 letter, 1 of them without an option\n")
    assert names(folder) == [f"{row}.html"]
    shown = (folder / f"{row}.html").read_text(encoding="utf-8")
    assert "No option was found" in shown
    assert "The main reason" in shown


def test_a_folder_that_is_not_empty_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder := tmp_path / "letters").mkdir()
    (folder / "1.html").write_text("mine")
    assert main(command(tmp_path, "--folder", str(folder))) == 2
    assert f"--folder: {folder} is not empty" in capsys.readouterr().err
    assert (folder / "1.html").read_text() == "mine"


def test_a_run_that_fails_leaves_no_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Path] = []

    def fail_later(file: Path, text: str, what: str) -> None:
        if len(done) == 3:
            raise OSError(28, "No space left on device")
        write_text(file, text, what)
        done.append(file)

    monkeypatch.setattr(module_of_letter, "write_text", fail_later)
    assert main(command(tmp_path, "--folder", str(tmp_path / "letters"))) == 1
    assert "No space left" in capsys.readouterr().err
    assert not done[0].exists()
    assert names(tmp_path / "letters") == []


def test_a_bar_is_shown_on_a_terminal(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = command(tmp_path, "--rows", str(row), "--folder", str(tmp_path / "letters"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(arguments) == 0
    assert "letter [########################] 1/1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "Choose either --rows N, to write to one person, or --folder FOLDER"),
        (["--rows", "0", "2"], "Choose either --rows N, to write to one person, or --folder"),
        (["--rows", "ROW", "--html", "a", "--output", "b"], "Choose one of --html, --output."),
        (["--rows", "ROW", "--text"], "--text: use it with --folder"),
        (["--rows", "200"], "There is no row 200 in "),
        (["--rows", "ROW", "--case", "number"], "--case: there is no column 'number' in "),
        (["--rows", "ROW", "--outcomes", "bad=no"], "outcomes names 'bad', but the model has"),
        (["--rows", "ROW", "--details", "no.toml"], "There is no file no.toml"),
        (["--rows", "ROW", "--target", "refunded"], "No training row is predicted 'refunded'"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    more: list[str], message: str, tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(row) if each == "ROW" else each for each in more]
    assert main(command(tmp_path, *given)) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_a_person_who_has_what_is_wanted_gets_no_letter(
    tmp_path: Path, row: int, capsys: pytest.CaptureFixture[str]
) -> None:
    reached = next(i for i in range(120) if i not in declined(tmp_path))
    assert main(command(tmp_path, "--rows", str(reached))) == 2
    assert f"Row {reached} already has the wanted class" in capsys.readouterr().err


def test_one_case_for_many_people_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "case.json").write_text('{"case": "4711"}')
    named = ["--details", str(file)]
    assert main(command(tmp_path, *named, "--folder", str(tmp_path / "letters"))) == 2
    assert "names one case for all letters of --folder" in capsys.readouterr().err
    assert main(command(tmp_path, *named, "--rows", "1", "--case", "town")) == 2
    assert "names a case, and --case a column with cases" in capsys.readouterr().err
    assert not (tmp_path / "letters").exists()
