"""Readable rows: which of the rows that people pick from can be read, and what the others have.

A file of cases may hold a value that the training data does not have, a text among numbers, or an
empty cell. Such a row is left out, and named; the others are served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Matrix, Vector, to_python
from counterset.exceptions import CountersetError
from counterset.models.adapter import ModelAdapter
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.table import Table

__all__ = ["Fault", "ReadableRows"]

#: Of a value or of an error, a message repeats the first 100 letters.
LONGEST = 100


@dataclass(frozen=True)
class Fault:
    """Why a row cannot be read.

    Attributes
    ----------
    position
        That of the row.
    number
        Its index, as text.
    problem
        What is wrong, without a point: "home is 'boat', which the training data does not have".
    """

    position: int
    number: str
    problem: str


@dataclass(frozen=True, eq=False)
class ReadableRows:
    """Rows as codes, as far as they can be read.

    Attributes
    ----------
    matrix
        The codes of the readable rows, ``(n, d)``.
    labels
        The model's labels of them, ``(n,)``.
    positions
        Where they stand among all rows, ``(n,)``.
    faults
        The other rows, in their order.

    Examples
    --------
    >>> table, _ = Table.learn(pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]}))
    >>> rows = pd.DataFrame({"age": [40, 41], "home": ["boat", "own"]})
    >>> found = ReadableRows.of(rows, table, lambda rows: rows["age"] > 40)
    >>> found.positions.tolist(), found.labels.tolist()
    ([1], [True])
    >>> found.faults[0].problem
    "home is 'boat', which the training data does not have"
    """

    matrix: Matrix
    labels: Labels
    positions: Indices
    faults: tuple[Fault, ...]

    @classmethod
    def of(cls, rows: pd.DataFrame, table: Table, model: Any) -> ReadableRows:
        """Read rows, and ask the model about those that can be read."""
        if {*rows.columns} != {*table.columns}:
            table.encode(rows.iloc[:1])  # says which columns are missing
        rows = rows[list(table.columns)]
        problems: dict[int, str] = {}
        columns = []
        for feature in table.features:
            codes, wrong = _read(rows, feature)
            columns.append(codes)
            for at in wrong:
                problems.setdefault(at, _problem(feature, rows, at))
        matrix = np.column_stack(columns)
        fine = np.array([at for at in range(len(rows)) if at not in problems], dtype=np.intp)
        labels, failed = _without_faults(
            lambda which: ModelAdapter(model, table).labels(matrix[fine[which]]), len(fine)
        )
        problems |= {int(fine[at]): f"the model fails on it ({why})" for at, why in failed.items()}
        positions = np.delete(fine, list(failed))
        faults = tuple(
            Fault(at, str(to_python(rows.index[at])), problems[at]) for at in sorted(problems)
        )
        return cls(matrix[positions], labels, positions, faults)

    def sentences(self, most: int) -> list[str]:
        """Return what is wrong with the first rows that cannot be read."""
        return [f"Row {each.number}: {each.problem}." for each in self.faults[:most]]


def _read(rows: pd.DataFrame, feature: Feature) -> tuple[Vector, list[int]]:
    """Return the codes of a feature, and the positions of the cells that it cannot read."""
    own = rows.iloc[:, list(feature.columns)]
    if isinstance(feature, Number):
        own = own.apply(_as_numbers)
    # A feature reads its columns by their positions: all others stay away.
    spread = rows.copy()
    for at, column in zip(feature.columns, own.columns, strict=True):
        spread.isetitem(at, own[column].array)
    codes = np.full(len(rows), np.nan)
    read, wrong = _without_faults(lambda which: feature.encode(spread.iloc[which], "X"), len(rows))
    codes[[at for at in range(len(rows)) if at not in wrong]] = read
    return codes, list(wrong)


def _as_numbers(column: pd.Series) -> pd.Series:
    """Return a column in which one text made all numbers texts: as numbers, where they are some."""
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return column
    numbers = pd.to_numeric(column, errors="coerce")
    return (
        numbers
        if (numbers.notna() | column.isna()).all()
        else numbers.where(numbers.notna(), column)
    )


def _without_faults(read: Callable[[Indices], Any], count: int) -> tuple[Any, dict[int, str]]:
    """Read as many rows as can be read; return what was read, and why the others were not.

    Rows are read together; where that fails, half of them are read at a time.

    Parameters
    ----------
    read
        Returns an array for the rows at some positions.
    count
        How many rows there are.
    """
    parts, faults = [], dict[int, str]()
    for which, found in _halves(read, np.arange(count)):
        if isinstance(found, Exception):
            faults[int(which[0])] = _shortened(str(found))
        else:
            parts.append(found)
    return np.concatenate(parts) if parts else np.empty(0), faults


def _halves(read: Callable[[Indices], Any], which: Indices) -> Iterator[tuple[Indices, Any]]:
    """Yield positions and what was read there, or one position and the error."""
    if not len(which):
        return
    try:
        yield which, read(which)
    except (CountersetError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        if len(which) == 1:
            yield which, error
            return
        middle = len(which) // 2
        yield from _halves(read, which[:middle])
        yield from _halves(read, which[middle:])


def _problem(feature: Feature, rows: pd.DataFrame, at: int) -> str:
    """Return what is wrong with a cell, in words."""
    cells = rows.iloc[at, list(feature.columns)]
    cell = to_python(cells.iloc[0])
    if pd.isna(cells).any():
        return f"{feature.name} is empty"
    if len(cells) > 1:
        return f"{feature.name} has values that the training data does not have"
    got = _shortened(repr(cell))
    if feature.values is not None:
        return f"{feature.name} is {got}, which the training data does not have"
    return f"{feature.name} is {got}, which is not a value that it can have"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
