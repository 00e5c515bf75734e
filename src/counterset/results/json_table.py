"""The columns of a table as JSON has them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Vector
from counterset.exceptions import InvalidInputError
from counterset.results.json_values import (
    from_json_number,
    from_json_value,
    to_json_number,
    to_json_value,
)
from counterset.tables.features.category import Category, Ordinal
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.features.one_hot import OneHotGroup
from counterset.tables.features.time import Time
from counterset.tables.features.written import WrittenNumber
from counterset.tables.table import Table
from counterset.tables.wording import Wording, readable

__all__ = ["row_from_json", "row_to_json", "table_from_json", "table_to_json"]

#: The name of each class of features in JSON.
CLASSES: Mapping[str, type[Feature]] = {
    "number": Number,
    "written_number": WrittenNumber,
    "time": Time,
    "category": Category,
    "ordinal": Ordinal,
    "one_hot": OneHotGroup,
}
#: What stands for a missing value in a column of objects.
BLANKS: Mapping[str, Any] = {"None": None, "nan": float("nan"), "NA": pd.NA}


def table_to_json(table: Table) -> dict[str, Any]:
    """Return the columns and features of a table."""
    return {
        "columns": [to_json_value(column) for column in table.columns],
        "array_dtype": None if table.array_dtype is None else str(table.array_dtype),
        "features": [_feature_to_json(feature) for feature in table.features],
    }


def table_from_json(data: Mapping[str, Any]) -> Table:
    """Return the table that stands in JSON; tables of polars and pyarrow come back as pandas."""
    columns = [from_json_value(column) for column in data["columns"]]
    several = bool(columns) and all(isinstance(column, tuple) for column in columns)
    index = pd.MultiIndex.from_tuples(columns) if several else pd.Index(columns)
    dtype = data["array_dtype"]
    return Table(
        tuple(_feature_from_json(feature) for feature in data["features"]),
        index,
        None if dtype is None else np.dtype(dtype),
    )


def row_to_json(table: Table, codes: Vector) -> dict[str, Any]:
    """Return one row: from the names of features to values, null for what is missing."""
    return {
        feature.name: _cell(feature, float(code))
        for feature, code in zip(table.features, codes, strict=True)
    }


def row_from_json(table: Table, row: Mapping[str, Any]) -> Vector:
    """Return the codes of a row that stands in JSON."""
    codes = [_code(feature, row[feature.name]) for feature in table.features]
    return np.array(codes, dtype=np.float64)


def _cell(feature: Feature, code: float) -> Any:
    if np.isnan(code):
        return None
    value = feature.describe(code)
    if isinstance(feature, WrittenNumber | Number):
        return int(value) if float(value).is_integer() and feature.kind != "continuous" else value
    return to_json_value(value)


def _code(feature: Feature, cell: Any) -> float:
    if cell is None:
        return float("nan")
    if feature.values is not None:
        known = [to_json_value(value) for value in feature.values]
        found = [i for i, each in enumerate(known) if each == cell and type(each) is type(cell)]
        if not found:
            raise InvalidInputError(f"Feature {feature.name!r} has no value {cell!r}.")
        return float(found[0])
    return feature.code_of(from_json_value(cell))


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    wording = feature.wording or Wording(readable(feature.name))
    dtype = feature.dtype
    is_category = isinstance(dtype, pd.CategoricalDtype)
    return {
        "name": feature.name,
        "label": wording.label,
        "unit": wording.unit,
        "unit_of_one": wording.unit_of_one,
        "texts": [[to_json_number(code), text] for code, text in wording.texts],
        "text_of_missing": wording.of_missing,
        "has_wording": feature.wording is not None,
        "kind": feature.kind,
        "class": next(name for name, each in CLASSES.items() if type(feature) is each),
        "columns": list(feature.columns),
        "dtype": "category" if is_category else str(dtype),
        "categories": [to_json_value(each) for each in dtype.categories] if is_category else None,
        "ordered": bool(dtype.ordered) if is_category else None,
        "low": to_json_number(feature.low),
        "high": to_json_number(feature.high),
        "step": feature.step,
        "finest_step": feature.finest_step,
        "can_be_missing": feature.can_be_missing,
        "values": None if feature.values is None else [to_json_value(v) for v in feature.values],
        "seen": None if feature.seen is None else list(feature.seen),
        "special": list(feature.special),
        "usual_range": list(feature.usual_range) if isinstance(feature, Number) else None,
        "form": getattr(feature, "form", None),
        "decimals": getattr(feature, "decimals", None),
        "blank": _blank_to_json(getattr(feature, "blank", None)),
    }


def _feature_from_json(data: Mapping[str, Any]) -> Feature:
    kind = CLASSES.get(data["class"])
    if kind is None:
        raise InvalidInputError(f"A feature has the unknown class {data['class']!r}.")
    more: dict[str, Any] = {}
    if issubclass(kind, Number):
        more["usual_range"] = tuple(map(float, data["usual_range"]))
    if issubclass(kind, WrittenNumber):
        more |= {"form": data["form"], "decimals": data["decimals"]}
    if issubclass(kind, WrittenNumber | Category):
        more["blank"] = BLANKS[data["blank"]]
    texts = tuple((from_json_number(code), text) for code, text in data["texts"])
    wording = Wording(
        data["label"], data["unit"], data["unit_of_one"], texts, data["text_of_missing"]
    )
    return kind(
        name=data["name"],
        kind=data["kind"],
        columns=tuple(data["columns"]),
        dtype=_dtype(data),
        low=from_json_number(data["low"]),
        high=from_json_number(data["high"]),
        step=float(data["step"]),
        finest_step=float(data.get("finest_step", 0.0)),  # older files have one step only
        can_be_missing=data["can_be_missing"],
        values=None if data["values"] is None else tuple(map(from_json_value, data["values"])),
        seen=None if data["seen"] is None else tuple(map(float, data["seen"])),
        special=tuple(map(float, data["special"])),
        wording=wording if data["has_wording"] else None,
        **more,
    )


def _dtype(data: Mapping[str, Any]) -> Any:
    """Return the dtype of a feature's columns."""
    if data["dtype"] == "category":
        categories = [from_json_value(each) for each in data["categories"]]
        return pd.CategoricalDtype(categories, ordered=data["ordered"])
    try:
        dtype = pd.api.types.pandas_dtype(data["dtype"])
    except TypeError as error:
        raise InvalidInputError(
            f"The dtype {data['dtype']!r} of feature {data['name']!r} is not known here."
        ) from error
    # Releases of pandas before 3 read "str" as numpy's fixed-length text, and hold text as objects.
    return np.dtype(object) if getattr(dtype, "kind", "") == "U" else dtype


def _blank_to_json(blank: Any) -> str:
    if blank is None:
        return "None"
    return "NA" if blank is pd.NA else "nan"
