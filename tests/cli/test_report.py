"""``counterset report``, as a person would use it."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from support.cli_files import write_loans

from counterset.cli import main


def command(folder: Path, *more: str) -> list[str]:
    model, data = write_loans(folder)
    return ["report", model, data, "--trust", "--html", str(folder / "report.html"), *more]


def test_report_covers_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(tmp_path, "--target", "approved", "--options", "1")) == 0
    told = capsys.readouterr().out
    assert told.startswith("120 rows: 60 explained, 60 already had")
    assert told.endswith(f"Written to {tmp_path / 'report.html'}\n")
    assert "Of 60 people" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_report_of_some_rows_by_group_with_stability(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The town is no feature of the model.
    some = ["--rows", "0", "1", "2", "3", "--groups", "town", "--repeats", "1", "--options", "1"]
    assert main(command(tmp_path, *some)) == 0
    assert "4 rows: 4 explained" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Bonn" in page
    assert "Ulm" in page
    assert '"set_distance_mean"' in page
    assert main(command(tmp_path, "--rows", "0", "1", "--groups", "debt", "--options", "1")) == 0


def test_only_rows_where_an_expression_holds_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--where", "decision == 'declined' and town == 'Ulm'", "--rows", *map(str, range(40))]
    more = ["--target", "approved", "--options", "1", "--annex", "--outcomes", "approved=a yes"]
    named = ["--title", "Declined in Ulm", "--author", "Jane Doe", "--date", "2 May 2027"]
    assert main(command(tmp_path, *where, *more, *named)) == 0
    rows = pd.read_csv(tmp_path / "data.csv").head(40)
    expected = rows.index[(rows["decision"] == "declined") & (rows["town"] == "Ulm")]
    assert capsys.readouterr().out.startswith(f"{len(expected)} rows: {len(expected)} explained")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    annex = page[page.index("Annex: the cases") :]
    cases = re.findall(r'<tr><th scope="row">(\d+)</th>', annex)
    assert list(map(int, cases)) == expected.tolist()
    for text in ("Declined in Ulm", "Author: Jane Doe", "Date: 2 May 2027", "leads to a yes"):
        assert text in page


def test_a_row_that_is_named_twice_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, "--rows", "0", "0", "--options", "1")) == 0
    assert capsys.readouterr().out.startswith("1 row: ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--where", "income > 500"], "--where 'income > 500' holds for none of the 120 rows"),
        (["--where", "town = "], "cannot be evaluated"),
        (["--rows", "3", "200"], "There is no row 200 in "),
        (["--groups", "sex"], "--groups: there is no column "),
        (["--target", "refunded"], "No training row is predicted 'refunded'"),
    ],
)
def test_what_is_not_in_the_file_is_told(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, *more)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "no model", "no data", "--html", str(tmp_path / "a" / "b.html")]) == 2
    assert f"because there is no folder {tmp_path / 'a'}" in capsys.readouterr().err
