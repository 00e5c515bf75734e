"""Schema: what a user declares about the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from counterset._base.checks import check_list, check_mapping
from counterset.exceptions import InvalidInputError

__all__ = ["Kind", "Schema"]

#: What a feature can be declared as.
Kind: TypeAlias = Literal["continuous", "integer", "ordinal", "categorical", "binary"]


@dataclass(frozen=True)
class Schema:
    """What a user declares about the features; the rest is found from the dtypes.

    A column is named by its label, or by its label as text: 3 or "3".

    Without a declaration, floats and times are continuous, whole numbers integer, booleans
    binary, ordered categories ordinal, and all else (text, categories) categorical.

    Parameters
    ----------
    continuous, integer, categorical, binary
        Names of features of that kind.
    ordinal
        From names to their values, from least to most; None: in the order of the dtype.
    one_hot
        From a name for the group to the names of its columns: they are one category.

    Examples
    --------
    >>> Schema(ordinal={"savings": ["<100", "100-500", ">500"]}, categorical=["zip"])
    Schema(ordinal={'savings': ['<100', '100-500', '>500']}, categorical=['zip'])
    """

    ordinal: Mapping[Any, Sequence[Any] | None] = field(default_factory=dict)
    categorical: Sequence[Any] = ()
    continuous: Sequence[Any] = ()
    integer: Sequence[Any] = ()
    binary: Sequence[Any] = ()
    one_hot: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in ("categorical", "continuous", "integer", "binary"):
            check_list(getattr(self, kind), kind)
        check_mapping(self.ordinal, "ordinal", "lists of values")
        for name, values in self.ordinal.items():
            if values is not None:  # the order of the dtype
                check_list(values, f"ordinal[{name!r}]", "values from least to most")
        check_mapping(self.one_hot, "one_hot", "lists of columns")
        for group, columns in self.one_hot.items():
            check_list(columns, f"one_hot[{group!r}]", "columns")
            if not isinstance(group, str):
                raise InvalidInputError(f"one_hot takes texts as names of groups, got {group!r}.")
        names = [str(name) for name in self.declared]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidInputError(f"The schema declares {twice} more than once.")

    def __repr__(self) -> str:
        declared = ((each.name, getattr(self, each.name)) for each in fields(self))
        return f"Schema({', '.join(f'{name}={value!r}' for name, value in declared if len(value))})"

    @property
    def declared(self) -> list[Any]:
        """The names of all declared columns."""
        names = [*self.ordinal, *self.categorical, *self.continuous, *self.integer, *self.binary]
        return names + [column for columns in self.one_hot.values() for column in columns]

    def kind_of(self, name: str) -> Kind | None:
        """Return the declared kind of a column, None if the user declared none."""
        kinds: tuple[Kind, ...] = ("ordinal", "categorical", "continuous", "integer", "binary")
        return next((kind for kind in kinds if name in getattr(self, kind)), None)
