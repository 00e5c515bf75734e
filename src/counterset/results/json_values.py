"""Values as JSON has them, and back.

Texts, whole numbers, True and False stay as they are. A float that is not finite has no number in
JSON: NaN and all missing values become null, infinity the text "inf". All else becomes an object
with a type: ``{"type": "date", "value": "2024-02-29"}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset.exceptions import InvalidInputError

__all__ = ["from_json_number", "from_json_value", "to_json_number", "to_json_value"]


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it.

    Examples
    --------
    >>> to_json_value(3), to_json_value(float("nan")), to_json_value(Decimal("1.50"))
    (3, None, {'type': 'decimal', 'value': '1.50'})
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
    if isinstance(value, float):
        return to_json_number(value)
    if isinstance(value, date):  # a moment is a date too
        kind = "time" if isinstance(value, datetime) else "date"
        return {"type": kind, "value": value.isoformat()}
    kind = "decimal" if isinstance(value, Decimal) else "text"
    return {"type": kind, "value": str(value)}


def from_json_value(value: Any) -> Any:
    """Return the value that stands in JSON; a type that is not known comes back as text."""
    if isinstance(value, list):
        return tuple(from_json_value(each) for each in value)
    if not isinstance(value, Mapping):
        return value
    readers: dict[str, Callable[[str], Any]] = {
        "time": pd.Timestamp,
        "date": date.fromisoformat,
        "decimal": Decimal,
    }
    try:
        return readers.get(value["type"], str)(value["value"])
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise InvalidInputError(f"{value!r} is no value: {error!r}.") from error


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
