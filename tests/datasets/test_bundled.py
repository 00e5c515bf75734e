"""What the bundled datasets hold, and that they come in a usable form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd
import pytest

from counterset import datasets
from counterset.datasets import Dataset, load_diabetes, load_german_credit, load_spambase
from counterset.tables.table import Table

LOADERS = [load_diabetes, load_german_credit]
ORDERS = {
    "checking_status": ["no checking", "<0", "0<=X<200", ">=200"],
    "savings_status": ["no known savings", "<100", "100<=X<500", "500<=X<1000", ">=1000"],
    "employment": ["unemployed", "<1", "1<=X<4", "4<=X<7", ">=7"],
}
NUMERIC = [
    "duration",
    "credit_amount",
    "installment_commitment",
    "residence_since",
    "age",
    "existing_credits",
    "num_dependents",
]
DIABETES_TOTALS = {
    "Pregnancies": 2953,
    "Glucose": 92847,
    "BloodPressure": 53073,
    "SkinThickness": 15772,
    "Insulin": 61286,
    "Age": 25529,
}
CREDIT_TOTALS = {
    "duration": 20903,
    "credit_amount": 3271258,
    "installment_commitment": 2973,
    "residence_since": 2845,
    "age": 35546,
    "existing_credits": 1407,
    "num_dependents": 1155,
}

each_loader = pytest.mark.parametrize("loader", LOADERS)


def test_diabetes_has_the_published_shape_and_class_counts() -> None:
    diabetes = load_diabetes()
    assert diabetes.X.shape == (768, 8)
    assert diabetes.y.value_counts().to_dict() == {0: 500, 1: 268}


def test_german_credit_has_the_published_shape_and_class_counts() -> None:
    credit = load_german_credit()
    assert credit.X.shape == (1000, 20)
    assert credit.y.value_counts().to_dict() == {"good": 700, "bad": 300}


def test_diabetes_starts_with_the_published_first_row() -> None:
    diabetes = load_diabetes()
    assert diabetes.X.iloc[0].to_dict() == {
        "Pregnancies": 6,
        "Glucose": 148,
        "BloodPressure": 72,
        "SkinThickness": 35,
        "Insulin": 0,
        "BMI": 33.6,
        "DiabetesPedigreeFunction": 0.627,
        "Age": 50,
    }
    assert diabetes.y.iloc[0] == 1


def test_german_credit_starts_with_the_published_first_row() -> None:
    credit = load_german_credit()
    assert credit.X.iloc[0].to_dict() == {
        "checking_status": "<0",
        "duration": 6,
        "credit_history": "critical/other existing credit",
        "purpose": "radio/tv",
        "credit_amount": 1169,
        "savings_status": "no known savings",
        "employment": ">=7",
        "installment_commitment": 4,
        "personal_status": "male single",
        "other_parties": "none",
        "residence_since": 4,
        "property_magnitude": "real estate",
        "age": 67,
        "other_payment_plans": "none",
        "housing": "own",
        "existing_credits": 2,
        "job": "skilled",
        "num_dependents": 1,
        "own_telephone": "yes",
        "foreign_worker": "yes",
    }
    assert credit.y.iloc[0] == "good"


def test_diabetes_totals_match_the_published_cells() -> None:
    # A checksum over every integer column: one altered cell would show.
    totals = load_diabetes().X.drop(columns=["BMI", "DiabetesPedigreeFunction"]).sum()
    assert totals.to_dict() == DIABETES_TOTALS


def test_german_credit_totals_match_the_published_cells() -> None:
    assert load_german_credit().X[NUMERIC].sum().to_dict() == CREDIT_TOTALS


def test_diabetes_columns_are_numeric_and_the_outcome_an_integer() -> None:
    diabetes = load_diabetes()
    floats = {"BMI", "DiabetesPedigreeFunction"}
    assert {c: str(t) for c, t in diabetes.X.dtypes.items()} == {
        column: "float64" if column in floats else "int64" for column in diabetes.X.columns
    }
    assert (diabetes.y.name, str(diabetes.y.dtype)) == ("Outcome", "int64")


def test_german_credit_columns_are_integers_or_categories() -> None:
    credit = load_german_credit()
    assert {c: str(t) for c, t in credit.X.dtypes.items()} == {
        column: "int64" if column in NUMERIC else "category" for column in credit.X.columns
    }


def test_german_credit_class_is_plain_text() -> None:
    y = load_german_credit().y
    assert y.name == "class"
    assert not isinstance(y.dtype, pd.CategoricalDtype)
    assert all(isinstance(label, str) for label in y)


@pytest.mark.parametrize(("column", "order"), ORDERS.items())
def test_ordinal_columns_run_from_least_to_most(column: str, order: list[str]) -> None:
    values = load_german_credit().X[column]
    assert values.cat.ordered
    assert list(values.cat.categories) == order


def test_every_other_text_column_is_unordered() -> None:
    features = load_german_credit().X.select_dtypes("category").drop(columns=list(ORDERS))
    assert not any(features[column].cat.ordered for column in features)


def test_every_category_occurs_in_the_data() -> None:
    features = load_german_credit().X.select_dtypes("category")
    for column in features:
        assert set(features[column].cat.categories) == set(features[column])


@each_loader
def test_no_value_is_missing(loader: Callable[[], Dataset]) -> None:
    dataset = loader()
    assert not dataset.X.isna().to_numpy().any()
    assert not dataset.y.isna().any()


@each_loader
def test_features_and_classes_share_one_index(loader: Callable[[], Dataset]) -> None:
    dataset = loader()
    pd.testing.assert_index_equal(dataset.X.index, dataset.y.index)
    assert dataset.y.name not in dataset.X.columns


@each_loader
def test_changing_one_copy_leaves_the_next_unchanged(loader: Callable[[], Dataset]) -> None:
    changed, untouched = loader(), loader()
    changed.X.iloc[0] = changed.X.iloc[1]
    changed.y.iloc[0] = changed.y.iloc[1]
    for other in (untouched, loader()):
        assert not changed.X.iloc[0].equals(other.X.iloc[0])
        assert changed.y.iloc[0] != other.y.iloc[0]


@each_loader
def test_description_names_the_licence(loader: Callable[[], Dataset]) -> None:
    assert "Licence: CC" in loader().description


def test_spambase_has_the_published_shape_and_class_counts() -> None:
    spambase = load_spambase()
    assert spambase.X.shape == (4601, 57)
    assert spambase.y.value_counts().to_dict() == {"nonspam": 2788, "spam": 1813}
    # A checksum over every column: one altered cell would show.
    assert spambase.X.iloc[:, -3:].sum().round(3).tolist() == [23886.161, 240047, 1303414]
    assert spambase.X.iloc[:, :-3].to_numpy().sum() == pytest.approx(45735.377)


def test_repr_is_one_line_with_name_shape_and_class_counts() -> None:
    assert repr(load_diabetes()) == (
        "Dataset('diabetes', 768 rows x 8 features, Outcome: 0 500, 1 268)"
    )


def test_a_dataset_cannot_be_reassigned() -> None:
    diabetes = load_diabetes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        diabetes.name = "other"  # type: ignore[misc]


def test_datasets_compare_by_identity() -> None:
    # A generated equality would ask a frame for its truth value and raise.
    diabetes = load_diabetes()
    assert diabetes == diabetes  # noqa: PLR0124
    assert diabetes != load_diabetes()


@pytest.mark.parametrize("name", ["diabetes", "german_credit"])
def test_every_declared_name_and_value_is_in_the_data(name: str) -> None:
    data = datasets.load(name)
    table, _ = Table.learn(data.X, data.schema)  # what is unknown is refused
    assert [feature.name for feature in table.features] == list(data.X.columns)
    labels = [feature.label for feature in table.features]
    assert len(set(labels)) == len(labels)
    assert all("_" not in label for label in labels)


def test_no_value_of_german_credit_is_left_as_code() -> None:
    credit = datasets.load("german_credit")
    for feature in Table.learn(credit.X, credit.schema)[0].features:
        for code in feature.seen or ():
            text = feature.text_of(code)
            assert not any(sign in text for sign in "<>=/_"), (feature.name, text)


def test_wording_changes_no_kind() -> None:
    credit = datasets.load("german_credit")
    with_words, without = (Table.learn(credit.X, each)[0] for each in (credit.schema, None))
    assert repr(with_words) == repr(without)
