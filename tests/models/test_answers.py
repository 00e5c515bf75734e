"""What a model answered: labels of any kind, and the probability of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.probable import GRID, Sure

from counterset._base.arrays import Vector
from counterset.exceptions import ModelError
from counterset.models.answers import read_confidence, read_labels

# Labels.


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
    labels = read_labels(given_back, 3)
    assert labels.shape == (3,)
    assert labels.tolist() == answer


def test_labels_of_pandas_categories_are_read() -> None:
    labels = read_labels(pd.Series(["a", "b", "a"], dtype="category"), 3)
    assert labels.tolist() == ["a", "b", "a"]


def test_probabilities_are_refused_with_a_way_out() -> None:
    with pytest.raises(ModelError, match=r"2 values for each row \(shape \(3, 2\)\).*argmax"):
        read_labels(np.full((3, 2), 0.5), 3)


@pytest.mark.parametrize("answer", [[0, 1], [0, 1, 0, 1], 1, [], np.zeros((3, 1, 1))])
def test_the_wrong_number_of_labels_is_refused(answer: Any) -> None:
    with pytest.raises(ModelError, match=r"one label per row: asked about 3 rows, got .* shape"):
        read_labels(answer, 3)


def test_labels_of_uneven_length_are_refused() -> None:
    with pytest.raises(ModelError):
        read_labels([["a"], ["a", "b"], ["c"]], 3)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_refused(missing: Any) -> None:
    with pytest.raises(ModelError, match=r"missing label .*Every row needs a class"):
        read_labels(np.array(["a", missing, "b"], dtype=object), 3)


# Probabilities.


def confidence(model: Any) -> Vector:
    """Return the probability of each label of the grid."""
    return read_confidence(model.predict_proba(GRID), model, model.predict(GRID))


def test_the_probability_is_that_of_the_label() -> None:
    # 0 to 4 are "no", with probabilities from 1 down; the others "yes", from 0.5 up.
    expected = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    np.testing.assert_allclose(confidence(Sure()), expected)


def test_labels_and_classes_of_different_number_types_match() -> None:
    class Binary(Sure):
        classes_ = np.array([0, 1])

        def predict(self, rows: Any) -> Any:
            return np.asarray(rows)[:, 0] >= 5

    assert confidence(Binary()).min() == 0.5


def test_classes_that_are_missing_are_explained() -> None:
    class Nameless(Sure):
        classes_ = None

    with pytest.raises(ModelError, match=r"Nameless has predict_proba, but no classes_ .*Set its"):
        confidence(Nameless())


def test_classes_that_do_not_hold_the_label_are_explained() -> None:
    class Renamed(Sure):
        classes_ = np.array([0, 1])

    with pytest.raises(ModelError, match=r"predicts 'no', which is not one of its classes_ \[0, 1"):
        confidence(Renamed())


def test_probabilities_of_the_wrong_shape_are_explained() -> None:
    class OneColumn(Sure):
        def predict_proba(self, rows: Any) -> Any:
            return super().predict_proba(rows)[:, 1]

    with pytest.raises(ModelError, match=r"got shape \(11,\) for 11 rows and 2 classes"):
        confidence(OneColumn())
