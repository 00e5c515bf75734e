"""Rows in files, as a model takes them."""

from __future__ import annotations

import argparse
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.cli_files import write_loans

from counterset import InvalidInputError
from counterset.cli import parsing as options
from counterset.cli.files import Case, find_rows, read_case, read_rows, select_features

X = pd.DataFrame({"income": [1.0, 2.0, 3.0], "debt": [3.0, 1.0, 2.0]})
Y = ["no", "yes", "yes"]
NAMED = LogisticRegression().fit(X, Y)
NAMELESS = LogisticRegression().fit(X.to_numpy(), Y)
FILE = Path("rows.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty. The first line of a CSV file names the columns"),
        (b"\n\n", "is empty"),
        (b"a;b\n1;2\n", r"separated by semicolons, .* sep=';'\)"),
        (b"a;b\n1,5;2,5\n1,5;2,5\n", "separated by semicolons, .* decimal=','"),
        (b"a\tb\n1\t2\n", r"separated by tabs, .* sep='\\t'\)"),
        (b"sep=;\na;b\n1;2\n", "separated by semicolons"),
        # The second was called a.1, and left out as no feature of the model.
        (b"a,b,a\n1,2,3\n1,2,3\n", "several columns of the same name: 'a'"),
        ("stra\xdfe,b\n1,2\n1,2\n".encode("latin-1"), "not a UTF-8 text: it has the byte 0xdf"),
        (b"a,b\n" + b"1,2\n" * 9 + b"\xe9,2\n", "not a UTF-8 text.*iconv -f LATIN1"),
        ("a,b\n1,2\n1,2\n".encode("utf-16"), "not a UTF-8 text: it has the byte 0xff"),
        (b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        (bytes(range(256)), "cannot be read as a CSV file|not a UTF-8 text"),
        (b"a,b\n", "too few rows below the column names: 0"),
        (b"a,b\n1,2\n", "too few rows below the column names: 1"),
        # The first column was taken for names of rows, and every value for that of the column
        # beside it.
        (b"a,b\n1,2,3\n4,5,6\n", "more cells than its first line has names"),
    ],
)
def test_what_is_no_table_is_told_with_its_file(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_rows(file)
    assert str(file) in str(caught.value)


def test_the_mark_that_spreadsheets_put_first_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("a,b\n1,2\n3,4\n".encode("utf-8-sig"))
    assert list(read_rows(tmp_path / "rows.csv")) == ["a", "b"]
    (tmp_path / "rows.csv").write_bytes('"a",b\n1,2\n3,4\n'.encode("utf-8-sig"))
    assert list(read_rows(tmp_path / "rows.csv")) == ["a", "b"]


def test_a_junk_archive_is_told(tmp_path: Path) -> None:
    for name in ("rows.csv.gz", "rows.csv.zip", "rows.csv.xz"):
        (tmp_path / name).write_bytes(b"junk")
        with pytest.raises(InvalidInputError, match=rf"{name} cannot be read"):
            read_rows(tmp_path / name)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no file"):
        read_rows(tmp_path)


def test_a_model_that_knows_names_gets_its_columns_in_its_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The label was used as a feature.
    rows = X[["debt", "income"]].assign(label=Y, id=range(3))
    pd.testing.assert_frame_equal(select_features(rows, NAMED, ["id"], FILE), X)
    assert capsys.readouterr().err == (
        "counterset: left out columns of rows.csv that are not features of the model: label\n"
    )


def test_a_model_without_names_gets_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = X.assign(label=Y)
    pd.testing.assert_frame_equal(select_features(rows, NAMELESS, ["label"], FILE), X)
    pd.testing.assert_frame_equal(select_features(X, np.sum, [], FILE), X)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("rows", "model", "dropped", "message"),
    [
        (X, NAMED, ["age"], r"--drop names columns that are not in rows.csv: age\."),
        (X, NAMED, ["debt"], r"--drop names columns that are features of the model: debt\."),
        (X[["debt"]], NAMED, [], r"needs columns that are not in rows.csv: income\."),
        (X.assign(label=Y), NAMELESS, [], r"takes 2 features, but rows.csv has 3 .* --drop"),
    ],
)
def test_columns_that_do_not_fit_the_model_are_told(
    rows: pd.DataFrame, model: object, dropped: list[str], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        select_features(rows, model, dropped, FILE)


def case_of(arguments: list[str]) -> Case:
    group = (parser := argparse.ArgumentParser()).add_argument_group()
    options.add_model_and_data(group, "rows")
    options.add_training(group)
    options.add_goal(group)
    options.add_settings(group)
    return read_case(parser.parse_args([*arguments, "--trust"]))


def test_rows_have_the_features_only_and_are_the_training_rows_too(tmp_path: Path) -> None:
    case = case_of([*write_loans(tmp_path), "--options", "2"])
    assert list(case.rows) == ["income", "debt"]
    assert list(case.data) == ["income", "debt", "decision", "town"]
    assert case.explainer.max_counterfactuals == 2
    assert case.goal == {"target": None, "target_probability": None, "interval": None}


def test_one_row_is_enough_if_there_are_training_rows(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    one = tmp_path / "one.csv"
    one.write_text("debt,income\n50,20\n", encoding="utf-8")
    case = case_of([model, str(one), "--train", data])
    assert case.rows.to_dict("list") == {"income": [20], "debt": [50]}
    with pytest.raises(InvalidInputError, match=r"too few rows .*: 1. At least 2 are needed"):
        case_of([model, str(one)])


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_columns_can_be_dropped_from_both_files(tmp_path: Path) -> None:
    _, data = write_loans(tmp_path)
    rows = pd.read_csv(data)
    model = tmp_path / "nameless.joblib"
    X = rows[["income", "debt"]].to_numpy()
    joblib.dump(LogisticRegression().fit(X, rows["decision"]), model)
    rows.drop(columns="town").to_csv(tmp_path / "train.csv", index=False)
    dropped = ["--drop", "decision", "town"]
    case = case_of([str(model), data, "--train", str(tmp_path / "train.csv"), *dropped])
    assert list(case.rows) == ["income", "debt"]


def test_features_that_stay_are_added_to_the_constraints_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "constraints.toml"
    file.write_text('immutable = ["debt"]\nincrease_only = ["income"]\n', encoding="utf-8")
    named = ["--immutable", "income", "debt", "--constraints", str(file)]
    constraints = case_of([*write_loans(tmp_path), *named]).explainer.constraints
    assert constraints is not None
    assert list(constraints.immutable) == ["debt", "income"]
    assert list(constraints.increase_only) == ["income"]


def test_classes_that_are_numbers_can_be_wanted(tmp_path: Path) -> None:
    model, data = write_loans(tmp_path)
    rows = pd.read_csv(data)
    y = (rows["decision"] == "approved").astype(int)
    joblib.dump(LogisticRegression().fit(rows[["income", "debt"]], y), model)
    assert case_of([model, data, "--target", "1"]).goal["target"] == 1
    assert case_of([model, data, "--target", "yes"]).goal["target"] == "yes"


def test_settings_are_read_before_the_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"There is no file .*schema.json"):
        case_of(["no model", "no data", "--schema", str(tmp_path / "schema.json")])


def test_rows_are_found_by_their_number() -> None:
    rows = pd.DataFrame({"a": [5, 6, 7]})
    assert find_rows(rows, [2, 0], "rows.csv")["a"].tolist() == [7, 5]
    with pytest.raises(InvalidInputError, match=r"no row 3 in rows.csv, which has 3 rows.* to 2\."):
        find_rows(rows, [0, 3], "rows.csv")
