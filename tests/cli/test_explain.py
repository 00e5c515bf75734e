"""``counterset explain``, as a person would use it."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from support.cli_files import write_loans

from counterset import Constraints, DiverseExplainer, Schema
from counterset.cli import main


def command(folder: Path, *more: str) -> list[str]:
    model, data = write_loans(folder)
    return ["explain", model, data, "--trust", *more]


def declined(folder: Path) -> int:
    return pd.read_csv(folder / "data.csv")["decision"].tolist().index("declined")


def test_explain_prints_the_words_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"units": {"income": "€"}}', encoding="utf-8")
    base = command(tmp_path, "--options", "1", "--immutable", "debt", "--schema", str(schema))
    row = declined(tmp_path)
    assert main([*base, "--row", str(row), "--target", "approved"]) == 0
    X = pd.read_csv(tmp_path / "data.csv")[["income", "debt"]]
    explainer = DiverseExplainer(
        joblib.load(tmp_path / "model.joblib"),
        schema=Schema(units={"income": "€"}),
        constraints=Constraints(immutable=["debt"]),
        max_counterfactuals=1,
    ).fit(X)
    expected = explainer.explain(X.loc[row], target="approved")
    told = capsys.readouterr()
    assert told.out == f"{expected.describe()}\n"
    assert "€" in told.out
    assert "left out columns" in told.err


def test_details_stand_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = tmp_path / "details.toml"
    details.write_text('institution = "Example Bank"\ncase = 4711\n', encoding="utf-8")
    base = command(tmp_path, "--options", "1", "--details", str(details))
    base += ["--row", str(declined(tmp_path))]
    assert main([*base, "--html", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Example Bank" in page
    assert "Case: 4711" in page
    capsys.readouterr()
    assert main(base) == 2
    assert "--details: use it with --html" in capsys.readouterr().err


def test_explain_prints_json_and_nothing_else_and_writes_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    base = command(tmp_path, "--html", str(report), "--options", "1")
    row = str(declined(tmp_path))
    assert main([*base, "--row", row, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "declined"
    assert "declined" in report.read_text(encoding="utf-8")
    assert main([*base, "--row", row]) == 0
    assert capsys.readouterr().out.endswith(f"\nWritten to {report}\n")


def test_classes_have_the_names_that_people_use_in_words_json_and_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    base = command(tmp_path, "--options", "1", "--outcomes", "declined=turned down,approved=taken")
    one = [*base, "--row", str(declined(tmp_path))]
    assert main([*one, "--html", str(report)]) == 0
    assert "is classified as turned down. One option leads to taken" in capsys.readouterr().out
    assert "is classified as turned down" in report.read_text(encoding="utf-8")
    assert main([*one, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label_text"] == "turned down"
    assert main([*base, "--out", str(tmp_path / "all.csv")]) == 2
    assert "--outcomes: use it with --row, not with --out." in capsys.readouterr().err


def test_fewer_ways_than_asked_for_are_told_once_in_the_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A warning in terms of the library was told too.
    base = command(tmp_path, "--options", "5", "--immutable", "debt")
    assert main([*base, "--row", str(declined(tmp_path))]) == 0
    told = capsys.readouterr()
    assert "5 were asked for" in " ".join(told.out.split())
    assert "warning" not in told.err


def test_a_regression_is_explained_for_a_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = command(tmp_path, "--row", "0", "--options", "1")
    X = pd.read_csv(tmp_path / "data.csv")[["income", "debt"]]
    joblib.dump(LinearRegression().fit(X, X["income"] - X["debt"]), tmp_path / "model.joblib")
    assert main([*base, "--interval", "70", "80"]) == 0
    assert "between 70 and 80" in capsys.readouterr().out
    assert main([*base, "--interval", "70", "80", "--outcomes", "a=b"]) == 2
    assert "--outcomes names classes, and with --interval there are none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--row", "120"], "There is no row 120 in {folder}/data.csv, which has 120 rows. Choose"),
        (["--row", "0", "--html", "{folder}"], "--html: {folder} cannot be written, because it is"),
        (["--row", "0", "--html", "{folder}/a/b.html"], "because there is no folder {folder}/a."),
        (["--row", "0", "--constraints", "{folder}/c.toml"], "Did you mean 'immutable'?"),
        (["--row", "0", "--immutable", "age"], "There is no feature 'age'. The features are"),
        (
            ["--row", "0", "--immutable", "income", "debt"],
            "each of the constraints immutable 'income'; immutable 'debt' rules out",
        ),
        (["--row", "0", "--target", "refunded"], "No training row is predicted 'refunded'"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text('imutable = ["age"]\n', encoding="utf-8")
    assert main(command(tmp_path, *(each.format(folder=tmp_path) for each in more))) == 2
    *notes, told = capsys.readouterr().err.splitlines()
    assert all("left out columns" in note for note in notes)
    assert message.format(folder=tmp_path) in told


def test_a_row_that_has_what_is_wanted_is_told_in_words_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The advice was to pass parameters of a function.
    base = command(tmp_path, "--target", "declined")
    row = str(declined(tmp_path))
    assert main([*base, "--row", row]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"counterset: Row {row} already has the wanted class or value: the model predicts "
        f"'declined'. Choose another row, or another goal."
    )


def test_a_row_below_0_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "model", "data", "--row", "-1"])
    assert "--row: must be a whole number of at least 0" in capsys.readouterr().err


def test_ranges_stand_in_words_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = command(tmp_path, "--options", "1", "--ranges")
    base += ["--row", str(declined(tmp_path))]
    assert main([*base, "--json"]) == 0
    (option,) = json.loads(capsys.readouterr().out)["options"]
    assert option["ranges"]
    assert main(base) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert all(each["text"] in words for each in option["ranges"])
    out = command(tmp_path, "--out", str(tmp_path / "all.csv"), "--ranges")
    assert main(out) == 2
    assert "--ranges: use it with --row" in capsys.readouterr().err


def test_a_margin_is_kept_and_worded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = command(tmp_path, "--options", "2")
    base += ["--row", str(declined(tmp_path))]
    assert main([*base, "--margin", "0.1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["margin"] == {"noise": 0.1, "hold": 0.95, "draws": 100}
    assert all(option["hold_rate"] >= 0.95 for option in told["options"])
    assert main([*base, "--margin", "0.1"]) == 0
    assert "of 100 draws near it" in capsys.readouterr().out
    assert main([*base, "--margin", "3"]) == 2
    assert "margin must be" in capsys.readouterr().err
