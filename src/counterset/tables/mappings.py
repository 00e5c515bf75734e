"""Mappings as rows: each goes from columns to values, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset.exceptions import InvalidInputError
from counterset.tables.names import find_name, positions_by_name

__all__ = ["are_mappings", "cells_of", "frame_of"]


def are_mappings(X: Any) -> bool:
    """Whether this is a list of mappings from columns to values, one for each row.

    Examples
    --------
    >>> are_mappings([{"age": 31}, {"age": 52}]), are_mappings([[31], [52]])
    (True, False)
    """
    return isinstance(X, list | tuple) and any(isinstance(each, Mapping) for each in X[:1])


def frame_of(mappings: Sequence[Any], what: str) -> pd.DataFrame:
    """Return mappings as a frame, with the columns of the first.

    Parameters
    ----------
    what
        How messages name the table.

    Examples
    --------
    >>> frame_of([{"age": 31, "home": "rent"}, {"home": "own", "age": 52}], "X")
       age  home
    0   31  rent
    1   52   own
    """
    columns = pd.Index(list(mappings[0]), dtype=object)
    cells_of(mappings, columns, what, "those of the first row")  # checks the keys
    return pd.DataFrame(list(mappings))


def cells_of(
    mappings: Sequence[Any], columns: pd.Index, what: str, told: str = "the columns fitted on"
) -> NDArray[Any]:
    """Return the values of mappings as an array of objects, in the order of the columns.

    Parameters
    ----------
    what, told
        How messages name the table, and its columns.

    Examples
    --------
    >>> cells_of([{"home": "own", "age": 52}], pd.Index(["age", "home"]), "x")
    array([[52, 'own']], dtype=object)
    """
    positions = positions_by_name(columns)
    cells = np.empty((len(mappings), len(columns)), dtype=object)
    for row, values in enumerate(mappings):
        where = what if len(mappings) == 1 else f"row {row}"
        if not isinstance(values, Mapping):
            raise InvalidInputError(
                f"In a list of mappings each row is a mapping from columns to values, but {where} "
                f"is a {type(values).__name__}."
            )
        found = {name: find_name(name, positions) for name in values}
        missing = [name for at, name in enumerate(columns) if at not in found.values()]
        extra = [name for name, at in found.items() if at is None]
        if missing or extra or len(found) != len(columns):
            raise InvalidInputError(
                f"The keys of {where} differ from {told}: missing {missing}, extra {extra}. "
                f"Pass each column once."
            )
        for name, at in found.items():
            cells[row, at] = values[name]
    return cells
