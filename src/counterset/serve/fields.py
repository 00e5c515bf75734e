"""Fields: what each column of a request may hold, as a JSON schema and in words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from counterset.exceptions import InvalidInputError
from counterset.results.json_values import from_json_value, to_json_value
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import LARGEST_EXACT, Number
from counterset.tables.features.one_hot import OneHotGroup
from counterset.tables.features.written import WrittenNumber
from counterset.tables.table import Table

__all__ = ["Field", "fields_of", "instance_schema"]

#: A number may be 1e15 times as large as any in the training data. Floats have some 15 digits, so
#: that beyond this no two training rows would differ as seen from it.
FARTHEST = 1e15
#: Words list the first 8 values of a field; the schema lists all.
SHOWN_VALUES = 8


@dataclass(frozen=True)
class Field:
    """One column, as a request may fill it.

    Attributes
    ----------
    name
        The column's name, as text.
    feature
        The feature that it belongs to; a one-hot group has several columns.
    """

    name: str
    feature: Feature

    @cached_property
    def allowed(self) -> dict[str, Any]:
        """What it may hold, as a JSON schema."""
        feature = self.feature
        schema: dict[str, Any]
        if isinstance(feature, OneHotGroup):
            schema = {"enum": [0, 1, False, True]}
        elif feature.values is not None:
            schema = {"enum": [to_json_value(value) for value in feature.values]}
        elif isinstance(feature, WrittenNumber):
            schema = {"type": ["string", "number"]}
        elif isinstance(feature, Number):
            least, most = self._limits
            kind = "integer" if self._is_whole else "number"
            schema = {"type": kind, "minimum": least, "maximum": most}
        else:
            schema = {"type": "string", "format": "date-time"}
        return _or_null(schema) if feature.can_be_missing else schema

    @cached_property
    def words(self) -> str:
        """What it may hold, in words."""
        schema = self.allowed
        kind = schema.get("type", "")
        kind = kind[0] if isinstance(kind, list) and kind[0] != "string" else kind
        if "enum" in schema:
            values = [value for value in schema["enum"] if value is not None]
            told = ", ".join(json.dumps(value) for value in values[:SHOWN_VALUES])
            more = f", ... ({len(values)} in all)" if len(values) > SHOWN_VALUES else ""
            text = f"one of {told}{more}"
        elif kind in ("integer", "number"):
            text, form = ("a whole number", "d") if kind == "integer" else ("a number", "g")
            if schema["maximum"] != LARGEST_EXACT - 1:  # which holds for every whole number
                text += f" from {schema['minimum']:{form}} to {schema['maximum']:{form}}"
        elif "format" in schema:
            text = "a time, written as 2024-02-29 or 2024-02-29T12:00:00"
        else:
            text = "a number, written as in the training data"
        return f"{text}, or null" if self.feature.can_be_missing else text

    def read(self, value: Any) -> Any:
        """Return the cell of a value in JSON.

        Raises
        ------
        InvalidInputError
            If the field may not hold it; the message says what it may hold.
        """
        feature = self.feature
        if value is None and feature.can_be_missing:
            return None
        if isinstance(value, Mapping):  # as answers have times
            with suppress(InvalidInputError):
                value = from_json_value(value)
        if not self._holds(value):
            raise InvalidInputError(f"must be {self.words}")
        if isinstance(feature, OneHotGroup):
            return value
        if isinstance(feature, WrittenNumber) and not isinstance(value, str):
            return feature.decode(np.array([float(value)]))[0][0]
        return value if feature.values is None else self._values[value]

    def _holds(self, value: Any) -> bool:
        """Whether the field may hold a value."""
        feature = self.feature
        if isinstance(value, list | Mapping) or value is None:
            return False
        if isinstance(feature, OneHotGroup):
            return value in (0, 1)
        if feature.values is not None:
            known = self._values.get(value)
            return known is not None and isinstance(known, bool) == isinstance(value, bool)
        if isinstance(feature, WrittenNumber) and isinstance(value, str):
            return self._is_encoded(value)
        if isinstance(feature, Number):
            return self._is_in_limits(value)
        return not isinstance(value, bool | int | float) and self._is_encoded(value)

    def _is_in_limits(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        least, most = self._limits
        return least <= value <= most and (not self._is_whole or value % 1 == 0)

    def _is_encoded(self, value: Any) -> bool:
        """Whether the feature itself can read a value."""
        try:
            self._by_itself.encode(pd.DataFrame({0: [value]}, dtype=object), "X")
        except InvalidInputError:
            return False
        return True

    @cached_property
    def _by_itself(self) -> Feature:
        """The feature as the only column of a table: a cell takes as long in a wide one."""
        return replace(self.feature, columns=(0,))

    @property
    def _is_whole(self) -> bool:
        """Whether the column can hold whole numbers only."""
        return math.isfinite(self.feature.limits[1])

    @cached_property
    def _values(self) -> dict[Any, Any]:
        """The values of a category, by what stands for them in JSON."""
        return {value: value for value in self.feature.values or ()}

    @cached_property
    def _limits(self) -> tuple[float, float]:
        """The least and the most that a number may be."""
        feature = self.feature
        farthest = FARTHEST * max(abs(feature.low), abs(feature.high), 1.0)
        least, most = feature.limits
        if self._is_whole:  # their limits are told without a fraction
            return int(max(least, -farthest)), int(min(most, farthest))
        return -farthest, farthest


def fields_of(table: Table) -> tuple[Field, ...]:
    """Return the fields of a table, one for each column, in their order."""
    by_column = {at: feature for feature in table.features for at in feature.columns}
    return tuple(Field(str(label), by_column[at]) for at, label in enumerate(table.columns))


def instance_schema(table: Table) -> dict[str, Any]:
    """Return the JSON schema of one instance: a mapping, or a list in the order of the columns."""
    fields = fields_of(table)
    return {
        "title": "Instance",
        "description": "One row: from columns to values, or a list in the order of the columns.",
        "anyOf": [
            {
                "type": "object",
                "properties": {each.name: each.allowed for each in fields},
                "required": [each.name for each in fields],
                "additionalProperties": False,
            },
            {
                "type": "array",
                "prefixItems": [each.allowed for each in fields],
                "minItems": len(fields),
                "maxItems": len(fields),
            },
        ],
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*kinds, "null"]}
