"""Linear models: the nearest counterfactual in closed form, for one input or many.

A linear model prefers another class to the input's on a half-space, and the nearest point of a
half-space within a box has a closed form. So has the nearest point with a prediction in a range: it
is the nearest of those beyond the end of the range that the input is not beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.exact.linear.half_spaces import HalfSpaces
from counterset.exact.linear.models import LinearModel, read_linear
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Preprocessing
from counterset.exact.problem import LOW_PRECISION, Problem, SolverResult, roundoff_of
from counterset.exact.targets import Target
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table

__all__ = ["Inputs", "has_closed_form", "read_closed_form", "solve_linear", "solve_linear_many"]

METHOD = "closed form of a linear model"
#: The reason where the bounds are not exact and no counterfactual was found.
BORDER_ONLY = "what is wanted reaches the border of the box at most"
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
class Boxes:
    """Inputs and the bounds around each, all ``(n, d)``."""

    X: Matrix
    low: Matrix
    high: Matrix


@dataclass(frozen=True)
class Inputs(Boxes):
    """Inputs ``(n, d)``, the box around each, and the labels that the model predicts."""

    labels: Labels

    def of(self, rows: Indices) -> Inputs:
        """Return some of the inputs."""
        return Inputs(self.X[rows], self.low[rows], self.high[rows], self.labels[rows])


#: Takes points, and the position of the input of each; returns which are counterfactuals.
Confirm: TypeAlias = Callable[[Matrix, Indices], Mask]


def has_closed_form(problem: Problem, targets: tuple[Target, ...], scores: Vector) -> bool:
    """Return whether each target is one half-space, as seen from an input with these scores.

    All that is asked of a point besides is to lie in a box that the input lies in.
    """
    limits = problem.limits
    if not problem.is_box or limits.values or not problem.holds_input:
        return False
    return all(len(target.least) == 1 or _is_strip(target, scores) for target in targets)


def _is_strip(target: Target, scores: Vector) -> bool:
    """Return whether a target is a range of one sum, of which one end is not reached yet."""
    return len(target.least) == 2 and bool(
        (target.weights[0] == -target.weights[1]).all() and (target.lacks(scores) > 0).sum() == 1
    )


def solve_linear(
    model: LinearModel, problem: Problem, norm: Norm, targets: tuple[Target, ...], scores: Vector
) -> SolverResult:
    """Find the distance of one input, for targets that have a closed form."""
    nearest = _Nearest(problem.x[None, :])
    box = Boxes(problem.x[None, :], problem.low[None, :], problem.high[None, :])
    for target in targets:
        row = int(np.argmax(target.lacks(scores)))
        half_space = target.weights[row], float(target.least[row])
        nearest.add(
            _Search(
                model,
                problem.model.table,
                norm,
                box,
                half_space,
                lambda points, _: problem.flips(points),
            ),
            np.array([0]),
        )
    found = not np.isnan(nearest.witnesses[0]).any()
    return SolverResult(
        float(nearest.lower[0]),
        nearest.witnesses[0] if found else None,
        METHOD,
        LOW_PRECISION if found else BORDER_ONLY,
        bool(np.isinf(nearest.lower[0])),
    )


def solve_linear_many(
    model: LinearModel, adapter: ModelAdapter, norm: Norm, inputs: Inputs
) -> tuple[Vector, Matrix, Mask]:
    """Find the distances of many inputs to another class.

    Returns
    -------
    lower
        The lower bound of each input, ``(n,)``.
    witnesses
        The nearest counterfactual of each input, ``(n, d)``; NaN where none was found.
    none_exists
        Where it is proved that there is none, ``(n,)``.
    """
    codes, nearest = model.codes(inputs.labels), _Nearest(inputs.X)
    for own in np.unique(codes):
        rows = np.flatnonzero(codes == own)
        some = inputs.of(rows)

        def flips(points: Matrix, which: Indices, labels: Labels = some.labels) -> Mask:
            return np.asarray(adapter.labels(points) != labels[which], dtype=bool)

        for other in range(model.n_classes):
            if other == own:
                continue
            weights = np.zeros(model.n_classes)
            weights[other], weights[own] = 1.0, -1.0
            search = _Search(model, adapter.table, norm, some, (weights, 0.0), flips)
            nearest.add(search, rows)
    return nearest.lower, nearest.witnesses, np.isinf(nearest.lower)


class _Nearest:
    """The nearest counterfactuals of inputs so far, and what is proved of all half-spaces."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self.lower = np.full(len(X), np.inf)
        self.witnesses = np.full_like(X, np.nan)
        self._distances = np.full(len(X), np.inf)

    def add(self, search: _Search, rows: Indices) -> None:
        """Add one half-space for some of the inputs."""
        found = search.confirmed()
        self.lower[rows] = np.fmin(self.lower[rows], search.lower_bounds())
        lengths = _lengths(search.norm, found - self._X[rows])
        better = lengths < self._distances[rows]
        self.witnesses[rows[better]] = found[better]
        self._distances[rows] = np.fmin(self._distances[rows], lengths)


class _Search:
    """One half-space of the scores, as the target of inputs: its weights and its least sum."""

    def __init__(
        self,
        model: LinearModel,
        table: Table,
        norm: Norm,
        box: Boxes,
        half_space: tuple[Vector, float],
        confirm: Confirm,
    ) -> None:
        self._model, self._table, self.norm = model, table, norm
        self._inputs, self._half_space, self._confirm = box, half_space, confirm
        self._roundoff = roundoff_of(table)
        gradient, self._need, self._rounding, self._growth = model.preference(
            box.X, *half_space, self._roundoff
        )
        self._rounding_at_input = self._rounding.copy()
        self._half_spaces = HalfSpaces.around(box.X, gradient, box.low, box.high, norm)

    def confirmed(self) -> Matrix:
        """Find the nearest points that the model confirms, ``(n, d)``; NaN where there is none."""
        found = np.full_like(self._inputs.X, np.nan)
        unclear: list[tuple[int, Vector]] = []
        pending = np.arange(len(self._inputs.X))
        for push in PUSHES:
            rows, points = self._pushed(pending, push)
            if len(rows) == 0:
                continue
            flipped = self._confirm(points, rows)
            _, need, rounding, _ = self._model.preference(points, *self._half_space, self._roundoff)
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
        return _lengths(self.norm, moves) * (1 - 1e-12)

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
        return pending, self._table.hold(moves)

    def _flips_alone(self, row: int, point: Vector) -> bool:
        return bool(self._confirm(point[None, :], np.array([row]))[0])


def _lengths(norm: Norm, moves: Matrix) -> Vector:
    """Return the lengths of moves; infinite where there is none, which ``l0`` would count as d."""
    return np.where(np.isnan(moves).any(axis=1), np.inf, norm.of(moves))
