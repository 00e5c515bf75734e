"""``counterset reproduce``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

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


def test_an_unknown_peer_is_refused_before_anything_runs(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # All of the paper's experiments were run first.
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--quiet"]
    assert main([*command, "--peers", "foo", "--output", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("counterset: There is no peer named 'foo'.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--peer-inputs", "21"], "must be a whole number from 1 to 20, got '21'"),
        (["--peer-repeats", "0"], "must be a whole number of at least 1, got '0'"),
        (["--peer-time-limit", "inf"], "must be a number above 0, got 'inf'"),
    ],
)
def test_numbers_that_cannot_be_used_are_told(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_an_interpreter_that_is_not_there_is_told_before_anything_runs(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--weights", str(weights), "--output", str(tmp_path / "out")]
    assert main([*command, "--peers", "nice", "--peer-python", "no/such/python"]) == 2
    assert "there is no program 'no/such/python'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("default")
def test_a_damaged_result_is_told_and_run_again(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The figures of a truncated file were shown, with exit code 0 and without a word.
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--norms", "1"]
    command += ["--tables", "final", "--output", str(tmp_path), "--no-plots", "--quiet"]
    assert main(command) == 0
    before = capsys.readouterr().out
    file = next((tmp_path / "cells").glob("final-*.csv"))
    content = file.read_bytes()
    file.write_bytes(content[: content[:-1].rindex(b"\n") + 1])  # a row less
    assert main(command) == 0
    told = capsys.readouterr()
    assert told.err == (
        f"counterset: warning: The result in {file} is damaged (its checksum does not match), so "
        f"it does not count as finished.\n"
    )
    measured = [line for line in before.splitlines() if "measured" in line]
    for line in measured:  # the last column is the time
        assert line.rsplit(maxsplit=1)[0] in told.out


def test_a_folder_that_cannot_be_written_to_is_told(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--quiet"]
    assert main([*command, "--output", str(file)]) == 2
    assert f"because {file} is a file, not a folder" in capsys.readouterr().err


def test_weights_are_checked_without_running_anything(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--check-weights", "--datasets", "diabetes"]
    command += ["--output", str(tmp_path / "out")]
    assert main(command) == 2
    assert "--check-weights needs --weights" in capsys.readouterr().err
    assert main([*command, "--weights", str(weights)]) == 1
    printed = capsys.readouterr().out
    assert "8-1-2" in printed
    assert "diabetes: the published networks have layers of (20, 10, 2) units" in printed
    assert not (tmp_path / "out").exists()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Return a table of one's own: who earns enough gets a loan, and a model that knows it."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"income": random.random(120), "age": random.integers(18, 80, 120)})
    model = LogisticRegression().fit(rows, np.where(rows["income"] > 0.5, "yes", "no"))
    joblib.dump(model, tmp_path / "model.joblib")
    file = tmp_path / "people.csv"
    rows.assign(loan=model.predict(rows)).to_csv(file, index=False)
    return file


def own(file: Path, *options: str) -> list[str]:
    command = ["reproduce", "--data", str(file), "--target-column", "loan", "--quiet"]
    return [*command, "--no-plots", "--output", str(file.parent / "out"), *options]


def test_a_table_a_model_and_an_explainer_of_ones_own_are_run(
    people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It was refused as an invalid choice.
    (people.parent / "my_peers.py").write_text(
        "class Same:\n"
        "    name, uses_norm = 'same', False\n"
        "    def __init__(self, norm): pass\n"
        "    def fit(self, model, X): self.model = model\n"
        "    def explain_many(self, X):\n"
        "        return [row.assign(income=0.9 if self.model.predict(row)[0] == 'no' else 0.1)\n"
        "                for row in (X.iloc[[i]] for i in range(len(X)))]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(people.parent))
    model = ["--model", str(people.parent / "model.joblib"), "--trust"]
    peers = ["--peers", "my_peers:Same", "--peer-inputs", "2", "--peer-repeats", "3"]
    assert main(own(people, *model, *peers)) == 0
    printed = capsys.readouterr().out
    assert "people    1.000" in printed
    assert "ours, published" not in printed
    assert "my_peers:Same" in printed
    summary = pd.read_csv(people.parent / "out" / "summary.csv")
    assert summary["dataset"].unique().tolist() == ["people"]
    assert summary["stage"].tolist() == ["final"] * 4 + ["peers"] * 2
    assert (summary["valid"] == 100).all()
    again = pd.read_csv(people).assign(income=lambda rows: rows["income"].round(1))
    again.to_csv(people, index=False)
    assert main(own(people, *model)) == 2
    assert "rows and model of people" in capsys.readouterr().err


def test_without_a_model_the_papers_network_is_trained(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    renamed = people.rename(people.parent / "diabetes.csv")
    options = ["--norms", "2", "--tables", "final", "tuning"]
    assert main(own(renamed, *options)) == 0
    printed = capsys.readouterr().out
    # It is not taken for the paper's dataset of that name.
    assert "own-diabetes" in printed
    assert "Ours vs published" not in printed
    assert "distance-based, with minimisation" in printed
    assert "nan" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "FILE"], "--data needs --target-column"),
        (["--target-column", "loan"], "--target-column needs --data"),
        (["--model", "MODEL"], "--model needs --data"),
        (["--trust"], "--trust needs --model"),
        (["--data", "FILE", "--target-column", "town"], "There is no column 'town' in people"),
        (
            ["--data", "FILE", "--target-column", "loan", "--weights", "."],
            "--weights are networks for the paper's datasets",
        ),
        (
            ["--data", "FILE", "--target-column", "loan", "--model", "MODEL", "--trust",
             "--as-published"],
            "--as-published makes the choices of a prototype",
        ),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_told(
    people: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"FILE": str(people), "MODEL": str(people.parent / "model.joblib")}
    command = ["reproduce", "--output", str(people.parent / "out"), "--quiet"]
    assert main([*command, *(names.get(option, option) for option in options)]) == 2
    assert message in capsys.readouterr().err
    assert not (people.parent / "out").exists()


def test_sets_of_peers_are_kept_where_one_says_and_measured_without_the_peer(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*options: str) -> str:
        command = ["reproduce", "--weights", str(weights), "--datasets", "diabetes", "--tables"]
        command += ["--peers", "nearest-rows", "--peer-inputs", "2", "--norms", "1", "--quiet"]
        command += ["--peer-answers", str(tmp_path / "kept"), "--no-plots", *options]
        assert main(command) == 0
        return capsys.readouterr().out

    run("--output", str(tmp_path / "one"))
    (file,) = (tmp_path / "kept").iterdir()
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 8
    file.write_text("".join(lines[:5]))
    printed = run("--output", str(tmp_path / "two"), "--peer-time-limit", "0")
    assert "not finished; 5 of 8 explanations are done" in printed
    row = pd.read_csv(tmp_path / "two" / "summary.csv").iloc[0]
    assert row["pairs"] == 3
