"""Tables of polars and pyarrow: what goes in comes back, and is explained as in pandas."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from support.container_tables import above, cells, tables, to_arrow
from support.settings import paper_by_steps

from counterset import (
    Constraints,
    DiverseExplainer,
    InvalidInputError,
    Schema,
    counterfactual_distance,
    evaluate,
    metrics,
)
from counterset.exact import Box, counterfactual_distances

ROWS = {
    "age": [20, 30, 40, 50, 60, 70],
    "score": [0.0, 0.5, 1.0, 1.5, 2.0, 2.5],
    "home": ["own", "rent", None, "own", "rent", "own"],
}
PANDAS = pd.DataFrame(ROWS | {"home": pd.Series(ROWS["home"], dtype=object)})
POLARS = pl.DataFrame(ROWS)
ARROW = pa.table(ROWS)
CONTAINERS = [POLARS, ARROW]
#: How many there are does not matter where containers are compared.
pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")


def fitted(data: Any, model: Any = above, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"max_counterfactuals": 2, "diversity": None}
    return paper_by_steps(model, **{**options, **parameters}).fit(data)


def schema(rows: Any) -> Any:
    return rows.schema if isinstance(rows, pl.DataFrame) else rows.schema.remove_metadata()


@given(tables())
def test_every_container_is_explained_as_pandas_is(
    drawn: tuple[pd.DataFrame, pl.DataFrame],
) -> None:
    pandas, polars = drawn
    expected = fitted(pandas).explain_many(pandas[:3])
    for table in (polars, to_arrow(polars)):
        found = fitted(table).explain_many(table[:3])
        assert cells(found.to_frame()) == cells(expected.to_frame().reset_index())
        for own, other in zip(found, expected, strict=True):
            assert type(own.counterfactuals) is type(table)
            assert schema(own.counterfactuals) == schema(table)
            assert schema(own.input) == schema(table)
            assert cells(own.counterfactuals) == cells(other.counterfactuals)
            assert own.distances.tolist() == other.distances.tolist()
            assert own.labels.tolist() == other.labels.tolist()
            pd.testing.assert_frame_equal(own.changes, other.changes)


@given(tables())
def test_rows_come_back_as_they_went_in(drawn: tuple[pd.DataFrame, pl.DataFrame]) -> None:
    _, polars = drawn
    explainer = fitted(polars)
    for i in range(len(polars)):
        assert explainer.explain(polars[i : i + 1]).input.equals(polars[i : i + 1])
    arrow = to_arrow(polars)
    explainer = fitted(arrow)
    for i in range(len(polars)):
        row = explainer.explain(arrow[i : i + 1]).input
        assert schema(row) == schema(arrow)
        assert row.to_pylist() == arrow[i : i + 1].to_pylist()


@given(tables())
@settings(max_examples=30)
def test_a_row_of_another_container_is_taken_if_its_columns_fit(
    drawn: tuple[pd.DataFrame, pl.DataFrame],
) -> None:
    every = [*drawn, to_arrow(drawn[1])]
    for training in every:
        explainer = fitted(training)
        expected = explainer.explain_many(training[:2])
        for other in every:
            found = explainer.explain_many(other[:2])
            assert type(found[0].counterfactuals) is type(training)
            assert found.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize("table", CONTAINERS)
def test_the_model_is_asked_in_the_container_of_the_training_data(table: Any) -> None:
    asked: list[Any] = []

    def model(rows: Any) -> Any:
        asked.append(rows)
        return above(rows)

    fitted(table, model).explain(PANDAS[:1])
    assert {type(rows) for rows in asked} == {type(table)}
    assert all(schema(rows) == schema(table) for rows in asked)


@pytest.mark.parametrize("sparsify", [False, True])
def test_a_pipeline_of_scikit_learn_on_polars_columns(sparsify: bool) -> None:
    rows = POLARS.with_columns(pl.col("home").fill_null("none"))
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["home"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0))
    model.fit(rows, above(rows))
    explanation = fitted(rows, model, sparse=sparsify).explain(rows[:1])
    assert isinstance(explanation.counterfactuals, pl.DataFrame)
    assert (model.predict(explanation.counterfactuals) == explanation.labels).all()
    assert (model.predict(explanation.input) == [explanation.label]).all()


@pytest.mark.parametrize("table", CONTAINERS)
def test_probabilities_are_asked_for_in_the_container(table: Any) -> None:
    class Model:
        classes_ = np.array([False, True])

        def predict(self, rows: Any) -> Any:
            return above(rows)

        def predict_proba(self, rows: Any) -> Any:
            share = np.asarray(rows["score"]) / 2.5
            return np.column_stack([1 - share, share])

    explanation = fitted(table, Model()).explain(table[:1], target_probability=0.7)
    assert (np.asarray(explanation.counterfactuals["score"]) >= 0.7 * 2.5).all()


@pytest.mark.parametrize("table", CONTAINERS)
def test_the_frame_of_many_has_the_input_and_the_rank_as_columns(table: Any) -> None:
    found = fitted(table).explain_many(table[:2]).to_frame()
    assert type(found) is type(table)
    rows = cells(found)
    assert list(rows[0]) == ["input", "rank", "age", "score", "home", "label", "distance", "status"]
    assert [(row["input"], row["rank"]) for row in rows] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert {row["label"] for row in rows} == {True}


@pytest.mark.parametrize("table", CONTAINERS)
def test_names_that_are_taken_get_a_prefix(table: Any) -> None:
    if isinstance(table, pl.DataFrame):
        table = table.rename({"age": "rank", "home": "input"})
    else:
        table = table.rename_columns(["rank", "score", "input"])
    found = cells(fitted(table).explain_many(table[:1]).to_frame())
    assert list(found[0])[:2] == ["input_input", "counterfactual_rank"]


@pytest.mark.parametrize("table", CONTAINERS)
def test_the_frame_of_many_keeps_the_index_of_a_pandas_input(table: Any) -> None:
    index = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["who", None])
    rows = cells(fitted(table).explain_many(PANDAS[:2].set_index(index)).to_frame())
    assert list(rows[0])[:3] == ["who", "input_1", "rank"]
    assert [row["who"] for row in rows] == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [(["no", "yes"], pl.String), ([0, 1], pl.Int64), ([False, True], pl.Boolean),
     (np.array([1, "yes"], dtype=object), pl.String)],
)  # fmt: skip
def test_labels_of_every_type_fit_into_the_frame_of_many(labels: Any, dtype: Any) -> None:
    def model(rows: Any) -> Any:
        return np.array(labels, dtype=getattr(labels, "dtype", None))[above(rows).astype(int)]

    found = fitted(POLARS, model).explain_many(POLARS[:1]).to_frame()
    assert found.schema["label"] == dtype


@pytest.mark.parametrize("table", CONTAINERS)
def test_an_input_without_counterfactuals_has_a_row_without_values(table: Any) -> None:
    found = fitted(table).explain_many(table[4:], target=True, skip=True)
    assert found[0].status == "already_reached"
    assert found[0].counterfactuals.shape == (0, 3)
    assert schema(found[0].counterfactuals) == schema(table)
    nulls = dict.fromkeys(["rank", "age", "score", "home", "label", "distance"])
    expected = [{"input": i, **nulls, "status": "already_reached"} for i in (0, 1)]
    assert cells(found.to_frame()) == expected
    both = fitted(table).explain_many(table, target=True, skip=True)
    some = both._take(np.flatnonzero(both.counts))
    assert 0 < len(some) < len(both)
    # Types are the same whether values are missing or not.
    assert schema(both.to_frame()) == schema(found.to_frame()) == schema(some.to_frame())
    assert "already" in repr(found[0])


@pytest.mark.parametrize("table", CONTAINERS)
def test_an_explanation_shows_and_measures_as_in_pandas(table: Any) -> None:
    pandas = PANDAS
    own, other = fitted(table), fitted(pandas)
    explanation, expected = own.explain(table[:1]), other.explain(pandas[:1])
    assert repr(explanation) == repr(expected)
    assert explanation._repr_html_() == expected._repr_html_()
    assert own.explain_many(table)._repr_html_() == other.explain_many(pandas)._repr_html_()
    np.testing.assert_array_equal(explanation.values, expected.values)
    distance = own.distance_
    np.testing.assert_array_equal(distance(table, table), other.distance_(pandas, pandas))
    row, rows = explanation.input, explanation.counterfactuals
    assert distance(row, rows)[0].tolist() == explanation.distances.tolist()
    assert distance(cells(row)[0], rows)[0].tolist() == explanation.distances.tolist()
    assert distance(cells(row), cells(rows))[0].tolist() == explanation.distances.tolist()
    assert metrics.k_distance(row, rows, distance) == explanation.distances.mean()
    assert metrics.sparsity(row, rows) == explanation.changed.sum(axis=1).mean()
    assert metrics.validity(explanation, above) == 1


@pytest.mark.parametrize("table", CONTAINERS)
def test_evaluate_takes_every_container(table: Any) -> None:
    options: dict[str, Any] = {"repeats": 2, "random_state": 1}
    pandas = PANDAS
    found = evaluate(fitted(table), table[:3], **options).drop(columns="seconds")
    expected = evaluate(fitted(pandas), pandas[:3], **options).drop(columns="seconds")
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("table", CONTAINERS)
def test_a_function_is_evaluated_on_rows_as_mappings(table: Any) -> None:
    asked: list[Any] = []

    def explain(row: Any) -> Any:
        asked.append(row)
        return table[4:5]

    evaluate(explain, table[:1], model=above, training=table, repeats=1)
    assert asked[0] == {"age": 20, "score": 0.0, "home": "own"}


@pytest.mark.parametrize("convert", [lambda frame: frame, lambda frame: frame.to_arrow()])
def test_exact_distances_take_every_container(convert: Any) -> None:
    polars = pl.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
    table = convert(polars)

    def model(rows: Any) -> Any:
        return np.asarray(rows["a"]) > 1.5

    bounds = counterfactual_distance(model, table[:1], domain=table)
    assert (bounds.upper, type(bounds.witness)) == (2.0, type(table))
    assert cells(bounds.witness) == [{"a": 2.0, "b": 0.0}]
    many = counterfactual_distances(model, table, domain=table)
    assert many.upper.tolist() == [2.0, 2.0, 1.0 + 1.0, 2.0]
    assert type(many[0].witness) is type(table)
    assert np.asarray(Box.of(table).high).tolist() == [3.0, 1.0]
    explainer = fitted(table, DecisionTreeClassifier().fit(polars, [0, 0, 1, 1])
                       if table is polars else model)  # fmt: skip
    certified = explainer.certify(explainer.explain(table[:1]), epsilon=0.5, time_limit=1.0)
    assert certified.certificate is not None


def test_a_fitted_explainer_can_be_pickled_and_copied() -> None:
    for table in CONTAINERS:
        explainer = fitted(table)
        expected = explainer.explain(table[:1]).counterfactuals
        for other in (pickle.loads(pickle.dumps(explainer)), copy.deepcopy(explainer)):
            assert other.explain(table[:1]).counterfactuals.equals(expected)


def test_a_missing_float_comes_back_as_it_came() -> None:
    nulls = pl.DataFrame({"score": [0.0, 1.0, 2.0], "x": [1.0, None, 2.0]})
    nans = pl.DataFrame({"score": [0.0, 1.0, 2.0], "x": [1.0, float("nan"), 2.0]})
    for table in (nulls, nans):
        row = fitted(table, max_counterfactuals=1).explain(table[1:2]).input
        assert row.equals(table[1:2])


def test_an_enum_is_ordinal_and_a_categorical_is_not() -> None:
    table = POLARS.select(
        "score",
        pl.Series("level", ["a", "b", "c"] * 2, dtype=pl.Enum(["c", "b", "a", "z"])),
        pl.Series("kind", ["b", "a", "c"] * 2, dtype=pl.Categorical),
    )
    told = repr(fitted(table).schema_)
    assert "level  ordinal      4 values: 'c', 'b', 'a', 'z'" in told
    assert "kind   categorical  3 values: 'a', 'b', 'c'" in told
    told = repr(fitted(table, schema=Schema(categorical=["level"])).schema_)
    assert "level  categorical  4 values" in told


@pytest.mark.parametrize(
    "dtype",
    [pa.dictionary(pa.int8(), pa.string(), ordered=True), pa.dictionary(pa.int32(), pa.int64()),
     pa.dictionary(pa.uint16(), pa.large_string())],
    ids=str,
)  # fmt: skip
def test_dictionaries_of_pyarrow(dtype: Any) -> None:
    values = [1, 2, 3] if pa.types.is_integer(dtype.value_type) else ["lo", "mid", "hi"]
    column = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None, 1, 0], dtype.index_type),
        pa.array(values, dtype.value_type),
        ordered=dtype.ordered,
    )
    halves = pa.chunked_array([column[:3], column[3:]])
    table = pa.table({"score": ROWS["score"], "level": halves})
    explainer = fitted(table)
    found = explainer.explain_many(table)
    assert explainer.training_.table.features[1].kind == (
        "ordinal" if dtype.ordered else "categorical"
    )
    for i, one in enumerate(found):
        assert one.counterfactuals.schema.field("level").type == dtype
        assert one.input.to_pylist() == table[i : i + 1].to_pylist()


def test_one_hot_columns_and_declared_orders() -> None:
    table = pl.DataFrame(
        {
            "score": ROWS["score"],
            "is_a": pl.Series([1, 0, 0, 1, 0, 0], dtype=pl.UInt8),
            "is_b": pl.Series([0, 1, 0, 0, 1, 0], dtype=pl.UInt8),
            "size": ["s", "m", "l", "s", "m", "l"],
            "since": [dt.date(2020, 1, day) for day in (1, 2, 3, 1, 2, 3)],
        }
    )
    declared = Schema(
        one_hot={"kind": ["is_a", "is_b"]}, ordinal={"size": ["s", "m", "l"]}, categorical=["since"]
    )
    explainer = fitted(table, schema=declared)
    for i, one in enumerate(explainer.explain_many(table)):
        assert one.input.equals(table[i : i + 1])
        assert one.counterfactuals.schema == table.schema
        assert (one.counterfactuals["is_a"] + one.counterfactuals["is_b"] <= 1).all()


def test_a_row_of_nulls_without_a_type_is_read() -> None:
    table = POLARS.with_columns(pl.Series("x", [1.0, None] * 3))
    row = pl.DataFrame({"age": [20], "score": [0.0], "home": [None], "x": [None]})
    explanation = fitted(table).explain(row)
    assert explanation.input.schema == table.schema
    assert explanation.input.row(0) == (20, 0.0, None, None)


def test_constraints_hold_in_every_container() -> None:
    constraints = Constraints(immutable=["age"], allowed={"home": ["own"]})
    for table in CONTAINERS:
        found = fitted(table, constraints=constraints).explain(table[:1]).counterfactuals
        assert {row["age"] for row in cells(found)} == {20}


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pl.Series([[1], [2]]), "List"),
        (pl.Series([{"a": 1}, {"a": 2}]), "Struct"),
        (pl.Series([b"a", b"b"]), "Binary"),
        (pl.Series([dt.timedelta(1), dt.timedelta(2)]), "Duration"),
        (pl.Series([dt.time(1), dt.time(2)]), "Time"),
        (pl.Series([object(), object()], dtype=pl.Object), "Object"),
        (pl.Series(["1.5", "2.5"]).cast(pl.Decimal(10, 2)), "Decimal"),
    ],
)
def test_columns_that_are_not_supported_are_named(column: pl.Series, told: str) -> None:
    table = pl.DataFrame({"score": [0.0, 2.0]}).with_columns(column.alias("odd"))
    with pytest.raises(InvalidInputError, match=rf"not supported: 'odd' \({told}.* leave them out"):
        fitted(table)
    with pytest.raises(InvalidInputError, match="X has columns of types that are not supported"):
        fitted(pl.DataFrame({"score": [0.0, 2.0], "odd": [1, 2]})).explain_many(table)
    if told != "Object":
        with pytest.raises(InvalidInputError, match="not supported: 'odd'"):
            fitted(table.to_arrow())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (POLARS.lazy(), r"is a LazyFrame, which holds no rows yet. Pass X.collect\(\)"),
        (ARROW.to_batches()[0], r"is a RecordBatch. .* pyarrow.Table.from_batches\(\[X\]\)"),
        (POLARS.select("age", "score"), r"missing \['home'\], extra \[\]"),
        (ARROW.append_column("zip", pa.array([1] * 6)), r"missing \[\], extra \['zip'\]"),
        (ARROW.append_column("age", pa.array([1] * 6)), r"unique, got \['age'\] more than once"),
        (POLARS[:0], "X has no rows|explain takes one row"),
        (POLARS.with_columns(home=pl.lit("boat")), "'boat' in feature 'home'"),
        (POLARS.with_columns(age=pl.lit(None, dtype=pl.Int64)), "misses a value in feature 'age'"),
    ],
)
def test_tables_that_do_not_fit(table: Any, message: str) -> None:
    explainer = fitted(POLARS)
    with pytest.raises(InvalidInputError, match=message):
        explainer.explain_many(table)
    one = table if not hasattr(table, "shape") else table[:1]
    with pytest.raises(InvalidInputError, match=message):
        explainer.explain(one)


def test_explain_takes_one_row() -> None:
    with pytest.raises(InvalidInputError, match=r"got a DataFrame, of shape \(2, 3\)"):
        fitted(POLARS).explain(POLARS[:2])
    with pytest.raises(InvalidInputError, match=r"got a Table, of shape \(2, 3\)"):
        fitted(ARROW).explain(ARROW[:2])


def test_an_array_does_not_tell_the_columns_of_a_table() -> None:
    array = np.random.default_rng(0).random((20, 2))
    explainer = fitted(array, lambda rows: rows.sum(axis=1) > 1)
    with pytest.raises(InvalidInputError, match="fitted on an array without column names"):
        explainer.explain_many(pl.DataFrame({"a": [0.1], "b": [0.2]}))
    table = pl.DataFrame(array, schema=["a", "b"])
    explainer = fitted(table, lambda rows: (rows["a"] + rows["b"] > 1).to_numpy())
    expected = explainer.explain_many(table).to_frame()
    assert explainer.explain_many(array).to_frame().equals(expected)
