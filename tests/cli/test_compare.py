"""``counterset compare``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset.cli import main


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # Peers of one's own are imported from here.
    (tmp_path / "mine.py").write_text(
        "class Rich:\n"
        "    uses_norm = False\n"
        "    def __init__(self, norm): pass\n"
        "    def fit(self, model, X): self.highest = X['income'].max()\n"
        "    def explain_many(self, X):\n"
        "        return [X.iloc[[i]].assign(income=self.highest) for i in range(len(X))]\n"
    )
    X = pd.DataFrame(np.random.default_rng(0).random((60, 2)), columns=["income", "debt"])
    y = np.where(X["income"] > X["debt"], "yes", "no")
    joblib.dump(LogisticRegression().fit(X, y), tmp_path / "model.joblib")
    X.assign(decision=y).to_csv(tmp_path / "loans.csv", index=False)
    return tmp_path / "loans.csv"


FEW = ("--inputs", "2", "--repeats", "1", "--retrainings", "2", "--quiet")


def test_a_table_a_model_and_an_explainer_of_ones_own(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "--data", str(table), "--model", "model.joblib", "--trust", *FEW]
    assert main([*command, "--peers", "mine:Rich", "nearest-rows"]) == 0
    told = capsys.readouterr()
    assert "loans, own: the sets" in told.out
    assert "2 inputs; the optimum is proved for 2; accuracy of the model: " in told.out
    assert "; retrained models agree with it on " in told.out
    assert told.err == ""
    written = pd.read_csv("comparison/comparison.csv")
    assert written["peer"].tolist() == ["mine:Rich", "nearest-rows"]
    assert written["sparsity"].iloc[0] == 1
    assert written["options"].iloc[1] == 5
    assert written["survival"].iloc[1] > 0.5
    assert (table.parent / "comparison" / "comparison.png").is_file()


def test_models_are_trained_on_a_table_of_ones_own(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "--data", "loans.csv", "--models", "logistic", "forest", *FEW]
    command += ["--label", "decision", "--immutable", "debt", "--no-plots"]
    assert main([*command, "--peers", "nearest-rows"]) == 0
    told = capsys.readouterr().out
    assert "loans, logistic: the sets" in told
    assert "loans, forest: how they last" in told
    written = pd.read_csv("comparison/comparison.csv")
    assert written["kind"].tolist() == ["logistic", "forest"]
    # The nearest rows change the debt.
    assert written["violations"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "loan"], "no dataset named 'loan', and it is no name of a CSV or parquet file"),
        (["--data", "loan.csv"], "There is no file loan.csv."),
        (["--data", "loans.csv", "--label", "class"], "there is no column 'class' in loans.csv"),
        (["--data", "diabetes", "--label", "Outcome"], "--label is for a file"),
        (["--data", "loans.csv", "--models", "svm"], "no kind of model 'svm'"),
        (["--data", "loans.csv", "--immutable", "age"], "no feature 'age' in loans.csv"),
        (["--data", "loans.csv", "--peers", "everything"], "There is no peer named 'everything'"),
        (["--data", "loans.csv", "--trust"], "--trust is for the file of --model"),
        (["--data", "loans.csv", "--model", "model.joblib"], "pass --trust"),
        (["--data", "loans.csv", "--model", "m.skops", "--models", "forest"], "Choose either"),
        (["--data", "loans.csv", "diabetes", "--model", "model.joblib"], "--data names 2"),
        (["--data", "loans.csv", "--weights", "."], "--weights are those of the paper's networks"),
        (["--data", "loans.csv", "--inputs", "13"], "12 test rows"),
        (["--data", "comparison/comparison.csv"], "would overwrite"),
    ],
)
def test_what_compare_cannot_use_is_told(
    table: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (table.parent / "comparison").mkdir()
    table.with_name("m.skops").touch()
    Path("comparison/comparison.csv").write_text(table.read_text())
    assert main(["compare", *options, "--quiet"]) == 2
    assert message in capsys.readouterr().err
