"""Linear models: the nearest point of another class in closed form, for one input or many.

A linear model prefers another class to the input's on a half-space, and the nearest point of a
half-space within a box has a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.exact.linear.half_spaces import HalfSpaces
from counterset.exact.linear.models import LinearModel, read_linear
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Preprocessing
from counterset.exact.problem import LOW_PRECISION, Problem, SolverResult, roundoff_of
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table

__all__ = ["Inputs", "read_closed_form", "solve_linear", "solve_linear_many"]

METHOD = "closed form of a linear model"
#: The reason where the bounds are not exact and no counterfactual was found.
BORDER_ONLY = "other classes reach the border of the box at most"
#: How much the lead of the other class is raised until the model itself predicts that class,
#: relative to what it lacks and to what the input's own values add to it, since points are rounded
#: as these are: 19 steps from a double's rounding to a millionth. All of them are more than the
#: model's rounding can hide. None is no rise at all, for a box without room for more.
PUSHES = (*(float(step) for step in np.geomspace(1e-15, 1e-6, 19)), None)


def read_closed_form(model: Any, table: Table, norm: Norm, integer: Mask) -> LinearModel | None:
    """Read a linear model, also after scalers, that this module solves; None for any other.

    Whole numbers, categories and weighted counts need a programme.
    """
    equal_weights = norm.kind != "l0" or len(np.unique(norm.weights)) == 1
    before, last = Preprocessing.of(model)
    linear = read_linear(last)
    if linear is None or integer.any() or not equal_weights:
        return None
    return linear.before(before, table)


@dataclass(frozen=True)
class Inputs:
    """Inputs ``(n, d)``, the labels that the model predicts, and the box around each."""

    X: Matrix
    labels: Labels
    low: Matrix
    high: Matrix

    def of(self, rows: Indices) -> Inputs:
        """Return some of the inputs."""
        return Inputs(self.X[rows], self.labels[rows], self.low[rows], self.high[rows])


def solve_linear(model: LinearModel, problem: Problem, norm: Norm) -> SolverResult:
    """Find the distance of one input."""
    labels = np.array([problem.label])
    inputs = Inputs(problem.x[None, :], labels, problem.low[None, :], problem.high[None, :])
    lower, witnesses, none_exists = solve_linear_many(model, problem.model, norm, inputs)
    found = not np.isnan(witnesses[0]).any()
    return SolverResult(
        float(lower[0]),
        witnesses[0] if found else None,
        METHOD,
        LOW_PRECISION if found else BORDER_ONLY,
        bool(none_exists[0]),
    )


def solve_linear_many(
    model: LinearModel, adapter: ModelAdapter, norm: Norm, inputs: Inputs
) -> tuple[Vector, Matrix, Mask]:
    """Find the distances of many inputs.

    Returns
    -------
    lower
        The lower bound of each input, ``(n,)``.
    witnesses
        The nearest counterfactual of each input, ``(n, d)``; NaN where none was found.
    none_exists
        Where it is proved that there is none, ``(n,)``.
    """
    X, codes = inputs.X, model.codes(inputs.labels)
    lower = np.full(len(X), np.inf)
    witnesses = np.full_like(X, np.nan)
    distances = np.full(len(X), np.inf)
    for own in np.unique(codes):
        rows = np.flatnonzero(codes == own)
        for other in range(model.n_classes):
            if other == own:
                continue
            target = _Target(model, adapter, norm, inputs.of(rows), (other, int(own)))
            found = target.confirmed()
            lower[rows] = np.fmin(lower[rows], target.lower_bounds())
            lengths = _lengths(norm, found - X[rows])
            better = lengths < distances[rows]
            witnesses[rows[better]] = found[better]
            distances[rows] = np.fmin(distances[rows], lengths)
    return lower, witnesses, np.isinf(lower)


class _Target:
    """One other class, as the target of inputs of one class: ``classes`` are the two columns."""

    def __init__(
        self,
        model: LinearModel,
        adapter: ModelAdapter,
        norm: Norm,
        inputs: Inputs,
        classes: tuple[int, int],
    ) -> None:
        self._model, self._adapter, self._norm, self._classes = model, adapter, norm, classes
        self._inputs, self._roundoff = inputs, roundoff_of(adapter.table)
        gradient, self._need, self._rounding, self._growth = model.preference(
            inputs.X, classes, self._roundoff
        )
        self._rounding_at_input = self._rounding.copy()
        self._half_spaces = HalfSpaces.around(inputs.X, gradient, inputs.low, inputs.high, norm)

    def confirmed(self) -> Matrix:
        """Find the nearest points that the model confirms, ``(n, d)``; NaN where there is none."""
        found = np.full_like(self._inputs.X, np.nan)
        unclear: list[tuple[int, Vector]] = []
        pending = np.arange(len(self._inputs.X))
        for push in PUSHES:
            rows, points = self._pushed(pending, push)
            if len(rows) == 0:
                continue
            flipped = self._adapter.labels(points) != self._inputs.labels[rows]
            _, need, rounding, _ = self._model.preference(points, self._classes, self._roundoff)
            self._rounding[rows] = np.maximum(self._rounding[rows], rounding)
            # A lead that rounding cannot hide is there in whichever order the model adds up.
            clear = flipped & (-need > rounding)
            unclear += [(int(rows[i]), points[i]) for i in np.flatnonzero(flipped & ~clear)]
            found[rows[clear]] = points[clear]
            pending = np.setdiff1d(pending, rows[clear], assume_unique=True)
            if len(pending) == 0:
                break
        for row, point in unclear:
            if np.isnan(found[row, 0]) and self._flips_alone(row, point):
                found[row] = point
        return found

    def lower_bounds(self) -> Vector:
        """Return lower bounds that hold in spite of rounding; infinite: proved out of reach."""
        inputs = self._inputs
        widened = self._half_spaces.widened(self._growth, inputs.X, inputs.low, inputs.high)
        moves = widened.moves(self._need - self._rounding_at_input)
        return _lengths(self._norm, moves) * (1 - 1e-12)

    def _pushed(self, pending: Indices, push: float | None) -> tuple[Indices, Matrix]:
        """Return the points just past the border, of those pending inputs that have one."""
        need, everything = self._need[pending], len(pending) == len(self._inputs.X)
        # A little more than rounding, since that of the sums here counts as well.
        more = need
        if push is not None:
            stored = np.abs(self._inputs.X[pending]) @ np.abs(self._half_spaces.gradient)
            more = need + 1.1 * self._rounding[pending] + push * (np.abs(need) + stored)
        spaces = self._half_spaces if everything else self._half_spaces.of(pending)
        moves = spaces.moves(more)
        possible = ~np.isnan(moves[:, 0])
        if not (everything and possible.all()):
            pending, moves = pending[possible], moves[possible]
        moves += self._inputs.X[pending]
        np.clip(moves, self._inputs.low[pending], self._inputs.high[pending], out=moves)
        return pending, self._adapter.table.hold(moves)

    def _flips_alone(self, row: int, point: Vector) -> bool:
        return bool(self._adapter.labels(point[None, :])[0] != self._inputs.labels[row])


def _lengths(norm: Norm, moves: Matrix) -> Vector:
    """Return the lengths of moves; infinite where there is none, which ``l0`` would count as d."""
    return np.where(np.isnan(moves).any(axis=1), np.inf, norm.of(moves))
