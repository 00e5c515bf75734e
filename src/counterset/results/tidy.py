"""Tidy tables: one row per counterfactual, indexed by the input's index and the rank."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Labels, Matrix, Vector
from counterset.tables.frames import to_pandas
from counterset.tables.table import Table

__all__ = ["free_name", "tidy_frame", "tidy_table"]


def tidy_table(
    table: Table,
    index: pd.Index,
    counts: Counts,
    matrix: Matrix,
    labels: Labels,
    distances: Vector,
) -> Any:
    """Return one row per counterfactual, in the container of the training data.

    Parameters
    ----------
    table
        The columns.
    index, counts
        The inputs' index, and how many counterfactuals each has.
    matrix, labels, distances
        The counterfactuals of all inputs, with their labels and distances.
    """
    frame, container = tidy_frame(table, index, counts, matrix, labels, distances), table.container
    if container is None:
        return frame
    levels = {
        f"input_{at}" if name is None else str(name): frame.index.get_level_values(at)
        for at, name in enumerate(frame.index.names)
    }
    figures = dict(zip(frame.columns[-2:], (labels, distances), strict=True))
    return container.labelled(table.decode(matrix), levels, figures)


def tidy_frame(
    table: Table,
    index: pd.Index,
    counts: Counts,
    matrix: Matrix,
    labels: Labels,
    distances: Vector,
) -> pd.DataFrame:
    """Return one row per counterfactual as a pandas frame; parameters as for ``tidy_table``."""
    rows = to_pandas(table.decode(matrix), "The table")
    frame = pd.DataFrame(rows) if isinstance(rows, np.ndarray) else rows
    frame.columns = table.columns
    more = [""] * (frame.columns.nlevels - 1)
    for told, values in (("label", labels), ("distance", distances)):
        name = free_name(told, frame.columns)
        frame[(name, *more) if more else name] = values
    owners = np.repeat(np.arange(len(counts)), counts)
    firsts = counts.cumsum() - counts
    owned = index[owners]
    names: list[Any] = []
    for name in ["input"] if owned.names == [None] else owned.names:
        taken = [*frame.columns, *names]
        names.append(None if name is None else free_name(name, taken, "input"))
    levels = [owned.get_level_values(i) for i in range(owned.nlevels)]
    frame.index = pd.MultiIndex.from_arrays(
        [*levels, np.arange(len(owners)) - firsts[owners] + 1],
        names=[*names, free_name("rank", [*frame.columns, *names])],
    )
    return frame


def free_name(name: Any, taken: Collection[Any], prefix: str = "counterfactual") -> Any:
    """Return a name, with a prefix if it is taken."""
    while name in taken:
        name = f"{prefix}_{name}"
    return name
