"""Tidy tables: one row per counterfactual, indexed by the input's index and the rank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Counts, Indices, Labels, Matrix, Vector
from counterset.tables.frames import to_pandas
from counterset.tables.table import Table

__all__ = ["Tidy", "found_frame", "free_name", "with_missing"]


@dataclass(frozen=True, eq=False)
class Tidy:
    """One row per counterfactual; one for an input that has none, where all but it is missing.

    Attributes
    ----------
    table
        The columns.
    index, counts, status
        The inputs' index, how many counterfactuals each has, and its status.
    matrix, labels, distances
        The counterfactuals of all inputs, with their labels and distances.
    """

    table: Table
    index: pd.Index
    counts: Counts
    status: Sequence[str]
    matrix: Matrix
    labels: Labels
    distances: Vector

    def native(self) -> Any:
        """Return the table in the container of the training data."""
        frame, container = self.frame(), self.table.container
        if container is None:
            return frame
        levels = {
            f"input_{at}" if name is None else str(name): frame.index.get_level_values(at)
            for at, name in enumerate(frame.index.names)
        }
        *_, label, distance, status = frame.columns
        return container.labelled(
            self.table.decode(self.matrix),
            self._positions,
            before=levels,
            figures={label: self.labels, distance: self.distances},
            after={status: frame[status]},
        )

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas frame."""
        frame = found_frame(self.table, self.matrix, self.labels, self.distances)
        ranks: Any = self._ranks
        if (self._positions < 0).any():
            dtypes = {name: with_missing(dtype) for name, dtype in frame.dtypes.items()}
            # There is no row -1: all of it is missing.
            frame = frame.astype(dtypes).reindex(self._positions)
            ranks = pd.array(np.where(ranks > 0, ranks, 0), dtype="Int64")
            ranks[self._positions < 0] = pd.NA
        frame[_column_name("status", frame)] = np.array(self.status, dtype=object)[self._owners]
        owned = self.index[self._owners]
        names: list[Any] = []
        for name in ["input"] if owned.names == [None] else owned.names:
            taken = [*frame.columns, *names]
            names.append(None if name is None else free_name(name, taken, "input"))
        levels = [owned.get_level_values(i) for i in range(owned.nlevels)]
        frame.index = pd.MultiIndex.from_arrays(
            [*levels, ranks], names=[*names, free_name("rank", [*frame.columns, *names])]
        )
        return frame

    @property
    def _owners(self) -> Indices:
        """The input that each row belongs to."""
        return np.repeat(np.arange(len(self.counts)), np.maximum(self.counts, 1))

    @property
    def _ranks(self) -> Indices:
        """The rank of each row among those of its input; 0 if there is no counterfactual."""
        lengths = np.maximum(self.counts, 1)
        firsts = lengths.cumsum() - lengths
        ranks: Indices = np.arange(len(self._owners)) - firsts[self._owners] + 1
        return np.where(self.counts[self._owners] > 0, ranks, 0)

    @property
    def _positions(self) -> Indices:
        """The counterfactual of each row; -1 if there is none."""
        firsts = self.counts.cumsum() - self.counts
        return np.where(self._ranks > 0, firsts[self._owners] + self._ranks - 1, -1)


def found_frame(table: Table, matrix: Matrix, labels: Labels, distances: Vector) -> pd.DataFrame:
    """Return counterfactuals as a pandas frame: the features, the label and the distance."""
    rows = to_pandas(table.decode(matrix), "The table")
    frame = pd.DataFrame(rows) if isinstance(rows, np.ndarray) else rows
    frame.columns = table.columns
    for name, values in (("label", labels), ("distance", distances)):
        frame[_column_name(name, frame)] = values
    return frame


def _column_name(name: str, frame: pd.DataFrame) -> Any:
    """Return a free name for a column, with empty texts for further levels."""
    more = [""] * (frame.columns.nlevels - 1)
    free = free_name(name, frame.columns)
    return (free, *more) if more else free


def with_missing(dtype: Any) -> Any:
    """Return the dtype that has the same values, and can miss some.

    Examples
    --------
    >>> with_missing(np.dtype("uint8")), with_missing(np.dtype(float))
    (UInt8Dtype(), dtype('float64'))
    """
    if isinstance(dtype, np.dtype) and dtype.kind == "b":
        return pd.BooleanDtype()
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return types.pandas_dtype(f"{'U' * (dtype.kind == 'u')}Int{8 * dtype.itemsize}")
    return dtype


def free_name(name: Any, taken: Collection[Any], prefix: str = "counterfactual") -> Any:
    """Return a name, with a prefix if it is taken."""
    while name in taken:
        name = f"{prefix}_{name}"
    return name
