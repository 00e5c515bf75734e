"""``counterset evaluate``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.cli_files import write_loans

from counterset.cli import main


def test_evaluate_prints_the_means_and_writes_all_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = write_loans(tmp_path)
    file = tmp_path / "figures.csv"
    command = [
        "evaluate",
        model,
        data,
        "--trust",
        "--inputs",
        "8",
        "--repeats",
        "2",
        "--options",
        "1",
    ]
    assert main([*command, "--target", "approved", "--output", str(file)]) == 0
    told = capsys.readouterr().out
    figures = pd.read_csv(file)
    assert len(figures) == 16
    explained = figures[figures["validity"].notna()]
    count = explained["input"].nunique()
    assert told.startswith(
        f"{count} rows explained, {8 - count} already had the wanted class or value.\n"
    )
    assert f"{explained['k_distance'].mean():9.3f}  k_distance: mean distance" in told
    assert told.endswith(f"Written to {file}\n")


def test_nothing_to_explain_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = write_loans(tmp_path)
    rows = pd.read_csv(data)
    good = tmp_path / "good.csv"
    rows[rows["decision"] == "approved"].head(3).to_csv(good, index=False)
    command = ["evaluate", model, str(good), "--train", data, "--trust", "--target", "approved"]
    assert main(command) == 0
    assert capsys.readouterr().out == "0 rows explained, 3 already had the wanted class or value.\n"


def test_a_folder_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "m", "d", "--output", str(tmp_path / "a" / "b.csv")]) == 2
    assert "--output: " in capsys.readouterr().err
