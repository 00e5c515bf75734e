"""``counterset tune``, as a person would use it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

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
    command = ["tune", str(model), str(data), "--trust", "--inputs", "5", "--quiet"]
    assert main([*command, "--output", str(output)]) == 0
    told = capsys.readouterr()
    assert "Recommended: strategy=Nearest(diversity=" in told.out
    # The label was used as a feature, though the model knows its features by name.
    assert told.err == (
        f"counterset: left out columns of {data} that are not features of the model: decision\n"
    )
    assert {file.name for file in output.iterdir()} == {
        "tuning.csv", "tuning.md", "trade-off.png",
    }  # fmt: skip
    assert len(pd.read_csv(output / "tuning.csv")) == 36


def test_step_2_by_distance_and_the_number_of_options_are_tried(
    model_and_data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = model_and_data
    command = ["tune", str(model), str(data), "--trust", "--inputs", "3", "--quiet", "--no-plots"]
    command += ["--strategy", "paper", "--within", "0.4", "--options", "2", "4"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "CandidatesWithin(epsilon=0.4)" in told
    assert ", max_counterfactuals=" in told
    table = pd.read_csv(tmp_path / "out" / "tuning.csv")
    assert len(table) == 2 * 2 * 2 * 6 * 4
    assert set(table["max_counterfactuals"]) == {2, 4}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--within", "0.4"], "--within is step 2 of the paper. Add --strategy paper."),
        (["--drop", "salary"], "data.csv: salary."),
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
    assert main(["tune", str(model), str(data), "--trust", "--no-plots", *extra]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_is_told(
    model_and_data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for model in (tmp_path / "m", model_and_data[0]):
        assert main(["tune", str(model), str(tmp_path / "d"), "--trust"]) == 2
        assert capsys.readouterr().err.startswith("counterset: There is no file")


def test_a_pickle_is_loaded_only_if_it_is_trusted(
    model_and_data: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = model_and_data
    assert main(["tune", str(model), str(data)]) == 2
    assert "can run any code" in capsys.readouterr().err


def test_the_help_says_why_a_pickle_must_be_trusted(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tune", "--help"])
    assert "a pickle, which can run any code" in capsys.readouterr().out


def short(model_and_data: tuple[Path, Path], output: Path) -> list[str]:
    """Return a command that is over soon."""
    model, data = model_and_data
    command = ["tune", str(model), str(data), "--trust", "--inputs", "2", "--quiet", "--no-plots"]
    return [*command, "--drop", "decision", "--output", str(output)]


def test_a_full_disk_leaves_nothing_half_written(
    model_and_data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # There was a traceback, a whole table and half a report.
    def write_half(file: Path, text: str, **_: object) -> int:
        file.write_bytes(text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    output = tmp_path / "out"
    monkeypatch.setattr(Path, "write_text", write_half)
    assert main(short(model_and_data, output)) == 1
    assert capsys.readouterr().err == "counterset: No space left on device\n"
    assert list(output.iterdir()) == []


def test_an_interrupt_is_told_and_leaves_nothing(
    model_and_data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterset.cli.tune.tune", interrupted)
    assert main(short(model_and_data, tmp_path / "out")) == 130
    assert capsys.readouterr().err == "counterset: interrupted\n"
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_runs(
    model_and_data: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, data = model_and_data
    assert main(short(model_and_data, data / "out")) == 2
    assert f"because {data} is a file" in capsys.readouterr().err


def test_a_class_of_whole_numbers_can_be_wanted(
    model_and_data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = model_and_data
    rows = pd.read_csv(data)
    X = rows[["income", "debt"]]
    joblib.dump(LogisticRegression().fit(X, (rows["decision"] == "yes").astype(int)), model)
    command = short(model_and_data, tmp_path / "out")
    assert main([*command, "--target", "1", "--inputs", "6"]) == 0
    capsys.readouterr()
    assert main([*command, "--target", "yes"]) == 2
    assert "No training row is predicted 'yes'" in capsys.readouterr().err


def test_a_regression_is_tuned_for_an_interval(
    model_and_data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = model_and_data
    X = pd.read_csv(data)[["income", "debt"]]
    joblib.dump(LinearRegression().fit(X, X["income"] - X["debt"]), model)
    command = short(model_and_data, tmp_path / "out")
    assert main([*command, "--interval", "-0.5", "-0.3", "--inputs", "6"]) == 0
    assert main(command) == 2
    assert "Pass the range you want" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"), [("--inputs", "0"), ("--repeats", "none"), ("--seed", "-1")]
)
def test_numbers_that_cannot_be_used_are_told(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["tune", "model", "data", option, value])
    assert stopped.value.code == 2
    assert f"argument {option}: must be a whole number" in capsys.readouterr().err
