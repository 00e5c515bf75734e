"""``counterset datasets``, as a person would use it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterset import DiverseExplainer, Schema, datasets
from counterset.cli import main
from counterset.cli.files import read_schema


def test_all_datasets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == datasets.names()
    assert any("768 rows, 8 features, target 'Outcome'" in line for line in lines)


def test_a_dataset_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "diabetes"]) == 0
    described = " ".join(capsys.readouterr().out.split())
    assert datasets.load("diabetes").description in described


def test_a_dataset_becomes_a_table_and_a_schema_with_which_features_are_as_in_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, schema = tmp_path / "credit.csv", tmp_path / "credit.json"
    command = ["datasets", "german_credit", "--output", str(rows), "--schema", str(schema)]
    assert main(command) == 0
    assert capsys.readouterr().out == f"Written to {rows}\nWritten to {schema}\n"
    frame = pd.read_csv(rows)
    credit = datasets.load("german_credit")
    assert list(frame) == [*credit.X, "class"]
    assert frame["class"].tolist() == credit.y.tolist()

    def describe(X: pd.DataFrame, schema: Schema | None) -> list[str]:
        model = lambda rows: rows["duration"].to_numpy() > 12  # noqa: E731
        table = DiverseExplainer(model, schema=schema).fit(X)
        return [str(feature) for feature in table.training_.table.features]

    # A CSV file loses the order of categories.
    assert describe(frame.drop(columns="class"), read_schema(schema)) == describe(
        credit.X, credit.schema
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["irises"], "There is no dataset named 'irises'. Choose one of"),
        (["--output", "a.csv"], "--output needs the NAME of a dataset"),
        (["diabetes", "--output", "no folder/a.csv"], "because there is no folder no folder."),
    ],
)
def test_what_cannot_be_used_is_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_file_that_a_dataset_is_read_from_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What was dropped in reading was lost.
    monkeypatch.setenv("COUNTERSET_DATA", str(tmp_path))
    source = tmp_path / "adult.csv"
    source.write_text("age,class\n20,a\n?,b\n", encoding="utf-8")
    before = source.read_bytes()
    assert main(["datasets", "adult", "--output", str(source)]) == 2
    assert "would overwrite a file that this command reads" in capsys.readouterr().err
    assert source.read_bytes() == before
    assert main(["datasets", "adult", "--output", str(tmp_path / "copy.csv")]) == 0
