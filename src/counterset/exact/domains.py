"""Domains: the points among which counterfactuals are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from counterset._base.arrays import Mask, Matrix, Vector
from counterset._base.checks import numbers
from counterset.exceptions import DomainError, InvalidInputError, NotFittedError
from counterset.tables.frames import is_frame
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = [
    "Box",
    "Domain",
    "DomainLike",
    "Grid",
    "Points",
    "as_domain",
    "number_rows",
    "range_of_rows",
]


def number_rows(X: Any, name: str, single: bool = True) -> Matrix:
    """Return rows of finite numbers as a matrix ``(n, d)``.

    Parameters
    ----------
    X
        The rows; with ``single`` also one row, ``(d,)``.
    name
        What error messages call the rows.

    Examples
    --------
    >>> number_rows([1, 2], "x")
    array([[1., 2.]])
    """
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} holds something that is not a number, or rows of different lengths: {error}. "
            f"Exact distances are between rows of numbers: encode the others, or pass a table."
        ) from error
    if single and rows.ndim == 1:
        rows = rows[None, :]
    if rows.ndim != 2 or rows.shape[1] == 0:
        wanted = "one row of numbers" if single else "rows of numbers, one per input or point"
        raise InvalidInputError(
            f"{name} must be {wanted}, got shape {rows.shape}. Pass numbers of that shape."
        )
    if not np.isfinite(rows).all():
        row, i = np.argwhere(~np.isfinite(rows))[0]
        raise InvalidInputError(
            f"{name} is {rows[row, i]} in feature {i}, row {row}: missing and infinite values have "
            f"no distance. Fill in the value, or leave the row out."
        )
    return rows


@dataclass(frozen=True, eq=False)
class Box:
    """All points between a lower and an upper bound for each feature, both included.

    Parameters
    ----------
    low : float or array of float, default=-inf
        One number per feature, or one for all; infinite where there is no bound.
    high : float or array of float, default=inf
        The same for the upper bound.

    Attributes
    ----------
    table : Table or None
        The columns that the model takes, where they are known: ``Box.of`` learns them.
    rows : array of float or None
        The rows that the box was made of: values that occur together are looked up in them.

    Examples
    --------
    >>> Box(0, [1, 2]).low
    array(0.)
    >>> Box.of([[0.0, 5.0], [1.0, 9.0]]).high
    array([1., 9.])
    """

    low: ArrayLike = -np.inf
    high: ArrayLike = np.inf
    may_change: InitVar[None] = None
    table: Table | None = None
    rows: Matrix | None = field(default=None, repr=False)

    def __post_init__(self, may_change: None) -> None:
        _refuse_may_change(may_change, "Box")
        low, high = numbers(self.low), numbers(self.high)
        if low.ndim > 1 or high.ndim > 1 or np.isnan(low).any() or np.isnan(high).any():
            raise InvalidInputError(
                f"A Box takes one low and one high bound per feature, or one for all, got "
                f"low={self.low!r} and high={self.high!r}. Pass numbers, or infinity where there "
                f"is no bound."
            )
        if low.ndim and high.ndim and len(low) != len(high):
            raise InvalidInputError(
                f"A Box takes as many low as high bounds, got {len(low)} and {len(high)}. Pass one "
                f"of each per feature, or one for all."
            )
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            raise DomainError(
                f"The Box is empty: its low bound is above its high bound in feature "
                f"{crossed[0]}. Swap them."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def of(cls, data: Any, may_change: None = None, schema: Schema | None = None) -> Box:
        """Return the range of a table, or of the data that an explainer was fitted on.

        Categories may take every value that the table has.

        Parameters
        ----------
        data : table or fitted explainer
            The rows whose range is meant.
        schema : Schema, default=None
            What the dtypes of a table do not show.
        """
        _refuse_may_change(may_change, "Box.of")
        if hasattr(data, "schema_"):  # a fitted explainer
            return range_of_rows(data.training_.table, data.training_.pool.matrix)
        if hasattr(data, "explain"):
            raise NotFittedError(
                "This explainer is not fitted yet, so its data has no range. Call fit first."
            )
        return range_of_rows(*Table.learn(data, (schema or Schema()).without_steps()))

    def holding(self, x: Any) -> Box:
        """Return the box, widened where a row of its table lies outside."""
        if self.table is None:
            raise InvalidInputError(
                "Only a Box with a table can be widened by a row. Make it with Box.of(X)."
            )
        row = self.table.encode_one(x)[0][0]
        low, high = self.bounds(len(row))
        return replace(self, low=np.fmin(low, row), high=np.fmax(high, row))

    def bounds(self, n_features: int) -> tuple[Vector, Vector]:
        """Return the lower and the upper bound of each feature."""
        bounds = []
        for given in (np.asarray(self.low), np.asarray(self.high)):
            if given.ndim and len(given) != n_features:
                raise InvalidInputError(
                    f"The Box has bounds for {len(given)} features, but the input has {n_features}."
                    f" Pass one bound per feature, or one for all."
                )
            bounds.append(np.broadcast_to(given, n_features).astype(np.float64))
        return bounds[0], bounds[1]


def range_of_rows(table: Table, rows: Matrix) -> Box:
    """Return the range of the rows of a learned table."""
    low, high = np.array([(feature.low, feature.high) for feature in table.features]).T
    return Box(low, high, table=table, rows=rows)


def _refuse_may_change(may_change: Any, name: str) -> None:
    """Refuse a spelling that was removed."""
    if may_change is not None:
        raise InvalidInputError(
            f"{name} no longer takes may_change. A domain says which points there are; which "
            f"features keep the input's values is a constraint. Write "
            f"counterfactual_distance(..., constraints=Constraints(immutable=['age']))."
        )


@dataclass(frozen=True, eq=False)
class Points:
    """A finite set of points: the rows of a table.

    The input itself need not be one of them.

    Parameters
    ----------
    rows : table or array
        The points.

    Attributes
    ----------
    matrix : array of float
        The points as codes, ``(n, d)``.

    Examples
    --------
    >>> len(Points([[0.0, 1.0], [2.0, 3.0]]).matrix)
    2
    """

    rows: Any
    matrix: Matrix = field(init=False, repr=False)
    _table: Table = field(init=False, repr=False)

    def __post_init__(self) -> None:
        frame = isinstance(self.rows, pd.DataFrame) or is_frame(self.rows)
        rows = self.rows if frame else number_rows(self.rows, "A set of points", single=False)
        if len(rows) == 0:
            raise DomainError("The domain has no points. Pass at least one row.")
        table, matrix = Table.learn(rows, Schema(step=0))
        object.__setattr__(self, "_table", table)
        object.__setattr__(self, "matrix", matrix)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    @property
    def table(self) -> Table | None:
        """The columns of the points, where they have names."""
        return self._table if self._table.array_dtype is None else None

    def holds(self, row: Vector, x: Vector, fixed: Mask) -> bool:
        """Return whether a row is one of the points."""
        del x, fixed  # a set of points is the same for every input
        return bool((self.matrix == row).all(axis=1).any())


@dataclass(frozen=True, eq=False)
class Grid:
    """All combinations of a few values per feature.

    The input's own values need not be among them. An immutable feature keeps the input's value,
    whatever the values here.

    Parameters
    ----------
    values : list of lists of float
        For each feature, the values that it may take.

    Attributes
    ----------
    table : Table or None
        The columns that the model takes, where they are known.

    Examples
    --------
    >>> Grid([[0, 1], [0, 0.5, 1]]).size
    6
    """

    values: Sequence[ArrayLike]
    may_change: InitVar[None] = None
    table: Table | None = None

    def __post_init__(self, may_change: None) -> None:
        _refuse_may_change(may_change, "Grid")
        if not isinstance(self.values, Sequence | np.ndarray) or isinstance(self.values, str):
            raise InvalidInputError(
                f"A Grid takes a list of values for each feature, got {self.values!r}. Write "
                f"Grid([[0, 1], [0, 0.5, 1]])."
            )
        values = tuple(np.unique(numbers(some).ravel()) for some in self.values)
        for i, some in enumerate(values):
            if len(some) == 0:
                raise DomainError(f"The Grid is empty: feature {i} has no values. Give it one.")
            if not np.isfinite(some).all():
                raise InvalidInputError(
                    f"The Grid has a value that is not a finite number, in feature {i}: "
                    f"{self.values[i]!r}. Leave it out."
                )
        if not values:
            raise DomainError("The Grid has no features. Give the values of at least one.")
        object.__setattr__(self, "values", values)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.values)

    @property
    def size(self) -> int:
        """The number of combinations."""
        size = 1
        for some in self.values:
            size *= len(np.asarray(some))
        return size

    def values_for(self, x: Vector, fixed: Mask) -> list[Vector]:
        """Return the values that each feature may take from x; x's own where it is fixed."""
        return [
            x[i : i + 1] if fixed[i] else np.asarray(some) for i, some in enumerate(self.values)
        ]

    def holds(self, row: Vector, x: Vector, fixed: Mask) -> bool:
        """Return whether a row is one of the combinations that can be reached from x."""
        return all(
            bool(np.isin(value, some))
            for value, some in zip(row, self.values_for(x, fixed), strict=True)
        )


Domain: TypeAlias = Box | Grid | Points
#: A domain, a table of points, a fitted explainer (the range of its data), or None: unbounded.
DomainLike: TypeAlias = Any


def as_domain(domain: DomainLike) -> Domain:
    """Convert what was passed as ``domain=`` to a domain.

    Examples
    --------
    >>> as_domain(None).high, type(as_domain([[0.0], [1.0]])).__name__
    (array(inf), 'Points')
    """
    if domain is None:
        return Box()
    if isinstance(domain, Box | Grid | Points):
        return domain
    if hasattr(domain, "schema_") or hasattr(domain, "explain"):
        return Box.of(domain)
    if isinstance(domain, pd.DataFrame) or (np.ndim(domain) and not isinstance(domain, dict)):
        return Points(domain)
    raise InvalidInputError(
        f"domain= takes a Box, a Grid, a table of points, or a fitted explainer, got {domain!r}. "
        f"Pass Box.of(X), for example."
    )
