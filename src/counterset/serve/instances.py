"""Instances: the rows of a request, read field by field, so that each fault has its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from counterset.exceptions import InvalidInputError
from counterset.serve.errors import MOST_FAULTS, field_error, shortened
from counterset.serve.fields import fields_of
from counterset.serve.refusals import FieldError, RefusedError
from counterset.tables.features.one_hot import OneHotGroup
from counterset.tables.table import Table

__all__ = ["InstanceReader"]


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
            If there is a fault; its details tell the first of them by instance and field.
        """
        cells = np.empty((len(instances), len(self._fields)), dtype=object)
        faults: list[FieldError] = []
        for i, instance in enumerate(instances):
            faults += self._fill(cells[i], instance, i)
            if len(faults) >= MOST_FAULTS:
                break
        if faults:
            raise RefusedError(
                f"The request cannot be used: {_told(faults[0])}", faults[:MOST_FAULTS]
            )
        return pd.DataFrame(cells, columns=self._columns)

    def _fill(self, cells: Any, instance: Any, i: int) -> list[FieldError]:
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

    def _misnamed(self, values: Mapping[str, Any], i: int) -> list[FieldError]:
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

    def _too_hot(self, cells: Any, i: int) -> list[FieldError]:
        """Return the one-hot groups that have more than one 1."""
        return [
            field_error("has more than one 1 in its columns", i, name)
            for name, group in self._groups.items()
            if sum(cells[list(group.columns)]) > 1
        ]


def _told(fault: FieldError) -> str:
    """Return one fault as a sentence."""
    field = "" if fault["field"] is None else f", {fault['field']!r}"
    return f"instances[{fault['instance']}]{field} {fault['problem']}."
