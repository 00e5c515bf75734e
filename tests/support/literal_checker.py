"""Judge options as a reader of the table would: plain Python over the rows, nothing of the library.

A constraint is what the user wrote, as a dict of the parameters of ``Constraints``. Rows are dicts
from columns to cells. Numbers are compared as exact fractions: there is no tolerance.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

Row: TypeAlias = Mapping[Any, Any]

#: How far a sum that is to be 0 may be off, relative to its terms: floats are rounded.
ROUNDING = {"float64": 1e-12, "float32": float(np.finfo(np.float32).eps)}


@dataclass(frozen=True)
class Column:
    """What a person knows of one feature of a table.

    Attributes
    ----------
    name
        As constraints name it.
    columns
        The columns that hold it: several for a one-hot group.
    order
        The values of an ordinal, from least to most; None for anything else.
    codes
        Numbers that are no amounts, such as -9 for "no record".
    switches
        Whether the values are words, without an order.
    whole
        Whether the numbers are counts.
    """

    name: str
    columns: tuple[str, ...]
    order: tuple[Any, ...] | None = None
    codes: tuple[float, ...] = ()
    switches: bool = False
    whole: bool = False

    @property
    def is_one_hot(self) -> bool:
        return len(self.columns) > 1

    def cell(self, row: Row) -> Any:
        """Return the feature's value: of a one-hot group, the name of the column that is 1."""
        if not self.is_one_hot:
            return row[self.columns[0]]
        hot = [name for name in self.columns if row[name] == 1]
        assert len(hot) <= 1, f"{self.name} takes several values at once: {hot}"
        return hot[0] if hot else "none of them"

    def is_known(self, row: Row) -> bool:
        """Return whether a row says what the feature is: neither missing nor by a code."""
        cell = self.cell(row)
        return not is_missing(cell) and not (self.codes and float(cell) in self.codes)

    def amount(self, value: Any) -> Fraction:
        """Return a value with an order as an exact number; a time in microseconds."""
        if self.order is not None:
            return Fraction(self.order.index(value))
        return amount_of(value)


def amount_of(value: Any) -> Fraction:
    """Return a number, a text of digits, a time or a span of time as an exact number."""
    if isinstance(value, pd.Timedelta):
        return Fraction(value.as_unit("us").value)
    if isinstance(value, date):  # a moment is a date too
        return Fraction(pd.Timestamp(value).as_unit("us").value)
    if isinstance(value, str | Decimal):
        return Fraction(float(value))  # the nearest float is what a model gets
    return Fraction(value.item() if hasattr(value, "item") else value)


def is_missing(value: Any) -> bool:
    return bool(pd.isna(value))


def same(a: Any, b: Any) -> bool:
    """Return whether two cells are equal, or both missing."""
    if is_missing(a) or is_missing(b):
        return is_missing(a) and is_missing(b)
    return bool(a == b)


def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of a frame, with cells of its own types: a float32 stays one."""
    columns = [list(frame[name].array) for name in frame]
    return [dict(zip(frame, cells, strict=True)) for cells in zip(*columns, strict=True)]


def same_row(a: Row, b: Row) -> bool:
    return all(same(a[name], b[name]) for name in a)


def kept(column: Column, x: Row, c: Row) -> bool:
    """Return whether a feature is as it was."""
    return all(same(x[name], c[name]) for name in column.columns)


def broken(
    limits: Mapping[str, Any],
    columns: Iterable[Column],
    training: Sequence[Row],
    x: Row,
    c: Row,
) -> list[str]:
    """Return what an option ``c`` of an input ``x`` breaks, in words.

    Parameters
    ----------
    limits
        What the user passed to ``Constraints``.
    columns
        The features of the table.
    training
        The training rows, for values that occur together.
    """
    named = {column.name: column for column in columns}
    checks: list[tuple[bool, str]] = [
        *((_nothing_lost(each, x, c), f"{each.name} was lost") for each in named.values()),
        *((kept(named[name], x, c), f"immutable {name}") for name in limits.get("immutable", ())),
        *(
            (_moved(named[name], x, c, sign, lambda by: by >= 0), f"{parameter} {name}")
            for parameter, sign in (("increase_only", 1), ("decrease_only", -1))
            for name in limits.get(parameter, ())
        ),
        *(
            (_is_within(named[name], ends, x, c), f"ranges {name} {ends}")
            for name, ends in limits.get("ranges", {}).items()
        ),
        *(
            (_moves_at_most(named[name], most, x, c, sign), f"{parameter} {name} {most}")
            for parameter, sign in (("max_increase", 1), ("max_decrease", -1))
            for name, most in limits.get(parameter, {}).items()
        ),
        *(
            (_is_allowed(named[name], values, x, c), f"allowed {name} {values}")
            for name, values in limits.get("allowed", {}).items()
        ),
        *((_holds(text, named, x, c), f"relation {text}") for text in limits.get("relations", ())),
        *(
            (_together([named[name] for name in names], training, x, c), f"together {names}")
            for names in limits.get("together", ())
        ),
        *(
            (_changes_otherwise(named[name], pair, x, c), f"forbidden_changes {name} {pair}")
            for name, pairs in limits.get("forbidden_changes", {}).items()
            for pair in pairs
        ),
        *(
            (keeps_condition(text, named, x, c), f"condition {text}")
            for text in limits.get("conditions", ())
        ),
    ]
    return [text for holds, text in checks if not holds]


def _nothing_lost(column: Column, x: Row, c: Row) -> bool:
    """Known values stay known, and one code does not become another, nor missing."""
    return column.is_known(c) or kept(column, x, c)


def _moved(column: Column, x: Row, c: Row, sign: int, holds: Callable[[Fraction], bool]) -> bool:
    """Return whether a condition holds for how far a feature moved; what was not known may."""
    if not column.is_known(x) or not column.is_known(c):
        return True
    by = column.amount(column.cell(c)) - column.amount(column.cell(x))
    return holds(sign * by)


def _moves_at_most(column: Column, most: Any, x: Row, c: Row, sign: int) -> bool:
    limit = amount_of(most)
    return _moved(column, x, c, sign, lambda by: by <= limit)


def _is_within(column: Column, ends: tuple[Any, Any], x: Row, c: Row) -> bool:
    if not column.is_known(c):
        return True
    least, most = ends
    amount = column.amount(column.cell(c))
    above = least is None or amount >= column.amount(_as_held(least, c, column))
    return above and (most is None or amount <= column.amount(_as_held(most, c, column)))


def _is_allowed(column: Column, values: Iterable[Any], x: Row, c: Row) -> bool:
    if not column.is_known(c):
        return True
    cell = column.cell(c)
    if column.is_one_hot or column.switches or column.order is not None:
        return any(bool(cell == value) for value in values)
    return any(column.amount(cell) == column.amount(_as_held(v, c, column)) for v in values)


def _as_held(value: Any, row: Row, column: Column) -> Any:
    """Return a number as a column of single precision holds it: 0.1 is 0.10000000149 there."""
    cell = row[column.columns[0]]
    return np.float32(value) if isinstance(cell, np.float32) else value


def _together(columns: Sequence[Column], training: Sequence[Row], x: Row, c: Row) -> bool:
    if all(kept(column, x, c) for column in columns):
        return True
    names = [name for column in columns for name in column.columns]
    return any(all(same(row[name], c[name]) for name in names) for row in training)


def _changes_otherwise(column: Column, pair: tuple[Any, Any], x: Row, c: Row) -> bool:
    """Return whether a feature does not change from one value to another; None is any other."""
    if kept(column, x, c) or not column.is_known(x):
        return True
    cells = column.cell(x), column.cell(c)
    return not all(
        value is None or bool(cell == value) for cell, value in zip(cells, pair, strict=True)
    )


def keeps_condition(text: str, columns: Mapping[str, Column], x: Row, c: Row) -> bool:
    """Return whether what follows "then" holds, or what follows "if" does not."""
    opening, _, conclusion = text.partition(" then ")
    premise = opening.removeprefix("if ")
    read = [ast.parse(part, mode="eval").body for part in (premise, conclusion)]
    return _may_be(read[0], False, columns, x, c) or _may_be(read[1], True, columns, x, c)


_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def _may_be(node: ast.expr, wanted: bool, columns: Mapping[str, Column], x: Row, c: Row) -> bool:
    """Return whether an expression is true, or false, as far as its features are known."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _may_be(operand, not wanted, columns, x, c)
        case ast.BoolOp(op=op, values=values):
            each = [_may_be(value, wanted, columns, x, c) for value in values]
            return all(each) if isinstance(op, ast.And) == wanted else any(each)
        case ast.Compare(left=left, ops=ops, comparators=others):
            each = [
                _may_compare(a, type(op) if wanted else _OPPOSITE[type(op)], b, columns, x, c)
                for a, op, b in zip([left, *others], ops, others, strict=False)
            ]
            return all(each) if wanted else any(each)
    raise ValueError(f"Cannot read {ast.dump(node)}.")


def _may_compare(
    left: ast.expr,
    op: type[ast.cmpop],
    right: ast.expr,
    columns: Mapping[str, Column],
    x: Row,
    c: Row,
) -> bool:
    names = _names_in(left) | _names_in(right)
    if not all(columns[name].is_known(c) for name in names):
        return True
    mirrored = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    if isinstance(right, ast.Name) and isinstance(left, ast.Constant):
        left, op, right = right, mirrored.get(op, op), left
    try:
        value = ast.literal_eval(right)
    except ValueError:
        value = None
    if not isinstance(left, ast.Name) or value is None:
        return _compare(left, op, right, columns, x, c, _rounding_of(names, columns, c))
    column = columns[left.id]
    cell = column.cell(c)
    if column.is_one_hot or column.switches:
        among = value if isinstance(value, tuple) else (value,)
        return any(bool(cell == each) for each in among) == (op in (ast.Eq, ast.In))
    values = value if isinstance(value, tuple) else (value,)
    if isinstance(cell, pd.Timestamp):
        values = tuple(map(pd.Timestamp, values))
    amounts = [column.amount(_as_held(each, c, column)) for each in values]
    if op in (ast.Eq, ast.In, ast.NotEq, ast.NotIn):
        return (column.amount(cell) in amounts) == (op in (ast.Eq, ast.In))
    return _OPERATORS[op](column.amount(cell), amounts[0])


def _rounding_of(names: Iterable[str], columns: Mapping[str, Column], c: Row) -> Fraction:
    singles = any(isinstance(c[columns[name].columns[0]], np.float32) for name in names)
    return Fraction(ROUNDING["float32" if singles else "float64"])


def _holds(text: str, columns: Mapping[str, Column], x: Row, c: Row) -> bool:
    """Return whether a relation holds: exactly, or by no more than the input's own rounding."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Compare)
    names = _names_in(tree)
    if not all(columns[name].is_known(c) for name in names):
        return True
    rounding = _rounding_of(names, columns, c)
    sides = [tree.left, *tree.comparators]
    return all(
        _compare(left, type(op), right, columns, x, c, rounding)
        for left, op, right in zip(sides, tree.ops, sides[1:], strict=False)
    )


_OPERATORS: Mapping[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
}


def _compare(
    left: ast.expr,
    op: type[ast.cmpop],
    right: ast.expr,
    columns: Mapping[str, Column],
    x: Row,
    c: Row,
    rounding: Fraction,
) -> bool:
    def excess(row: Row, *, size: bool = False) -> Fraction:
        sides = [_value(side, columns, row, size=size) for side in (left, right)]
        return sides[0] + sides[1] if size else sides[0] - sides[1]

    if op is ast.NotEq:
        return excess(c) != 0
    if op is ast.Eq:
        return abs(excess(c)) <= rounding * excess(c, size=True)
    if _OPERATORS[op](excess(c), Fraction(0)):
        return True
    used = _names_in(left) | _names_in(right)
    if op in (ast.Lt, ast.Gt) or not all(columns[name].is_known(x) for name in used):
        return False
    own = excess(x)
    slight = abs(own) <= rounding * excess(x, size=True)
    return slight and not _OPERATORS[op](own, Fraction(0)) and abs(excess(c)) <= abs(own)


def _names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _value(node: ast.expr, columns: Mapping[str, Column], row: Row, *, size: bool) -> Fraction:
    """Return the value of a linear expression; with ``size``, the sum of its terms' sizes."""
    match node:
        case ast.Constant(value=int() | float() as number):
            found = Fraction(number)
        case ast.Name(id=name):
            found = amount_of(row[columns[name].columns[0]])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = -_value(operand, columns, row, size=size)
        case ast.BinOp(left=left, op=op, right=right):
            a = _value(left, columns, row, size=size)
            b = _value(right, columns, row, size=size)
            found = {
                ast.Add: operator.add,
                ast.Sub: operator.add if size else operator.sub,
                ast.Mult: operator.mul,
                ast.Div: operator.truediv,
            }[type(op)](a, b)
        case _:
            raise ValueError(f"Cannot read {ast.dump(node)}.")
    return abs(found) if size else found


def strange_values(
    limits: Mapping[str, Any], columns: Iterable[Column], training: pd.DataFrame, x: Row, c: Row
) -> list[str]:
    """Return which changed values the table never showed: new words, or numbers out of its range.

    What the user allows, and the ends of ranges, count as shown.
    """
    found = []
    for column in columns:
        if kept(column, x, c) or not column.is_known(c):
            continue
        cell, allowed = column.cell(c), list(limits.get("allowed", {}).get(column.name, ()))
        rows = records(training[list(column.columns)])
        shown = [column.cell(row) for row in rows if column.is_known(row)] + allowed
        if column.is_one_hot or column.switches or column.order is not None:
            if not any(bool(cell == value) for value in shown):
                found.append(f"{column.name} has the new value {cell!r}")
            continue
        own = [column.cell(x)] if column.is_known(x) else []
        ends = [end for end in limits.get("ranges", {}).get(column.name, ()) if end is not None]
        amounts = [column.amount(each) for each in [*shown, *own, *ends]]
        if not min(amounts) <= column.amount(cell) <= max(amounts):
            found.append(f"{column.name} is {cell!r}, beyond what the table shows")
        if column.whole and column.amount(cell).denominator != 1:
            found.append(f"{column.name} is {cell!r}, which is no whole number")
        days = all(isinstance(each, pd.Timestamp) and each == each.normalize() for each in shown)
        if days and cell != cell.normalize():
            found.append(f"{column.name} is {cell!r}, where the table has days")
    return found
