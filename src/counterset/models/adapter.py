"""One adapter from anything that predicts to rows -> labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Codes, Labels, Matrix, to_python
from counterset.exceptions import CountersetError, InvalidInputError, ModelError
from counterset.models.frameworks import as_predictor
from counterset.tables.table import Table

__all__ = ["Answers", "Classes", "ModelAdapter"]


@dataclass(frozen=True)
class Answers:
    """What the model answered: a label per row, and how probable it finds it, if that was asked."""

    labels: Labels
    confidence: Matrix | None = None


@dataclass
class ModelAdapter:
    """Ask a model for labels, in the container it was trained on, and count what was asked.

    Examples
    --------
    >>> table, matrix = Table.learn([[0.0], [1.0]])
    >>> adapter = ModelAdapter(lambda X: X[:, 0] > 0.5, table)
    >>> adapter.labels(matrix), adapter.calls, adapter.rows
    (array([False,  True]), 1, 2)
    """

    model: Any
    table: Table
    with_confidence: bool = False
    calls: int = field(default=0, init=False)
    rows: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._predict = _predict_function(as_predictor(self.model))
        if self.with_confidence and not callable(getattr(self.model, "predict_proba", None)):
            raise InvalidInputError(
                f"target_probability needs a model with predict_proba, which "
                f"{type(self.model).__name__} has not. Leave it out, or pass a model that has."
            )

    def labels(self, matrix: Matrix) -> Labels:
        """Give the model's label of each row."""
        if len(matrix) == 0:
            raise ModelError("The model was to be asked about no rows.")
        self.rows += len(matrix)
        return _check_labels(self._call(self._predict, self.table.decode(matrix)), len(matrix))

    def answers(self, matrix: Matrix) -> Answers:
        """Give the model's label of each row, and its probability if that matters."""
        labels = self.labels(matrix)
        if not self.with_confidence:
            return Answers(labels)
        rows = self.table.decode(matrix)
        probabilities = np.asarray(self._call(self.model.predict_proba, rows), dtype=np.float64)
        return Answers(labels, _of_labels(probabilities, self.model, labels))

    def _call(self, function: Callable[[Any], Any], rows: Any) -> Any:
        self.calls += 1
        try:
            return function(rows)
        except CountersetError:
            raise
        except Exception as error:
            raise ModelError(
                f"The model raised {type(error).__name__} when asked about {len(rows)} rows "
                f"({type(rows).__name__} of shape {rows.shape}): {error}. It must accept rows in "
                f"the form the explainer was fitted on."
            ) from error


@dataclass(frozen=True)
class Classes:
    """The labels seen on the training rows, and their codes 0, 1, ...

    Examples
    --------
    >>> classes, codes = Classes.learn(np.array(["no", "yes", "no"]))
    >>> codes, classes.codes(np.array(["yes", "maybe"]))
    (array([0, 1, 0]), array([ 1, -1]))
    """

    labels: Labels

    @classmethod
    def learn(cls, labels: Labels) -> tuple[Classes, Codes]:
        """Learn the classes of the training rows; also give the rows' codes."""
        codes, found = pd.factorize(labels)
        try:
            order = sorted(range(len(found)), key=lambda i: found[i])
        except TypeError:  # labels of types that do not compare keep their order of appearance
            order = list(range(len(found)))
        rank = np.empty(len(found), dtype=np.intp)
        rank[order] = np.arange(len(found))
        return cls(np.asarray(found)[order]), rank[codes]

    @cached_property
    def are_measurements(self) -> bool:
        """Whether the labels are numbers with fractions, as a regression predicts."""
        if self.labels.dtype.kind != "f":
            return False
        return bool((self.labels != np.rint(self.labels)).any())

    def codes(self, labels: Labels) -> Codes:
        """Give the codes of labels, -1 for one never seen in training."""
        return np.array([self._code_of.get(each, -1) for each in labels.tolist()], dtype=np.intp)

    @cached_property
    def _code_of(self) -> dict[Any, int]:
        return {label: code for code, label in enumerate(self.labels.tolist())}

    def __len__(self) -> int:
        return len(self.labels)


def _predict_function(model: Any) -> Callable[[Any], Any]:
    predict = getattr(model, "predict", None)
    if callable(predict):
        function: Callable[[Any], Any] = predict
        return function
    if callable(model):
        function = model
        return function
    raise InvalidInputError(
        f"A model has a predict method or is a function from rows to labels or the path of an "
        f".onnx file, got {type(model).__name__}. Pass the fitted model itself."
    )


def _of_labels(probabilities: Matrix, model: Any, labels: Labels) -> Matrix:
    """Give the probability of each row's label."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ModelError(
            f"{type(model).__name__} has predict_proba, but no classes_ that say which column is "
            f"which class. Give it the attribute classes_."
        )
    if probabilities.shape != (len(labels), len(classes)):
        raise ModelError(
            f"predict_proba must give one probability per row and class of classes_, got shape "
            f"{probabilities.shape} for {len(labels)} rows and {len(classes)} classes."
        )
    column_of = {to_python(each): column for column, each in enumerate(classes)}
    codes, found = pd.factorize(labels)
    unknown = [to_python(each) for each in found if to_python(each) not in column_of]
    if unknown:
        raise ModelError(
            f"The model predicts {unknown[0]!r}, which is not one of its classes_ "
            f"{list(column_of)}, so its probability is not known."
        )
    columns = np.array([column_of[to_python(each)] for each in found], dtype=np.intp)[codes]
    of_label: Matrix = probabilities[np.arange(len(labels)), columns]
    return of_label


def _check_labels(answer: Any, n_rows: int) -> Labels:
    try:
        labels = np.asarray(answer)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ModelError(
            f"The model's answer, a {type(answer).__name__}, cannot be read as an array: {error}. "
            f"It must give one label per row."
        ) from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2 and labels.shape[0] == n_rows:
        raise ModelError(
            f"The model gave {labels.shape[1]} values for each row (shape {labels.shape}), as "
            f"probabilities would be; one label per row is needed. Pass a function that takes the "
            f"class, such as lambda X: model.predict(X).argmax(axis=1)."
        )
    if labels.shape != (n_rows,):
        raise ModelError(
            f"The model must give one label per row: asked about {n_rows} rows, got an answer of "
            f"shape {labels.shape}."
        )
    if labels.dtype.kind not in "biuSU" and pd.isna(labels).any():
        raise ModelError("The model gave a missing label (None or NaN). Every row needs a class.")
    return labels
