"""``counterset tune``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset.cli import main


@pytest.fixture
def model_and_data(tmp_path: Path) -> tuple[Path, Path]:
    X = pd.DataFrame(np.random.default_rng(0).random((120, 2)), columns=["income", "debt"])
    y = np.where(X["income"] > X["debt"], "yes", "no")
    model, data = tmp_path / "model.joblib", tmp_path / "data.csv"
    joblib.dump(LogisticRegression().fit(X, y), model)
    X.assign(decision=y).to_csv(data, index=False)
    return model, data


def test_tune_reports_on_a_model_of_ones_own(
    model_and_data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = model_and_data
    output = tmp_path / "tuning"
    command = ["tune", str(model), str(data), "--drop", "decision", "--inputs", "5", "--quiet"]
    assert main([*command, "--output", str(output)]) == 0
    assert "Recommended: diversity=" in capsys.readouterr().out
    assert {file.name for file in output.iterdir()} == {
        "tuning.csv", "tuning.md", "trade-off.png",
    }  # fmt: skip
    assert len(pd.read_csv(output / "tuning.csv")) == 48


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--drop", "salary"], "data.csv: ['salary']"),
        (["--drop", "decision", "--inputs", "120"], "between 1 and 119"),
    ],
)
def test_what_tune_cannot_use_is_told(
    model_and_data: tuple[Path, Path],
    extra: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, data = model_and_data
    assert main(["tune", str(model), str(data), "--no-plots", *extra]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(tmp_path / "m"), str(tmp_path / "d")]) == 2
    assert "There is no file" in capsys.readouterr().err
