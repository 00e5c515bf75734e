"""counterfactual_distances: the distances of many inputs; for a linear model, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.distances import DistanceLike
from counterset.exact.domains import Box, DomainLike
from counterset.exact.linear.closed_form import (
    BORDER_ONLY,
    Inputs,
    read_closed_form,
    solve_linear_many,
)
from counterset.exact.linear.closed_form import METHOD as LINEAR_METHOD
from counterset.exact.linear.models import LinearModel
from counterset.exact.norms import Norm, read_norm
from counterset.exact.problem import BATCH_ROWS, LOW_PRECISION, Clock
from counterset.exact.query import DistanceQuery, integer_features
from counterset.models.adapter import ModelAdapter
from counterset.results.bounds import DistanceBounds
from counterset.tables.frames import Rows, row_at
from counterset.tables.table import Table

__all__ = ["ManyBounds", "counterfactual_distances"]


@dataclass(frozen=True, eq=False, repr=False)
class ManyBounds(Sequence[DistanceBounds]):
    """The bounds of many inputs, in the order of the inputs.

    Attributes
    ----------
    lower, upper, exact
        One entry per input, ``(n,)``, as in :class:`DistanceBounds`. Both bounds are infinite
        where it is proved that there is no counterfactual.
    seconds
        How long it took for all of them.
    tolerance
        As in :class:`DistanceBounds`.
    """

    lower: Vector
    upper: Vector
    exact: Mask
    seconds: float
    tolerance: float
    _witnesses: Rows | Sequence[Any]
    _methods: Sequence[str]
    _reasons: Sequence[str]

    @property
    def witnesses(self) -> list[Any]:
        """A counterfactual for each input, or None."""
        return [self[i].witness for i in range(len(self))]

    def __len__(self) -> int:
        return len(self.lower)

    @overload
    def __getitem__(self, item: int) -> DistanceBounds: ...
    @overload
    def __getitem__(self, item: slice) -> list[DistanceBounds]: ...
    def __getitem__(self, item: int | slice) -> DistanceBounds | list[DistanceBounds]:
        if isinstance(item, slice):
            return [self[i] for i in range(len(self))[item]]
        i = range(len(self))[item]
        witness = row_at(self._witnesses, i)
        return DistanceBounds(
            lower=float(self.lower[i]),
            upper=float(self.upper[i]),
            exact=bool(self.exact[i]),
            witness=witness if np.isfinite(self.upper[i]) else None,
            seconds=self.seconds / len(self),
            method=self._methods[i % len(self._methods)],
            reason=self._reasons[i % len(self._reasons)] if not self.exact[i] else "",
            tolerance=self.tolerance,
        )

    def __iter__(self) -> Iterator[DistanceBounds]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"Counterfactual distances of {len(self)} inputs, {int(self.exact.sum())} exact, "
            f"median {np.median(self.upper):.6g} ({self.seconds:.2g} s)"
        )


def counterfactual_distances(
    model: Any,
    X: Any,
    distance: DistanceLike = "l1",
    domain: DomainLike = None,
    *,
    time_limit: float = 60.0,
    tolerance: float = 1e-5,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: Constraints | None = None,
) -> ManyBounds:
    """Bound the counterfactual distances of many inputs.

    Parameters are those of :func:`counterfactual_distance`. The time limit is for each input.
    Inputs of a linear model are solved at once, if any other class will do and there are no
    constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> model = RidgeClassifier().fit(X, [0, 0, 1, 1])
    >>> counterfactual_distances(model, X).upper.round(3)
    array([2., 1., 1., 2.])
    """
    query = DistanceQuery.of(
        model,
        distance,
        domain,
        time_limit=time_limit,
        tolerance=tolerance,
        target=target,
        target_probability=target_probability,
        interval=interval,
        constraints=constraints,
    )
    table, matrix = query.read(X)
    norm = read_norm(query.distance, matrix.shape[1])
    asked = (target, target_probability, interval, constraints)
    if norm is None or not isinstance(query.domain, Box) or asked != (None,) * 4:
        return _one_by_one(query, table, matrix)
    linear = read_closed_form(query.model, table, norm, integer_features(table))
    if linear is None:
        return _one_by_one(query, table, matrix)
    return _at_once(query, linear, norm, table, matrix)


def _at_once(
    query: DistanceQuery, linear: LinearModel, norm: Norm, table: Table, matrix: Matrix
) -> ManyBounds:
    """Bound the distances of all inputs by the closed form of a linear model."""
    clock = Clock.start(query.time_limit)
    model = ModelAdapter(query.model, table)
    low, high = query.limits(table, matrix)
    lower, witnesses = np.empty(len(matrix)), np.empty_like(matrix)
    none_exists = np.zeros(len(matrix), dtype=bool)
    for start in range(0, len(matrix), BATCH_ROWS):  # so that a batch stays in the cache
        part = slice(start, start + BATCH_ROWS)
        labels = model.labels(matrix[part])
        lower[part], witnesses[part], none_exists[part] = solve_linear_many(
            linear, model, norm, Inputs(matrix[part], low[part], high[part], labels)
        )
    upper = query.distance.rowwise(matrix, witnesses[:, None, :])[:, 0]
    upper = np.where(np.isnan(witnesses).any(axis=1), np.inf, upper)
    lower = np.minimum(lower, upper)
    with np.errstate(invalid="ignore"):
        exact = upper - lower <= query.tolerance * upper
    exact &= np.isfinite(upper)
    exact |= none_exists  # where nothing was found, only that is exact
    rows = table.decode(witnesses)
    reasons = [""]
    if not exact.all():
        reasons = [LOW_PRECISION if found else BORDER_ONLY for found in np.isfinite(upper)]
    return ManyBounds(
        lower, upper, exact, clock.seconds, query.tolerance, rows, [LINEAR_METHOD], reasons
    )


def _one_by_one(query: DistanceQuery, table: Table, matrix: Matrix) -> ManyBounds:
    """Bound the distance of each input by itself."""
    clock = Clock.start(query.time_limit)
    found = [query.bounds_of_row(table, row) for row in matrix]
    return ManyBounds(
        np.array([bounds.lower for bounds in found]),
        np.array([bounds.upper for bounds in found]),
        np.array([bounds.exact for bounds in found], dtype=bool),
        clock.seconds,
        query.tolerance,
        [bounds.witness for bounds in found],
        [bounds.method for bounds in found],
        [bounds.reason for bounds in found],
    )
