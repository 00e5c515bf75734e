"""Rows and labels as plain Python objects, which go through pipes and into JSON files.

A pickle of numpy or pandas can be read by the version that wrote it, and by few others.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

__all__ = ["Packed", "pack", "pack_labels", "unpack"]

#: What :func:`pack` returns.
Packed: TypeAlias = dict[str, Any]


def pack(rows: Any) -> Packed:
    """Return rows, an array or a DataFrame, as plain objects.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 40], "job": pd.Categorical(["no", "yes"])})
    >>> unpack(pack(frame)).equals(frame)
    True
    >>> unpack(pack(np.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(rows, pd.DataFrame):
        columns = [(str(name), _pack_column(rows[name])) for name in rows.columns]
        return {"columns": columns, "rows": len(rows)}
    array = np.asarray(rows)
    if array.dtype == object:
        return {"objects": array.tolist()}
    return {"values": array.tolist(), "dtype": array.dtype.str, "shape": array.shape}


def pack_labels(labels: Any) -> list[Any]:
    """Return labels as a list of plain objects."""
    plain: list[Any] = np.asarray(labels).tolist()
    return plain


def unpack(packed: Packed) -> Any:
    """Return the rows of what :func:`pack` returned."""
    if "columns" in packed:
        columns = {name: _unpack_column(*column) for name, column in packed["columns"]}
        return pd.DataFrame(columns, index=pd.RangeIndex(packed["rows"]))
    if "objects" in packed:
        return np.array(packed["objects"], dtype=object)
    return np.array(packed["values"], dtype=packed["dtype"]).reshape(packed["shape"])


def _pack_column(column: pd.Series) -> tuple[str, Any]:
    """Return the kind of a column, and its values as lists."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = "ordered" if column.dtype.ordered else "category"
        words = column.cat.categories.tolist()
        return kind, (column.cat.codes.tolist(), words)
    values = column.astype(object).where(column.notna(), None).tolist()
    if isinstance(column.dtype, np.dtype) and column.dtype != object:
        return column.dtype.str, values
    if is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype):
        return str(column.dtype), values
    return "object", values


def _unpack_column(kind: str, values: Any) -> Any:
    if kind in ("category", "ordered"):
        codes, words = values
        return pd.Categorical.from_codes(codes, words, ordered=kind == "ordered")
    return pd.Series(values, dtype=kind)
