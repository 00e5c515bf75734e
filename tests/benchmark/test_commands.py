"""``counterset reproduce`` and ``counterset tune``."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset import AngleDiversity, DistanceDiversity, InvalidInputError
from counterset.arrays import Mask
from counterset.benchmark import tune
from counterset.benchmark.tune import _from_ideal, _pareto
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


def line_model(rows: object) -> Mask:
    above: Mask = np.asarray(rows).sum(axis=1) > 1
    return above


def test_tuning_measures_the_whole_grid_and_recommends_a_pareto_optimal_setting() -> None:
    X = np.random.default_rng(0).random((300, 2))
    tuning = tune(line_model, X, X[:8], betas=[0, 0.5], gammas=[0.1, None], max_counterfactuals=3)
    assert len(tuning.table) == 2 * 2 * 2
    assert tuning.table["gamma"].isna().sum() == 4
    assert tuning.recommended["pareto"]
    best = tuning.explainer
    assert isinstance(best.diversity, AngleDiversity | DistanceDiversity)
    assert best.diversity.beta == tuning.recommended["beta"]
    assert best.max_counterfactuals == 3
    shown = tuning.to_table().frame
    assert shown[""].tolist()[0] == "recommended"
    assert len(shown) == tuning.table["pareto"].sum()


def test_pareto_and_the_ideal_on_a_toy_by_hand() -> None:
    costs = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    assert _pareto(costs).tolist() == [True, True, True, False, True]
    ideal = [1.0, np.sqrt(0.5), 1.0, np.sqrt(2), np.sqrt(0.5)]
    np.testing.assert_allclose(_from_ideal(costs), ideal)
    assert _from_ideal(np.ones((2, 2))).tolist() == [0, 0]


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        tune(line_model, np.eye(2), np.eye(2), filters=["colour"])


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
        (["--drop", "salary"], "not in the data: ['salary']"),
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
