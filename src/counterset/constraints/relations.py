"""Relations: linear relations between features, such as ``"years_employed <= age - 16"``."""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Grid
from counterset.tables.table import Table

__all__ = [
    "UNREADABLE",
    "NameOf",
    "Relation",
    "linear_relation",
    "parse_relations",
    "read_expression",
]

#: A sum that is to be 0 may be off by 1e-12 of the size of its terms: the values of a table are
#: rounded, and so is what is computed from them.
TOLERANCE = 1e-12

#: What parsing and computing raise where a text cannot be read.
UNREADABLE = (SyntaxError, ValueError, OverflowError, RecursionError)

#: From a name in a parsed expression to the feature that it stands for.
NameOf: TypeAlias = Callable[[ast.Name], str]

_Terms = dict[str, Fraction]  # by feature name; "" is the constant


@dataclass(frozen=True)
class Relation:
    """``weights @ row + constant <= 0``, or ``< 0`` if strict, or ``== 0`` if equal.

    An inequality is judged without any tolerance, as if computed in exact numbers. Only where the
    input itself is over the line by its rounding, a candidate may be so by as much. An equality
    holds up to ``TOLERANCE``, or the precision of the columns, times the size of its terms. A
    relation counts as kept where one of its features is missing.

    Attributes
    ----------
    weights, precision
        The weight and the relative precision of each feature, ``(n_features,)``.
    grids
        The values that counterfactuals take, for each feature.
    text
        How messages name the relation.
    """

    weights: Vector
    constant: float
    strict: bool
    equal: bool
    grids: tuple[Grid, ...]
    precision: Vector
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move the features of the relation back towards the input, until it just holds.

        Where the input itself keeps the relation, so does some point on the way to it, because
        the relation is linear.
        """
        broken = np.flatnonzero(~self.holds(x, c) & self.holds(x, x))
        at = np.ix_(broken, self.used)
        own, new = x[at], c[at]
        # Only the input's own values surely keep an equality, and between a value and a missing
        # one there is nothing: go back all the way.
        back = np.isnan(own).any(axis=1, keepdims=True) | self.equal
        c[at] = np.where(back, own, self._just_inside(own, new))
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        """Return for which candidates the relation holds."""
        values = c[:, self.used]
        excess = self._excess(values)
        if self.equal:
            return ~(np.abs(excess) > self._slack(np.abs(values)))
        if self.strict:
            return ~(excess >= 0)
        over = np.flatnonzero(excess > 0)
        own = x[np.ix_(over, self.used)]
        allowed = self._excess(own)
        holds = ~(excess > 0)
        holds[over] = (excess[over] <= allowed) & (allowed <= self._slack(np.abs(own)))
        return holds

    def _just_inside(self, own: Matrix, new: Matrix) -> Matrix:
        """Return points between values that keep the relation and values that break it.

        They keep it, as near to its line as can be told in spite of rounding.
        """
        weights = self.weights[self.used]
        start, end = self._excess(own), self._excess(new)
        sizes = np.maximum(np.abs(own), np.abs(new))
        slack = self._slack(sizes)
        share = np.clip(start / np.where(start == end, 1, start - end), 0, 1)[:, None]
        # What is over the line by rounding alone need not go back.
        near = np.where((end <= slack)[:, None], new, own + share * (new - own))
        # Step off the line, by the features that lead over it.
        off = 2 * slack[:, None] / np.abs(weights)
        leads_over = weights * (new - own) > 0
        moved = near + np.where(leads_over, np.clip(own - near, -off, off), 0)
        # Numbers with a step take the last one before the line, or on it if that is allowed.
        above, below = self._ratios_at(near)
        forgiven = (self._rounding * self._size(sizes))[:, None] / np.abs(weights)
        forgiven = -forgiven if self.strict else forgiven
        with np.errstate(divide="ignore", invalid="ignore"):
            counts, forgiven = near * below / above, forgiven * below / above
            last = np.where(weights > 0, np.floor(counts + forgiven), np.ceil(counts - forgiven))
            stepped = last * above / below
            stepped = np.clip(stepped, np.minimum(own, new), np.maximum(own, new))
        return np.where(above > 0, stepped, moved)

    def _ratios_at(self, values: Matrix) -> Stack:
        """Return the step of the used features around values, as two whole numbers."""
        ratios = np.empty((2, *values.shape))
        for j, i in enumerate(self.used):
            ratios[0, :, j], ratios[1, :, j] = self.grids[i].ratio_at(values[:, j])
        return ratios

    def _excess(self, values: Matrix) -> Vector:
        """Compute ``weights @ row + constant`` for the used features of each row.

        Its sign is exact: where rounding could change it, rational numbers decide.
        """
        excess: Vector = (values * self.weights[self.used]).sum(axis=1) + self.constant
        size = self._size(np.abs(values))
        unsure = np.abs(excess) <= self._rounding * size
        if self._is_whole:  # sums of whole numbers below 2**53 are exact as they are
            unsure &= (size >= 2**53) | (values != np.rint(values)).any(axis=1)
        weights = [Fraction(weight) for weight in self.weights[self.used]]
        for i in np.flatnonzero(unsure):
            terms = (weight * Fraction(v) for weight, v in zip(weights, values[i], strict=True))
            excess[i] = float(sum(terms, start=Fraction(self.constant)))
        return excess

    def _size(self, sizes: Matrix) -> Vector:
        """Return the size of the terms, from the sizes of the used features."""
        size: Vector = (sizes * np.abs(self.weights[self.used])).sum(axis=1) + abs(self.constant)
        return size

    def _slack(self, sizes: Matrix) -> Vector:
        """Return how far from 0 the sum can be by the rounding of the values alone."""
        precision = np.maximum(self.precision[self.used], TOLERANCE)
        weights = precision * np.abs(self.weights[self.used])
        slack: Vector = (sizes * weights).sum(axis=1) + TOLERANCE * abs(self.constant)
        return slack

    @cached_property
    def used(self) -> Indices:
        """The positions of the features of the relation."""
        return np.flatnonzero(self.weights)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the weights and the constant are whole numbers."""
        numbers = np.append(self.weights, self.constant)
        return bool((numbers == np.rint(numbers)).all())

    @cached_property
    def _rounding(self) -> float:
        """The largest error of a computed sum, relative to the size of its terms."""
        return float(4 * (len(self.used) + 2) * np.finfo(np.float64).eps)


def parse_relations(text: str, table: Table) -> list[Relation]:
    """Read a relation; a chain such as ``"0 <= a <= b"`` is several.

    Examples
    --------
    >>> table, _ = Table.learn(np.array([[40.0, 10.0], [50.0, 20.0]]))
    >>> relation, = parse_relations("x1 <= x0 - 16", table)
    >>> rows = np.array([[40.0, 24.0], [40.0, 25.0]])
    >>> relation.holds(rows[[0, 0]], rows)
    array([ True, False])
    """
    try:
        tree, name_of = read_expression(text)
        if not isinstance(tree, ast.Compare):
            raise _unreadable(text)
        sides = [tree.left, *tree.comparators]
        return [
            linear_relation(left, operator, right, name_of, table, f"relation {text!r}")
            for left, operator, right in zip(sides, tree.ops, sides[1:], strict=False)
        ]
    except InvalidInputError:
        raise
    except UNREADABLE:
        raise _unreadable(text) from None


def read_expression(text: str) -> tuple[ast.expr, NameOf]:
    """Parse a Python expression in which names may stand in backticks.

    Returns the expression, and a function from its names to the features that they stand for.
    A text that is not an expression raises one of ``UNREADABLE``.
    """
    quoted: dict[str, str] = {}
    mark = "_quoted_"
    while mark in text:
        mark += "_"

    def stand_in(match: re.Match[str]) -> str:
        quoted[name := f"{mark}{len(quoted)}"] = match.group(1)
        return name

    source = re.sub(r"`([^`]+)`", stand_in, text)

    def name_of(node: ast.Name) -> str:
        # As it is written: Python would take the micro sign for the Greek letter.
        written = ast.get_source_segment(source, node) or node.id
        return quoted.get(written, written)

    return ast.parse(source, mode="eval").body, name_of


def linear_relation(
    left: ast.expr,
    operator: ast.cmpop,
    right: ast.expr,
    name_of: NameOf,
    table: Table,
    text: str,
) -> Relation:
    """Return the relation of two sides, or raise one of ``UNREADABLE``.

    Parameters
    ----------
    text
        How messages name the relation.
    """
    if isinstance(operator, ast.GtE | ast.Gt):
        left, right = right, left
    elif not isinstance(operator, ast.LtE | ast.Lt | ast.Eq):
        raise ValueError("no comparison")
    terms = _combined(_terms(left, name_of), ast.Sub(), _terms(right, name_of))
    constant = terms.pop("", Fraction(0))
    weights = [Fraction(0)] * len(table.features)
    for name, weight in terms.items():
        weights[_numeric_position(name, table, text)] += weight
    if not any(weights):
        raise InvalidInputError(f"The {text} depends on no feature. Name at least one.")
    # Multiply a third out: floats hold no 1/3, but every quotient by a power of 2.
    out = math.lcm(*(_odd_part(each.denominator) for each in (*weights, constant)))
    return Relation(
        np.array([float(out * weight) for weight in weights]),
        float(out * constant),
        isinstance(operator, ast.Lt | ast.Gt),
        isinstance(operator, ast.Eq),
        tuple(feature.grid for feature in table.features),
        np.array([np.finfo(feature.float_dtype).eps for feature in table.features]),
        text,
    )


def _odd_part(number: int) -> int:
    return number // (number & -number)


def _numeric_position(name: str, table: Table, text: str) -> int:
    at = table.position(name)
    if table.features[at].values is not None:
        raise InvalidInputError(
            f"The {text} computes with {name!r}, which is {table.features[at].kind}. Relations are "
            f"between numbers: leave it out, or compare it with its values in conditions=."
        )
    return at


def _terms(node: ast.expr, name_of: NameOf) -> _Terms:
    """Read a linear expression as the weight of each name."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return {"": Fraction(number)}
        case ast.Name():
            return {name_of(node): Fraction(1)}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as operator, operand=operand):
            sign = Fraction(-1 if isinstance(operator, ast.USub) else 1)
            return _scaled(_terms(operand, name_of), sign)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(_terms(left, name_of), operator, _terms(right, name_of))
    raise ValueError("not linear")


def _combined(left: _Terms, operator: ast.operator, right: _Terms) -> _Terms:
    if isinstance(operator, ast.Add | ast.Sub):
        total: defaultdict[str, Fraction] = defaultdict(Fraction, left)
        for name, weight in right.items():
            total[name] += weight if isinstance(operator, ast.Add) else -weight
        return dict(total)
    if isinstance(operator, ast.Mult) and left.keys() <= {""}:
        return _scaled(right, left.get("", Fraction(0)))
    if isinstance(operator, ast.Mult) and right.keys() <= {""}:
        return _scaled(left, right.get("", Fraction(0)))
    if isinstance(operator, ast.Div) and right.keys() <= {""} and right.get(""):
        return _scaled(left, 1 / right[""])
    raise ValueError("not linear")


def _scaled(terms: _Terms, by: Fraction) -> _Terms:
    return {name: weight * by for name, weight in terms.items()}


def _unreadable(text: str) -> InvalidInputError:
    return InvalidInputError(
        f"Cannot read the relation {text!r}. Compare sums of features and numbers with <=, >=, <, "
        f"> or ==, such as 'years_employed <= age - 16'; write a name that is not a Python name in "
        f"backticks."
    )
