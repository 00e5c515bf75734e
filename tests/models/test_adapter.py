"""The adapter from anything that predicts to labels, and the classes it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from counterset import CountersetError, InvalidInputError, ModelError
from counterset.models.adapter import Classes, ModelAdapter
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


@pytest.mark.parametrize(
    "answer",
    [[0, 1, 0], ["no", "yes", "no"], [True, False, True], [0.0, 1.0, 0.0], ["a", 1, True]],
    ids=["int", "str", "bool", "float", "mixed"],
)
@pytest.mark.parametrize("container", ["list", "array", "series", "column"])
def test_labels_of_any_type_in_any_container(answer: list[Any], container: str) -> None:
    as_objects = np.array(answer, dtype=object)
    given_back: Any = {
        "list": as_objects.tolist() if "a" not in answer else as_objects,
        "array": as_objects if "a" in answer else np.array(answer),
        "series": pd.Series(answer, index=[7, 8, 9]),
        "column": as_objects[:, None],
    }[container]
    labels = adapter(lambda X: given_back).labels(ROWS)
    assert labels.shape == (3,)
    assert labels.tolist() == answer


def test_labels_of_pandas_categories_are_read() -> None:
    labels = adapter(lambda X: pd.Series(["a", "b", "a"], dtype="category")).labels(ROWS)
    assert labels.tolist() == ["a", "b", "a"]


def test_probabilities_are_refused_with_a_way_out() -> None:
    model = adapter(lambda X: np.full((len(X), 2), 0.5))
    with pytest.raises(ModelError, match=r"2 values for each row \(shape \(3, 2\)\).*argmax"):
        model.labels(ROWS)


@pytest.mark.parametrize("answer", [[0, 1], [0, 1, 0, 1], 1, [], np.zeros((3, 1, 1))])
def test_the_wrong_number_of_labels_is_refused(answer: Any) -> None:
    with pytest.raises(ModelError, match=r"one label per row: asked about 3 rows, got .* shape"):
        adapter(lambda X: answer).labels(ROWS)


def test_labels_of_uneven_length_are_refused() -> None:
    with pytest.raises(ModelError):
        adapter(lambda X: [["a"], ["a", "b"], ["c"]]).labels(ROWS)


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


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_refused(missing: Any) -> None:
    with pytest.raises(ModelError, match=r"missing label .*Every row needs a class"):
        adapter(lambda X: np.array(["a", missing, "b"], dtype=object)).labels(ROWS)


def test_a_model_is_not_asked_about_nothing() -> None:
    model = adapter(Threshold())
    with pytest.raises(ModelError, match="no rows"):
        model.labels(np.empty((0, 2)))
    assert model.calls == 0


@pytest.mark.parametrize("model", [None, 3, "forest"])
def test_what_cannot_predict_is_refused(model: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"predict method or is a function.*, got "):
        adapter(model)


@given(
    st.one_of(
        st.lists(st.integers(-3, 3), min_size=1),
        st.lists(st.sampled_from(["yes", "no", "maybe", ""]), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.sampled_from([0.5, -1.0, 2.0]), min_size=1),
    )
)
def test_classes_are_the_sorted_labels_and_codes_point_at_them(labels: list[Any]) -> None:
    classes, codes = Classes.learn(np.array(labels))
    assert classes.labels.tolist() == sorted(set(labels))
    assert len(classes) == len(set(labels))
    assert [classes.labels.tolist()[code] for code in codes] == labels
    assert classes.codes(np.array(labels)).tolist() == codes.tolist()


def test_classes_that_do_not_compare_keep_their_order_of_appearance() -> None:
    labels = np.array(["b", 1, "a", "b", 1], dtype=object)
    classes, codes = Classes.learn(labels)
    assert classes.labels.tolist() == ["b", 1, "a"]
    assert codes.tolist() == [0, 1, 2, 0, 1]


def test_a_label_never_seen_has_the_code_minus_one() -> None:
    classes, _ = Classes.learn(np.array([1, 3, 1]))
    assert classes.codes(np.array([3, 2, 1])).tolist() == [1, -1, 0]
