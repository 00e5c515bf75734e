"""``counterset verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.linear_model import LogisticRegression

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
