"""Constraints: what a counterfactual may change, as users write it.

Constraints hold for every counterfactual that is returned. A candidate that breaks them is first
moved to where they hold, and kept if its class is still another than the input's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset._base.arrays import Indices, Matrix
from counterset._base.checks import check_list, check_mapping
from counterset.constraints.conditions import parse_condition
from counterset.constraints.relations import parse_relations
from counterset.constraints.rules import (
    Allowed,
    Fixed,
    Forbidden,
    InRange,
    MovesAtMost,
    NothingLost,
    OneWay,
    Rule,
    Rules,
    Together,
)
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature
from counterset.tables.frames import Rows, rows_of
from counterset.tables.table import Table

__all__ = [
    "Constraints",
    "Group",
    "RowConstraints",
    "check_per_row",
    "constraints_of_rows",
    "group_rows",
    "is_per_row",
]


class HasDirections(Protocol):
    """An explainer that knows in which direction features usually help."""

    @property
    def constraints(self) -> Constraints | None:
        """The explainer's own constraints."""
        ...

    def directions(self, target: Any = None) -> pd.DataFrame:
        """Return one row for each feature, with ``direction`` and ``supported``."""
        ...


@dataclass(frozen=True)
class Constraints:
    """What a counterfactual may change, and how.

    Every parameter is optional. A feature is named as its column, by its label or by its label as
    text; a one-hot group by its name.

    Parameters
    ----------
    immutable : list of names, default=()
        Features that stay as they are.
    increase_only, decrease_only : list of names, default=()
        Features that may only rise, or only fall (for an ordinal: in its order).
    ranges : mapping of name to pair, default={}
        The least and the most value; None for an open end.
    max_increase, max_decrease : mapping of name to number, default={}
        How much more, or less, than the input's own value is possible.
    allowed : mapping of name to list of values, default={}
        The only values that a feature may take.
    relations : list of str, default=()
        Linear relations between numeric features, such as ``"years_employed <= age - 16"``. Write a
        name that is not a Python name in backticks: ``"`hours-per-week` <= 60"``. An inequality is
        kept without any tolerance. Only where the input itself breaks it by rounding (1e-12 of the
        size of its terms, or the precision of its columns), a counterfactual may break it by as
        much. ``==`` is kept up to that rounding.
    together : list of lists of names, default=()
        Groups of features whose values belong together: they keep the input's values, or take
        values that occur together in a training row.
    forbidden_changes : mapping of name to list of pairs, default={}
        Changes of a category or an ordinal that are not allowed, each as a pair (from, to):
        ``{"status": [("divorced", "single")]}``. None means any other value.
    conditions : list of str, default=()
        What must hold if something else does, such as ``"if purpose == 'education' then
        credit_amount <= 5000"``. Both parts compare a feature with values (``==``, ``!=``, ``in``,
        ``not in``, and ``<``, ``<=``, ``>``, ``>=`` where it has an order), or are relations
        between numbers, joined by ``and``, ``or`` and ``not``.

    See Also
    --------
    Schema : The kinds, names, units and steps of features.
    NearData : Keep counterfactuals near training rows.

    Examples
    --------
    >>> Constraints(immutable=["age", "sex"], ranges={"duration": (6, 48)})
    Constraints(immutable=['age', 'sex'], ranges={'duration': (6, 48)})
    >>> Constraints(conditions=["if purpose == 'education' then duration >= 12"])
    Constraints(conditions=["if purpose == 'education' then duration >= 12"])
    """

    immutable: Collection[Any] = ()
    increase_only: Collection[Any] = ()
    decrease_only: Collection[Any] = ()
    ranges: Mapping[Any, tuple[Any, Any]] = field(default_factory=dict)
    max_increase: Mapping[Any, Any] = field(default_factory=dict)
    max_decrease: Mapping[Any, Any] = field(default_factory=dict)
    allowed: Mapping[Any, Collection[Any]] = field(default_factory=dict)
    relations: Sequence[str] = ()
    together: Sequence[Sequence[Any]] = ()
    forbidden_changes: Mapping[Any, Collection[Sequence[Any]]] = field(default_factory=dict)
    conditions: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("immutable", "increase_only", "decrease_only"):
            check_list(getattr(self, name), name)
        check_mapping(self.ranges, "ranges", "two values (least, most)")
        check_mapping(self.max_increase, "max_increase", "amounts")
        check_mapping(self.max_decrease, "max_decrease", "amounts")
        check_mapping(self.allowed, "allowed", "lists of values")
        for feature, values in self.allowed.items():
            check_list(values, f"allowed[{feature!r}]", "values")
        _check_texts(self.relations, "relation", "'years_employed <= age - 16'")
        _check_texts(self.conditions, "condition", "'if age < 18 then income == 0'")
        check_list(self.together, "together", "groups")
        for names in self.together:
            if isinstance(names, str) or not isinstance(names, Collection) or not len(names):
                raise InvalidInputError(
                    f"together takes groups, each a list of names, got {names!r}. Write "
                    f"together=[['a', 'b']]."
                )
        check_mapping(self.forbidden_changes, "forbidden_changes", "lists of pairs (from, to)")
        for feature, pairs in self.forbidden_changes.items():
            check_list(pairs, f"forbidden_changes[{feature!r}]", "pairs (from, to)")
            for pair in pairs:
                _check_change(pair, feature)

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(self))
        shown = (f"{name}={value!r}" for name, value in given if len(value))
        return f"Constraints({', '.join(shown)})"

    @classmethod
    def suggest(cls, explainer: HasDirections, target: Any = None) -> Constraints:
        """Return the one-way constraints that model and data support; print it, and paste the line.

        A feature is named if people usually had to move it in one direction to get the wanted
        result, and if training rows with that result differ from the others in the same direction:
        see :meth:`DiverseExplainer.directions`. Features that the explainer's own constraints name
        already are left out. Whether such a line is right is for people to say: a model can have
        learned a direction that makes no sense, or one that nobody can take.

        Parameters
        ----------
        explainer : DiverseExplainer
            A fitted explainer.
        target : label or list of labels
            The wanted class.

        Examples
        --------
        >>> from counterset import DiverseExplainer
        >>> X = np.random.default_rng(0).random((300, 2))
        >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5).fit(X)
        >>> Constraints.suggest(explainer, target=True)
        Constraints(increase_only=['x0'])
        """
        found = explainer.directions(target=target)
        own = explainer.constraints or cls()
        known = {*own.immutable, *own.increase_only, *own.decrease_only}
        up, down = (
            [
                name
                for name in found.index[found["supported"] & (found["direction"] == direction)]
                if name not in known
            ]
            for direction in ("up", "down")
        )
        return cls(increase_only=up, decrease_only=down)

    def compile(self, table: Table, matrix: Matrix) -> Rules:
        """Turn the constraints into rules about the columns of a matrix.

        Parameters
        ----------
        table
            The learned features.
        matrix
            The training rows, for the values that occur together.
        """
        rules = [
            *self._known_values(table),
            *(self._allowed(name, table) for name in self.allowed),
            *(self._range(name, table) for name in self.ranges),
            *(self._moves(name, table) for name in {**self.max_increase, **self.max_decrease}),
            *(self._one_way(name, 1, "increase_only", table) for name in self.increase_only),
            *(self._one_way(name, -1, "decrease_only", table) for name in self.decrease_only),
            *(self._forbidden(name, table) for name in self.forbidden_changes),
            *(Fixed(table.position(name), f"immutable {name!r}") for name in self.immutable),
            *(self._together(names, table, matrix) for names in self.together),
            *(relation for text in self.relations for relation in parse_relations(text, table)),
            *(parse_condition(text, table) for text in self.conditions),
        ]
        special = table.without_special if table.has_special else None
        return Rules(tuple(rules), len(table.features), special)

    def _known_values(self, table: Table) -> list[Rule]:
        lost = any(feature.can_be_missing or feature.special for feature in table.features)
        return [NothingLost()] if lost else []

    def _allowed(self, name: Any, table: Table) -> Rule:
        feature = table.features[at := table.position(name)]
        values = self.allowed[name]
        if not len(values):
            raise InvalidInputError(f"allowed[{name!r}] is empty. Name at least one value.")
        codes = np.array([feature.code_of(value) for value in values])
        if not np.isfinite(codes).all():
            raise InvalidInputError(
                f"allowed[{name!r}] takes finite values, got {values!r}. Leave the others out."
            )
        if isinstance(values, Set):  # it has another order in each run
            codes = np.sort(codes)
        # A candidate without a nearest allowed value takes the first, so values that the training
        # data has come first: the model knows them.
        unseen = ~np.isin(codes, codes if feature.seen is None else feature.seen)
        codes = codes[np.argsort(unseen, kind="stable")]
        return Allowed(at, codes, feature.is_category, f"allowed[{name!r}]")

    def _range(self, name: Any, table: Table) -> Rule:
        at = _position_with_order(name, "ranges", table)
        return InRange(at, *_ends(self.ranges[name], table.features[at]), f"ranges[{name!r}]")

    def _moves(self, name: Any, table: Table) -> Rule:
        at = _position_with_order(name, "max_increase and max_decrease", table)
        feature = table.features[at]
        down, up = (
            np.inf if amounts.get(name) is None else feature.amount_of(amounts[name])
            for amounts in (self.max_decrease, self.max_increase)
        )
        given = {"max_increase": self.max_increase, "max_decrease": self.max_decrease}
        text = " and ".join(f"{each}[{name!r}]" for each in given if name in given[each])
        return MovesAtMost(at, down, up, text, feature.float_dtype, feature.grid)

    def _one_way(self, name: Any, sign: int, parameter: str, table: Table) -> Rule:
        return OneWay(_position_with_order(name, parameter, table), sign, f"{parameter} {name!r}")

    def _forbidden(self, name: Any, table: Table) -> Rule:
        feature = table.features[at := table.position(name)]
        if feature.values is None:
            raise InvalidInputError(
                f"forbidden_changes names pairs of values of a category or an ordinal, but "
                f"{name!r} is {feature.kind}. Write conditions=, increase_only=, decrease_only=, "
                f"max_increase= or max_decrease= for it."
            )
        pairs = self.forbidden_changes[name]
        codes = [[np.nan if v is None else feature.code_of(v) for v in pair] for pair in pairs]
        return Forbidden(at, np.array(codes).reshape(-1, 2), f"forbidden_changes[{name!r}]")

    def _together(self, names: Sequence[Any], table: Table, matrix: Matrix) -> Rule:
        members = np.array([table.position(name) for name in names], dtype=np.intp)
        return Together.learn(members, matrix, f"together {list(names)!r}")


def _check_texts(given: Any, what: str, example: str) -> None:
    """Check a list of relations or conditions."""
    check_list(given, f"{what}s", f"texts such as {example}")
    for text in given:
        if not isinstance(text, str):
            raise InvalidInputError(
                f"A {what} is a text such as {example}, got {text!r}. Put it in quotes."
            )


def _check_change(pair: Any, feature: Any) -> None:
    """Check one of the forbidden changes of a feature."""
    named = f"forbidden_changes[{feature!r}]"
    if isinstance(pair, str | Set | Mapping) or not isinstance(pair, Collection) or len(pair) != 2:
        raise InvalidInputError(
            f"{named} takes pairs of values, from and to, got {pair!r}. Write "
            f"forbidden_changes={{'status': [('divorced', 'single')]}}."
        )
    before, after = pair
    if before is None and after is None:
        raise InvalidInputError(
            f"{named} forbids any change. Write immutable=[{feature!r}] for that."
        )
    if before is not None and before == after:
        raise InvalidInputError(
            f"{named} has {before!r} twice in a pair, which is no change. Name another value, or "
            f"None for any other."
        )


def _position_with_order(name: Any, parameter: str, table: Table) -> int:
    """Return the position of a feature, after checking that its values have an order."""
    at = table.position(name)
    if table.features[at].is_category:
        raise InvalidInputError(
            f"{parameter} needs a feature with an order, but {name!r} is "
            f"{table.features[at].kind}. Declare its order with Schema(ordinal=...)."
        )
    return at


def _ends(ends: Any, feature: Feature) -> tuple[float, float, float, float]:
    """Return the codes of a range's ends, and the first and last one that counterfactuals take."""
    what = f"ranges[{feature.name!r}]"
    try:
        least, most = [ends] if isinstance(ends, str) else ends
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} must be two values (least, most), None for an open end, got {ends!r}. Write "
            f"(6, 48) or (6, None)."
        ) from None
    low = -np.inf if least is None else feature.code_of(least)
    high = np.inf if most is None else feature.code_of(most)
    if low > high or low == np.inf or high == -np.inf:
        raise InvalidInputError(
            f"{what} is empty: the least, {least!r}, is above the most, {most!r}. Swap them."
        )
    first, last = feature.ends(low, high)
    if first > last:
        raise InvalidInputError(
            f"{what} from {least!r} to {most!r} holds no value that the feature can take. It is "
            f"{feature}."
        )
    return low, high, first, last


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
            f"The function constraints raised {type(error).__name__} for row {i}: {error}. It is "
            f"called with each row, as the training data has it."
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
