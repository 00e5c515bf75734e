"""Numbers that came as objects, as Decimal or as text of digits."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.one_feature import learn

from counterset import CountersetWarning, DiverseExplainer, InvalidInputError, Schema
from counterset.tables.features.written import WrittenNumber, form_of
from counterset.tables.table import Table

COLUMNS: dict[str, tuple[Any, str]] = {
    "whole objects": (pd.Series([1, 2, 5], dtype=object), "integer"),
    "objects with None": (pd.Series([1, None, 5], dtype=object), "integer"),
    "floats as objects": (pd.Series([1.5, np.nan, 5.0], dtype=object), "continuous"),
    "decimals": (pd.Series([Decimal("1.50"), None, Decimal("3.25")]), "continuous"),
    "digits": (pd.Series(["12", "7", "-3"]), "integer"),
    "digits with a point": (pd.Series(["12.50", "7.00", "0.25"], dtype=object), "continuous"),
    "digits, some missing": (pd.Series(["12", None, "7", "3"], dtype="string"), "integer"),
}


@pytest.mark.filterwarnings("ignore:.*text of digits")
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_a_number_and_comes_back_as_it_came(name: str) -> None:
    column, kind = COLUMNS[name]
    frame = pd.DataFrame({"a": column})
    table, matrix = Table.learn(frame)
    feature = table.features[0]
    assert isinstance(feature, WrittenNumber)
    assert feature.kind == kind
    assert not feature.is_number
    for codes in (matrix, table.encode(frame)[0]):
        again = pd.DataFrame(table.decode(codes))
        pd.testing.assert_frame_equal(again, frame, check_exact=True)
        assert [type(cell) for cell in again["a"]] == [type(cell) for cell in frame["a"]]
        assert list(map(str, again["a"])) == list(map(str, frame["a"]))
    assert repr(pickle.loads(pickle.dumps(table)).features) == repr(table.features)


@pytest.mark.parametrize(
    "column",
    [
        ["007", "12", "99"],  # codes
        ["1e3", "5", "6"],
        ["1.5", "2.25", "3"],  # which digits to keep is not clear
        ["1", "x", "3"],
        [True, False, True],
        [None, None],
        ["1,200", "3,400", "5"],
    ],
)
def test_what_is_no_number_is_a_category(column: list[Any]) -> None:
    series = pd.Series(column, dtype=object)
    assert form_of(series) is None
    assert learn(series).values is not None


def test_two_texts_of_digits_are_a_category_without_a_word() -> None:
    assert learn(["0", "1", "0"]).kind == "binary"


def test_text_of_digits_is_a_guess_that_is_told_once_and_can_be_settled() -> None:
    column = ["1", "2", "3"]
    with pytest.warns(CountersetWarning, match=r"Schema\(categorical=\['a'\]\)") as told:
        assert learn(column).kind == "integer"
    assert len(told) == 1
    assert learn(column, categorical=["a"]).kind == "categorical"
    assert learn(column, integer=["a"]).kind == "integer"


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (["12", "7", "3"], "7.5"),
        (["12.50", "7.00", "1.00"], "7.0"),
        (["12", "7", "3"], "x"),
        ([Decimal("1.5"), Decimal("2.5"), Decimal("3.0")], Decimal("0.1234567890123456789")),
    ],
)
def test_a_cell_that_could_not_come_back_as_it_is_is_refused(column: Any, cell: Any) -> None:
    schema = Schema(continuous=["a"])
    table, _ = Table.learn(pd.DataFrame({"a": column}), schema)
    with pytest.raises(InvalidInputError, match="feature 'a'"):
        table.encode(pd.DataFrame({"a": [cell]}))


def test_counterfactuals_are_written_as_the_training_data_is() -> None:
    random = np.random.default_rng(0)
    prices = [f"{price:.2f}" for price in random.uniform(1, 9, 80)]
    frame = pd.DataFrame({"price": prices, "size": random.integers(1, 9, 80)})

    def cheap(rows: pd.DataFrame) -> Any:
        assert all(isinstance(price, str) for price in rows["price"])
        return rows["price"].astype(float) + rows["size"] < 8

    schema = Schema(continuous=["price"])
    explainer = DiverseExplainer(cheap, schema=schema, max_counterfactuals=1).fit(frame)
    explanation = explainer.explain(frame.iloc[0])
    for price in explanation.counterfactuals["price"]:
        assert price == f"{float(price):.2f}"
