"""Nonsense at every public entry point: a sentence of ours, never a foreign error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.toys import FRAME, X, fitted

from counterset import Constraints, DiverseExplainer, InvalidInputError, Schema
from counterset.exceptions import ModelError

MIXED = FRAME.assign(job=["cook", "nurse"] * 40, since=pd.date_range("2020", periods=80))
ROW = MIXED.iloc[0].to_dict()
SPARSE = pd.DataFrame({"age": pd.arrays.SparseArray([0.0, 1.0]), "income": [0.0, 1.0]})


def above_a_half(rows: Any) -> Any:
    return np.asarray(rows)[:, 0].astype(float) > 0.5


def mixed() -> DiverseExplainer:
    return fitted(MIXED, above_a_half)


def constrained(**given: Any) -> Any:
    return fitted(FRAME).explain(X[0], constraints=Constraints(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"immutable": None}, "immutable takes a list of names, got None"),
        ({"immutable": 5}, "immutable takes a list of names, got 5"),
        ({"immutable": {"age": True}}, "immutable takes a list of names, got {'age'"),
        ({"immutable": iter(["age"])}, "immutable takes a list of names, got <list_iterator"),
        ({"immutable": [["age"]]}, r"There is no feature \['age'\]"),
        ({"increase_only": "age"}, "increase_only takes a list .* Put it in brackets"),
        ({"allowed": None}, "allowed takes a mapping from names to lists of values"),
        ({"allowed": ["age"]}, "allowed takes a mapping from names to lists of values"),
        ({"allowed": {"age": 5}}, r"allowed\['age'\] takes a list of values, got 5"),
        ({"allowed": {"age": [np.inf]}}, r"allowed\['age'\] takes finite values"),
        ({"allowed": {"age": [10**400]}}, "holds numbers, got 1000"),
        ({"ranges": 5}, "ranges takes a mapping .*, got 5"),
        ({"ranges": {"age": "01"}}, "must be two values .*, got '01'"),
        ({"ranges": {"age": ([1], 2)}}, r"holds numbers, got \[1\]"),
        ({"ranges": {"age": (np.inf, None)}}, "is empty"),
        ({"max_increase": ["age"]}, "max_increase takes a mapping from names to amounts"),
        ({"max_decrease": {"age": [1]}}, r"number of at least 0, got \[1\]"),
        ({"max_decrease": {"age": 10**400}}, "number of at least 0, got 1000"),
        ({"together": 5}, "together takes a list of groups, got 5"),
        ({"together": [5]}, "together takes groups, each a list of names, got 5"),
        ({"together": [[]]}, r"together takes groups, each a list of names, got \[\]"),
        ({"relations": "age <= 1"}, "relations takes a list of texts .* Put it in brackets"),
        ({"relations": [5]}, "A relation is a text such as .*, got 5"),
        ({"conditions": "if age < 1 then age > 2"}, "conditions takes a list of texts .* brackets"),
        ({"conditions": [5]}, "A condition is a text such as .*, got 5"),
        ({"forbidden_changes": 5}, "forbidden_changes takes a mapping .*, got 5"),
        ({"forbidden_changes": {"age": [5]}}, r"forbidden_changes\['age'\] takes pairs .* got 5"),
    ],
)
def test_constraints(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        constrained(**given)


@pytest.mark.parametrize("constraints", [{"immutable": ["age"]}, Constraints, "age"])
def test_constraints_of_a_call(constraints: Any) -> None:
    explainer = fitted(FRAME)
    for call in (lambda c: explainer.explain(X[0], constraints=c),
                 lambda c: explainer.explain_many(X, constraints=c)):  # fmt: skip
        with pytest.raises(InvalidInputError, match=r"constraints must be Constraints.* None, got"):
            call(constraints)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ordinal": 5}, "ordinal takes a mapping from names to lists of values"),
        ({"ordinal": ["age"]}, "ordinal takes a mapping from names to lists of values"),
        ({"ordinal": {"age": "abc"}}, r"ordinal\['age'\] takes a list .* Put it in brackets"),
        ({"ordinal": {"age": [[1], [2]]}}, "not one of its known values"),
        ({"one_hot": ["age", "income"]}, "one_hot takes a mapping from names to lists of columns"),
        ({"one_hot": {"g": "ab"}}, r"one_hot\['g'\] takes a list .* Put it in brackets"),
        ({"one_hot": {1: ["age", "income"]}}, "one-hot group must be a text, got 1"),
        ({"categorical": None}, "categorical takes a list of names, got None"),
        ({"categorical": [["age"]]}, r"unknown columns \[\['age'\]\]"),
        ({"integer": 3}, "integer takes a list of names, got 3"),
    ],
)
def test_schema(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME, schema=Schema(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"schema": {"integer": ["age"]}}, "schema must be Schema or None"),
        ({"plausibility": 5}, "plausibility must be NearData or None"),
        ({"regions": {}}, "regions must be a whole number"),
        ({"scale": {"age": None}}, "one finite number above 0"),
        ({"scale": {"age": "2,5"}}, "one finite number above 0"),
        ({"scale": {("age",): 2.0}}, r"unknown features \[\('age',\)\]"),
        ({"scale": object()}, "one finite number above 0"),
        ({"scale": np.ma.array([1.0, 2.0], mask=[False, True])}, "one finite number above 0"),
        ({"distance": ["l1"]}, "A distance is a name, a Distance or a function, got list"),
        ({"distance": lambda A, B: "far"}, r"expected shape .*, got \(1,\)"),
        ({"distance": lambda A, B: None}, r"expected shape .*, got \(\)"),
    ],
)
def test_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME, **given).explain(X[0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (None, "one row, got None"),
        ("ab", "one row, got a str"),
        (5, "one row, got a int"),
        (object(), "one row, got a object"),
        ({1.0, 2.0}, "one row, got a set"),
        ((value for value in X[0]), "one row, got a generator"),
        ([{"age": 1, "income": 2}] * 2, "one row, got a list, of shape .*; use explain_many"),
        ([{"age": 1}], r"The keys of x differ .*: missing \['income'\]"),
        (sparse.csr_matrix(X[:1]), r"x is a sparse matrix. Pass X.toarray\(\)"),
        (sparse.coo_array(X[0]), r"x is a sparse matrix. Pass X.toarray\(\)"),
        (SPARSE[:1], r"sparse columns \['age'\]. Pass them dense"),
        (pd.Series(pd.arrays.SparseArray([0.0, 1.0]), FRAME.columns), "sparse columns"),
        ({"age": 1.0}, r"missing \['income'\], extra \[\]"),
        ({"age": 1.0, "income": 2.0, "zip": 3}, r"missing \[\], extra \['zip'\]"),
        ({}, r"missing \['age', 'income'\], extra \[\]"),
        ({"age": [1.0], "income": [2.0]}, "not numeric in feature 'age'"),
        ({"age": "old", "income": 2.0}, "not numeric in feature 'age'"),
        ({"age": None, "income": 2.0}, "misses a value in feature 'age'"),
        (np.array([[1], [2, 3]], dtype=object), "not numeric in feature 'age'"),
        ([], "X has 0 features"),
        (FRAME[:0], r"one row, got a DataFrame, of shape \(0, 2\)"),
        (pd.concat([FRAME, FRAME["age"]], axis=1)[:1], "more than once"),
        (pd.Series([1.0, 2.0, 3.0], ["age", "age", "income"]), "more than once"),
        (FRAME[:1].set_axis(pd.MultiIndex.from_tuples([("age", 1), ("income", 2)]), axis=1),
         r"missing \['age', 'income'\], extra \[\('age', 1\)"),
        (np.ma.array(X[0], mask=[True, False]), "misses a value in feature 'age'"),
    ],
)  # fmt: skip
def test_one_row(row: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME).explain(row)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"job": ["cook"]}, r"has \['cook'\] in feature 'job'"),
        ({"job": {"cook": 1}}, "has {'cook': 1} in feature 'job'"),
        ({"job": np.array(["cook"])}, r"has array\(\['cook'\]"),
        ({"since": "one day"}, "something else than times in feature 'since'"),
        ({"since": [2020]}, "something else than times in feature 'since'"),
        ({"since": object()}, "something else than times in feature 'since'"),
    ],
)
def test_one_cell(cell: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        mixed().explain({**ROW, **cell})


TABLES: list[tuple[Any, str]] = [
    (None, r"2-d, .* got shape \(\) \(None\). Pass a DataFrame or a 2-d array"),
    ("ab", r"2-d, .* \(a str\)"),
    (b"ab", r"2-d, .* \(a bytes\)"),
    ({"age": [1.0], "income": [2.0]}, r"2-d, .* \(a dict\)"),
    ((row for row in X), r"is a generator, which can be read only once. Pass .* list\(X\)"),
    ([{"age": 1, "income": 2}, [1, 2]], "row 1 is a list"),
    (
        [{"age": 1, "income": 2}, {"age": 1}],
        r"The keys of row 1 differ from .*: missing \['income'\]",
    ),
    ([FRAME, FRAME], r"2-d, .* got shape \(2, 80, 2\)"),
    ([[1.0, 2.0], "ab"], "items of different lengths"),
    (SPARSE, r"sparse columns \['age'\]"),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_tables(table: Any, message: str) -> None:
    for call in (fitted, fitted(FRAME).explain_many):
        with pytest.raises(InvalidInputError, match=message):
            call(table)


def test_a_tensor_that_cannot_be_read() -> None:
    class Tensor:
        def __array__(self, *args: Any, **options: Any) -> Any:
            raise RuntimeError("call detach() first")

    with pytest.raises(InvalidInputError, match=r"a Tensor, is not read as .*: call detach\(\)"):
        fitted(FRAME).explain(Tensor())


@pytest.mark.parametrize("cell", [[1], {1: 2}, {1}])
def test_cells_of_the_training_data(cell: Any) -> None:
    with pytest.raises(InvalidInputError, match="neither numbers nor categories"):
        fitted(pd.DataFrame({"a": [cell, cell]}))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: [{"a": 1}] * n, r"unhashable type: 'dict'\), such as {'a': 1}"),
        (lambda n: [{1}] * n, "unhashable type: 'set'"),
        (lambda n: pd.Series([[1], [2, 3]] * (n // 2)), "unhashable type: 'list'"),
        (lambda n: [[1], [2, 3]] * (n // 2), "cannot be read as an array"),
        (lambda n: [[1, 2]] * n, "2 values for each row"),
        (lambda n: {"a": 1}, r"one label per row.* shape \(\)"),
        (lambda n: None, r"one label per row.* shape \(\)"),
        (lambda n: (1 for _ in range(n)), r"one label per row.* shape \(\)"),
        (lambda n: sparse.csr_matrix(np.ones((n, 1))), r"one label per row.* shape \(\)"),
        (lambda n: np.ma.masked_equal([0, 1] * (n // 2), 1), "missing label"),
    ],
)
def test_answers_of_a_model(answer: Callable[[int], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fitted(model=lambda rows: answer(len(rows)))


def test_probabilities_of_a_model() -> None:
    class Junk:
        classes_ = np.array([False, True])

        def predict(self, rows: Any) -> Any:
            return above_a_half(rows)

        def predict_proba(self, rows: Any) -> Any:
            return [{"no": 0.5}] * len(rows)

    with pytest.raises(ModelError, match="one probability per row and class"):
        fitted(model=Junk()).explain(X[0], target_probability=0.9)
