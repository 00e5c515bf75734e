"""What an input may move to: constraints as bounds, values, groups and relations for the solvers.

Most constraints are about one feature. They make its bounds narrower, or leave it a few values, and
then every solver keeps them. Groups that change together and linear relations are handed on as they
are: a programme has rows for them. Conditions are kept case by case, see ``cases``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.constraints.relations import TOLERANCE, Relation
from counterset.constraints.rules import (
    Allowed,
    Condition,
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
from counterset.tables.table import Table

__all__ = ["Feasible", "Group", "is_shared", "most_of"]


@dataclass(frozen=True, eq=False)
class Group:
    """Features that change together.

    Attributes
    ----------
    members
        Their positions, ``(m,)``.
    tuples
        The values that they may take together, ``(n, m)``.
    """

    members: Indices
    tuples: Matrix


@dataclass(frozen=True, eq=False)
class Feasible:
    """What an input may move to.

    Attributes
    ----------
    low, high
        The bounds of each feature, ``(d,)``. The input itself may lie outside of them.
    values
        For features that take a few values only: their codes, ascending.
    groups, relations
        What is about several features.
    ignored
        What no solver knows, in the user's words: only a counterfactual that is found is checked.
    """

    low: Vector
    high: Vector
    values: Mapping[int, Vector] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    relations: tuple[Relation, ...] = ()
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rules: Rules | None, table: Table, x: Vector, low: Vector, high: Vector, integer: Mask
    ) -> Feasible:
        """Return what the rules leave of a box.

        Parameters
        ----------
        rules
            The constraints, or None.
        x
            The input, ``(d,)``.
        low, high
            The box, ``(d,)``.
        integer
            Which features take whole numbers only.
        """
        given = () if rules is None else rules.rules
        low, high = low.copy(), high.copy()
        for rule in given:
            _narrow(rule, x, low, high)
        low, high = _held(low, table, integer, up=True), _held(high, table, integer, up=False)
        values = _values(given, table, x, low, high)
        groups = tuple(
            _group(rule, x, low, high, values) for rule in given if isinstance(rule, Together)
        )
        for group in groups:
            for i, codes in zip(group.members, group.tuples.T, strict=True):
                known = values.get(int(i), codes)
                values[int(i)] = np.intersect1d(known, codes)
        for i, codes in values.items():
            if len(codes):
                low[i], high[i] = codes[0], codes[-1]
        return cls(
            low,
            high,
            values,
            groups,
            tuple(rule for rule in given if isinstance(rule, Relation)),
            tuple(rule.text for rule in given if not isinstance(rule, _KNOWN)),
        )

    @property
    def empty(self) -> int | None:
        """A feature that has no value left; None if all have one."""
        none = self.low > self.high
        none[[i for i, codes in self.values.items() if len(codes) == 0]] = True
        return int(np.argmax(none)) if none.any() else None

    def hold(self, x: Vector) -> bool:
        """Return whether a row lies between the bounds and has one of the values."""
        inside = bool(((x >= self.low) & (x <= self.high)).all())
        return inside and all(x[i] in codes for i, codes in self.values.items())


_KNOWN = (
    *(Fixed, OneWay, InRange, MovesAtMost, Allowed, Forbidden),
    *(Together, Relation, Condition, NothingLost),
)


def is_shared(rule: Rule) -> bool:
    """Whether a rule asks the same of all inputs that may take the same option.

    A feature that is fixed has one value for all of them: that of the option.
    """
    return isinstance(rule, Fixed | InRange | Allowed | NothingLost | Relation | Condition)


def most_of(relation: Relation, integer: Mask, low: Vector, high: Vector) -> float:
    """Return the most that the sum of a relation may be between two points.

    That is 0, and as much more as rounding is forgiven there. Below 0, whole numbers are at -1.
    """
    used = relation.weights != 0
    sizes = np.maximum(np.abs(low[used]), np.abs(high[used])) * np.abs(relation.weights[used])
    slack = (sizes * np.maximum(relation.precision[used], TOLERANCE)).sum()
    numbers = np.append(relation.weights, relation.constant)
    whole = integer[used].all() and bool((numbers == np.rint(numbers)).all())
    most = -1.0 if relation.strict and whole else 0.0
    return float(most + 2 * (slack + TOLERANCE * abs(relation.constant)))


def _narrow(rule: Rule, x: Vector, low: Vector, high: Vector) -> None:
    """Narrow the bounds by a rule about one feature."""
    if not isinstance(rule, Fixed | OneWay | InRange | MovesAtMost):
        return
    at = rule.at
    own = x[at]
    match rule:
        case Fixed():
            ends = own, own
        case OneWay():
            ends = (own, np.inf) if rule.sign > 0 else (-np.inf, own)
        case InRange():
            ends = rule.low, rule.high
        case MovesAtMost():
            least, most = rule.ends(x[[at]])
            ends = float(least[0]), float(most[0])
    low[at], high[at] = max(low[at], ends[0]), min(high[at], ends[1])


def _held(ends: Vector, table: Table, integer: Mask, *, up: bool) -> Vector:
    """Return bounds that the columns can hold, not beyond these."""
    held = np.where(integer, np.ceil(ends) if up else np.floor(ends), ends)
    for i, feature in enumerate(table.features):
        dtype = feature.float_dtype
        if integer[i] or feature.values is not None or dtype == np.float64:
            continue
        if not np.isfinite(ends[i]):
            continue
        near = dtype.type(ends[i])
        beyond = near < ends[i] if up else near > ends[i]
        held[i] = float(
            np.nextafter(near, dtype.type(np.inf if up else -np.inf)) if beyond else near
        )
    return held


def _values(
    rules: tuple[Rule, ...], table: Table, x: Vector, low: Vector, high: Vector
) -> dict[int, Vector]:
    """Return the codes of the features that take a few values only."""
    values: dict[int, Vector] = {}
    for i, feature in enumerate(table.features):
        if feature.values is not None:
            values[i] = np.union1d(np.asarray(feature.seen, dtype=np.float64), x[i])
    for rule in rules:
        if isinstance(rule, Allowed):
            codes = np.unique(rule.codes)
            values[rule.at] = np.intersect1d(values.get(rule.at, codes), codes)
        if isinstance(rule, Forbidden):
            rows = np.tile(x, (len(values[rule.at]), 1))
            rows[:, rule.at] = values[rule.at]
            values[rule.at] = values[rule.at][rule.holds(np.broadcast_to(x, rows.shape), rows)]
    return {i: codes[(codes >= low[i]) & (codes <= high[i])] for i, codes in sorted(values.items())}


def _group(
    rule: Together, x: Vector, low: Vector, high: Vector, values: Mapping[int, Vector]
) -> Group:
    """Return the values that a group may take: the input's own, and those of training rows."""
    members = rule.members
    known = np.array(list(rule.known), dtype=np.float64).reshape(-1, len(members))
    tuples = np.vstack([x[members], known])
    keep = ((tuples >= low[members]) & (tuples <= high[members])).all(axis=1)
    for j, i in enumerate(members):
        if int(i) in values:
            keep &= np.isin(tuples[:, j], values[int(i)])
    return Group(members, np.unique(tuples[keep], axis=0))
