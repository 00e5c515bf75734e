"""Mappings as rows: the order of keys does not matter, their names do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.toys import FRAME, X, fitted

from counterset import InvalidInputError

ROWS: list[dict[str, Any]] = [{"age": age, "income": income} for age, income in X.tolist()]


@pytest.mark.parametrize("rows", [ROWS[:3], tuple(ROWS[:3])])
def test_many_mappings_are_explained_as_the_rows_of_a_frame(rows: Any) -> None:
    explainer = fitted(FRAME)
    found = explainer.explain_many(rows)
    expected = explainer.explain_many(FRAME[:3].reset_index(drop=True))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    backwards = [dict(reversed(row.items())) for row in rows]
    pd.testing.assert_frame_equal(explainer.explain_many(backwards).to_frame(), found.to_frame())


def test_mappings_for_an_explainer_that_was_fitted_on_an_array() -> None:
    rows = [{"x1": row[1], "x0": row[0]} for row in X[:3]]
    found = fitted(X).explain_many(rows)
    np.testing.assert_array_equal(found[2].values, fitted(X).explain(X[2]).values)


def test_mappings_for_an_explainer_that_was_fitted_on_polars() -> None:
    table = pl.DataFrame(ROWS)
    explainer = fitted(table, lambda rows: (rows["age"] + rows["income"] > 1).to_numpy())
    found, expected = explainer.explain_many(ROWS[:3]), explainer.explain_many(table[:3])
    assert found.to_frame().equals(expected.to_frame())


def test_fit_takes_mappings_too() -> None:
    data: list[dict[str, Any]] = [{**row, "home": "own" if i % 2 else None} for i, row in
                                  enumerate(ROWS)]  # fmt: skip
    data[3] = dict(reversed(data[3].items()))
    explainer = fitted(data, lambda rows: rows["age"] + rows["income"] > 1)
    assert explainer.feature_names_in_.tolist() == ["age", "income", "home"]
    explanation = explainer.explain(data[0])
    assert isinstance(explanation.counterfactuals, pd.DataFrame)
    assert explanation.counterfactuals["age"].dtype == np.float64


def test_a_list_with_one_mapping_is_one_row() -> None:
    explainer = fitted(FRAME)
    np.testing.assert_array_equal(
        explainer.explain(ROWS[:1]).values, explainer.explain(ROWS[0]).values
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"age": 1.0}, r"The keys of row 2 differ from .*: missing \['income'\], extra \[\]"),
        ({"age": 1.0, "income": 2.0, "zip": 3}, r"row 2 differ .*: missing \[\], extra \['zip'\]"),
        ({}, r"row 2 differ .*: missing \['age', 'income'\]"),
        ([0.1, 0.2], "row 2 is a list"),
        (None, "row 2 is a NoneType"),
    ],
)
def test_a_row_with_other_keys_is_named(wrong: Any, message: str) -> None:
    rows = [*ROWS[:2], wrong]
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME).explain_many(rows)
    with pytest.raises(InvalidInputError, match=message):
        fitted(rows)


def test_values_that_do_not_fit_are_named_as_in_a_frame() -> None:
    with pytest.raises(InvalidInputError, match="not numeric in feature 'age'"):
        fitted(FRAME).explain_many([ROWS[0], {"age": "old", "income": 1.0}])


@pytest.mark.parametrize("rows", [iter(ROWS[:2]), (row for row in ROWS[:2]), map(dict, ROWS[:2])])
def test_iterators_are_refused(rows: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"can be read only once. Pass .*: list\(X\)"):
        fitted(FRAME).explain_many(rows)
