"""``counterset explain``, as a person would use it."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from support.cli_files import write_loans
from support.loan_frames import Lender, lender, loans

from counterset import Constraints, DiverseExplainer, InvalidInputError, Schema
from counterset.cli import main
from counterset.cli.explain import Where


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
    base = command(tmp_path, "--ways", "1", "--immutable", "debt", "--schema", str(schema))
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


def test_explain_prints_json_and_nothing_else_and_writes_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    base = command(tmp_path, "--html", str(report), "--ways", "1")
    row = str(declined(tmp_path))
    assert main([*base, "--row", row, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "declined"
    assert "declined" in report.read_text(encoding="utf-8")
    assert main([*base, "--row", row]) == 0
    assert capsys.readouterr().out.endswith(f"\nWritten to {report}\n")


def test_fewer_ways_than_asked_for_are_told_once_in_the_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A warning in terms of the library was told too.
    base = command(tmp_path, "--ways", "5", "--immutable", "debt")
    assert main([*base, "--row", str(declined(tmp_path))]) == 0
    told = capsys.readouterr()
    assert "5 were asked for" in " ".join(told.out.split())
    assert "warning" not in told.err


def test_a_regression_is_explained_for_a_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = command(tmp_path, "--row", "0", "--ways", "1")
    X = pd.read_csv(tmp_path / "data.csv")[["income", "debt"]]
    joblib.dump(LinearRegression().fit(X, X["income"] - X["debt"]), tmp_path / "model.joblib")
    assert main([*base, "--interval", "70", "80"]) == 0
    assert "between 70 and 80" in capsys.readouterr().out


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
        f"counterset: The model's answer on row {row} is what is wanted already: 'declined'. "
        f"Choose another row, or another goal."
    )


def test_a_row_below_0_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "model", "data", "--row", "-1"])
    assert "--row: must be a whole number of at least 0" in capsys.readouterr().err


# Which rows of a file are explained ---------------------------------------------------------------


EXPLAINER = lender()
ROWS = loans(30).assign(town=np.array(["Ulm", "Bonn", None] * 10, dtype=object))


def test_columns_can_be_compared() -> None:
    mask = Where("income > 50 and town == 'Ulm'", EXPLAINER).mask(ROWS)
    expected = (ROWS["income"] > 50) & (ROWS["town"] == "Ulm")
    assert mask.tolist() == expected.tolist()
    assert mask.any()
    assert Where(None, EXPLAINER).mask(ROWS).all()
    assert Where("town.str.startswith('B')", EXPLAINER).mask(ROWS).sum() == 10  # None is no town


def test_the_decision_is_the_models_unless_a_column_is_called_so() -> None:
    declined = Lender().predict(ROWS) == "declined"
    where = Where("decision == 'declined'", EXPLAINER)
    np.testing.assert_array_equal(where.mask(ROWS), declined)
    assert not where.mask(ROWS.assign(decision="approved")).any()


def test_rows_on_which_the_model_fails_are_not_left_out() -> None:
    rows = ROWS.copy()
    rows.loc["p3", "debt"] = 99.95
    rows.loc["p4", "debt"] = np.inf
    mask = Where("decision == 'nothing'", EXPLAINER).mask(rows)
    assert rows.index[mask].tolist() == ["p3", "p4"]


def test_columns_that_are_kept_as_text_are_compared_as_numbers_if_they_are() -> None:
    rows = ROWS.assign(number=[f"{i:03d}" for i in range(30)], code=[*"12", *["x"] * 28])
    kept = ["number", "code"]
    assert Where("number < 7", EXPLAINER, kept).mask(rows).sum() == 7
    assert Where("code == '1'", EXPLAINER, kept).mask(rows).sum() == 1


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("age > 3", r"--where cannot be evaluated: UndefinedVariableError: .*'age'.*The columns"),
        ("town == Ulm", r"Put texts in quotes: \"town == 'Ulm'\"\."),
        ("income >", "--where cannot be evaluated: SyntaxError"),
        ("income + 1", "--where must be true or false for each row"),
        ("3 > 2", "--where must be true or false for each row"),
        ("@pd.foo == 1", "--where cannot be evaluated"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused(expression: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Where(expression, EXPLAINER).mask(ROWS)
