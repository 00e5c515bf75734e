"""``counterset verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.cli_files import write_loans

from counterset import DiverseExplainer, datasets
from counterset.cli import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A report, and the model that it is about."""
    data = datasets.load("diabetes")
    model = fitted(data.X, data.y)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(data.X)
    explainer.explain(data.X.iloc[0]).to_html(tmp_path / "report.html")
    joblib.dump(model, tmp_path / "model.joblib")
    return str(tmp_path / "report.html"), str(tmp_path / "model.joblib")


def fitted(X: Any, y: Any) -> LogisticRegression:
    return LogisticRegression(max_iter=2000).fit(X, y)


def test_a_report_is_accepted(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    report, model = files
    assert main(["verify", report, "--model", model, "--trust"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("holds:") == 3
    assert printed.err == ""


def test_a_changed_report_is_refused(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    report, model = files
    page = Path(report).read_text(encoding="utf-8")
    Path(report).write_text(page.replace("768 rows", "769 rows"), encoding="utf-8")
    assert main(["verify", report, "--model", model, "--trust"]) == 1
    assert capsys.readouterr().out.startswith("refused: the file was changed")


def test_a_retrained_model_is_refused(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    report, model = files
    data = datasets.load("diabetes")
    joblib.dump(fitted(data.X.iloc[:600], data.y.iloc[:600]), model)
    assert main(["verify", report, "--model", model, "--trust"]) == 1
    assert "trained again" in capsys.readouterr().out


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_is_not_there_is_told_in_one_line(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], which: int
) -> None:
    Path(files[which]).unlink()
    assert main(["verify", files[0], "--model", files[1], "--trust"]) == 2
    printed = capsys.readouterr().err
    assert "There is no file" in printed
    assert printed.count("\n") == 1


def test_a_pickle_needs_trust(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", files[0], "--model", files[1]]) == 2
    assert "--trust" in capsys.readouterr().err


@pytest.fixture
def many(tmp_path: Path) -> list[str]:
    """The arguments that check a report about 60 people with their rows."""
    model, data = write_loans(tmp_path)
    report = str(tmp_path / "many.html")
    chosen = ["--where", "decision == 'declined'", "--target", "approved", "--options", "1"]
    assert main(["report", model, data, "--trust", "--html", report, *chosen]) == 0
    return [report, "--model", model, "--trust", "--data", data]


def test_single_decisions_are_checked_with_the_rows(
    many: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", *many]) == 0
    assert "holds: the model gives the recorded decisions on 60 people" in capsys.readouterr().out
    assert main(["verify", *many, "--sample", "7"]) == 0
    assert "recorded decisions on 7 of 60 people" in capsys.readouterr().out
    data = Path(many[-1])
    rows = pd.read_csv(data)
    rows.loc[rows["decision"] == "declined", "debt"] += 1
    rows.to_csv(data, index=False)
    assert main(["verify", *many, "--all"]) == 1
    assert "refused: the data has other rows than the report" in capsys.readouterr().out


def test_without_the_rows_it_says_what_was_not_checked(
    many: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", *many[:-2]]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("not checked: ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--all"], "--all says how many people to check"),
        (["--sample", "3"], "--sample says how many people to check"),
        (["--data", "{data}", "--all", "--sample", "3"], "Choose either --sample N or --all."),
    ],
)
def test_options_that_need_or_exclude_others_are_refused(
    many: list[str], more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [each.format(data=many[-1]) for each in more]
    assert main(["verify", *many[:-2], *more]) == 2
    assert message in capsys.readouterr().err


def test_data_for_the_report_of_one_is_refused(
    files: tuple[str, str], many: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    report, model = files
    assert main(["verify", report, "--model", model, "--trust", "--data", many[-1]]) == 2
    assert "holds all that is to be checked" in capsys.readouterr().err
