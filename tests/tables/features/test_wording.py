"""Labels, units and texts of learned features."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer, InvalidInputError, Schema
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table

FRAME = pd.DataFrame(
    {
        "credit_amount": [1200.0, 3400.0, -9.0, np.nan],
        "savings": ["<100", ">500", "<100", ">500"],
        "late": [True, False, True, False],
        "p_car": [1, 0, 0, 0],
        "p_house": [0, 1, 0, 0],
        7: [1.0, 2.0, 3.0, 4.5],
    }
)
SCHEMA = Schema(
    special={"credit_amount": [-9]},
    one_hot={"purpose": ["p_car", "p_house"]},
    labels={"purpose": "purpose of the loan", "late": "paid late", 7: "rate"},
    units={"credit_amount": "DM", "7": "%"},
    texts={
        "credit_amount": {-9: "no record", None: "not stated"},
        "savings": {"<100": "less than 100 DM"},
        "purpose": {"p_car": "a car", "none of them": "another"},
        "late": {True: "yes"},
    },
)
TABLE = Table.learn(FRAME, SCHEMA)[0]


def feature(name: str) -> Feature:
    return TABLE.features[TABLE.position(name)]


def test_features_are_called_as_declared_or_as_their_column_in_words() -> None:
    labels = [each.label for each in TABLE.features]
    assert labels == ["credit amount", "savings", "paid late", "purpose of the loan", "rate"]
    assert [each.unit for each in TABLE.features] == ["DM", "", "", "", "%"]


def test_values_have_their_texts_and_others_read_as_they_are() -> None:
    amount = feature("credit_amount")
    told = [amount.text_of(code) for code in (-9.0, np.nan, 3400.0)]
    assert told == ["no record", "not stated", "3,400"]
    assert [feature("savings").text_of(code) for code in (0.0, 1.0)] == ["less than 100 DM", ">500"]
    assert [feature("purpose").text_of(code) for code in (0.0, 1.0, 2.0)] == [
        "a car",
        "p_house",
        "another",
    ]
    assert [feature("late").text_of(code) for code in (0.0, 1.0)] == ["False", "yes"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"labels": {"amount": "x"}}, r"unknown columns \['amount'\]"),
        ({"units": {"amount": "DM"}}, r"unknown columns \['amount'\]"),
        ({"texts": {"amount": {1: "x"}}}, r"unknown columns \['amount'\]"),
        ({"units": {"savings": "DM"}}, r"units\['savings'\] is for numbers, but 'savings' is bin"),
        ({"texts": {"savings": {"<200": "x"}}}, "has no value '<200'"),
        ({"texts": {7: {"a": "x"}}}, "'7' holds numbers, got 'a'"),
        ({"texts": {7: {float("inf"): "x"}}}, "infinite value"),
    ],
)
def test_a_declaration_that_does_not_fit_the_data_is_refused(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Table.learn(FRAME, Schema(**parameters))


def test_wording_changes_no_answer() -> None:
    X = FRAME[["savings", 7]]

    def model(rows: pd.DataFrame) -> Any:
        return rows[7] > 2.5

    def explained(schema: Schema | None) -> Any:
        explainer = DiverseExplainer.paper(model, schema=schema, max_counterfactuals=1)
        return explainer.fit(X).explain(X.iloc[0])

    plain = explained(None)
    worded = explained(Schema(labels={7: "rate"}, units={7: "%"}, texts={"savings": {"<100": "x"}}))
    assert worded.distances.tolist() == plain.distances.tolist()
    assert worded.values.tolist() == plain.values.tolist()
    hashes = [each.context.training.value.hash for each in (plain, worded)]
    assert hashes[0] == hashes[1]


def test_wording_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(TABLE)).features == TABLE.features
