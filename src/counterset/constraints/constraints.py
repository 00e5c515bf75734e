"""What may change: constraints as users write them.

They hold for every counterfactual that is returned. A candidate that breaks them is first moved
onto them, and kept if the model still decides otherwise there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from counterset._base.arrays import Codes, Mask, Matrix
from counterset.constraints.relations import parse_relations
from counterset.constraints.rules import (
    Allowed,
    Fixed,
    NothingLost,
    OneWay,
    Rule,
    Together,
    Within,
    WithinReach,
)
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table

__all__ = ["Constraints", "Rules"]


@dataclass(frozen=True)
class Constraints:
    """What a counterfactual may change, and how.

    Every parameter is optional. A feature is named as its column; a one-hot group by its name.

    Parameters
    ----------
    immutable
        Features that stay as they are.
    increase_only, decrease_only
        Features that may only rise, or only fall (for an ordinal: in its order).
    ranges
        From features to (least, most); None for an open end.
    max_increase, max_decrease
        From features to how much more, or less, than the input's own value is possible.
    allowed
        From features to the only values they may take.
    relations
        Linear relations between numeric features, such as ``"years_employed <= age - 16"``. A
        name that is not a Python name stands in backticks: ``"`hours-per-week` <= 60"``.
    together
        Groups of features that change together: they keep the input's values, or take values that
        occur together in a training row.

    Examples
    --------
    >>> Constraints(immutable=["age", "sex"], ranges={"duration": (6, 48)})
    Constraints(immutable=['age', 'sex'], ranges={'duration': (6, 48)})
    """

    immutable: Sequence[str] = ()
    increase_only: Sequence[str] = ()
    decrease_only: Sequence[str] = ()
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    max_increase: Mapping[str, Any] = field(default_factory=dict)
    max_decrease: Mapping[str, Any] = field(default_factory=dict)
    allowed: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    relations: Sequence[str] = ()
    together: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            if isinstance(getattr(self, each.name), str):
                raise InvalidInputError(
                    f"{each.name} takes a list of names, got the text "
                    f"{getattr(self, each.name)!r}. Put it in brackets."
                )
        for name, values in self.allowed.items():
            if isinstance(values, str):
                raise InvalidInputError(
                    f"allowed[{name!r}] takes a list of values, got the text {values!r}. Put it in "
                    f"brackets."
                )
        for names in self.together:
            if isinstance(names, str):
                raise InvalidInputError(
                    f"together takes groups, each a list of names, got {names!r}. Write "
                    f"together=[['a', 'b']]."
                )

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(self))
        return f"Constraints({', '.join(f'{name}={value!r}' for name, value in given if value)})"

    def compile(self, table: Table, matrix: Matrix) -> Rules:
        """Turn the constraints into rules about the columns of a matrix.

        Parameters
        ----------
        table
            The learned features.
        matrix
            The training rows; values that go together are looked up there.
        """
        rules: list[Rule] = []
        if any(feature.can_be_missing for feature in table.features):
            rules.append(NothingLost())
        for name, values in self.allowed.items():
            feature = table.features[at := table.position(name)]
            if not values:
                raise InvalidInputError(f"allowed[{name!r}] is empty. Name at least one value.")
            codes = np.array([feature.code_of(value) for value in values])
            # What serves where nothing is nearest is better something that the model knows.
            unseen = ~np.isin(codes, codes if feature.seen is None else feature.seen)
            codes = codes[np.argsort(unseen, kind="stable")]
            rules.append(Allowed(at, codes, feature.is_category, f"allowed[{name!r}]"))
        for name, ends in self.ranges.items():
            at = self._number(table, name, "ranges")
            low, high = _ends(ends, table.features[at])
            rules.append(Within(at, low, high, f"ranges[{name!r}]"))
        for name in dict.fromkeys([*self.max_increase, *self.max_decrease]):
            at = self._number(table, name, "max_increase and max_decrease")
            down, up = (
                np.inf if limits.get(name) is None else table.features[at].amount_of(limits[name])
                for limits in (self.max_decrease, self.max_increase)
            )
            rules.append(WithinReach(at, down, up, f"the most that {name!r} may change"))
        for names, sign, parameter in (
            (self.increase_only, 1, "increase_only"),
            (self.decrease_only, -1, "decrease_only"),
        ):
            for name in names:
                at = self._number(table, name, parameter)
                rules.append(OneWay(at, sign, f"{parameter} {name!r}"))
        rules += [Fixed(table.position(name), f"immutable {name!r}") for name in self.immutable]
        for names in self.together:
            members = np.array([table.position(name) for name in names], dtype=np.intp)
            rules.append(Together.learn(members, matrix, f"together {list(names)!r}"))
        for text in self.relations:
            rules += parse_relations(text, table)
        return Rules(tuple(rules), len(table.features))

    def _number(self, table: Table, name: str, parameter: str) -> int:
        at = table.position(name)
        if table.features[at].is_category:
            raise InvalidInputError(
                f"{parameter} needs a feature with an order, but {name!r} is "
                f"{table.features[at].kind}. Declare its order with Schema(ordinal=...)."
            )
        return at


@dataclass(frozen=True)
class Rules:
    """Constraints on the columns of a matrix, in the order in which they are applied."""

    rules: tuple[Rule, ...]
    n_features: int

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def fixed(self) -> Mask:
        """Which features never change."""
        fixed = np.zeros(self.n_features, dtype=bool)
        fixed[[rule.at for rule in self.rules if isinstance(rule, Fixed)]] = True
        return fixed

    @cached_property
    def units(self) -> list[Codes]:
        """The features, in groups that change together."""
        grouped = {int(i) for group in self.groups for i in group}
        alone = (np.array([i]) for i in range(self.n_features) if i not in grouped)
        return [*self.groups, *alone]

    @cached_property
    def unit_of(self) -> Codes:
        """The number of each feature's unit."""
        unit_of = np.empty(self.n_features, dtype=np.intp)
        for number, unit in enumerate(self.units):
            unit_of[unit] = number
        return unit_of

    @cached_property
    def groups(self) -> list[Codes]:
        """The features that change together."""
        return [rule.members for rule in self.rules if isinstance(rule, Together)]

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move candidates onto the constraints of their inputs, row by row."""
        c = c.copy()
        for rule in self.rules:
            c = rule.project(x, c)
        return c

    def hold(self, x: Matrix, c: Matrix) -> Mask:
        """Say which rows keep all constraints."""
        hold = np.ones(len(c), dtype=bool)
        for rule in self.rules:
            hold &= rule.holds(x, c)
        return hold

    def first(self, count: int) -> Rules:
        """Give the first few of the rules, to find out which one rules everything out."""
        return Rules(self.rules[:count], self.n_features)


def _ends(ends: Any, feature: Feature) -> tuple[float, float]:
    """Read a range, as the least and the most that the feature can hold in it."""
    what = f"ranges[{feature.name!r}]"
    try:
        least, most = ends
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} must be two values (least, most), None for an open end, got {ends!r}."
        ) from None
    low = -np.inf if least is None else feature.code_of(least)
    high = np.inf if most is None else feature.code_of(most)
    if low > high:
        raise InvalidInputError(
            f"{what} is empty: the least, {least!r}, is above the most, {most!r}."
        )
    low, high = feature.ends(low, high)
    if low > high:
        raise InvalidInputError(
            f"{what} holds no value that the feature can take: from {least!r} to {most!r}, where "
            f"it is {feature}."
        )
    return low, high
