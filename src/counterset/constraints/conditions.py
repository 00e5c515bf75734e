"""Conditions: "if one thing holds, another must", such as ``"if age < 18 then income == 0"``.

A condition is kept where what follows "then" holds, or what follows "if" does not. Both are written
out as cases, each a few rules that hold together. So a solver that keeps rules keeps conditions
too, case by case.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Vector
from counterset.constraints.relations import (
    UNREADABLE,
    NameOf,
    Relation,
    linear_relation,
    read_expression,
)
from counterset.constraints.rules import Allowed, Condition, InRange
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table

__all__ = ["parse_condition"]

#: A condition may have 64 cases, as six parts of two cases each have that must all hold: each case
#: is tried for candidates.
MOST_CASES = 64

_Rule: TypeAlias = Allowed | InRange | Relation
Case: TypeAlias = tuple[_Rule, ...]

#: What does not hold where a comparison does.
_OPPOSITE: Mapping[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Lt: ast.GtE(),
    ast.LtE: ast.Gt(),
    ast.Gt: ast.LtE(),
    ast.GtE: ast.Lt(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
#: The same comparison, read from right to left.
_MIRRORED: Mapping[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.Eq(),
    ast.NotEq: ast.NotEq(),
    ast.Lt: ast.Gt(),
    ast.LtE: ast.GtE(),
    ast.Gt: ast.Lt(),
    ast.GtE: ast.LtE(),
}
_ORDERED: Mapping[type[ast.cmpop], Callable[[Vector, float], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


def parse_condition(text: str, table: Table) -> Condition:
    """Read a condition: ``if``, comparisons, ``then``, comparisons.

    Comparisons are those of relations, or of a feature with values. They are joined by ``and``,
    ``or`` and ``not``.

    Examples
    --------
    >>> table, _ = Table.learn(np.array([[40.0, 10.0], [50.0, 20.0]]))
    >>> condition = parse_condition("if x0 > 45 then x1 >= 15", table)
    >>> rows = np.array([[40.0, 10.0], [50.0, 10.0], [50.0, 15.0]])
    >>> condition.holds(rows, rows)
    array([ True, False,  True])
    """
    named = f"condition {text!r}"
    try:
        premise, conclusion = (
            _Reader(table, name_of, named, tree) for tree, name_of in _parts(text)
        )
        applies, fails = (_possible(premise.cases(holds), table) for holds in (True, False))
        kept = _possible(conclusion.cases(True), table)
    except InvalidInputError:
        raise
    except UNREADABLE:
        raise InvalidInputError(
            f"Cannot read the {named}. Write 'if ... then ...', with comparisons such as age < 18, "
            f"purpose == 'education', purpose in ('repairs', 'other') or credit_amount <= 300 * "
            f"duration, joined by and, or, not; write a name that is not a Python name in "
            f"backticks."
        ) from None
    if not applies:
        raise InvalidInputError(
            f"The {named} never applies: no row has what follows 'if'. Change it, or leave the "
            f"condition out."
        )
    if not kept:
        raise InvalidInputError(
            f"The {named} contradicts itself: no row has what follows 'then'. Change it, or forbid "
            f"what follows 'if' with allowed=, ranges= or relations=."
        )
    cases = (*kept, *fails)
    used = {int(at) for case in cases for rule in case for at in _features_of(rule)}
    members = np.array(sorted(used), dtype=np.intp)
    return Condition(cases, tuple(_moves(cases, table)), members, named)


def _parts(text: str) -> list[tuple[ast.expr, NameOf]]:
    """Return what follows "if" and what follows "then"."""
    opening = re.match(r"\s*if\b", text)
    if opening is None:
        raise ValueError("no if")
    for then in re.finditer(r"\bthen\b", text):
        parts = text[opening.end() : then.start()], text[then.end() :]
        try:
            return [read_expression(part.strip()) for part in parts]
        except SyntaxError:  # this "then" may stand within quotes
            continue
    raise ValueError("no then")


@dataclass(frozen=True)
class _Reader:
    """Reads one part of a condition.

    Attributes
    ----------
    name_of
        Returns the feature that a name stands for.
    named
        How messages name the condition.
    tree
        The part.
    """

    table: Table
    name_of: NameOf
    named: str
    tree: ast.expr

    def cases(self, holds: bool) -> list[Case]:
        """Return the cases in which the part holds, or does not."""
        return self._cases(self.tree, holds)

    def _cases(self, node: ast.expr, holds: bool) -> list[Case]:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._cases(operand, not holds)
            case ast.BoolOp(op=operator, values=values):
                parts = [self._cases(value, holds) for value in values]
                return self._joined(parts, all_of=isinstance(operator, ast.And) == holds)
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = zip([left, *others], operators, others, strict=False)
                parts = [
                    self._comparison(a, by if holds else _OPPOSITE.get(type(by), by), b)
                    for a, by, b in sides
                ]
                return self._joined(parts, all_of=holds)
        raise ValueError("no comparison")

    def _joined(self, parts: list[list[Case]], *, all_of: bool) -> list[Case]:
        """Return the cases in which all of the parts hold, or at least one."""
        count = math.prod(map(len, parts)) if all_of else sum(map(len, parts))
        if count > MOST_CASES:
            raise InvalidInputError(
                f"The {self.named} has more than {MOST_CASES} cases. Write several shorter "
                f"conditions in its place."
            )
        if not all_of:
            return [case for part in parts for case in part]
        return [tuple(itertools.chain(*some)) for some in itertools.product(*parts)]

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> list[Case]:
        if type(operator) not in _OPPOSITE:
            raise ValueError("no such comparison")
        if isinstance(operator, ast.In | ast.NotIn):
            if not isinstance(left, ast.Name) or not isinstance(
                right, ast.Tuple | ast.List | ast.Set
            ):
                raise ValueError("no list of values")
            return self._members(left, operator, [ast.literal_eval(each) for each in right.elts])
        if isinstance(left, ast.Name) and _is_value(right):
            return self._value(left, operator, ast.literal_eval(right))
        if isinstance(right, ast.Name) and _is_value(left):
            return self._value(right, _MIRRORED[type(operator)], ast.literal_eval(left))
        strictly = [ast.Lt(), ast.Gt()]
        operators = strictly if isinstance(operator, ast.NotEq) else [operator]
        return [
            (linear_relation(left, each, right, self.name_of, self.table, self.named),)
            for each in operators
        ]

    def _value(self, name: ast.Name, operator: ast.cmpop, value: Any) -> list[Case]:
        """Return the cases of a comparison of a feature with one of its values."""
        if isinstance(operator, ast.Eq | ast.NotEq):
            among = ast.In() if isinstance(operator, ast.Eq) else ast.NotIn()
            return self._members(name, among, [value])
        at, feature = self._feature(name)
        code, compare = self._code(feature, value), _ORDERED[type(operator)]
        if feature.is_category:
            raise InvalidInputError(
                f"The {self.named} compares {feature.name!r} by an order, but it is "
                f"{feature.kind}. Compare it with == or in, or declare its order with "
                f"Schema(ordinal=...)."
            )
        if feature.values is not None:
            codes = np.arange(len(feature.values), dtype=np.float64)
            return self._allowed(at, feature, codes[compare(codes, code)])
        strict = isinstance(operator, ast.Lt | ast.Gt)
        if isinstance(operator, ast.Lt | ast.LtE):
            ends = -np.inf, _next(feature, code, -np.inf) if strict else code
        else:
            ends = _next(feature, code, np.inf) if strict else code, np.inf
        return [(InRange(at, *ends, *feature.ends(*ends), self.named),)]

    def _members(self, name: ast.Name, operator: ast.cmpop, values: list[Any]) -> list[Case]:
        """Return the cases in which a feature has one of some values, or none of them."""
        at, feature = self._feature(name)
        codes = np.array([self._code(feature, value) for value in values])
        if isinstance(operator, ast.In):
            return self._allowed(at, feature, codes)
        if feature.values is not None:
            every = np.arange(len(feature.values), dtype=np.float64)
            return self._allowed(at, feature, np.setdiff1d(every, codes))
        # A number that has none of them lies between two.
        edges = [-np.inf, *np.unique(codes).tolist(), np.inf]
        gaps = (
            (_next(feature, low, np.inf), _next(feature, high, -np.inf))
            for low, high in itertools.pairwise(edges)
        )
        return [(InRange(at, *ends, *feature.ends(*ends), self.named),) for ends in gaps]

    def _allowed(self, at: int, feature: Feature, codes: Vector) -> list[Case]:
        return [(Allowed(at, codes, feature.is_category, self.named),)] if len(codes) else []

    def _feature(self, name: ast.Name) -> tuple[int, Feature]:
        at = self.table.position(self.name_of(name))
        return at, self.table.features[at]

    def _code(self, feature: Feature, value: Any) -> float:
        code = feature.code_of(value)
        if not np.isfinite(code):
            raise InvalidInputError(
                f"The {self.named} compares {feature.name!r} with {value!r}. Name a finite value."
            )
        if code in feature.special:
            raise InvalidInputError(
                f"The {self.named} compares {feature.name!r} with the special code {value!r}, "
                f"which counts as missing, and a missing value breaks no condition. Name a number."
            )
        return code


def _features_of(rule: _Rule) -> Indices:
    """Return the positions of the features of a rule."""
    return rule.used if isinstance(rule, Relation) else np.array([rule.at])


def _is_value(node: ast.expr) -> bool:
    """Whether a node is a text, a number, True or False."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
        return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return isinstance(node, ast.Constant) and isinstance(node.value, str | int | float)


def _next(feature: Feature, code: float, towards: float) -> float:
    """Return the next number after a code that the feature's column can hold."""
    if np.isinf(code):
        return code
    kind = np.dtype(np.float64) if feature.resolution else feature.float_dtype
    return float(np.nextafter(kind.type(code), kind.type(towards)))


def _possible(cases: list[Case], table: Table) -> list[Case]:
    """Return the cases that some row can have, as far as single features tell."""
    return [
        case
        for case in cases
        if all(
            _leaves_a_value(case, rule.at, table.features[rule.at])
            for rule in case
            if not isinstance(rule, Relation)
        )
    ]


def _leaves_a_value(case: Case, at: int, feature: Feature) -> bool:
    """Whether the rules about one feature alone leave a value for it."""
    ranges = [rule for rule in case if isinstance(rule, InRange) and rule.at == at]
    lists = [rule for rule in case if isinstance(rule, Allowed) and rule.at == at]
    low = max([-np.inf, *(rule.low for rule in ranges)])
    high = min([np.inf, *(rule.high for rule in ranges)])
    if lists:
        codes = reduce(np.intersect1d, [rule.codes for rule in lists])
        return bool(((codes >= low) & (codes <= high)).any())
    first, last = feature.ends(low, high)
    return first <= last


def _moves(cases: tuple[Case, ...], table: Table) -> Iterator[Case]:
    """Yield cases to move candidates to, by values that the training data shows."""
    for case in cases:
        shown = [_shown(rule, table) for rule in case]
        known = tuple(rule for rule in shown if rule is not None)
        if len(known) == len(case):
            yield known


def _shown(rule: _Rule, table: Table) -> _Rule | None:
    """Return a rule that leads to values that the training data shows; None if there are none."""
    if not isinstance(rule, Allowed | InRange):
        return rule  # a relation is kept by going back towards the input
    feature = table.features[rule.at]
    if isinstance(rule, Allowed):
        codes, seen = rule.codes, feature.seen
        inside = (codes >= feature.low) & (codes <= feature.high)
        codes = codes[inside if seen is None else np.isin(codes, seen)]
        return replace(rule, codes=codes) if len(codes) else None
    ends = (rule.first, rule.low), (rule.last, rule.high)
    moved_to = [end for end, declared in ends if np.isfinite(declared)]
    return rule if all(feature.low <= end <= feature.high for end in moved_to) else None
