"""Values as JSON has them, and back.

Texts, whole numbers, True and False stay as they are. NaN and all missing values become null. All
else becomes an object with a type: ``{"type": "date", "value": "2024-02-29"}``. A number that is no
value, such as a distance, is the text "inf" if it is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset.exceptions import InvalidInputError

__all__ = [
    "comes_back",
    "from_json_number",
    "from_json_tree",
    "from_json_value",
    "to_json_number",
    "to_json_value",
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
