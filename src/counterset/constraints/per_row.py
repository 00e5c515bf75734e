"""Constraints per row: one for all rows, one for each, or a function of the row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset._base.arrays import Indices
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.tables.frames import Rows, rows_of

__all__ = [
    "Group",
    "RowConstraints",
    "check_per_row",
    "constraints_of_rows",
    "group_rows",
    "is_per_row",
]

#: What may change: for all rows, for each of them, or as a function of the row. None stands for
#: the explainer's own constraints.
RowConstraints: TypeAlias = (
    Constraints
    | Sequence[Constraints | None]
    | pd.Series
    | NDArray[Any]
    | Callable[[Any], Constraints | None]
    | None
)

_TAKES = (
    "constraints must be Constraints, a list of them, one for each row (None: the explainer's "
    "own), a function from a row to them, or None"
)


@dataclass(frozen=True)
class Group:
    """Rows with equal constraints.

    Attributes
    ----------
    constraints
        Their constraints; None: there are none.
    members
        The positions of the rows, ascending.
    """

    constraints: Constraints | None
    members: Indices


def is_per_row(given: Any) -> bool:
    """Whether constraints are given for each row, by a function or one by one.

    Examples
    --------
    >>> is_per_row(Constraints()), is_per_row([Constraints()]), is_per_row(lambda row: None)
    (False, True, True)
    """
    return given is not None and not isinstance(given, Constraints)


def check_per_row(given: Any, index: pd.Index) -> None:
    """Check constraints that are given for each row of a table with this index."""
    if _is_function(given):
        return
    if isinstance(given, str | Mapping | Iterator | type) or not isinstance(given, Collection):
        raise InvalidInputError(f"{_TAKES}, got {given!r}.")
    if len(given) != len(index):
        raise InvalidInputError(
            f"There are constraints for {len(given)} rows, but X has {len(index)}. Pass one for "
            f"each row."
        )
    if isinstance(given, pd.Series) and not given.index.equals(index):
        raise InvalidInputError(
            "The index of the constraints is not that of X, so it is not clear which row has "
            "which. Pass constraints.loc[X.index], or constraints.tolist() for the order of rows."
        )


def constraints_of_rows(
    given: Any, rows: Callable[[], Rows], which: Indices
) -> list[Constraints | None]:
    """Return the constraints of some rows, which are given for each row and checked.

    Parameters
    ----------
    given
        A function of the row, or the constraints of all rows.
    rows
        Returns the rows in question, as a table; a function is called with each of them.
    which
        Their positions among all rows.
    """
    if _is_function(given):
        return [
            _checked(_call(given, row, i), f"The function constraints, for row {i},")
            for i, row in zip(which.tolist(), rows_of(rows()), strict=True)
        ]
    listed = list(given)
    return [_checked(listed[i], f"The list of constraints, in row {i},") for i in which]


def group_rows(constraints: Sequence[Constraints | None]) -> list[Group]:
    """Put rows with equal constraints together, in the order in which they appear.

    Examples
    --------
    >>> young, old = Constraints(immutable=["sex"]), Constraints(immutable=["sex", "age"])
    >>> [group.members.tolist() for group in group_rows([young, old, young])]
    [[0, 2], [1]]
    """
    members: dict[Hashable, list[int]] = {}
    for i, each in enumerate(constraints):
        members.setdefault(_key(each), []).append(i)
    return [Group(constraints[rows[0]], np.array(rows, dtype=np.intp)) for rows in members.values()]


def _is_function(given: Any) -> bool:
    return callable(given) and not isinstance(given, type)


def _call(function: Callable[[Any], Any], row: Any, i: int) -> Any:
    try:
        return function(row)
    except Exception as error:
        raise InvalidInputError(
            f"The function constraints raised {type(error).__name__} for row {i}: {error}."
        ) from error


def _checked(value: Any, where: str) -> Constraints | None:
    """Return constraints; None where they are missing."""
    if isinstance(value, Constraints):
        return value
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    raise InvalidInputError(f"{where} gives {value!r}. {_TAKES}.")


def _key(constraints: Constraints | None) -> Hashable:
    """Return what is equal for constraints that lead to the same rules in the same order.

    Constraints that are equal, but list features in another order, have another key: they are
    explained apart, with the same results. So do those with values that cannot be compared.
    """
    if constraints is None:
        return None
    key = tuple(_frozen(getattr(constraints, each.name)) for each in fields(constraints))
    try:
        hash(key)
    except TypeError:
        return id(constraints)
    return key


def _frozen(value: Any) -> Any:
    """Return a value with its type, and collections as tuples in their order."""
    if isinstance(value, Mapping):
        return tuple((_frozen(name), _frozen(each)) for name, each in value.items())
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return type(value), tuple(map(_frozen, value))
    return type(value), value
