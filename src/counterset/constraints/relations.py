"""Relations: linear relations between features, such as ``"years_employed <= age - 16"``."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.table import Table

__all__ = ["Relation", "parse_relations"]

#: A sum is taken for 0 up to 1e-9 of the size of its terms, which rounding stays far below.
TOLERANCE = 1e-9

_Terms = dict[str, float]  # by feature name; "" is the constant


@dataclass(frozen=True)
class Relation:
    """``weights @ row + constant <= 0``, or ``< 0`` if strict, or ``== 0`` if equal.

    It counts as kept where one of its features is missing.

    Attributes
    ----------
    weights, steps
        The weight and the step of each feature, ``(n_features,)``.
    text
        How messages name the relation.
    """

    weights: Vector
    constant: float
    strict: bool
    equal: bool
    steps: Vector
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move the features of the relation back towards the input, until it just holds.

        Where the input itself keeps the relation, so does some point on the way to it, because
        the relation is linear.
        """
        broken = np.flatnonzero(~self.holds(x, c) & self.holds(x, x))
        if not len(broken):
            return c
        start, end = self._excess(x[broken]), self._excess(c[broken])
        share = np.clip(start / np.where(start == end, 1, start - end), 0, 1)
        # Between a value and a missing one there is nothing: go back all the way.
        share = np.where(np.isnan(start), 0, share)
        if self.strict or self.equal:
            share *= 1 - TOLERANCE
        used = np.flatnonzero(self.weights)
        own, new = x[np.ix_(broken, used)], c[np.ix_(broken, used)]
        moved = own + share[:, None] * (new - own)
        # Rounding goes towards the input, where the relation holds.
        steps = self.steps[used]
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = (moved - own) / steps
            whole = own + np.fix(np.round(counts, 9)) * steps
        c[np.ix_(broken, used)] = np.where(steps > 0, whole, moved)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        """Return for which candidates the relation holds."""
        excess = self._excess(c)
        terms: Matrix = np.abs(np.where(np.isnan(c), 0, c) * self.weights)
        slack: Vector = TOLERANCE * np.maximum(terms.sum(axis=1) + abs(self.constant), 1)
        if self.equal:
            return ~(np.abs(excess) > slack)
        return ~(excess >= 0) if self.strict else ~(excess > slack)

    def _excess(self, rows: Matrix) -> Vector:
        """Compute ``weights @ row + constant`` of each row."""
        used = np.flatnonzero(self.weights)
        excess: Vector = rows[:, used] @ self.weights[used] + self.constant
        return excess


def parse_relations(text: str, table: Table) -> list[Relation]:
    """Read a relation; a chain such as ``"0 <= a <= b"`` is several.

    Examples
    --------
    >>> table, _ = Table.learn(np.array([[40.0, 10.0], [50.0, 20.0]]))
    >>> relation, = parse_relations("x1 <= x0 - 16", table)
    >>> relation.holds(None, np.array([[40.0, 24.0], [40.0, 25.0]]))
    array([ True, False])
    """
    quoted: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        quoted[name := f"_quoted_{len(quoted)}"] = match.group(1)
        return name

    try:
        tree = ast.parse(re.sub(r"`([^`]+)`", stand_in, text), mode="eval").body
    except SyntaxError:
        raise _unreadable(text) from None
    if not isinstance(tree, ast.Compare):
        raise _unreadable(text)
    sides = [_terms(side, quoted, text) for side in (tree.left, *tree.comparators)]
    return [
        _relation(left, operator, right, table, text)
        for left, operator, right in zip(sides, tree.ops, sides[1:], strict=False)
    ]


def _relation(
    left: _Terms, operator: ast.cmpop, right: _Terms, table: Table, text: str
) -> Relation:
    if isinstance(operator, ast.GtE | ast.Gt):
        left, right = right, left
    elif not isinstance(operator, ast.LtE | ast.Lt | ast.Eq):
        raise _unreadable(text)
    weights = np.zeros(len(table.features))
    for terms, sign in ((left, 1), (right, -1)):
        for name, weight in terms.items():
            if name:
                weights[_numeric_position(name, table, text)] += sign * weight
    if not weights.any():
        raise InvalidInputError(f"The relation {text!r} depends on no feature.")
    return Relation(
        weights,
        left.get("", 0.0) - right.get("", 0.0),
        isinstance(operator, ast.Lt | ast.Gt),
        isinstance(operator, ast.Eq),
        np.array([feature.step for feature in table.features]),
        f"relation {text!r}",
    )


def _numeric_position(name: str, table: Table, text: str) -> int:
    at = table.position(name)
    if table.features[at].values is not None:
        raise InvalidInputError(
            f"The relation {text!r} computes with {name!r}, which is {table.features[at].kind}. "
            f"Relations are between numbers."
        )
    return at


def _terms(node: ast.expr, quoted: dict[str, str], text: str) -> _Terms:
    """Read a linear expression as the weight of each name."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return {"": float(number)}
        case ast.Name(id=name):
            return {quoted.get(name, name): 1.0}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as operator, operand=operand):
            sign = -1.0 if isinstance(operator, ast.USub) else 1.0
            return _scaled(_terms(operand, quoted, text), sign)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(
                _terms(left, quoted, text), operator, _terms(right, quoted, text), text
            )
    raise _unreadable(text)


def _combined(left: _Terms, operator: ast.operator, right: _Terms, text: str) -> _Terms:
    if isinstance(operator, ast.Add | ast.Sub):
        total: defaultdict[str, float] = defaultdict(float, left)
        for name, weight in right.items():
            total[name] += weight if isinstance(operator, ast.Add) else -weight
        return dict(total)
    if isinstance(operator, ast.Mult) and left.keys() <= {""}:
        return _scaled(right, left.get("", 0.0))
    if isinstance(operator, ast.Mult) and right.keys() <= {""}:
        return _scaled(left, right.get("", 0.0))
    if isinstance(operator, ast.Div) and right.keys() <= {""} and right.get(""):
        return _scaled(left, 1 / right[""])
    raise _unreadable(text)


def _scaled(terms: _Terms, by: float) -> _Terms:
    return {name: weight * by for name, weight in terms.items()}


def _unreadable(text: str) -> InvalidInputError:
    return InvalidInputError(
        f"Cannot read the relation {text!r}. Compare sums of features and numbers with <=, >=, <, "
        f"> or ==, such as 'years_employed <= age - 16'; write a name that is not a Python name in "
        f"backticks."
    )
