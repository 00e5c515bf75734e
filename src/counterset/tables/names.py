"""Names of columns: a column is found by its label, or by its label as text."""

from __future__ import annotations

from typing import Any

import pandas as pd

from counterset.exceptions import InvalidInputError

__all__ = ["find_name", "positions_by_name"]


def positions_by_name(columns: pd.Index) -> dict[Any, int]:
    """Return the position of each column, by its label and by its label as text.

    Columns that are the same as text are refused: a name could not tell them apart.

    Examples
    --------
    >>> positions_by_name(pd.Index(["age", 1]))
    {'age': 0, '1': 1, 1: 1}
    """
    by_text: dict[str, int] = {}
    for position, label in enumerate(columns):
        other = by_text.setdefault(str(label), position)
        if other != position:
            raise InvalidInputError(
                f"The columns {columns[other]!r} and {label!r} have the same name as text, so that "
                f"a name cannot tell them apart. Rename one of them."
            )
    return by_text | {label: position for position, label in enumerate(columns)}


def find_name(name: Any, positions: dict[Any, int]) -> int | None:
    """Return the position that a name has, None if it has none."""
    try:
        return positions.get(name)
    except TypeError:  # a list, say, is no name
        return None
