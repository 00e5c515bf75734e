"""A model and its rows, read from files."""

from __future__ import annotations

import argparse
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.cli_files import write_loans

from counterset import InvalidInputError
from counterset.cli import parsing as options
from counterset.cli.cases import Case, find_rows, read_case


def case_of(arguments: list[str]) -> Case:
    group = (parser := argparse.ArgumentParser()).add_argument_group()
    options.add_model_and_data(group, "rows")
    options.add_training(group)
    options.add_goal(group)
    options.add_limits(group)
    return read_case(parser.parse_args([*arguments, "--trust"]))


def test_rows_have_the_features_only_and_are_the_training_rows_too(tmp_path: Path) -> None:
    case = case_of([*write_loans(tmp_path), "--ways", "2"])
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
    with pytest.raises(InvalidInputError, match=r"holds 1 rows .* at least 2 are needed"):
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
