"""Schema: what a user declares about the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import pandas as pd

from counterset._base.checks import check_at_least, check_list, check_mapping, check_number
from counterset.exceptions import InvalidInputError
from counterset.tables.wording import Unit, check_texts, check_unit

__all__ = ["Kind", "Schema", "find_name", "positions_by_name"]

#: What a feature can be declared as.
Kind: TypeAlias = Literal["continuous", "integer", "ordinal", "categorical", "binary"]


@dataclass(frozen=True)
class Schema:
    """The kinds of the features, their steps, and how people call them.

    Declare what the dtypes do not show; ``fit`` finds the rest. A column is named by its label, or
    by its label as text: 3 or "3".

    Without a declaration, numbers and times are continuous. Numbers that are all whole are integer.
    Booleans and the floats 0 and 1 are binary, ordered categories are ordinal, and all else (text,
    categories) is categorical. Numbers may come as objects, as ``Decimal`` or as text of digits.

    A fitted explainer has the whole schema as ``schema_``, with the kind and the range of each
    feature. Print it to see what was found, or pass it as ``schema=`` to fit on other data with the
    same kinds.

    Parameters
    ----------
    ordinal : mapping of name to list of values, default={}
        The values from least to most; None: in the order of the dtype.
    categorical, continuous, integer, binary : list of names, default=()
        Features of that kind.
    one_hot : mapping of str to list of names, default={}
        From a name for the group to its columns, which are one category.
    step : mapping of name to float, or 0, default={}
        The step in which counterfactuals change a number: with 100, an income becomes 3,200, and
        never 3,213.5. A step that is not declared is learned from the training column. 0 switches
        it off: every number that the dtype holds is possible then, and nothing is learned from the
        values. A single 0 does so for all features.
    special : mapping of name to list of codes, or list of codes, default={}
        Codes that are not numbers, such as -9 for "no record"; a list is for all numbers. Such a
        code is a state of its own, like a missing value: an input keeps it or gets a number, a
        number never becomes a code, and averages and scales ignore it. :meth:`suggest` finds values
        that look like codes.
    labels : mapping of name to str, default={}
        How people call a feature or a one-hot group. Without a label, the column's name is written
        in words: "credit_amount" becomes "credit amount".
    units : mapping of name to str or pair of str, default={}
        The unit of a number: "months", the pair ("month", "months") for one and for several, or a
        pattern such as "${}".
    texts : mapping of name to mapping of value to str, default={}
        The texts of values, such as
        ``{"savings": {"<100": "less than 100 DM", None: "not stated"}}``; None is a missing value.
        Other values are written as they are.

    Attributes
    ----------
    kinds : dict of str to str
        The kind of each feature, in the order of the columns. Empty before ``fit``.
    ranges : dict of str to pair
        The smallest and the largest training value of each number, time and ordinal. Empty before
        ``fit``.

    See Also
    --------
    Constraints : What may change.

    Examples
    --------
    >>> Schema(ordinal={"savings": ["<100", "100-500", ">500"]}, categorical=["zip"])
    Schema(ordinal={'savings': ['<100', '100-500', '>500']}, categorical=['zip'])

    The schema that was learned:

    >>> import pandas as pd
    >>> from counterset import DiverseExplainer
    >>> frame = pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]})
    >>> schema = DiverseExplainer(lambda rows: rows["age"] > 40).fit(frame).schema_
    >>> schema
    2 features
      age   integer      31 to 52, usually 31 to 52, in steps of 1
      home  binary       2 values: 'own', 'rent'
    >>> schema.kinds, schema.ranges
    ({'age': 'integer', 'home': 'binary'}, {'age': (31, 52)})
    """

    ordinal: Mapping[Any, Sequence[Any] | None] = field(default_factory=dict)
    categorical: Sequence[Any] = ()
    continuous: Sequence[Any] = ()
    integer: Sequence[Any] = ()
    binary: Sequence[Any] = ()
    one_hot: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    step: Mapping[Any, float] | Literal[0] = field(default_factory=dict)
    special: Mapping[Any, Sequence[float]] | Sequence[float] = field(default_factory=dict)
    labels: Mapping[Any, str] = field(default_factory=dict)
    units: Mapping[Any, Unit] = field(default_factory=dict)
    texts: Mapping[Any, Mapping[Any, str]] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict, init=False, compare=False)
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict, init=False, compare=False)
    _listing: str = field(default="", init=False, compare=False)

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
                raise InvalidInputError(
                    f"The name of a one-hot group must be a text, got {group!r}. Write "
                    f"one_hot={{'colour': ['red', 'blue']}}."
                )
        if isinstance(self.step, Mapping) or self.step != 0:
            check_mapping(self.step, "step", "numbers (or a single 0)")
        for name, step in self.steps.items():
            check_at_least(step, 0, f"step[{name!r}]")
        if not isinstance(self.special, Mapping):
            _check_codes(self.special, "special")
        for name, codes in self.special_by_name.items():
            _check_codes(codes, f"special[{name!r}]")
        self._check_wording()
        names = [str(name) for name in self.declared]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidInputError(
                f"The schema declares {twice} more than once. Declare each column once."
            )

    def _check_wording(self) -> None:
        """Check labels, units and texts."""
        check_mapping(self.labels, "labels", "texts")
        for name, label in self.labels.items():
            if not isinstance(label, str) or not label.strip():
                raise InvalidInputError(
                    f"labels[{name!r}] must be a text, how people call the feature, got {label!r}. "
                    f"Leave it out to use the column's name."
                )
        check_mapping(self.units, "units", "texts such as 'months'")
        for name, unit in self.units.items():
            check_unit(name, unit)
        check_mapping(self.texts, "texts", "mappings from values to texts")
        for name, texts in self.texts.items():
            check_texts(name, texts)

    def __repr__(self) -> str:
        if self._listing:
            return self._listing
        declared = ((each.name, getattr(self, each.name)) for each in fields(self) if each.init)
        shown = [f"{name}={value!r}" for name, value in declared if value == 0 or len(value)]
        return f"Schema({', '.join(shown)})"

    @property
    def steps(self) -> Mapping[Any, float]:
        """The declared steps by name; none if a single 0 stands for all."""
        return self.step if isinstance(self.step, Mapping) else {}

    @property
    def special_by_name(self) -> Mapping[Any, Sequence[float]]:
        """The special codes that are declared by name; none if one list is for all numbers."""
        return self.special if isinstance(self.special, Mapping) else {}

    def special_of(self, name: Any) -> tuple[float, ...]:
        """Return the codes that are declared for a column of numbers."""
        if isinstance(self.special, Mapping):
            return tuple(self.special.get(name, ()))
        return tuple(self.special)

    @classmethod
    def suggest(cls, X: Any) -> Schema:
        """Return a schema that declares values which look like codes; print it and paste the line.

        Such values are repeated, and lie far from all others, such as 98 in a count of delays or
        -9 among numbers from 0 on. Whether they are codes is for people to say.

        Parameters
        ----------
        X
            The training rows.

        Examples
        --------
        >>> import pandas as pd
        >>> delays = [0] * 20 + [1, 2, 3] * 5 + [96, 98] * 3
        >>> Schema.suggest(pd.DataFrame({"delays": delays, "age": range(20, 61)}))
        Schema(special={'delays': [96, 98]})
        """
        from counterset.tables.codes import suggest_schema  # noqa: PLC0415 - it imports this module

        return suggest_schema(X)

    def with_learned(
        self,
        kinds: Mapping[str, Kind],
        ranges: Mapping[str, tuple[Any, Any]],
        contents: Mapping[str, str],
    ) -> Schema:
        """Return the schema with what training data shows.

        Parameters
        ----------
        kinds, ranges
            See the attributes.
        contents
            A line about each feature, for the repr.
        """
        width = max(map(len, contents))
        lines = [f"  {name:<{width}}  {content}" for name, content in contents.items()]
        learned = replace(self)
        object.__setattr__(learned, "kinds", dict(kinds))
        object.__setattr__(learned, "ranges", dict(ranges))
        object.__setattr__(learned, "_listing", "\n".join([f"{len(contents)} features", *lines]))
        return learned

    def without_steps(self) -> Schema:
        """Return the schema with a step of 0 for all features, unless it declares steps."""
        return self if self.step else replace(self, step=0)

    def without_wording(self) -> Schema:
        """Return the schema without labels, units and texts."""
        return replace(self, labels={}, units={}, texts={})

    @property
    def declared(self) -> list[Any]:
        """The names of all columns whose kind is declared."""
        names = [*self.ordinal, *self.categorical, *self.continuous, *self.integer, *self.binary]
        return names + [column for columns in self.one_hot.values() for column in columns]

    def kind_of(self, name: str) -> Kind | None:
        """Return the declared kind of a column, None if the user declared none."""
        kinds: tuple[Kind, ...] = ("ordinal", "categorical", "continuous", "integer", "binary")
        return next((kind for kind in kinds if name in getattr(self, kind)), None)


def _check_codes(codes: Any, name: str) -> None:
    check_list(codes, name, "codes")
    for code in codes:
        check_number(code, f"A code in {name}")


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
