"""Rows of requests: what each column may hold, as a JSON schema and in words, and reading them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from counterset.exceptions import InvalidInputError
from counterset.explanations.json_values import from_json_value, to_json_value
from counterset.serve.errors import (
    MOST_FAULTS,
    FieldError,
    RefusedError,
    field_error,
    shortened,
)
from counterset.tables.features.category import OneHotGroup
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import LARGEST_EXACT, Number
from counterset.tables.features.written import WrittenNumber
from counterset.tables.table import Table

__all__ = ["Field", "InstanceReader", "fields_of", "instance_schema"]

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
            least, most = self._bounds
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
            listed = ", ".join(json.dumps(value) for value in values[:SHOWN_VALUES])
            more = f", ... ({len(values)} in all)" if len(values) > SHOWN_VALUES else ""
            text = f"one of {listed}{more}"
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
            return self._is_in_bounds(value)
        return not isinstance(value, bool | int | float) and self._is_encoded(value)

    def _is_in_bounds(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        least, most = self._bounds
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
        return math.isfinite(self.feature.dtype_range[1])

    @cached_property
    def _values(self) -> dict[Any, Any]:
        """The values of a category, by what stands for them in JSON."""
        return {value: value for value in self.feature.values or ()}

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The least and the most that a number may be."""
        feature = self.feature
        farthest = FARTHEST * max(abs(feature.low), abs(feature.high), 1.0)
        least, most = feature.dtype_range
        if self._is_whole:  # written without a fraction
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


class InstanceReader:
    """Reads instances of requests as rows of one table.

    Parameters
    ----------
    table
        The columns.

    Examples
    --------
    >>> table, _ = Table.learn(pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]}))
    >>> InstanceReader(table).read([{"home": "own", "age": 40}, [25, "rent"]])
      age  home
    0  40   own
    1  25  rent
    """

    def __init__(self, table: Table) -> None:
        self._columns = table.columns
        self._fields = fields_of(table)
        self._position = {each.name: at for at, each in enumerate(self._fields)}
        groups = (each for each in table.features if isinstance(each, OneHotGroup))
        self._groups = {each.name: each for each in groups}

    def read(self, instances: Sequence[Any]) -> pd.DataFrame:
        """Return instances as a table.

        Raises
        ------
        RefusedError
            If there is a fault; its details name the first of them by instance and field.
        """
        return self._read(dict(enumerate(instances)))

    def read_one(self, instance: Mapping[str, Any]) -> pd.DataFrame:
        """Return the only row of a request as a table.

        Raises
        ------
        RefusedError
            If there is a fault; its details name the first of them by field.
        """
        return self._read({None: instance})

    def field(self, feature: Feature) -> Field:
        """Return the field of a feature that has one column."""
        return self._fields[feature.columns[0]]

    def _read(self, instances: Mapping[int | None, Any]) -> pd.DataFrame:
        """Return instances as a table; None is the position of an only one."""
        cells = np.empty((len(instances), len(self._fields)), dtype=object)
        faults: list[FieldError] = []
        for row, (i, instance) in zip(cells, instances.items(), strict=True):
            faults += self._fill(row, instance, i)
            if len(faults) >= MOST_FAULTS:
                break
        if faults:
            raise RefusedError(
                f"The request is invalid: {_sentence(faults[0])}", faults[:MOST_FAULTS]
            )
        return pd.DataFrame(cells, columns=self._columns)

    def _fill(self, cells: Any, instance: Any, i: int | None) -> list[FieldError]:
        """Fill one row of cells, and return the faults."""
        if isinstance(instance, list):
            if len(instance) != len(self._fields):
                problem = f"has {len(instance)} values for {len(self._fields)} columns"
                return [field_error(problem, instance=i)]
            values = dict(zip(self._position, instance, strict=True))
        elif isinstance(instance, Mapping):
            values = self._expanded(instance)
            if faults := self._misnamed(values, i):
                return faults
        else:
            problem = "must be an object, or a list in the order of the columns"
            return [field_error(problem, instance=i, got=instance)]
        faults = []
        for at, each in enumerate(self._fields):
            try:
                cells[at] = each.read(values[each.name])
            except InvalidInputError as error:
                got = values[each.name]
                faults.append(field_error(str(error), i, each.name, got, each.allowed))
        return faults or self._too_hot(cells, i)

    def _expanded(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return an instance by its columns: a one-hot group may be given as answers have it."""
        values = dict(instance)
        for name, group in self._groups.items():
            columns = [self._fields[at].name for at in group.columns]
            # The last value stands for a row without a 1 in any column.
            if values.get(name) in (group.values or ()) and not values.keys() & set(columns):
                given = values.pop(name)
                values |= {column: int(column == given) for column in columns}
        return values

    def _misnamed(self, values: Mapping[str, Any], i: int | None) -> list[FieldError]:
        """Return the columns that are missing, and those that there are not."""
        faults = []
        unknown = (name for name in values if name not in self._position)
        # To look for a near name takes as long as there are columns.
        for name in islice(unknown, MOST_FAULTS):
            near = get_close_matches(shortened(name), self._position, n=1)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            faults.append(field_error(f"is not a column{hint}", i, name))
        faults += [
            field_error(f"is missing; it must be {each.words}", i, each.name, None, each.allowed)
            for each in self._fields
            if each.name not in values
        ]
        return faults

    def _too_hot(self, cells: Any, i: int | None) -> list[FieldError]:
        """Return the one-hot groups that have more than one 1."""
        return [
            field_error("has more than one 1 in its columns", i, name)
            for name, group in self._groups.items()
            if sum(cells[list(group.columns)]) > 1
        ]


def _sentence(fault: FieldError) -> str:
    """Return one fault as a sentence."""
    at = [] if fault["instance"] is None else [f"instances[{fault['instance']}]"]
    named = [] if fault["field"] is None else [repr(fault["field"])]
    return f"{', '.join(at + named)} {fault['problem']}."
