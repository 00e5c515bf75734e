"""Values that look like codes, not numbers: 98 for "not asked" in a count, -9 for "no record"."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from counterset._base.arrays import Counts, Matrix, Vector
from counterset.exceptions import UndeclaredCodesWarning
from counterset.tables.features.number import Number
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["suggest_schema", "undeclared_codes", "warn_of_codes"]

#: At most 3 values at one end are taken for codes; surveys seldom have more kinds of no answer.
MOST_CODES = 3
#: A value that occurs once is an outlier. A code is repeated.
LEAST_REPEATED = 2
#: The other values must be 3 at least, in 20 rows: of fewer, it cannot be told how far apart they
#: usually are.
LEAST_OTHERS, LEAST_ROWS = 3, 20
#: A code is farther from the other values than 3 times their whole range. What is written with
#: nines, as codes often are, need only be farther than their range. No code is smaller than 9.
FAR, FAR_WITH_NINES, LEAST_CODE = 3.0, 1.0, 9
NINES = re.compile(r"9+[6-9]")
#: Whole numbers below 0, farther from the other values than twice their usual gap, are taken for
#: codes; a -1 right before 0 only if there are 10 or more different values from 0 on.
GAPS, LEAST_BESIDE_ONE = 2, 10
#: Codes are looked for among 100,000 rows, evenly spread: a code is not rare.
MOST_ROWS = 100_000
#: So many columns are named in the text of a warning. The line to paste has all.
MOST_NAMED = 5


def undeclared_codes(
    table: Table, matrix: Matrix, schema: Schema | None = None
) -> dict[str, list[float]]:
    """Return the values that look like codes, by the names of their features.

    Features that are declared to be numbers, and codes that are declared, are passed over.

    Examples
    --------
    >>> delays = [0] * 20 + [1, 2, 3] * 5 + [96, 98] * 3
    >>> undeclared_codes(*Table.learn(np.array([delays, range(41)]).T))
    {'x0': [96, 98]}
    """
    numbers = _declared_numbers(schema)
    rows = table.without_special(matrix[:: 1 + len(matrix) // MOST_ROWS])
    found = {}
    for feature, column in zip(table.features, rows.T, strict=True):
        if not isinstance(feature, Number) or feature.kind == "binary" or feature.name in numbers:
            continue
        if codes := codes_in(column):
            found[feature.name] = [int(code) if code.is_integer() else code for code in codes]
    return found


def codes_in(column: Vector) -> list[float]:
    """Return the values of a column of numbers that look like codes, ascending.

    Examples
    --------
    >>> codes_in(np.array([-9, -9, -8, -8, *range(30)], dtype=float))
    [-9.0, -8.0]
    >>> codes_in(np.array([1, 2, 3, 4] * 9 + [99, 99, np.nan]))
    [99.0]
    >>> codes_in(np.array([1, 2, 3, 4] * 9 + [99]))
    []
    """
    known = column[~np.isnan(column)].astype(np.float64)
    values, counts = np.unique(known, return_counts=True)
    if _are_codes_below_0(values, counts):
        from_0 = values >= 0
        return [*values[~from_0].tolist(), *_far_out(values[from_0], counts[from_0])]
    lowest = _far_out(-values[::-1], counts[::-1])
    return [*(-value for value in reversed(lowest)), *_far_out(values, counts)]


def _are_codes_below_0(values: Vector, counts: Counts) -> bool:
    """Whether all values below 0 look like codes: few whole numbers, each repeated, before a gap.

    A single -1 may stand right before 0.
    """
    negative, others = values[values < 0], values[values >= 0]
    if not 0 < len(negative) <= MOST_CODES or len(others) < LEAST_OTHERS:
        return False
    own, rest = counts[: len(negative)], counts[len(negative) :]
    if (own < LEAST_REPEATED).any() or rest.sum() < LEAST_ROWS or (negative % 1).any():
        return False
    if negative.tolist() == [-1]:
        return len(others) >= LEAST_BESIDE_ONE and not (others % 1).any()
    return bool(others[0] - negative[-1] > GAPS * np.median(np.diff(others)))


def _far_out(values: Vector, counts: Counts) -> list[float]:
    """Return the largest values if they are repeated, and lie far above all others."""
    for count in range(1, MOST_CODES + 1):
        others = values[:-count]
        enough = len(others) >= LEAST_OTHERS and counts[:-count].sum() >= LEAST_ROWS
        if not enough or (counts[-count:] < LEAST_REPEATED).any():
            return []
        codes: list[float] = values[-count:].tolist()
        spread = others[-1] - others[0]
        far = FAR_WITH_NINES if all(map(_has_nines, codes)) else FAR
        if codes[0] - others[-1] > far * spread and min(map(abs, codes)) >= LEAST_CODE:
            return codes
    return []


def _declared_numbers(schema: Schema | None) -> set[str]:
    return set() if schema is None else set(map(str, (*schema.continuous, *schema.integer)))


def _has_nines(value: float) -> bool:
    return value.is_integer() and NINES.fullmatch(str(abs(int(value)))) is not None


def suggest_schema(X: Any) -> Schema:
    """Return a schema that declares what looks like codes, see :meth:`Schema.suggest`."""
    table, matrix = Table.learn(X)
    return Schema(special=undeclared_codes(table, matrix))


def warn_of_codes(
    matrix: Matrix, table: Table, schema: Schema | None, stacklevel: int
) -> list[str]:
    """Warn of values that look like codes, with the line that declares them.

    Parameters
    ----------
    stacklevel
        As for :func:`warnings.warn`, counted from the caller.

    Returns
    -------
    names
        The features that have such values, or are declared to be numbers after all.
    """
    found = undeclared_codes(table, matrix, schema)
    looked_at = [*found, *_declared_numbers(schema)]
    if not found:
        return looked_at
    named = [f"{name!r} has {_listed(codes)}" for name, codes in found.items()]
    more = len(named) - MOST_NAMED
    shown = "; ".join(named[:MOST_NAMED]) + (f"; and {more} more columns" if more > 0 else "")
    kinds = [each for each in table.features if each.name in found]
    kind = "integer" if all(each.kind == "integer" for each in kinds) else "continuous"
    warnings.warn(
        f"Some values look like codes, not numbers, far from the others: {shown}. Distances count "
        f"them as numbers, and a person could be advised to reach one. If they are codes, declare "
        f"them: schema={Schema(special=found)!r}. If they are numbers, declare that: "
        f"schema=Schema({kind}={list(found)!r}).",
        UndeclaredCodesWarning,
        stacklevel=stacklevel + 1,
    )
    return looked_at


def _listed(codes: list[float]) -> str:
    return " and ".join(map(str, codes)) if len(codes) < 3 else ", ".join(map(str, codes))
