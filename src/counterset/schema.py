"""The columns of a table: their names, kinds and bounds, and the way to a matrix and back.

Inside the library a table is a float matrix. A :class:`Table` remembers what the training data
looked like, checks that later data looks the same, and gives rows back as they came: the same
container, the same column names, the same dtypes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset.arrays import Matrix
from counterset.exceptions import InvalidInputError

__all__ = ["Feature", "Rows", "Table"]

#: What users pass and get back.
Rows: TypeAlias = pd.DataFrame | NDArray[Any]

Kind: TypeAlias = Literal["continuous", "integer"]


@dataclass(frozen=True)
class Feature:
    """One column: its name, kind, dtype, and the range seen in the training data."""

    name: str
    kind: Kind
    dtype: Any
    low: float
    high: float

    def snap(self, values: Matrix) -> Matrix:
        """Move values to the nearest ones that the column's dtype can hold."""
        if self.kind == "integer":
            return np.rint(values)
        if self.dtype == np.float64:
            return values
        return values.astype(self.dtype).astype(np.float64)


@dataclass(frozen=True)
class Table:
    """The learned columns of the training data: frame or array <-> float matrix."""

    features: tuple[Feature, ...]
    columns: pd.Index | None  # None: the training data was an array

    @classmethod
    def learn(cls, X: Any) -> tuple[Table, Matrix]:
        """Learn the columns of ``X``; also give ``X`` as a matrix."""
        X = _as_rows(X, "The training data")
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise InvalidInputError(
                f"The training data is empty: got {X.shape[0]} rows and {X.shape[1]} columns. "
                f"Fit on at least one row and one column."
            )
        columns = X.columns if isinstance(X, pd.DataFrame) else None
        if columns is not None and not columns.is_unique:
            twice = columns[columns.duplicated()].unique().tolist()
            raise InvalidInputError(f"Column names must be unique, got {twice} more than once.")
        names = _names(X)
        matrix = _to_matrix(X, names, "the training data")
        lows, highs = matrix.min(axis=0), matrix.max(axis=0)
        features = tuple(
            Feature(name, _kind(dtype), dtype, float(low), float(high))
            for name, dtype, low, high in zip(names, _dtypes(X), lows, highs, strict=True)
        )
        return cls(features, columns), matrix

    @property
    def names(self) -> list[str]:
        """The feature names, ``x0``, ``x1``, ... for an array."""
        return [feature.name for feature in self.features]

    def encode(self, X: Any) -> tuple[Matrix, pd.Index]:
        """Give rows as a matrix, with their index, after checking that they fit the columns."""
        X = _as_rows(X, "X")
        self._check_columns(X)
        index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(X))
        return _to_matrix(X, self.names, "X"), index

    def encode_one(self, x: Any) -> tuple[Matrix, pd.Index]:
        """Give one row, as a 1-d array, a Series, or a table of one row, like ``encode``."""
        if isinstance(x, pd.Series):
            x = x.to_frame().T
        elif not isinstance(x, pd.DataFrame):
            x = np.asarray(x)
            if x.ndim == 1:
                x = x[None, :]
        if x.ndim != 2 or len(x) != 1:
            raise InvalidInputError(
                f"explain takes one row, got an input of shape {x.shape}. "
                f"Use explain_many for several rows."
            )
        return self.encode(x)

    def decode(self, matrix: Matrix, index: pd.Index | None = None) -> Rows:
        """Give a matrix back in the container, names and dtypes of the training data."""
        dtypes = {feature.dtype for feature in self.features}
        if self.columns is None:
            return matrix.astype(dtypes.pop())
        if dtypes == {np.dtype(np.float64)}:
            return pd.DataFrame(matrix, columns=self.columns, index=index, copy=True)
        series = [
            pd.Series(matrix[:, i], index=index).astype(feature.dtype)
            for i, feature in enumerate(self.features)
        ]
        frame = pd.concat(series, axis=1)
        frame.columns = self.columns
        return frame

    def snap(self, matrix: Matrix) -> Matrix:
        """Move a matrix to the nearest values that can be decoded without loss."""
        if all(feature.dtype == np.float64 for feature in self.features):
            return matrix
        snapped = matrix.copy()
        for i, feature in enumerate(self.features):
            snapped[:, i] = feature.snap(matrix[:, i])
        return snapped

    def _check_columns(self, X: Rows) -> None:
        if not isinstance(X, pd.DataFrame):
            if X.shape[1] != len(self.features):
                raise InvalidInputError(
                    f"X has {X.shape[1]} features, but the explainer was fitted on "
                    f"{len(self.features)}."
                )
            return
        if self.columns is None:
            raise InvalidInputError(
                "X is a DataFrame, but the explainer was fitted on an array without column names, "
                "so their order cannot be checked. Pass X.to_numpy(), or fit on a DataFrame."
            )
        if X.columns.equals(self.columns):
            return
        missing = self.columns.difference(X.columns, sort=False).tolist()
        extra = X.columns.difference(self.columns, sort=False).tolist()
        if missing or extra:
            raise InvalidInputError(
                f"The columns of X differ from those fitted on: missing {missing}, extra {extra}. "
                f"Pass exactly the columns in feature_names_in_."
            )
        raise InvalidInputError(
            "The columns of X are in another order than those fitted on, or appear twice. "
            "Pass X[explainer.feature_names_in_]."
        )


def _as_rows(X: Any, what: str) -> Rows:
    """Turn array-likes into a 2-d array; leave frames alone."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "toarray"):
        raise InvalidInputError(f"{what} is a sparse matrix. Pass X.toarray().")
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidInputError(
            f"{what} must be 2-d, rows by features, got shape {array.shape}. "
            f"For a single row use explain(x), or reshape it with x.reshape(1, -1)."
        )
    return array


def _names(X: Rows) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(name) for name in X.columns]
    return [f"x{i}" for i in range(X.shape[1])]


def _dtypes(X: Rows) -> list[Any]:
    if isinstance(X, pd.DataFrame):
        return list(X.dtypes)
    # Arrays of objects that hold numbers come back as plain floats.
    return [np.dtype(np.float64) if X.dtype == object else X.dtype] * X.shape[1]


def _kind(dtype: Any) -> Kind:
    return "integer" if pd.api.types.is_integer_dtype(dtype) else "continuous"


def _to_matrix(X: Rows, names: list[str], what: str) -> Matrix:
    """Read numbers from every column, or say which column is not of numbers."""
    if isinstance(X, pd.DataFrame):
        matrix: Matrix = np.empty(X.shape)
        for i, name in enumerate(names):
            matrix[:, i] = _numbers(X.iloc[:, i], f"Column {name!r} of {what}")
    else:
        matrix = _numbers(X, what)
    bad = ~np.isfinite(matrix)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InvalidInputError(
            f"{what} has {matrix[row, column]} in feature {names[column]!r}, row {row} "
            f"({int(bad.sum())} such values in all). Fill or drop the rows that have them."
        )
    return matrix


def _numbers(values: Any, what: str) -> Matrix:
    dtype = values.dtype
    numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    complex_ = pd.api.types.is_complex_dtype(dtype)
    if not complex_ and (numeric or pd.api.types.is_object_dtype(dtype)):
        try:
            if isinstance(values, pd.Series):
                return values.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            pass  # objects that are not numbers: told below
    raise InvalidInputError(
        f"{what} is not numeric (dtype {dtype}). Encode it as numbers, or leave it out."
    )
