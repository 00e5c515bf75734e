"""ModelAdapter: asks a model for the labels of rows, in the container and columns it was fitted on.

It remembers what a model answered about which rows, so that each row is asked about once.
``find_unused`` finds columns that a model does not look at.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from counterset._base.arrays import Indices, Labels, Matrix, row_blocks, rows_as_bytes
from counterset.exceptions import (
    CountersetError,
    InvalidInputError,
    ModelError,
    UnusedColumnsWarning,
)
from counterset.models.answers import Answers, ask_model, read_confidence, read_labels
from counterset.models.frameworks import as_predictor
from counterset.tables.frames import Rows, copy_of
from counterset.tables.table import Table

__all__ = ["KnownAnswers", "ModelAdapter", "find_unused", "warn_of_unused"]

#: Of a row of more than 64 numbers, its hash is kept in place of 8 bytes for each. Two of a million
#: rows have the same one with a probability of 3e-8; what is returned is asked about again.
LONG_ROW = 64 * 8


class KnownAnswers:
    """The answers of a model, by row.

    Examples
    --------
    >>> known, asked = KnownAnswers(), []
    >>> def ask(rows):
    ...     asked.append(len(rows))
    ...     return Answers(rows[:, 0] > 0.5)
    >>> known.get(np.array([[0.0], [1.0], [1.0]]), ask).labels
    array([False,  True,  True])
    >>> known.get(np.array([[1.0], [2.0]]), ask).labels, asked
    (array([ True,  True]), [2, 1])
    """

    def __init__(self) -> None:
        self._position: dict[bytes | int, int] = {}
        self._answers: Answers | None = None

    def get(self, rows: Matrix, ask: Callable[[Matrix], Answers]) -> Answers:
        """Return the answer about each row, ``(n, d)``; ask about those that are not known."""
        known, new = len(self._position), dict[bytes | int, int]()
        get, add = self._position.get, new.setdefault
        at: Indices = np.array(
            [
                add(key, known + len(new)) if (found := get(key)) is None else found
                for key in _keys(rows)
            ],
            dtype=np.intp,
        )
        if new:
            unknown = np.flatnonzero(at >= known)
            first = unknown[np.unique(at[unknown], return_index=True)[1]]
            answers = ask(rows[first])
            old = self._answers
            self._answers = answers if old is None else Answers.joined([old, answers])
            self._position |= new
        assert self._answers is not None, "something was asked"
        return self._answers.take(at)


def _keys(rows: Matrix) -> Sequence[bytes | int]:
    """Return what tells rows from each other."""
    keys: list[bytes] = rows_as_bytes(rows).tolist()
    return keys if not keys or len(keys[0]) <= LONG_ROW else [hash(key) for key in keys]


#: A message names the first 8 columns.
SHOWN = 8


def find_unused(model: Any, columns: Sequence[Any]) -> list[Any]:
    """Return the columns of a table that a model drops unseen; none where that is not known.

    Parameters
    ----------
    model
        A fitted model that answered about a table with these columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = pd.DataFrame({"a": [0.0, 1.0], "b": [5.0, 5.0]})
    >>> select = ColumnTransformer([("keep", "passthrough", ["a"])])
    >>> find_unused(make_pipeline(select, LogisticRegression()).fit(X, [0, 1]), ["a", "b"])
    ['b']
    """
    first = model
    while isinstance(first, Pipeline) and len(first.steps):
        first = first.steps[0][1]
    # A model that learned from named columns, and answered though there are more, drops the others.
    used = getattr(first, "feature_names_in_", None)
    if used is None:
        return []
    if isinstance(first, ColumnTransformer):
        positions = first._transformer_to_input_indices
        kept = [name for name, step, _ in first.transformers_ if not _is_drop(step)]
        used = [used[at] for name in kept for at in positions.get(name, ())]
    names = set(used)
    return [column for column in columns if column not in names]


def warn_of_unused(model: Any, columns: Sequence[Any], stacklevel: int) -> None:
    """Warn of the columns that a model does not look at.

    Parameters
    ----------
    stacklevel
        As for :func:`warnings.warn`, counted from the caller.
    """
    unused = find_unused(model, columns)
    if not unused:
        return
    shown = ", ".join(map(repr, unused[:SHOWN])) + (", ..." if len(unused) > SHOWN else "")
    warnings.warn(
        f"The model does not look at {len(unused)} of {len(columns)} columns ({shown}): they "
        f"cannot be a reason for a decision, and no change of them leads to another. Leave them "
        f"out.",
        UnusedColumnsWarning,
        stacklevel=stacklevel + 1,
    )


def _is_drop(step: Any) -> bool:
    return isinstance(step, str) and step == "drop"


#: A model is asked about a million rows at a time: what it makes of them takes memory too.
ROWS_PER_CALL = 1_000_000


@dataclass
class ModelAdapter:
    """Ask a model for labels, in the container it was trained on, and count calls and rows.

    Attributes
    ----------
    with_confidence
        Whether ``answers`` asks for probabilities too.
    calls, rows
        How often the model was called, and about how many rows.

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
    _known: KnownAnswers = field(default_factory=KnownAnswers, init=False, repr=False)

    def __post_init__(self) -> None:
        self._predict = _predict_function(as_predictor(self.model))
        if self.with_confidence and not callable(getattr(self.model, "predict_proba", None)):
            raise InvalidInputError(
                f"target_probability needs a model with predict_proba, which "
                f"{type(self.model).__name__} does not have. Leave it out, or pass a model that "
                f"has it."
            )

    def fresh(self) -> ModelAdapter:
        """Return an adapter of the same model that was asked nothing yet."""
        other = copy(self)
        other.calls = other.rows = 0
        other.forget()
        return other

    def forget(self) -> None:
        """Forget what the model answered."""
        self._known = KnownAnswers()

    def __getstate__(self) -> dict[str, Any]:
        # What predicts is found again from the model: it need not be possible to pickle it.
        return {name: value for name, value in self.__dict__.items() if name != "_predict"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def labels(self, matrix: Matrix) -> Labels:
        """Return the model's label of each row of a matrix."""
        return self._in_blocks(matrix, lambda rows: Answers(self._labels(rows))).labels

    @property
    def remembers(self) -> bool:
        """Whether ``answers_once`` asks about each distinct row once."""
        # Where any float will do, hardly two rows are equal: looking for them would cost more.
        return not self.table.is_plain

    def answers_once(self, matrix: Matrix) -> Answers:
        """Return what ``answers`` does, but ask about each distinct row once, over all calls."""
        return self._known.get(matrix, self.answers) if self.remembers else self.answers(matrix)

    def answers(self, matrix: Matrix) -> Answers:
        """Return the model's label of each row, with its probability if that is asked for."""
        return self._in_blocks(matrix, self._answer)

    def _in_blocks(self, matrix: Matrix, ask: Callable[[Rows], Answers]) -> Answers:
        """Ask about all rows, in one call unless there are very many."""
        if len(matrix) <= ROWS_PER_CALL:
            return ask(self._decode(matrix))
        blocks = row_blocks(len(matrix), ROWS_PER_CALL)
        return Answers.joined([ask(self._decode(matrix[block])) for block in blocks])

    def _answer(self, rows: Rows) -> Answers:
        if not self.with_confidence:
            return Answers(self._labels(rows))
        # A copy: what predict writes into its rows must not reach predict_proba.
        labels = self._labels(copy_of(rows))
        probabilities = self._call(self.model.predict_proba, rows)
        return Answers(labels, read_confidence(probabilities, self.model, labels))

    def _decode(self, matrix: Matrix) -> Rows:
        """Return rows as the model takes them, and count them."""
        if len(matrix) == 0:
            raise ModelError("The model was to be asked about no rows.")
        self.rows += len(matrix)
        return self.table.decode(matrix)

    def _labels(self, rows: Rows) -> Labels:
        return read_labels(self._call(self._predict, rows), len(rows))

    def _call(self, function: Callable[[Any], Any], rows: Rows) -> Any:
        self.calls += 1
        try:
            return ask_model(function, rows)
        except CountersetError:
            raise
        except Exception as error:
            way_out = "It must accept rows in the form the explainer was fitted on."
            if isinstance(rows, np.ndarray) and self._selects_by_name(error):
                way_out = "The model selects columns by name; pass a DataFrame."
            raise ModelError(
                f"The model raised {type(error).__name__} when asked about {len(rows)} rows "
                f"({type(rows).__name__} of shape {rows.shape}): {error}. {way_out}"
            ) from error

    def _selects_by_name(self, error: Exception) -> bool:
        """Whether a model that failed on an array was fitted on named columns, or asks for one."""
        was_named = getattr(self.model, "feature_names_in_", None) is not None
        # What numpy says to rows["age"].
        return was_named or (isinstance(error, IndexError) and "only integers" in str(error))


def _predict_function(model: Any) -> Callable[[Any], Any]:
    """Return the function from rows to labels of a model."""
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
