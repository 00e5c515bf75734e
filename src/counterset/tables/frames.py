"""Frames: tables of polars and pyarrow.

Everything that differs between pandas, polars and pyarrow stands here. A table is converted once,
at the edge: to a pandas frame when it is read, and from codes to columns when rows are returned.
Neither polars nor pyarrow is imported before one of their tables was passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import narwhals.stable.v1 as nw  # the names that narwhals promises to keep as they are
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.category import Category
from counterset.tables.features.feature import Feature

__all__ = [
    "ArrowTypes",
    "Container",
    "Decoder",
    "PolarsTypes",
    "Rows",
    "append_rows",
    "copy_of",
    "is_dask_frame",
    "is_frame",
    "row_at",
    "rows_of",
    "take_rows",
    "to_pandas",
]

#: What users pass and get back. The last stands for tables of polars and pyarrow.
Rows: TypeAlias = pd.DataFrame | NDArray[Any] | Any
#: A column of polars or pyarrow.
NativeColumn: TypeAlias = Any

_INTEGERS = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
_FLOATS = {"Float16", "Float32", "Float64"}
#: What is read as a column of objects. A column without any value has no type.
_OBJECTS = {"String", "Categorical", "Enum", "Null"}


def is_frame(X: Any) -> bool:
    """Whether this is a table of polars or pyarrow.

    Examples
    --------
    >>> is_frame(pd.DataFrame({"age": [31]}))
    False
    """
    return nw.dependencies.is_polars_dataframe(X) or nw.dependencies.is_pyarrow_table(X)


def is_dask_frame(X: Any) -> bool:
    """Whether this is a dask DataFrame, whose rows are in partitions, perhaps elsewhere."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_dask_dataframe(X)


def to_pandas(X: Any, what: str) -> Any:
    """Return a table of polars or pyarrow as a pandas frame, and all else as it is.

    Parameters
    ----------
    what
        How messages name the table.
    """
    if isinstance(X, np.ndarray):
        return X
    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInputError(
            f"{what} is a LazyFrame, which holds no rows yet. Pass X.collect()."
        )
    if type(X).__name__ == "RecordBatch":
        raise InvalidInputError(
            f"{what} is a RecordBatch. Pass it as a table: pyarrow.Table.from_batches([X])."
        )
    if not is_frame(X):
        return X
    names = _names(X)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(
            f"Column names must be unique, got {twice} more than once. Rename them."
        )
    frame = nw.from_native(X, eager_only=True)
    columns = {name: _read(frame[name]) for name in names}
    wrong = [name for name, column in columns.items() if column is None]
    if wrong:
        shown = ", ".join(f"{name!r} ({_dtypes(X)[names.index(name)]})" for name in wrong)
        raise InvalidInputError(
            f"{what} has columns of types that are not supported: {shown}. Cast decimals to "
            f"Float64, turn others into columns of numbers, text, categories, dates or booleans, "
            f"or leave them out."
        )
    return pd.DataFrame(columns, index=pd.RangeIndex(len(X)), columns=pd.Index(names))


def copy_of(rows: Rows) -> Rows:
    """Return a copy of a table, which can be written to while the table stays as it is."""
    if nw.dependencies.is_pyarrow_table(rows):  # it cannot be written to
        return rows
    return rows.clone() if nw.dependencies.is_polars_dataframe(rows) else rows.copy()


def row_at(rows: Rows, i: int) -> Any:
    """Return one row as it is returned: a Series, a 1-d array, or a table of one row.

    Examples
    --------
    >>> row_at(np.array([[1.0], [2.0]]), 1)
    array([2.])
    """
    if is_frame(rows):
        return rows[i : i + 1]
    return rows.iloc[i] if isinstance(rows, pd.DataFrame) else rows[i]


def take_rows(values: Any, which: Indices) -> Any:
    """Return some rows of a table or some entries of a column, by position, as it holds them.

    Examples
    --------
    >>> take_rows(pd.Series(["a", "b", "c"]), np.array([2, 0])).tolist()
    ['c', 'a']
    """
    if isinstance(values, pd.DataFrame | pd.Series):
        return values.iloc[which]
    kinds = nw.dependencies
    is_column = kinds.is_polars_series(values) or kinds.is_pyarrow_chunked_array(values)
    if is_frame(values) or is_column:
        read = nw.from_native(values, eager_only=True, allow_series=True)
        return read[which.tolist()].to_native()
    return np.asarray(values)[which]


def append_rows(first: Any, second: Any) -> Any:
    """Return the rows of two tables, or the entries of two columns, one after the other.

    Examples
    --------
    >>> append_rows(np.array([1, 2]), [3])
    array([1, 2, 3])
    """
    if isinstance(first, pd.DataFrame) and isinstance(second, pd.DataFrame):
        return pd.concat([first, second], ignore_index=True)
    if is_frame(first):
        parts = [nw.from_native(each, eager_only=True) for each in (first, second)]
        return nw.concat(parts).to_native()
    return np.concatenate([np.asarray(first), np.asarray(second)])


def rows_of(rows: Any) -> list[Any]:
    """Return the rows of a table, each as its users know it.

    A row is a Series for a pandas frame, a 1-d array for an array, and a dict for a table of
    polars or pyarrow.

    Examples
    --------
    >>> rows_of(np.array([[1.0], [2.0]]))
    [array([1.]), array([2.])]
    """
    if is_frame(rows):
        return [dict(each) for each in nw.from_native(rows, eager_only=True).rows(named=True)]
    if isinstance(rows, pd.DataFrame):
        return [rows.iloc[i] for i in range(len(rows))]
    return list(rows)


@dataclass(frozen=True)
class Container:
    """The container of the training data: makes tables of polars or pyarrow as it was one.

    Attributes
    ----------
    library
        ``"polars"`` or ``"pyarrow"``.
    names, dtypes
        The columns, with the dtypes of that library.
    has_null
        Which columns have missing values that are null. A missing number of the others is NaN.
    categories
        The categories of each column, as the library numbers them, for columns of codes: a
        Categorical of polars, a dictionary of pyarrow. A model may look at the numbers. None for
        the others.
    """

    library: str
    names: tuple[str, ...]
    dtypes: tuple[Any, ...]
    has_null: tuple[bool, ...]
    categories: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any) -> Container | None:
        """Return the container of a table; None if it is not one of polars or pyarrow."""
        if not is_frame(X):
            return None
        library = "polars" if nw.dependencies.is_polars_dataframe(X) else "pyarrow"
        frame, names = nw.from_native(X, eager_only=True), _names(X)
        has_null = tuple(bool(frame[name].is_null().any()) for name in names)
        categories = tuple(_own_categories(frame[name].to_native()) for name in names)
        return cls(library, tuple(names), tuple(_dtypes(X)), has_null, categories)

    def column(self, position: int, values: pd.Series | Labels) -> NativeColumn:
        """Return the values of a column, decoded as for pandas, in its own dtype."""
        known, missing = _split(values)
        if known.dtype.kind == "f" and not self.has_null[position]:
            missing = None
        if self.categories[position] is not None:
            return self._category(position, known.tolist())
        return self._build(known, missing, self.dtypes[position])

    def _category(self, position: int, values: list[Any]) -> NativeColumn:
        """Return values of a column of codes, with the codes that they have in training."""
        own, dtype = self.categories[position], self.dtypes[position]
        listed = list(own)
        # Values that the schema names, but that no training row has.
        more = [each for each in dict.fromkeys(values) if each is not None and each not in listed]
        if self.library == "polars":
            if more:
                return self._build(np.array(values, dtype=object), None, dtype)
            return own[np.array([listed.index(each) for each in values], dtype=np.intp)]
        import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

        listed += more
        codes = [None if each is None else listed.index(each) for each in values]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, dtype.index_type),
            pa.array(listed, dtype.value_type),
            ordered=dtype.ordered,
        )

    def take(self, column: NativeColumn, positions: Indices) -> NativeColumn:
        """Return the values of a column at some positions."""
        return column[positions] if self.library == "polars" else column.take(positions)

    def frame(self, columns: Sequence[NativeColumn]) -> Any:
        """Return columns as a table."""
        return self._table(self.names, columns)

    def frame_of_numbers(self, numbers: Labels) -> Any:
        """Return an array of numbers, none of them missing, as a table."""
        columns = zip(numbers.T, self.dtypes, strict=True)
        return self.frame([self._build(column, None, dtype) for column, dtype in columns])

    def labelled(
        self,
        rows: Any,
        positions: Indices,
        before: Mapping[str, Any],
        figures: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> Any:
        """Return some rows of a table with more columns, before and after its own.

        Parameters
        ----------
        positions
            Which rows; all is missing in those of -1.
        before, after
            Columns before and after those of the table.
        figures
            Columns after those of the table, for the rows of the table: they are taken too.
        """
        own = {name: rows[name] for name in self.names}
        own |= {name: self._new(values) for name, values in figures.items()}
        first, last = (
            {name: self._new(values) for name, values in each.items()} for each in (before, after)
        )
        taken = {name: self._take_or_null(column, positions) for name, column in own.items()}
        columns = first | taken | last
        return self._table(list(columns), list(columns.values()))

    def _take_or_null(self, column: NativeColumn, positions: Indices) -> NativeColumn:
        """Return the values of a column at some positions; null at -1."""
        if (positions >= 0).all():
            return self.take(column, positions)
        if self.library == "polars":
            return column.extend_constant(None, 1)[np.where(positions < 0, len(column), positions)]
        import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

        return column.take(pa.array(positions, mask=positions < 0))

    def _new(self, values: Any) -> NativeColumn:
        """Return a column of any values; text where they are of several types."""
        nullable = isinstance(getattr(values, "dtype", None), pd.Int64Dtype)
        known, missing = _split(pd.Series(values if nullable else np.asarray(values)))
        if known.dtype != object:
            return self._build(known, missing, None)
        kinds = {type(each) for each in known if each is not None}
        if len(kinds) > 1:
            known = np.array([None if each is None else str(each) for each in known], dtype=object)
        # A column without values is one of text too: so are nearly all that are not numbers.
        return self._build(known, missing, self._text if kinds <= {str} or len(kinds) > 1 else None)

    @property
    def _text(self) -> Any:
        """The dtype of text."""
        if self.library == "pyarrow":
            import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

            return pa.string()
        import polars as pl  # noqa: PLC0415 - only where one of its tables was passed

        return pl.String

    def _build(self, values: Labels, missing: Mask | None, dtype: Any) -> NativeColumn:
        if self.library == "pyarrow":
            import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

            if values.dtype == object:
                return pa.array(values.tolist(), type=dtype)
            made = pa.array(values, mask=missing)
            return made if dtype in (None, made.type) else made.cast(dtype)
        import polars as pl  # noqa: PLC0415 - only where one of its tables was passed

        if values.dtype == object:
            return pl.Series(values.tolist(), dtype=dtype)
        made = pl.Series(values)
        if missing is not None and missing.any() and values.dtype.kind != "M":
            made = made.scatter(np.flatnonzero(missing), None)
        return made if dtype in (None, made.dtype) else made.cast(dtype)

    def _table(self, names: Sequence[str], columns: Sequence[NativeColumn]) -> Any:
        if self.library == "pyarrow":
            import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

            return pa.Table.from_arrays(list(columns), names=list(names))
        import polars as pl  # noqa: PLC0415 - only where one of its tables was passed

        return pl.DataFrame([each.alias(name) for name, each in zip(names, columns, strict=True)])


class PolarsTypes:
    """Types of columns of polars as plain values, so that a file can hold them."""

    #: Those that are supported, by their names: no other name of polars is looked up.
    NAMES = frozenset(
        (
            *("Boolean", "Categorical", "Date", "Datetime", "Enum", "Float32", "Float64", "Int8"),
            *("Int16", "Int32", "Int64", "Int128", "Null", "String", "UInt8", "UInt16", "UInt32"),
            "UInt64",
        )
    )

    @staticmethod
    def has(value: Any) -> bool:
        """Whether a value is such a type."""
        return _is_of("polars", "DataType", value)

    @staticmethod
    def has_series(value: Any) -> bool:
        """Whether a value is a column."""
        return nw.dependencies.is_polars_series(value)

    @staticmethod
    def parts(dtype: Any) -> tuple[Any, ...]:
        """Return the name of a type, and what it is made with."""
        name = type(dtype).__name__
        if name == "Datetime":
            return name, dtype.time_unit, dtype.time_zone
        return (name, dtype.categories.to_list()) if name == "Enum" else (name,)

    @staticmethod
    def read(name: str, *arguments: Any) -> Any:
        """Return the type that has these parts."""
        import polars as pl  # noqa: PLC0415 - only where one of its tables was passed

        if name not in PolarsTypes.NAMES:
            raise ValueError(f"{name} is no supported type of polars")
        dtype = getattr(pl, name)
        return pl.Series([], dtype=dtype(*arguments) if arguments else dtype).dtype

    @staticmethod
    def read_series(name: str, values: list[Any], dtype: Any) -> Any:
        """Return a column."""
        import polars as pl  # noqa: PLC0415 - only where one of its tables was passed

        return pl.Series(name, values, dtype=dtype)


class ArrowTypes:
    """Types of columns of pyarrow as plain values, so that a file can hold them."""

    @staticmethod
    def has(value: Any) -> bool:
        """Whether a value is such a type."""
        return _is_of("pyarrow", "DataType", value)

    @staticmethod
    def parts(dtype: Any) -> tuple[Any, ...]:
        """Return what a type is made with; that of a column of codes has types itself."""
        import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

        if pa.types.is_dictionary(dtype):
            return dtype.index_type, dtype.value_type, dtype.ordered
        return (
            ("timestamp", dtype.unit, dtype.tz) if pa.types.is_timestamp(dtype) else (str(dtype),)
        )

    @staticmethod
    def read(first: Any, *more: Any) -> Any:
        """Return the type that has these parts."""
        import pyarrow as pa  # noqa: PLC0415 - only where one of its tables was passed

        if not isinstance(first, str):
            return pa.dictionary(first, *more)
        return pa.timestamp(*more) if more else pa.type_for_alias(first)


def _is_of(library: str, name: str, value: Any) -> bool:
    """Whether a value has a type of a library, which need not be installed."""
    return any(
        each.__module__.partition(".")[0] == library and each.__name__ == name
        for each in type(value).__mro__
    )


@dataclass(frozen=True)
class Decoder:
    """Makes tables of polars or pyarrow from the codes of features."""

    container: Container
    features: tuple[Feature, ...]

    def decode(self, matrix: Matrix) -> Any:
        """Return a matrix as a table like the training data."""
        made: dict[int, NativeColumn] = {}
        for codes, feature, values in zip(matrix.T, self.features, self._values, strict=True):
            if values is None:
                made |= self._columns(feature, codes)
                continue
            # To take rows from the values of a category is faster than to convert every cell.
            last = len(feature.values or ())
            positions = np.where(np.isnan(codes), last, codes).astype(np.intp)
            made |= {at: self.container.take(column, positions) for at, column in values.items()}
        return self.container.frame([made[at] for at in range(len(made))])

    @cached_property
    def _values(self) -> list[dict[int, NativeColumn] | None]:
        """For each category its columns with each of its values, and a missing one at the end."""
        return [
            self._columns(each, np.append(np.arange(len(each.values), dtype=np.float64), np.nan))
            if isinstance(each, Category)
            else None
            for each in self.features
        ]

    def _columns(self, feature: Feature, codes: Vector) -> dict[int, NativeColumn]:
        columns = zip(feature.columns, feature.decode(codes), strict=True)
        return {at: self.container.column(at, column) for at, column in columns}


def _names(X: Any) -> list[str]:
    return list(X.columns if nw.dependencies.is_polars_dataframe(X) else X.column_names)


def _dtypes(X: Any) -> list[Any]:
    return list(X.dtypes if nw.dependencies.is_polars_dataframe(X) else X.schema.types)


def _read(column: Any) -> pd.Series | None:
    """Return a column, wrapped by narwhals, as one of pandas; None if its type is not supported."""
    kind = "Null" if _is_null(column.to_native()) else type(column.dtype).__name__
    if kind in _INTEGERS | _FLOATS | {"Boolean"}:
        return _read_numbers(column, kind)
    if kind in ("Date", "Datetime"):
        return _read_times(column, kind)
    if kind not in _OBJECTS:
        return None
    cells = pd.Series(column.to_list(), dtype=object)
    categories = _categories(column.to_native())
    return cells if categories is None else cells.astype(categories)


def _read_numbers(column: Any, kind: str) -> pd.Series:
    """Return numbers and booleans; a missing float is NaN."""
    missing = column.is_null().to_numpy()
    if kind in _FLOATS or not missing.any():
        return pd.Series(column.to_numpy())
    known = column.fill_null(False if kind == "Boolean" else 0).to_numpy().copy()
    array = pd.arrays.BooleanArray if kind == "Boolean" else pd.arrays.IntegerArray
    return pd.Series(array(known, missing.copy()))


def _read_times(column: Any, kind: str) -> pd.Series:
    """Return dates and times; a date is its first moment."""
    if kind == "Date":
        return pd.Series(column.to_numpy().astype("datetime64[s]"))
    times, zone = pd.Series(column.to_numpy()), column.dtype.time_zone
    return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)


def _is_null(column: NativeColumn) -> bool:
    """Whether a column has the type of those without any value."""
    return str(getattr(column, "type", None) or column.dtype).lower() == "null"


def _categories(column: NativeColumn) -> pd.CategoricalDtype | None:
    """Return the categories of a column as pandas has them; None if it is text."""
    if not hasattr(column, "type") and type(column.dtype).__name__ == "Enum":
        levels = pd.Index(column.dtype.categories.to_list(), dtype=object)
        return pd.CategoricalDtype(levels, ordered=True)
    own = _own_categories(column)
    if own is None:
        return None
    values = [value for value in dict.fromkeys(own) if value is not None]
    if hasattr(column, "type"):
        return pd.CategoricalDtype(pd.Index(values, dtype=object), ordered=column.type.ordered)
    return pd.CategoricalDtype(pd.Index(sorted(values), dtype=object))


def _own_categories(column: NativeColumn) -> Any:
    """Return the categories of a column of codes, in the order of the codes; None for others.

    Those of polars are the values that occur, and a missing one at the end: its own list may hold
    values of other columns.
    """
    if hasattr(column, "type"):
        if not hasattr(column.type, "ordered"):
            return None
        chunks = column.unify_dictionaries().chunks
        return chunks[0].dictionary.to_pylist() if chunks else []
    if type(column.dtype).__name__ != "Categorical":
        return None
    return column.drop_nulls().unique(maintain_order=True).extend_constant(None, 1)


def _split(values: pd.Series | Labels) -> tuple[Labels, Mask | None]:
    """Return the values of a column in a dtype of numpy, and where they are missing."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iubf":
        return values, np.isnan(values) if values.dtype.kind == "f" else None
    column = pd.Series(values)
    missing: Mask = column.isna().to_numpy(dtype=bool)
    if types.is_datetime64_any_dtype(column.dtype):
        if getattr(column.dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return column.to_numpy(dtype="datetime64[us]"), missing
    if types.is_numeric_dtype(column.dtype):  # so are booleans
        dtype: Any = getattr(column.dtype, "numpy_dtype", column.dtype)
        filled = column.fillna(dtype.type(0).item()) if dtype.kind in "iub" else column
        return filled.to_numpy(dtype=dtype), missing
    cells = column.to_numpy(dtype=object, copy=True)
    cells[missing] = None
    return cells, missing
