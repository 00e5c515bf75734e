"""Which of the rows that people pick from can be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from support.served_loans import TRAINING, approve

from counterset import DiverseExplainer
from counterset.exceptions import InvalidInputError
from counterset.serve.app import create_app
from counterset.serve.readable import ReadableRows
from counterset.serve.served import Served
from counterset.tables.table import Table


def read(rows: pd.DataFrame, model: Any = approve) -> ReadableRows:
    return ReadableRows.of(rows, Table.learn(TRAINING)[0], model)


def test_rows_that_can_be_read_are_all_there() -> None:
    found = read(TRAINING)
    assert found.faults == ()
    np.testing.assert_array_equal(found.matrix, Table.learn(TRAINING)[1])
    assert found.labels.tolist() == approve(TRAINING).tolist()


def test_each_row_with_a_fault_is_named_and_left_out() -> None:
    rows = TRAINING[:6].copy().astype({"income": object})
    rows.loc[1, "home"] = "boat"
    rows.loc[2, "income"] = "about 40"
    rows.loc[4, "income"] = np.nan
    found = read(rows)
    assert found.positions.tolist() == [0, 3, 5]
    assert found.sentences(2) == [
        "Row 1: home is 'boat', which the training data does not have.",
        "Row 2: income is 'about 40', which is not a value that it can have.",
    ]
    assert found.faults[2].problem == "income is empty"
    expected = Table.learn(TRAINING)[1][[0, 3, 5]]
    np.testing.assert_array_equal(found.matrix, expected)


def test_numbers_that_one_word_turned_into_texts_are_numbers() -> None:
    rows = TRAINING[:4].astype({"debt": str})
    rows.loc[3, "debt"] = "n/a?"
    found = read(rows)
    assert found.positions.tolist() == [0, 1, 2]
    assert found.matrix[:, 1].tolist() == TRAINING["debt"][:3].tolist()


def test_a_row_that_the_model_fails_on_is_left_out() -> None:
    def model(rows: pd.DataFrame) -> Any:
        if (rows["income"] == TRAINING["income"][2]).any():
            raise ValueError("no such income")
        return approve(rows)

    found = read(TRAINING[:4], model)
    assert found.faults[0].problem.startswith("the model fails on it (")
    assert 2 not in found.positions
    assert len(found.labels) == len(found.positions) == len(found.matrix)


def test_columns_that_are_missing_are_an_error() -> None:
    with pytest.raises(InvalidInputError, match="missing"):
        read(TRAINING.drop(columns="home"))


def test_the_columns_may_stand_in_another_order() -> None:
    found = read(TRAINING[:5][["town", "home", "income", "debt"]])
    np.testing.assert_array_equal(found.matrix, Table.learn(TRAINING)[1][:5])


def test_the_page_starts_without_the_rows_that_cannot_be_read() -> None:
    cases = TRAINING[:5].copy()
    cases.loc[0, "home"] = "boat"
    explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(TRAINING)
    served = Served("loans", explainer, cases=cases, goal={"target": "approved"})
    served.warm_up()
    client = TestClient(create_app(served), base_url="http://127.0.0.1")
    start = client.get("/explorer/start").json()["cases"]
    assert (start["count"], start["unreadable"], start["decisions"][0]) == (5, 1, None)
    assert None not in start["decisions"][1:]
    assert start["faults"] == ["Row 0: home is 'boat', which the training data does not have."]
    refused = client.get("/explorer/cases/0")
    assert refused.status_code == 422
    assert refused.json()["error"] == (
        "Case 0 cannot be read: home is 'boat', which the training data does not have."
    )
    assert client.get("/explorer/cases/1").status_code == 200


def test_a_file_of_nothing_but_faults_has_no_case() -> None:
    cases = TRAINING[:3].assign(home="boat")
    explainer = DiverseExplainer(approve).fit(TRAINING)
    served = Served("loans", explainer, cases=cases, goal={"target": "approved"})
    assert served.listed.labels.tolist() == []
    assert len(served.listed.faults) == 3
