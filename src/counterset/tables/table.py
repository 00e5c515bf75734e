"""Table: the learned features of the training data, and the way from rows to a matrix and back.

A row comes as a frame, an array or a mapping from columns to values. It becomes a row of floats,
one for each feature, and goes back to the container, the columns and the dtypes of the training
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset._base.arrays import Mask, Matrix, Moves, Vector, unmasked
from counterset.exceptions import InvalidInputError
from counterset.tables.features.category import OneHotGroup
from counterset.tables.features.feature import Feature
from counterset.tables.features.learning import learn_features
from counterset.tables.features.number import Number, decode_numbers
from counterset.tables.frames import Container, Decoder, Rows, is_frame, to_pandas
from counterset.tables.schema import Kind, Schema, find_name, positions_by_name

__all__ = ["Rows", "Table", "are_mappings", "cells_of", "changed", "frame_of"]


def are_mappings(X: Any) -> bool:
    """Whether this is a list of mappings from columns to values, one for each row.

    Examples
    --------
    >>> are_mappings([{"age": 31}, {"age": 52}]), are_mappings([[31], [52]])
    (True, False)
    """
    return isinstance(X, list | tuple) and any(isinstance(each, Mapping) for each in X[:1])


def frame_of(mappings: Sequence[Any], what: str) -> pd.DataFrame:
    """Return mappings as a frame, with the columns of the first.

    Parameters
    ----------
    what
        How messages name the table.

    Examples
    --------
    >>> frame_of([{"age": 31, "home": "rent"}, {"home": "own", "age": 52}], "X")
       age  home
    0   31  rent
    1   52   own
    """
    columns = pd.Index(list(mappings[0]), dtype=object)
    cells_of(mappings, columns, what, "those of the first row")  # checks the keys
    return pd.DataFrame(list(mappings))


def cells_of(
    mappings: Sequence[Any], columns: pd.Index, what: str, expected: str = "the columns fitted on"
) -> NDArray[Any]:
    """Return the values of mappings as an array of objects, in the order of the columns.

    Parameters
    ----------
    what, expected
        How messages name the table, and its columns.

    Examples
    --------
    >>> cells_of([{"home": "own", "age": 52}], pd.Index(["age", "home"]), "x")
    array([[52, 'own']], dtype=object)
    """
    positions = positions_by_name(columns)
    cells = np.empty((len(mappings), len(columns)), dtype=object)
    for row, values in enumerate(mappings):
        where = what if len(mappings) == 1 else f"row {row}"
        if not isinstance(values, Mapping):
            raise InvalidInputError(
                f"In a list of mappings each row is a mapping from columns to values, but {where} "
                f"is a {type(values).__name__}. Pass a mapping for each row."
            )
        found = {name: find_name(name, positions) for name in values}
        missing = [name for at, name in enumerate(columns) if at not in found.values()]
        extra = [name for name, at in found.items() if at is None]
        if missing or extra or len(found) != len(columns):
            raise InvalidInputError(
                f"The keys of {where} differ from {expected}: missing {missing}, extra {extra}. "
                f"Pass each column once."
            )
        for name, at in found.items():
            cells[row, at] = values[name]
    return cells


@dataclass(frozen=True, repr=False)
class Table:
    """The learned features of the training data: frame or array <-> float matrix.

    Attributes
    ----------
    features
        The features, one for each column of the matrix.
    columns
        The column names of the training data; ``x0``, ``x1``, ... for an array.
    array_dtype
        The dtype of the training array; None if it was a DataFrame.
    container
        The container of the training data, if that was a table of polars or pyarrow.
    """

    features: tuple[Feature, ...]
    columns: pd.Index
    array_dtype: Any
    container: Container | None = None

    @classmethod
    def learn(cls, X: Any, schema: Schema | None = None) -> tuple[Table, Matrix]:
        """Learn the features of ``X``; also return ``X`` as a matrix, ``(n, n_features)``.

        Examples
        --------
        >>> frame = pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]})
        >>> table, matrix = Table.learn(frame)
        >>> table.schema()
        2 features
          age   integer      31 to 52, usually 31 to 52, in steps of 1
          home  binary       2 values: 'own', 'rent'
        >>> matrix
        array([[31.,  1.],
               [52.,  0.]])
        """
        schema = schema or Schema()
        rows = _read(X, "The training data")
        names = pd.Index([f"x{i}" for i in range(rows.shape[1])])
        frame = _as_frame(rows, names, "The training data")
        if frame.shape[0] == 0 or frame.shape[1] == 0:
            raise InvalidInputError(
                f"The training data is empty: {frame.shape[0]} row(s) and {frame.shape[1]} "
                f"feature(s) (shape={frame.shape}) while a minimum of 1 is required. Fit on at "
                f"least one row and one column."
            )
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()].unique().tolist()
            raise InvalidInputError(
                f"Column names must be unique, got {twice} more than once. Rename them."
            )
        features, matrix = learn_features(frame, schema)
        array_dtype = rows.dtype if isinstance(rows, np.ndarray) else None
        return cls(features, frame.columns, array_dtype, Container.of(X)), matrix

    def _of_kind(self, kind: Kind) -> list[Feature]:
        """Return the features of one column that are of a kind."""
        single = (each for each in self.features if not isinstance(each, OneHotGroup))
        return [each for each in single if each.kind == kind]

    @property
    def _numbers(self) -> list[Feature]:
        """The features that can have a declared step; flags cannot."""
        return [
            each for each in self.features if isinstance(each, Number) and each.kind != "binary"
        ]

    @property
    def names(self) -> list[str]:
        """The feature names; ``x0``, ``x1``, ... for an array."""
        return [feature.name for feature in self.features]

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every feature is a number that float64 holds exactly and is never missing."""
        return self.array_dtype != np.object_ and all(each.is_number for each in self.features)

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether every feature is such a number, and all have the same dtype."""
        return self.is_numeric and len({each.dtype for each in self.features}) == 1

    @cached_property
    def is_plain(self) -> bool:
        """Whether every feature is a float that is never missing, and every number will do."""
        return self.is_numeric and not self._ratios[0].any()

    @cached_property
    def has_special(self) -> bool:
        """Whether a feature has special codes."""
        return any(each.special for each in self.features)

    @cached_property
    def _units(self) -> Vector:
        """The smallest difference of each feature's codes that its column can hold, or 0."""
        return np.array([each.resolution for each in self.features])

    @cached_property
    def _ratios(self) -> Matrix:
        """The step of each feature as two whole numbers, ``(2, n_features)``, if all are numbers.

        A step of 0 stands for no step, unless the column holds whole numbers only. Small values of
        some features have a finer one.
        """
        ratios = np.array([each.grid.ratio for each in self.features]).T
        ratios[0] = np.where(ratios[0] == 0, self._units, ratios[0])
        return ratios

    @cached_property
    def _ends(self) -> Matrix:
        """The ends of each feature's training range, and the outermost codes in it to take."""
        ends = [(f.low, f.high, *f.inner_ends) for f in self.features if isinstance(f, Number)]
        return np.array(ends).T

    @cached_property
    def _with_finer_steps(self) -> list[int]:
        """The positions of the features whose small values have a finer step."""
        return [i for i, each in enumerate(self.features) if not each.grid.is_uniform]

    @cached_property
    def _dtype_ranges(self) -> Matrix:
        """The smallest and the largest number of each column, ``(2, n_features)``."""
        return np.array([each.dtype_range for each in self.features]).T

    def position(self, name: Any) -> int:
        """Find the position of a feature by its name, or by that of one of its columns."""
        if (at := self.find(name)) is None:
            raise InvalidInputError(f"There is no feature {name!r}. The features are {self.names}.")
        return at

    def find(self, name: Any) -> int | None:
        """Find the position of a feature as ``position`` does; None if there is none."""
        return find_name(name, self._positions)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        """The position of each feature, by its name and by those of its columns."""
        feature_of = {at: i for i, each in enumerate(self.features) for at in each.columns}
        columns = positions_by_name(self.columns)
        by_name = {each.name: i for i, each in enumerate(self.features)}
        return {name: feature_of[at] for name, at in columns.items()} | by_name

    def encode(self, X: Any) -> tuple[Matrix, pd.Index]:
        """Return rows as a matrix, and their index; check that they fit the training data."""
        rows = self._aligned(self._rows_of(X, "X") if are_mappings(X) else _read(X, "X"))
        if len(rows) == 0:
            raise InvalidInputError("X has no rows. Pass at least one.")
        if self.is_numeric and _are_numbers(rows):
            matrix = np.array(rows, dtype=np.float64, order="C")
            index = rows.index if isinstance(rows, pd.DataFrame) else pd.RangeIndex(len(rows))
            if self._can_hold(matrix):
                return matrix, index
        frame = _as_frame(rows, self.columns, "X")
        columns = [feature.encode(frame, "X") for feature in self.features]
        return np.column_stack(columns), frame.index

    def encode_one(self, x: Any) -> tuple[Matrix, pd.Index]:
        """Encode one row, passed as a 1-d array, a Series, a mapping or a table of one row."""
        passed = x
        x = to_pandas(x, "x")
        if isinstance(x, Mapping):
            x = self._rows_of([x], "x")
        elif are_mappings(x):
            x = self._rows_of(x, "x")
        elif isinstance(x, pd.Series) and _are_numbers(x):
            index = pd.RangeIndex(1) if x.name is None else pd.Index([x.name])
            x = pd.DataFrame(x.to_numpy()[None, :], columns=x.index, index=index)
        elif isinstance(x, pd.Series):
            x = x.to_frame().T
        elif not isinstance(x, pd.DataFrame):
            x = _as_array(x, "x")
            x = x[None, :] if x.ndim == 1 else x
        if x.ndim != 2 or len(x) != 1:
            raise InvalidInputError(
                f"explain takes one row, got {_type_of(passed)}, of shape {x.shape}. Pass a 1-d "
                f"array, a Series, a mapping from columns to values or a table of one row; use "
                f"explain_many for several rows."
            )
        return self.encode(x)

    def encode_any(self, rows: Any) -> Matrix:
        """Encode one row or several, in any form that is known."""
        several = is_frame(rows) or are_mappings(rows)
        one = isinstance(rows, Mapping) or (not several and np.ndim(rows) == 1)
        return (self.encode_one(rows) if one else self.encode(rows))[0]

    def _rows_of(self, mappings: Sequence[Any], what: str) -> Rows:
        """Return mappings from columns to values as a table."""
        cells = cells_of(mappings, self.columns, what)
        return cells if self.array_dtype is not None else pd.DataFrame(cells, columns=self.columns)

    def decode(self, matrix: Matrix, index: pd.Index | None = None) -> Rows:
        """Return a matrix in the container, with the names and dtypes, of the training data.

        Tables of polars and pyarrow have no index.
        """
        if self._decoder is not None and not self._is_uniform:
            return self._decoder.decode(matrix)
        if self._is_uniform:
            numbers = decode_numbers(matrix, self.features[0].dtype)
            if self.container is not None:
                return self.container.frame_of_numbers(numbers)
            if self.array_dtype is not None:
                return numbers
            return pd.DataFrame(numbers, columns=self.columns, index=index, copy=True)
        columns: dict[int, Any] = {}
        for i, feature in enumerate(self.features):
            columns |= zip(feature.columns, feature.decode(matrix[:, i]), strict=True)
        # Without an index, pandas would align the columns, each with each.
        rows = pd.RangeIndex(len(matrix))
        frame = pd.DataFrame({at: columns[at] for at in range(len(self.columns))}, index=rows)
        if self.array_dtype is not None:
            return frame.to_numpy(dtype=self.array_dtype)
        frame.columns = self.columns
        if index is not None:
            frame.index = index
        return frame

    @cached_property
    def _decoder(self) -> Decoder | None:
        """What makes tables of polars or pyarrow, if the training data was one."""
        return None if self.container is None else Decoder(self.container, self.features)

    def hold(self, matrix: Matrix, inputs: Matrix | None = None) -> Matrix:
        """Move a matrix to the nearest values that the columns can hold.

        Values that are equal to the inputs' own stay.
        """
        if self.is_plain:
            return matrix
        if self.is_numeric:
            held = np.where(self._units > 0, np.rint(matrix), matrix)
        else:
            columns = [feature.hold(matrix[:, i]) for i, feature in enumerate(self.features)]
            held = np.column_stack(columns)
        return held if inputs is None else np.where(matrix == inputs, inputs, held)

    def snap(self, matrix: Matrix, *kept: Matrix) -> Matrix:
        """Move a matrix to the nearest values that counterfactuals take.

        What lies within the training range stays within it.

        Parameters
        ----------
        kept
            Matrices of the same shape: values that are equal to one of theirs stay, such as those
            of the inputs, even where the training data has none so fine.
        """
        if self.is_plain:
            return matrix
        if self.is_numeric:
            above, below = self._ratios
            count = np.rint(matrix * below / np.where(above == 0, 1.0, above))
            snapped = np.where(above == 0, matrix, count * above / below + 0.0)
            low, high, first, last = self._ends
            inside = (matrix >= low) & (matrix <= high)
            snapped = np.where(inside, np.clip(snapped, first, last), snapped)
            for i in self._with_finer_steps:
                snapped[:, i] = self.features[i].snap(matrix[:, i])
        else:
            columns = [feature.snap(matrix[:, i]) for i, feature in enumerate(self.features)]
            snapped = np.column_stack(columns)
        for rows in kept:
            snapped = np.where(matrix == rows, rows, snapped)
        return snapped

    def snap_away(self, matrix: Matrix, inputs: Matrix) -> Matrix:
        """Move numbers to the next values that counterfactuals take, away from the inputs' own.

        The nearest such value may lie on the other side of what a model tells apart. What lies
        within the training range stays within it, as long as a value is left there.
        """
        snapped = self.snap(matrix, inputs)
        for i, feature in enumerate(self.features):
            if isinstance(feature, Number):
                snapped[:, i] = feature.snap_away(matrix[:, i], inputs[:, i], snapped[:, i])
        return snapped

    def without_special(self, matrix: Matrix) -> Matrix:
        """Return a matrix with NaN in place of special codes."""
        if not self.has_special:
            return matrix
        known = [feature.is_known(matrix[:, i]) for i, feature in enumerate(self.features)]
        return np.where(np.column_stack(known), matrix, np.nan)

    @cached_property
    def ordered(self) -> Mask:
        """Which features have values that can be raised and lowered, ``(d,)``.

        Categories have no order, and a feature of two values can only be switched.
        """
        return np.array(
            [not each.is_category and each.kind != "binary" for each in self.features], dtype=bool
        )

    def moves(self, starts: Matrix, ends: Matrix) -> Moves:
        """Return where ordered features are raised (1) or lowered (-1), ``(n, d)``; 0 elsewhere.

        Nothing is said of missing values and special codes: they are neither high nor low.
        """
        starts, ends = self.without_special(starts), self.without_special(ends)
        moves: Moves = (ends > starts).astype(np.int8) - (ends < starts)
        return moves * self.ordered

    def __repr__(self) -> str:
        return repr(self.schema())

    def schema(self) -> Schema:
        """Return the learned features as users see them.

        Learning other data with it gives features of the same kinds.
        """
        schema = Schema(
            ordinal={each.name: each.values for each in self._of_kind("ordinal")},
            categorical=[each.name for each in self._of_kind("categorical")],
            continuous=[each.name for each in self._of_kind("continuous")],
            integer=[each.name for each in self._of_kind("integer")],
            # Flags are found from the values again: declared, they would be categories.
            binary=[each.name for each in self._of_kind("binary") if each.values is not None],
            one_hot={
                each.name: [self.columns[at] for at in each.columns]
                for each in self.features
                if isinstance(each, OneHotGroup)
            },
            # A step that varies with the size of the values cannot be declared.
            step={each.name: each.step for each in self._numbers if each.grid.is_uniform},
            special={each.name: each.special for each in self._numbers if each.special},
            labels={each.name: each.label for each in self.features if each.wording},
            units={
                each.name: (each.wording.unit_of_one, each.wording.unit)
                for each in self.features
                if each.wording and each.wording.unit
            },
            texts={each.name: texts for each in self.features if (texts := _texts_of(each))},
        )
        return schema.with_learned(
            {each.name: each.kind for each in self.features},
            {
                each.name: (each.describe(each.low), each.describe(each.high))
                for each in self.features
                if not each.is_category
            },
            {each.name: str(each) for each in self.features},
        )

    def _can_hold(self, matrix: Matrix) -> bool:
        """Whether the columns can hold all numbers of a matrix as they are."""
        if self.is_plain:
            return bool(np.isfinite(matrix).all())
        least, most = self._dtype_ranges
        # What is not whole, or too large, is looked at column by column.
        held = matrix == np.where(np.isfinite(least), np.rint(matrix), matrix)
        return bool((held & np.isfinite(matrix) & (matrix >= least) & (matrix <= most)).all())

    def _aligned(self, rows: Rows) -> Rows:
        """Return rows with the columns in the order of the training data, found by their names."""
        if isinstance(rows, np.ndarray):
            if rows.shape[1] != len(self.columns):
                raise InvalidInputError(
                    f"X has {rows.shape[1]} features, but the explainer was fitted on "
                    f"{len(self.columns)}. Pass rows with the columns of the training data."
                )
            return rows
        if self.array_dtype is not None:
            raise InvalidInputError(
                "X is a DataFrame, but the explainer was fitted on an array without column names, "
                "so their order cannot be checked. Pass X.to_numpy(), or fit on a DataFrame."
            )
        if rows.columns.equals(self.columns):
            return rows
        missing = self.columns.difference(rows.columns, sort=False).tolist()
        extra = rows.columns.difference(self.columns, sort=False).tolist()
        if missing or extra:
            raise InvalidInputError(
                f"The columns of X differ from those fitted on: missing {missing}, extra {extra}. "
                f"Pass exactly the columns in feature_names_in_."
            )
        if not rows.columns.is_unique:
            twice = rows.columns[rows.columns.duplicated()].unique().tolist()
            raise InvalidInputError(f"X has the columns {twice} more than once. Pass each once.")
        return rows.iloc[:, rows.columns.get_indexer(self.columns)]


def changed(a: Matrix, b: Matrix) -> Mask:
    """Return which codes differ; two missing values do not."""
    differs, missing = np.not_equal(a, b), np.isnan(a)
    return differs & ~(missing & np.isnan(b)) if missing.any() else differs


def _texts_of(feature: Feature) -> dict[Any, str]:
    """Return the declared texts of values, by value; None stands for a missing value."""
    if feature.wording is None:
        return {}
    texts: dict[Any, str] = {feature.describe(code): text for code, text in feature.wording.texts}
    missing = feature.wording.of_missing
    return texts if missing is None else texts | {None: missing}


def _read(X: Any, what: str) -> Rows:
    """Return a table as a pandas frame, and anything else as a 2-d array."""
    X = frame_of(X, what) if are_mappings(X) else to_pandas(X, what)
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, Iterator):
        raise InvalidInputError(
            f"{what} is {_type_of(X)}, which can be read only once. Pass a list of rows: list(X)."
        )
    array = _as_array(X, what)
    if array.ndim != 2:
        raise InvalidInputError(
            f"{what} must be 2-d, rows by features, got shape {array.shape} ({_type_of(X)}). Pass "
            f"a DataFrame or a 2-d array; for a single row use explain(x), or reshape it with "
            f"x.reshape(1, -1)."
        )
    return array


def _as_array(X: Any, what: str) -> NDArray[Any]:
    """Return what users passed as an array of any number of axes; what is masked is missing."""
    if hasattr(X, "toarray"):
        raise InvalidInputError(f"{what} is a sparse matrix. Pass X.toarray().")
    try:
        array = unmasked(X)
    except ValueError:
        raise InvalidInputError(
            f"{what} has items of different lengths. Pass rows of the same length."
        ) from None
    except (TypeError, RuntimeError) as error:
        raise InvalidInputError(
            f"{what}, {_type_of(X)}, is not read as an array: {error}."
        ) from error
    return array


def _type_of(X: Any) -> str:
    """Return how a message names an object: by its type."""
    return "None" if X is None else f"a {type(X).__name__}"


def _are_numbers(rows: Rows | pd.Series) -> bool:
    """Whether all columns hold numbers, in dtypes of numpy."""
    dtypes = rows.dtypes if isinstance(rows, pd.DataFrame) else [rows.dtype]
    return all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in dtypes)


def _as_frame(rows: Rows, names: pd.Index, what: str) -> pd.DataFrame:
    """Return an array as a frame with these columns, and a frame as it is."""
    if isinstance(rows, pd.DataFrame):
        is_sparse = [isinstance(dtype, pd.SparseDtype) for dtype in rows.dtypes]
        if any(is_sparse):
            raise InvalidInputError(
                f"{what} has sparse columns {rows.columns[is_sparse].tolist()}. Pass them dense: "
                f"X.astype(float), or X.sparse.to_dense()."
            )
        return rows
    if rows.dtype != object:
        return pd.DataFrame(rows, columns=names, copy=False)
    columns = [_infer(pd.Series(column, dtype=object)) for column in rows.T]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _infer(column: pd.Series) -> pd.Series:
    """Find the dtype of a column of objects; text stays as it is, or it would lose its None."""
    inferred = column.infer_objects()
    return column if pd.api.types.is_string_dtype(inferred.dtype) else inferred
