"""Tables that hold the same rows in pandas, polars and pyarrow, for tests of containers."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

WORDS = ["ant", "bee", "cat", "dog"]
LEVELS = ["low", "mid", "high"]
ZONE = "Europe/Berlin"

_days = st.integers(0, 40).map(lambda days: dt.date(2020, 1, 1) + dt.timedelta(days))
_moments = st.integers(0, 10**6).map(lambda s: dt.datetime(2020, 1, 1) + dt.timedelta(seconds=s))
_ticks = st.integers(0, 10**6).map(
    lambda ms: dt.datetime(2020, 1, 1) + dt.timedelta(milliseconds=ms)
)
_small = st.integers(0, 20)
_halves = st.integers(-8, 8).map(lambda value: value / 2)

#: A kind of column: its values, its dtype in polars, and in pandas without and with missing values.
KINDS: dict[str, tuple[st.SearchStrategy[Any], Any, Any, Any]] = {
    "int8": (_small, pl.Int8, "int8", "Int8"),
    "int16": (_small, pl.Int16, "int16", "Int16"),
    "int32": (_small, pl.Int32, "int32", "Int32"),
    "int64": (_small, pl.Int64, "int64", "Int64"),
    "uint8": (_small, pl.UInt8, "uint8", "UInt8"),
    "uint16": (_small, pl.UInt16, "uint16", "UInt16"),
    "uint32": (_small, pl.UInt32, "uint32", "UInt32"),
    "uint64": (_small, pl.UInt64, "uint64", "UInt64"),
    "float32": (_halves, pl.Float32, "float32", "float32"),
    "float64": (_halves, pl.Float64, "float64", "float64"),
    "text": (st.sampled_from(WORDS), pl.String, object, object),
    "category": (st.sampled_from(WORDS), pl.Categorical, "category", "category"),
    "enum": (
        st.sampled_from(LEVELS),
        pl.Enum(LEVELS),
        pd.CategoricalDtype(LEVELS, ordered=True),
        pd.CategoricalDtype(LEVELS, ordered=True),
    ),
    "bool": (st.booleans(), pl.Boolean, "bool", "boolean"),
    "date": (_days, pl.Date, "datetime64[s]", "datetime64[s]"),
    "moment": (_moments, pl.Datetime("us"), "datetime64[us]", "datetime64[us]"),
    "tick": (_ticks, pl.Datetime("ms"), "datetime64[ms]", "datetime64[ms]"),
    "zoned": (
        _moments.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
        pl.Datetime("us", ZONE),
        f"datetime64[us, {ZONE}]",
        f"datetime64[us, {ZONE}]",
    ),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, pl.DataFrame]:
    """Draw a table of several kinds of columns, in pandas and in polars."""
    n_rows = draw(st.integers(6, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5, unique=True))
    # The column that the model looks at has two classes.
    columns: dict[str, list[Any]] = {"score": [0.5 * i for i in range(n_rows)]}
    for kind in kinds:
        values = KINDS[kind][0]
        cells = st.one_of(st.none(), values) if draw(st.booleans()) else values
        columns[kind] = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    dtypes = {kind: KINDS[kind][1] for kind in kinds} | {"score": pl.Float64}
    polars = pl.DataFrame(
        {name: pl.Series(cells, dtype=dtypes[name]) for name, cells in columns.items()}
    )
    pandas = {
        name: _pandas_column(cells, None if name == "score" else name)
        for name, cells in columns.items()
    }
    return pd.DataFrame(pandas), polars


def to_arrow(table: pl.DataFrame) -> pa.Table:
    """Return a table of polars as one of pyarrow, in which an enum keeps its order."""
    arrow = table.to_arrow()  # in some releases an enum loses it
    if "enum" not in table.columns:
        return arrow
    codes = [None if level is None else LEVELS.index(level) for level in table["enum"]]
    levels = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), LEVELS, ordered=True)
    return arrow.set_column(table.columns.index("enum"), "enum", levels)


def _pandas_column(cells: list[Any], kind: str | None) -> pd.Series:
    if kind is None:
        return pd.Series(cells)
    without, with_missing = KINDS[kind][2:]
    dtype = with_missing if None in cells else without
    if kind in ("date", "moment", "tick"):
        return pd.Series(pd.to_datetime(pd.Series(cells, dtype=object))).astype(dtype)
    if kind == "zoned":
        return pd.to_datetime(pd.Series(cells, dtype=object), utc=True).astype(dtype)
    if kind == "category":
        values = sorted({cell for cell in cells if cell is not None})
        dtype = pd.CategoricalDtype(pd.Index(values, dtype=object))
    return pd.Series(cells, dtype=object).astype(dtype)


def above(rows: Any) -> Any:
    """Classify rows of any container by their score."""
    return np.asarray(rows["score"]) > 1


def cells(rows: Any) -> list[dict[str, Any]]:
    """Return the rows of a table of any container as dicts of plain values."""
    if isinstance(rows, pd.DataFrame):
        dicts = rows.to_dict("records")
    else:
        dicts = rows.to_dicts() if isinstance(rows, pl.DataFrame) else rows.to_pylist()
    return [{str(name): _plain(value) for name, value in each.items()} for each in dicts]


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    if isinstance(value, dt.date):  # so is a datetime, and a Timestamp
        moment = pd.Timestamp(value)
        return moment if moment.tzinfo is None else moment.tz_convert("UTC")
    return value
