"""Values, rows and tables as JSON has them, and back.

Texts, whole numbers, True and False stay as they are. NaN and all missing values become null. All
else becomes an object with a type: ``{"type": "date", "value": "2024-02-29"}``. A number that is no
value, such as a distance, is the text "inf" if it is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Vector, to_python
from counterset.exceptions import InvalidInputError
from counterset.tables.features.category import Category, OneHotGroup, Ordinal
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.features.time import Time
from counterset.tables.features.written import WrittenNumber
from counterset.tables.table import Table
from counterset.tables.wording import Wording, readable

__all__ = [
    "comes_back",
    "from_json_number",
    "from_json_tree",
    "from_json_value",
    "row_from_json",
    "row_to_json",
    "table_from_json",
    "table_to_json",
    "to_json_number",
    "to_json_value",
    "value_from_json",
    "value_to_json",
]


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it; one of no known type as its text.

    Examples
    --------
    >>> to_json_value(3), to_json_value(float("nan")), to_json_value(Decimal("1.50"))
    (3, None, {'type': 'decimal', 'value': '1.50'})
    >>> to_json_value(pd.Interval(25, 50))
    {'type': 'interval', 'value': [25, 50], 'closed': 'right'}
    """
    if isinstance(value, Mapping):
        return {str(name): to_json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(each) for each in value]
    return _single(to_python(value))


def _single(value: Any) -> Any:
    """Return a single value as JSON has it."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and not math.isinf(value):
        return to_json_number(value)
    for kind, (known, write, _) in _TYPES.items():
        if isinstance(value, known):
            return {"type": kind, **write(value)}
    return {"type": "text", "value": str(value)}


def from_json_value(value: Any) -> Any:
    """Return the value that stands in JSON; a type that is not known comes back as text."""
    if isinstance(value, list):
        return tuple(from_json_value(each) for each in value)
    if not isinstance(value, Mapping):
        return value
    try:
        _, _, read = _TYPES.get(value["type"], (str, dict, lambda data: str(data["value"])))
        return read(value)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise InvalidInputError(f"{value!r} is no value: {error!r}.") from error


def _interval(data: Mapping[str, Any]) -> pd.Interval:
    left, right = (from_json_value(each) for each in data["value"])
    return pd.Interval(left, right, closed=data["closed"])


def _moment(data: Mapping[str, Any]) -> pd.Timestamp:
    moment = pd.Timestamp(data["value"])
    return moment.tz_convert(data["zone"]) if "zone" in data else moment


#: Of each type in JSON: its class, what is written of a value, and how it is read. What is an
#: instance of several, as a moment is a date, counts as the first.
_TYPES: Mapping[str, tuple[type, Callable[[Any], dict[str, Any]], Callable[[Any], Any]]] = {
    "float": (float, lambda each: {"value": str(each)}, lambda data: float(data["value"])),
    "interval": (
        pd.Interval,
        lambda each: {"value": to_json_value([each.left, each.right]), "closed": each.closed},
        _interval,
    ),
    "period": (
        pd.Period,
        lambda each: {"value": str(each), "freq": each.freqstr},
        lambda data: pd.Period(data["value"], freq=data["freq"]),
    ),
    "time": (
        pd.Timestamp,
        lambda each: {"value": each.isoformat()} | ({"zone": str(each.tz)} if each.tz else {}),
        _moment,
    ),
    "datetime": (
        datetime,
        lambda each: {"value": each.isoformat()},
        lambda data: datetime.fromisoformat(data["value"]),
    ),
    "date": (
        date,
        lambda each: {"value": each.isoformat()},
        lambda data: date.fromisoformat(data["value"]),
    ),
    "clock": (
        time,
        lambda each: {"value": each.isoformat()},
        lambda data: time.fromisoformat(data["value"]),
    ),
    "duration": (
        pd.Timedelta,
        lambda each: {"value": each.isoformat()},
        lambda data: pd.Timedelta(data["value"]),
    ),
    "timedelta": (
        timedelta,
        lambda each: {"value": pd.Timedelta(each).isoformat()},
        lambda data: pd.Timedelta(data["value"]).to_pytimedelta(),
    ),
    "decimal": (
        Decimal,
        lambda each: {"value": str(each)},
        lambda data: Decimal(data["value"]),
    ),
}


def from_json_tree(tree: Any) -> Any:
    """Return mappings and lists of values that stand in JSON; an object with a type is a value.

    Examples
    --------
    >>> from_json_tree({"ranges": {"type": [1, {"type": "float", "value": "inf"}]}})
    {'ranges': {'type': [1, inf]}}
    """
    if isinstance(tree, Mapping) and not isinstance(tree.get("type"), str):
        return {name: from_json_tree(each) for name, each in tree.items()}
    if isinstance(tree, list):
        return [from_json_tree(each) for each in tree]
    return from_json_value(tree)


def comes_back(value: Any) -> bool:
    """Whether a value goes through JSON and comes back as it was.

    Examples
    --------
    >>> comes_back(pd.Period("2024-02", freq="M")), comes_back(b"raw")
    (True, False)
    """
    value = to_python(value)
    if isinstance(value, str | bool | int):
        return True
    try:
        return repr(from_json_value(to_json_value(value))) == repr(value)
    except InvalidInputError:  # a time before its zone had whole minutes, say
        return False


def to_json_number(number: float | None) -> float | str | None:
    """Return a number as JSON has it: "inf" and "-inf" as texts, NaN as null."""
    if number is None or math.isnan(number):
        return None
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return float(number)


def from_json_number(number: Any) -> float:
    """Return a number that stands in JSON; null is NaN."""
    return float("nan") if number is None else float(number)


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
        feature.name: value_to_json(feature, float(code))
        for feature, code in zip(table.features, codes, strict=True)
    }


def row_from_json(table: Table, row: Mapping[str, Any]) -> Vector:
    """Return the codes of a row that stands in JSON."""
    codes = [value_from_json(feature, row[feature.name]) for feature in table.features]
    return np.array(codes, dtype=np.float64)


def value_to_json(feature: Feature, code: float) -> Any:
    """Return one value of a feature; None if it is missing."""
    if np.isnan(code):
        return None
    value = feature.describe(code)
    if isinstance(feature, WrittenNumber | Number):
        return int(value) if float(value).is_integer() and feature.kind != "continuous" else value
    return to_json_value(value)


def value_from_json(feature: Feature, cell: Any) -> float:
    """Return the code of one value of a feature that stands in JSON."""
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
        "categories": _values_to_json(feature.name, dtype.categories) if is_category else None,
        "categories_dtype": str(dtype.categories.dtype) if is_category else None,
        "ordered": bool(dtype.ordered) if is_category else None,
        "low": to_json_number(feature.low),
        "high": to_json_number(feature.high),
        "step": feature.step,
        "finest_step": feature.finest_step,
        "can_be_missing": feature.can_be_missing,
        "values": None if feature.values is None else _values_to_json(feature.name, feature.values),
        "seen": None if feature.seen is None else list(feature.seen),
        "special": list(feature.special),
        "usual_range": list(feature.usual_range) if isinstance(feature, Number) else None,
        "form": getattr(feature, "form", None),
        "decimals": getattr(feature, "decimals", None),
        "blank": _blank_to_json(getattr(feature, "blank", None)),
    }


def _values_to_json(name: str, values: Iterable[Any]) -> list[Any]:
    """Return the values of a category; it is an error if one would not come back."""
    for value in values:
        if not comes_back(value):
            raise InvalidInputError(
                f"Feature {name!r} has the value {value!r} of type {type(value).__name__}, which "
                f"cannot be written as JSON and read again. Turn its values into text."
            )
    return [to_json_value(value) for value in values]


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
        # A tuple would be taken for a level of several.
        categories = pd.Index(
            [from_json_value(each) for each in data["categories"]], tupleize_cols=False
        )
        if data.get("categories_dtype") is not None:  # files of older releases do not have it
            categories = categories.astype(_read_dtype(data["name"], data["categories_dtype"]))
        return pd.CategoricalDtype(categories, ordered=data["ordered"])
    return _read_dtype(data["name"], data["dtype"])


def _read_dtype(name: str, text: str) -> Any:
    try:
        dtype = pd.api.types.pandas_dtype(text)
    except TypeError as error:
        raise InvalidInputError(
            f"The dtype {text!r} of feature {name!r} is not known here."
        ) from error
    # Releases of pandas before 3 read "str" as numpy's fixed-length text, and hold text as objects.
    return np.dtype(object) if getattr(dtype, "kind", "") == "U" else dtype


def _blank_to_json(blank: Any) -> str:
    if blank is None:
        return "None"
    return "NA" if blank is pd.NA else "nan"
