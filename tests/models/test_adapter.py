"""The adapter asks anything that predicts, in the container it was trained on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from support.probable import GRID, Sure

from counterset import CountersetError, DiverseExplainer, InvalidInputError
from counterset.exceptions import ModelError, UnusedColumnsWarning
from counterset.models.adapter import KnownAnswers, ModelAdapter, find_unused
from counterset.models.answers import Answers
from counterset.tables.table import Table

ROWS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])


def adapter(model: Any, X: Any = ROWS) -> ModelAdapter:
    return ModelAdapter(model, Table.learn(X)[0])


class Threshold:
    """A model that has ``predict`` and is callable too, with another answer."""

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0] > 0.5

    def __call__(self, X: Any) -> Any:
        raise AssertionError("predict comes first")


def test_predict_is_preferred_to_a_call() -> None:
    assert adapter(Threshold()).labels(ROWS).tolist() == [False, True, True]


def test_a_function_is_called() -> None:
    assert adapter(lambda X: X[:, 0] > 1.5).labels(ROWS).tolist() == [False, False, True]


def test_estimators_and_pipelines_are_asked_through_predict() -> None:
    y = ["no", "no", "yes"]
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        fitted = model.fit(ROWS, y)
        assert adapter(fitted).labels(ROWS).tolist() == list(fitted.predict(ROWS))


def test_calls_and_rows_are_counted() -> None:
    asked = adapter(Threshold())
    assert (asked.calls, asked.rows) == (0, 0)
    asked.labels(ROWS)
    asked.labels(ROWS[:1])
    assert (asked.calls, asked.rows) == (2, 4)


def test_the_model_gets_the_container_it_was_trained_on() -> None:
    seen: list[Any] = []

    def model(X: Any) -> list[int]:
        seen.append(X)
        return [0] * len(X)

    frame = pd.DataFrame({"age": [30, 40], "income": [1.5, 2.5]}, index=["a", "b"])
    adapter(model, frame).labels(np.array([[31.0, 1.0]]))
    assert list(seen[0].columns) == ["age", "income"]
    assert seen[0].dtypes.tolist() == [np.dtype(np.int64), np.dtype(np.float64)]
    adapter(model, ROWS.astype(np.float32)).labels(ROWS)
    assert isinstance(seen[1], np.ndarray)
    assert seen[1].dtype == np.float32


def test_a_model_that_raises_is_reported_with_its_own_error_as_cause() -> None:
    def broken(X: Any) -> Any:
        raise KeyError("income")

    with pytest.raises(ModelError, match=r"raised KeyError .* 3 rows .*shape \(3, 2\)") as caught:
        adapter(broken).labels(ROWS)
    assert isinstance(caught.value, CountersetError)
    assert isinstance(caught.value.__cause__, KeyError)
    assert "It must accept rows in the form" in str(caught.value)


def test_leaving_the_program_is_not_a_model_error() -> None:
    def leaving(X: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapter(leaving).labels(ROWS)


def test_a_model_is_not_asked_about_nothing() -> None:
    model = adapter(Threshold())
    with pytest.raises(ModelError, match="no rows"):
        model.labels(np.empty((0, 2)))
    assert model.calls == 0


@pytest.mark.parametrize("model", [None, 3, "forest"])
def test_what_cannot_predict_is_refused(model: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"predict method or is a function.*, got "):
        adapter(model)


# Probabilities.


class Counter(Sure):
    """A model that writes into the rows that it predicts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def predict(self, rows: Any) -> Any:
        self.asked.append("labels")
        labels = super().predict(rows)
        rows[:] = 0
        return labels

    def predict_proba(self, rows: Any) -> Any:
        self.asked.append("probabilities")
        return super().predict_proba(rows)


def test_labels_and_their_probabilities_are_two_calls_about_the_same_rows() -> None:
    model = Counter()
    asked = ModelAdapter(model, Table.learn(GRID)[0], with_confidence=True)
    answers = asked.answers(GRID)
    assert model.asked == ["labels", "probabilities"]
    assert (asked.calls, asked.rows) == (2, 11)
    assert answers.labels.tolist() == ["no"] * 5 + ["yes"] * 6
    np.testing.assert_allclose(answers.confidence, np.abs(GRID[:, 0] - 5) / 10 + 0.5)  # type: ignore[arg-type]


def test_probabilities_are_not_asked_for_in_vain() -> None:
    model = Counter()
    assert ModelAdapter(model, Table.learn(GRID)[0]).answers(GRID).confidence is None
    assert model.asked == ["labels"]


def test_probabilities_are_of_a_model_that_has_them() -> None:
    with pytest.raises(InvalidInputError, match=r"needs a model with predict_proba.*does not have"):
        ModelAdapter(lambda rows: rows[:, 0], Table.learn(GRID)[0], with_confidence=True)


def test_very_many_rows_are_asked_about_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterset.models.adapter.ROWS_PER_CALL", 2)
    table, matrix = Table.learn(np.arange(5.0)[:, None])
    asked = []

    def predict(rows: Any) -> Any:
        asked.append(rows[:, 0].tolist())
        return rows[:, 0] if rows[0, 0] < 2 else np.array(["many"] * len(rows))

    model = ModelAdapter(predict, table)
    # Numbers stay numbers, though the model answers in text later.
    assert model.labels(matrix).tolist() == [0.0, 1.0, "many", "many", "many"]
    assert asked == [[0.0, 1.0], [2.0, 3.0], [4.0]]
    assert (model.calls, model.rows) == (3, 5)


# Each distinct row is asked about once ------------------------------------------------------------


CELLS = st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan])


@pytest.mark.parametrize("copies", [1, 40])
@given(st.lists(arrays(float, st.tuples(st.integers(1, 6), st.just(2)), elements=CELLS)))
def test_answers_are_those_of_asking_about_every_row(copies: int, parts: list[Any]) -> None:
    parts = [np.tile(rows, copies) for rows in parts]  # of long rows, the hash is kept
    known, asked = KnownAnswers(), []

    def ask(rows: Any) -> Answers:
        asked.append(rows)
        return model(rows)

    def model(rows: Any) -> Answers:
        total = np.nan_to_num(rows, nan=7.0).sum(axis=1)
        return Answers(total > 2 * copies, total / (20 * copies))

    for rows in parts:
        found, literal = known.get(rows, ask), model(rows)
        np.testing.assert_array_equal(found.labels, literal.labels)
        np.testing.assert_array_equal(found.confidence, literal.confidence)
    everything = [tuple(row) for rows in parts for row in np.nan_to_num(rows, nan=7.0)]
    assert sum(map(len, asked)) == len(set(everything))


def test_text_and_numbers_stay_what_they_are() -> None:
    known = KnownAnswers()
    known.get(np.array([[0.0]]), lambda rows: Answers(np.array([1])))
    both = known.get(np.array([[0.0], [1.0]]), lambda rows: Answers(np.array(["no"])))
    assert both.labels.tolist() == [1, "no"]


def test_what_the_model_did_not_answer_is_asked_again() -> None:
    known = KnownAnswers()

    def fail(rows: Any) -> Answers:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        known.get(np.array([[0.0]]), fail)
    assert known.get(np.array([[0.0]]), lambda rows: Answers(np.array([3]))).labels == [3]


# Columns that a model does not look at are named, and models that need names say so ---------------


RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.random(80), "b": RNG.random(80), "town": RNG.choice(["x", "y"], 80), "id": range(80)}
)
Y = np.where(X["a"] + (X["town"] == "x") > 0.9, "yes", "no")


def fitted(*transformers: Any, **options: Any) -> Any:
    select = make_column_transformer(*transformers, **options)
    return make_pipeline(select, LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "unused"),
    [
        (fitted((StandardScaler(), ["a"]), (OneHotEncoder(), ["town"])), ["b", "id"]),
        (fitted((StandardScaler(), [0]), (OneHotEncoder(), ["town"])), ["b", "id"]),
        (fitted((OneHotEncoder(), make_column_selector(dtype_exclude="number"))), ["a", "b", "id"]),
        (fitted(("drop", ["id"]), (OneHotEncoder(), ["town"]), remainder="passthrough"), ["id"]),
        (fitted((OneHotEncoder(), ["town"]), remainder="passthrough"), []),
        (fitted((StandardScaler(), slice(0, 2)), (OneHotEncoder(), ["town"])), ["id"]),
        (lambda rows: rows["a"] > 0.5, []),
    ],
)
def test_columns_that_are_dropped_are_found(model: Any, unused: list[str]) -> None:
    assert find_unused(model, list(X)) == unused
    # They are not looked at: other values change no answer.
    if unused and hasattr(model, "predict"):
        other = X.assign(**{name: X[name].to_numpy()[::-1] for name in unused})
        assert (model.predict(other) == model.predict(X)).all()


def test_further_columns_of_the_table_are_dropped_too() -> None:
    select = ColumnTransformer([("keep", "passthrough", ["a", "b"])])
    model = make_pipeline(select, LogisticRegression()).fit(X[["a", "b"]], Y)
    assert find_unused(model, list(X)) == ["town", "id"]


def test_fit_warns_once_and_names_them() -> None:
    model = fitted((StandardScaler(), ["a"]), (OneHotEncoder(), ["town"]))
    explainer = DiverseExplainer(model, max_counterfactuals=1)
    with pytest.warns(UnusedColumnsWarning, match=r"2 of 4 columns \('b', 'id'\)") as caught:
        explainer.fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer.explain(X.iloc[0])


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(
            make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()
        ).fit(X[["a", "b"]], Y),
        lambda rows: rows["a"] > 0.5,
    ],
)
def test_a_model_that_selects_columns_by_name_asks_for_a_frame(model: Any) -> None:
    with pytest.raises(ModelError, match="selects columns by name; pass a DataFrame"):
        DiverseExplainer(model).fit(X[["a", "b"]].to_numpy())


def test_a_model_that_fails_for_another_reason_says_that() -> None:
    def model(rows: Any) -> Any:
        raise ValueError("too hot")

    with pytest.raises(ModelError, match=r"too hot.*It must accept rows in the form"):
        DiverseExplainer(model).fit(X[["a", "b"]].to_numpy())
