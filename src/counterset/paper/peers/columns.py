"""Rows as columns of floats, for libraries that take nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.special import logit

from counterset._base.arrays import Matrix, Vector
from counterset.exceptions import InvalidInputError, UnsupportedModelError
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["SAME", "Columns", "LinearScore", "seed_for"]

#: A score is linear if it differs from the linear one by a millionth of its range at most. It is
#: compared at up to 200 training rows.
LINEAR, COMPARED = 1e-6, 200
#: A column stays if it moves by less than the rounding of a 32-bit float near 1, some times over.
SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of floats that stand for the features.

    A number is one column. A category, ordered or not, is one column for each of its values: 1
    where the row has that value, else 0. Of such columns, the largest one counts when they are
    read back.

    Attributes
    ----------
    table
        The features.
    places
        The columns of each feature.
    low, spread
        What is taken from each number, and what it is then divided by, ``(c,)``.
    """

    table: Table
    places: list[list[int]]
    low: Vector
    spread: Vector

    @classmethod
    def learn(cls, X: Matrix | pd.DataFrame, *, scaled: bool = True) -> tuple[Columns, Matrix]:
        """Learn the columns of the training rows, and return them too.

        Parameters
        ----------
        X
            The training rows. Arrays are scaled already.
        scaled
            Whether the numbers of a frame are scaled to the range from 0 to 1.
        """
        table, rows = Table.learn(X, Schema(step=0))
        places: list[list[int]] = []
        low: list[float] = []
        spread: list[float] = []
        for feature, values in zip(table.features, rows.T, strict=True):
            count = 1 if feature.values is None else len(feature.values)
            places.append(list(range(len(low), len(low) + count)))
            changes = scaled and feature.values is None and isinstance(X, pd.DataFrame)
            low += [float(np.nanmin(values)) if changes else 0.0] * count
            width = float(np.nanmax(values) - np.nanmin(values)) if changes else 1.0
            spread += [width if width > 0 else 1.0] * count
        columns = cls(table, places, np.array(low), np.array(spread))
        return columns, columns._made(rows)

    @property
    def groups(self) -> list[list[int]]:
        """The columns of each category."""
        pairs = zip(self.table.features, self.places, strict=True)
        return [places for feature, places in pairs if feature.values is not None]

    @property
    def numbers(self) -> list[int]:
        """The columns of the numbers."""
        pairs = zip(self.table.features, self.places, strict=True)
        return [places[0] for feature, places in pairs if feature.values is None]

    @property
    def names(self) -> list[str]:
        """The name of each column: "f3" for a number, "f4_0", "f4_1", ... for a category.

        Names of users may have signs that a library reads as something else.
        """
        found = []
        for i, (feature, places) in enumerate(zip(self.table.features, self.places, strict=True)):
            is_number = feature.values is None
            found += [f"f{i}" if is_number else f"f{i}_{k}" for k in range(len(places))]
        return found

    def of(self, features: Any) -> list[int]:
        """Return the columns of features, given by their names."""
        return [place for name in features for place in self.places[self.table.position(name)]]

    def encode(self, X: Matrix | pd.DataFrame) -> Matrix:
        """Return the columns of rows."""
        return self._made(self.table.encode(X)[0])

    def sets(self, X: Matrix | pd.DataFrame, find: Callable[[Vector], Matrix]) -> list[Any]:
        """Return the set of each row, as rows of the table.

        Values that stay as they are stay so exactly, though columns are scaled, and shorter floats
        in some libraries.

        Parameters
        ----------
        X
            The inputs.
        find
            Returns options, ``(k, c)``, for the columns of an input.
        """
        codes = self.table.encode(X)[0]
        found = []
        for own, row in zip(codes, self._made(codes), strict=True):
            options = np.asarray(find(row), dtype=np.float64).reshape(-1, len(row))
            stays = np.abs(options - row) <= SAME
            kept = [stays[:, places].all(axis=1) for places in self.places]
            read = self._codes_of(options)
            found.append(self._rows_of(np.where(np.column_stack(kept), own, read)))
        return found

    def decode(self, columns: Any) -> Any:
        """Return rows in the container, and with the dtypes, of the training rows."""
        columns = np.asarray(columns, dtype=np.float64).reshape(-1, len(self.low))
        return self._rows_of(self._codes_of(columns))

    def _codes_of(self, columns: Matrix) -> Matrix:
        """Return the table's codes of columns."""
        numbers = columns * self.spread + self.low
        codes = [
            numbers[:, places[0]]
            if feature.values is None
            else columns[:, places].argmax(axis=1).astype(np.float64)
            for feature, places in zip(self.table.features, self.places, strict=True)
        ]
        return np.column_stack(codes)

    def _rows_of(self, codes: Matrix) -> Any:
        return self.table.decode(self.table.hold(codes))

    def asking(self, model: Any) -> Callable[[Any], Matrix]:
        """Return the probabilities of a model as a function of columns."""
        if not hasattr(model, "predict_proba"):
            raise UnsupportedModelError(
                f"This peer asks for probabilities, and {type(model).__name__} has no "
                f"predict_proba. Choose a classifier that has it."
            )

        def ask(columns: Any) -> Matrix:
            answer: Matrix = np.asarray(model.predict_proba(self.decode(columns)))
            return answer

        return ask

    def _made(self, rows: Matrix) -> Matrix:
        """Return the columns of the table's codes."""
        if np.isnan(rows).any():
            raise InvalidInputError(
                "This peer's library takes no missing values. Leave these rows out, or fill them."
            )
        parts = []
        for feature, places, values in zip(self.table.features, self.places, rows.T, strict=True):
            if feature.values is None:
                parts.append((values[:, None] - self.low[places]) / self.spread[places])
            else:
                parts.append((values[:, None] == np.arange(len(places))).astype(np.float64))
        return np.hstack(parts)


@dataclass(frozen=True, eq=False)
class LinearScore:
    """A score that is linear in the columns, and above 0 for the second class.

    Attributes
    ----------
    weights
        The weight of each column.
    bias
        What is added.
    """

    weights: Vector
    bias: float

    @classmethod
    def of(cls, model: Any, columns: Columns, training: Matrix) -> LinearScore:
        """Find the weights by asking the model about one row with each column changed.

        So they are found behind any encoder or scaler. A model that is not linear is refused.
        """
        score = _score_of(model, columns)
        base = training[0].copy()
        asked, changed = [base], []
        for feature, places in zip(columns.table.features, columns.places, strict=True):
            for place in places:
                row = base.copy()
                if feature.values is None:
                    column = training[:, place]
                    row[place] = column[
                        np.abs(column - base[place]).argmax()
                    ]  # a value it can hold
                else:
                    row[places] = 0.0
                    row[place] = 1.0
                asked.append(row)
                changed.append(place)
        scores = score(np.array(asked))
        weights = np.zeros(len(base))
        for row, place, value in zip(asked[1:], changed, scores[1:], strict=True):
            # A category's value of the base has the weight 0, and the others what they add to it.
            step = row[place] - base[place]
            weights[place] = (value - scores[0]) / step if step else 0.0
        for group in columns.groups:
            # Only differences between them count.
            weights[group] -= weights[group].mean()
        found = cls(weights, float(scores[0] - base @ weights))
        spread = np.linspace(0, len(training) - 1, min(COMPARED, len(training))).astype(np.intp)
        rows = training[np.unique(spread)]
        true = score(rows)
        if np.abs(rows @ weights + found.bias - true).max() > LINEAR * max(
            float(np.ptp(true)), 1.0
        ):
            raise UnsupportedModelError(
                f"This peer is for linear models of two classes, and the score of "
                f"{type(model).__name__} is not linear. Choose another peer."
            )
        return found


def _score_of(model: Any, columns: Columns) -> Callable[[Matrix], Vector]:
    """Return the score of the second of two classes."""
    classes = getattr(model, "classes_", getattr(model, "labels", ()))
    if len(classes) not in (0, 2):
        raise UnsupportedModelError(
            f"This peer is for models of two classes, got {len(classes)}. Choose another peer."
        )
    if hasattr(model, "decision_function"):
        return lambda rows: np.asarray(model.decision_function(columns.decode(rows)))
    ask = columns.asking(model)
    return lambda rows: np.asarray(logit(np.clip(ask(rows)[:, 1], 1e-15, 1 - 1e-15)))


def seed_for(row: Vector) -> None:
    """Seed what libraries draw from by the row itself.

    So its set is the same whatever was explained before. Peers have a process of their own.
    """
    seed = crc32(np.ascontiguousarray(row).tobytes())
    random.seed(seed)
    np.random.seed(seed)
