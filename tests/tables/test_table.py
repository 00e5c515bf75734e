"""Rows to a matrix and back, and rows that do not look like the training data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.settings import paper_by_steps
from support.toys import FRAME, X, fitted

from counterset import Constraints, DiverseExplainer, InvalidInputError, Schema
from counterset.tables.schema import find_name, positions_by_name
from counterset.tables.table import Table, changed

PEOPLE = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "job": ["cook", "nurse", "cook", "judge"],
        "pay": [1.0, np.nan, 3.0, 4.0],
    }
)


def approve(rows: pd.DataFrame) -> Any:
    return rows["age"] > 35


def table() -> Table:
    return Table.learn(PEOPLE)[0]


def test_rows_of_an_array_of_numbers_never_become_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).random((50, 2))
    explainer = DiverseExplainer.paper(lambda X: X[:, 0] > 0.5, max_counterfactuals=1).fit(rows)
    monkeypatch.setattr(pd.DataFrame, "__init__", None)
    explanation = explainer.explain(rows[0])
    assert explanation.values.shape == (1, 2)
    assert len(explainer.explain_many(rows[:3].tolist())) == 3


WHOLE = pd.DataFrame({"a": [0, 3, 7], "b": [1, 5, 2]})


@pytest.mark.parametrize(
    "X",
    [
        WHOLE,
        WHOLE.astype({"a": "int8", "b": "float64"}),
        WHOLE.astype("uint8"),
        WHOLE.to_numpy(),
        WHOLE.to_numpy(dtype=np.int8),
    ],
)
def test_columns_of_numbers_are_read_and_given_back_as_one_matrix(X: Any) -> None:
    learned, matrix = Table.learn(X)
    assert learned.is_numeric
    read, index = learned.encode(X)
    np.testing.assert_array_equal(read, matrix)
    assert index.tolist() == [0, 1, 2]
    given = learned.decode(read + 0.25 * np.array([1, 0]))
    if isinstance(X, pd.DataFrame):
        assert isinstance(given, pd.DataFrame)
        pd.testing.assert_frame_equal(given, X)
    else:
        np.testing.assert_array_equal(given, X, strict=True)
    assert learned.snap(np.array([[0.75, 2.0]])).tolist() == [[1, 2]]
    read[:] = -1
    assert (np.asarray(X) >= 0).all()


@pytest.mark.parametrize("X", [WHOLE.astype("int8"), WHOLE.to_numpy(dtype=np.int8)])
def test_a_number_that_its_column_cannot_hold_is_refused(X: Any) -> None:
    learned, _ = Table.learn(X)
    for wrong in (0.5, 200.0, np.nan, np.inf):
        row = np.array([[0.0, wrong]])
        with pytest.raises(InvalidInputError, match=r"'(b|x1)'"):
            learned.encode(row)


def test_a_series_of_numbers_keeps_its_name() -> None:
    learned, _ = Table.learn(WHOLE)
    for name, told in ((None, 0), ("me", "me"), (("a", 1), ("a", 1))):
        matrix, index = learned.encode_one(WHOLE.iloc[1].rename(name))
        assert matrix.tolist() == [[3, 5]]
        assert index[0] == told


def test_changed_takes_two_missing_values_for_equal() -> None:
    a, b = np.array([1.0, np.nan, np.nan]), np.array([1.0, np.nan, 2.0])
    assert changed(a, b).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (PEOPLE[["job", "age", "pay", "age"]], r"has the columns \['age'\] more than once"),
        (PEOPLE.drop(columns="job"), r"missing \['job'\], extra \[\]"),
        (PEOPLE.assign(zip=1), r"missing \[\], extra \['zip'\]"),
        (PEOPLE.assign(job="pilot"), r"'pilot' in feature 'job', row 0.*'cook', 'judge', 'nurse'"),
        (PEOPLE.assign(job=None), r"misses a value in feature 'job', row 0"),
        (PEOPLE[:0], "no rows"),
    ],
)
def test_a_table_unlike_the_training_data_is_refused(rows: pd.DataFrame, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table().encode(rows)


@pytest.mark.parametrize(
    "index",
    [
        [5, 5, 6, 6],
        pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["side", "n"]),
        pd.date_range("2020", periods=4),
    ],
)
def test_any_index_goes_through(index: Any) -> None:
    frame = PEOPLE.set_axis(index, axis=0)
    explainer = DiverseExplainer.paper(approve, max_counterfactuals=1).fit(frame)
    explanations = explainer.explain_many(frame)
    assert explanations.counts.tolist() == [1, 1, 1, 1]
    assert explanations.to_frame().index.nlevels == frame.index.nlevels + 1
    first = explanations[0].input
    assert isinstance(first, pd.Series)
    assert first["job"] == "cook"
    pd.testing.assert_series_equal(explanations.to_frame().dtypes[:3], PEOPLE.dtypes)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, "a", True, None], [2, "b", False, "x"]], dtype=object),
        np.array([[1.5, 2.5], [2.5, 3.0]], dtype=object),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[True, False], [False, False]]),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_come_back_as_they_came(array: Any) -> None:
    learned, matrix = Table.learn(array)
    back = learned.decode(matrix)
    assert isinstance(back, np.ndarray)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()
    assert [type(v) for v in back.ravel().tolist()] == [type(v) for v in array.ravel().tolist()]


def test_a_row_may_come_as_a_series_of_objects() -> None:
    frame = PEOPLE.assign(
        since=pd.to_datetime(["2020-01-01"] * 4), size=pd.array([1, None, 2, 3], dtype="Int64")
    )
    learned, matrix = Table.learn(frame)
    for i in range(len(frame)):
        codes, index = learned.encode_one(frame.iloc[i])
        np.testing.assert_array_equal(codes[0], matrix[i])
        assert index.tolist() == [i]


def test_constant_and_all_missing_columns_take_part_without_harm() -> None:
    frame = PEOPLE.assign(same=1.0, none=np.nan, blank=pd.Series([None] * 4, dtype=object))
    explainer = DiverseExplainer.paper(approve, max_counterfactuals=1).fit(frame)
    explanation = explainer.explain(frame.iloc[0])
    found = explanation.counterfactuals
    assert isinstance(found, pd.DataFrame)
    assert found["none"].isna().all()
    assert found["blank"].isna().all()
    assert (found["same"] == 1).all()
    assert (found["age"] > 35).all()


def test_an_input_finer_than_the_training_data_keeps_its_own_value() -> None:
    frame = PEOPLE.assign(since=pd.to_datetime(["2020-01-01", "2020-03-01"] * 2))
    explainer = paper_by_steps(approve, max_counterfactuals=1, sparse=True).fit(frame)
    noon = frame.iloc[[0]].assign(since=pd.Timestamp("2020-01-01 12:00"))
    found = explainer.explain(noon).counterfactuals
    assert isinstance(found, pd.DataFrame)
    assert found["since"].tolist() == [pd.Timestamp("2020-01-01 12:00")]


MIXED = PEOPLE.assign(
    since=pd.to_datetime(["2020-01-01", "2020-03-01"] * 2), size=pd.Categorical(["s", "l"] * 2)
)


def test_a_row_may_come_as_a_mapping_in_any_order() -> None:
    learned, matrix = Table.learn(MIXED)
    for i in range(len(MIXED)):
        row = MIXED.iloc[i].to_dict()
        for values in (row, dict(reversed(row.items()))):
            codes, index = learned.encode_one(values)
            np.testing.assert_array_equal(codes, matrix[[i]])
            assert index.tolist() == [0]


def test_a_mapping_names_the_columns_of_an_array() -> None:
    learned, _ = Table.learn(np.array([[1.0, 2.0], [3.0, 4.0]]))
    codes, _ = learned.encode_one({"x1": 7, "x0": 5.5})
    assert codes.tolist() == [[5.5, 7]]


def test_a_mapping_may_name_columns_by_their_text_but_only_once() -> None:
    learned, _ = Table.learn(pd.DataFrame({0: [1.0], 1: [2.0]}))
    assert learned.encode_one({"1": 4, 0: 3})[0].tolist() == [[3, 4]]
    with pytest.raises(InvalidInputError, match="Pass each column once"):
        learned.encode_one({"1": 4, 0: 3, 1: 5})


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "object"])
def test_masked_entries_are_missing_values(dtype: str) -> None:
    # The mask used to be lost, and whatever was below it was taken for a value.
    values = np.array([[1, 2], [3, 4], [5, 6]], dtype=dtype)
    masked: Any = np.ma.array(values, mask=values == 4)
    for rows in (masked, list(masked)):
        learned, matrix = Table.learn(rows)
        assert np.isnan(matrix).tolist() == masked.mask.tolist()
        assert [each.can_be_missing for each in learned.features] == [False, True]
        np.testing.assert_array_equal(learned.encode_one(masked[1])[0], matrix[[1]])
        np.testing.assert_array_equal(learned.encode(masked)[0], matrix)


def test_a_masked_array_without_masked_entries_keeps_its_dtype() -> None:
    learned, matrix = Table.learn(np.ma.array([[1, 2], [3, 4]]))
    assert learned.array_dtype == np.int64
    assert matrix.tolist() == [[1, 2], [3, 4]]


# Names of columns: by label, or by label as text --------------------------------------------------


NUMBERS = np.random.default_rng(0).random((60, 3))


def test_a_column_is_found_by_its_label_and_by_its_text() -> None:
    positions = positions_by_name(pd.Index(["age", 1, ("a", 2)], dtype=object, tupleize_cols=False))
    expected: list[list[Any]] = [["age"], [1, "1", np.int64(1)], [("a", 2), "('a', 2)"]]
    for position, names in enumerate(expected):
        assert [find_name(name, positions) for name in names] == [position] * len(names)
    for unknown in ("Age", 2, None, ["age"], {"age": 1}):
        assert find_name(unknown, positions) is None


@pytest.mark.parametrize("columns", [[1, "1", 2], [2.5, "x", "2.5"]])
def test_columns_that_are_the_same_as_text_are_refused(columns: list[Any]) -> None:
    # With columns [1, "1"], immutable=["1"] used to fix column 1.
    frame = pd.DataFrame(NUMBERS, columns=columns)
    with pytest.raises(InvalidInputError, match=r"the same name as text.*Rename one of them"):
        DiverseExplainer.paper(above).fit(frame)


def above(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1) > 1.5


PAIRS = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ([0, 1, 2], 1),
        ([0, 1, 2], "1"),
        (["a", "b", "c"], "b"),
        (PAIRS, ("a", "y")),
        (PAIRS, "('a', 'y')"),
        (pd.date_range("2020", periods=3), pd.Timestamp("2020-01-02")),
    ],
)
def test_every_place_that_takes_a_name_finds_the_column(columns: Any, name: Any) -> None:
    frame = pd.DataFrame(NUMBERS, columns=columns)
    for constraints in (
        Constraints(immutable=[name]),
        Constraints(max_increase={name: 0}, max_decrease={name: 0}),
        Constraints(increase_only=[name], decrease_only=[name]),
        Constraints(immutable=pd.Index([name], tupleize_cols=False)),
    ):
        explainer = DiverseExplainer.paper(
            above,
            diversity=None,
            constraints=constraints,
            scale={name: 2.0},
            schema=Schema(continuous=[name]),
        ).fit(frame)
        explanations = explainer.explain_many(frame[:5])
        changed = np.vstack([each.changed for each in explanations])
        assert changed.any(axis=0).tolist() == [True, False, True]
        assert explainer.distance_.space.factor.tolist() == [1, 2, 1]
        assert explanations.to_frame().shape[1] == 6


def test_a_part_of_a_name_is_no_name() -> None:
    # It used to fix the first of the columns below it.
    frame = pd.DataFrame(NUMBERS, columns=PAIRS)
    with pytest.raises(InvalidInputError, match="There is no feature 'a'"):
        DiverseExplainer.paper(above, constraints=Constraints(immutable=["a"])).fit(frame)


def test_labels_that_are_no_texts_can_be_declared() -> None:
    # Schema(categorical=[3]) used to be refused, though there is a column 3.
    frame = pd.DataFrame({0: [0, 1], 1: [1, 0], 2: [5, 6], 3: [7, 8], 4: ["s", "l"]})
    for schema in (
        Schema(categorical=[3], ordinal={4: ["s", "l"]}, one_hot={"group": [0, 1]}),
        Schema(categorical=["3"], ordinal={"4": ["s", "l"]}, one_hot={"group": ["0", 1]}),
    ):
        table, _ = Table.learn(frame, schema)
        assert table.names == ["group", "2", "3", "4"]
        kinds = [each.kind for each in table.features]
        assert kinds == ["categorical", "integer", "binary", "ordinal"]
        for names in (["group", 0, "0", 1, "1"], [2, "2"], [3, "3"], [4, "4"]):
            assert len({table.position(name) for name in names}) == 1


def test_a_name_and_its_text_are_one_column() -> None:
    frame = pd.DataFrame(NUMBERS, columns=[0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"declares \['1'\] more than once"):
        Schema(categorical=[1], integer=["1"])
    with pytest.raises(InvalidInputError, match=r"declares \['1'\] more than once"):
        Table.learn(frame, Schema(categorical=[1], integer=[1.0]))
    with pytest.raises(InvalidInputError, match="scale names a feature twice"):
        DiverseExplainer.paper(above, scale={1: 2.0, "1": 3.0}).fit(frame)


def test_relations_name_columns_as_text() -> None:
    frame = pd.DataFrame(NUMBERS, columns=[0, 1, 2])
    explainer = DiverseExplainer.paper(
        above, diversity=None, constraints=Constraints(relations=["`0` <= `2`"])
    ).fit(frame)
    held = frame[frame[0] <= frame[2]]
    found = explainer.explain_many(held[:5]).to_frame()
    assert (found[0] <= found[2]).all()


# Mappings as rows: the order of keys does not matter, their names do ------------------------------


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
