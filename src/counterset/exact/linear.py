"""Linear models: the nearest point of a half-space within a box, in closed form.

A linear model prefers class k to the input's class on a half-space ``g @ move >= need``. Only the
features with ``g != 0`` are worth moving, each in the direction of its sign, as far as the box
leaves room; so the task is to fill a ``need`` at the least cost, for many inputs at once:

- ``l1``: the features with the most gain per cost first, to the end of their room (a fractional
  knapsack, the optimum of the linear programme);
- ``linf``, ``l2``: all features rise together, in fixed proportions, until their room ends;
- ``l0`` with equal weights: the features with the most gain in all first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset.arrays import Codes, Labels, Mask, Matrix
from counterset.exact.linear_models import LinearModel
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem
from counterset.models import ModelAdapter

__all__ = ["HalfSpaces", "has_closed_form", "solve_linear", "solve_linear_many"]

#: How much more gain to ask for until the model itself agrees that the class has changed. Always
#: more than rounding can hide, unless the box has no room for it (None).
METHOD = "closed form of a linear model"
BORDER_ONLY = "the other classes touch the box in its border at most"
PUSHES = (*(float(step) for step in np.geomspace(1e-15, 1e-6, 19)), None)


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """One half-space ``gradient @ move >= need`` for each of n inputs.

    Attributes
    ----------
    gradient
        Shape ``(d,)``.
    need
        Shape ``(n,)``.
    room
        How far each feature may move the way it should, ``(n, d)``.
    norm
        The length of a move.
    """

    gradient: Matrix
    need: Matrix
    room: Matrix
    norm: Norm

    @classmethod
    def around(
        cls, X: Matrix, gradient: Matrix, need: Matrix, low: Matrix, high: Matrix, norm: Norm
    ) -> HalfSpaces:
        """Give the half-spaces of these inputs in a box."""
        room = np.where(gradient > 0, high - X, X - low)
        return cls(gradient, need, np.where(gradient == 0, 0.0, room), norm)

    def moves(self) -> Matrix:
        """Give the shortest move into the half-space of each input; NaN where there is none."""
        gains = np.abs(self.gradient)
        moved = np.zeros_like(self.room)
        # What costs nothing is moved first, and only the rest of the need is paid for.
        free, paid = self.norm.weights == 0, self.norm.weights > 0
        need = np.maximum(self.need, 0.0)
        if free.any():
            moved[:, free] = _knapsack(need, gains[free], self.room[:, free], gains[free])
            need = np.maximum(need - moved[:, free] @ gains[free], 0.0)
        if paid.any():
            moved[:, paid] = self._pay(need, gains[paid], self.room[:, paid], paid)
        with np.errstate(invalid="ignore"):
            most = np.where(gains > 0, gains * self.room, 0.0).sum(axis=1)
        moved[most < self.need] = np.nan
        return np.sign(self.gradient) * moved

    def _pay(self, need: Matrix, gains: Matrix, room: Matrix, paid: Mask) -> Matrix:
        weights = self.norm.weights[paid]
        if self.norm.kind == "l1":
            return _knapsack(need, gains, room, gains / weights)
        if self.norm.kind == "l0":
            return _largest_first(need, gains, room)
        pace = gains / weights if self.norm.kind == "l2" else (gains > 0) / weights
        return _rise_together(need, gains, room, pace)


def _knapsack(need: Matrix, gains: Matrix, room: Matrix, worth: Matrix) -> Matrix:
    """Fill the need by the worthiest features first."""
    order = np.argsort(-worth, kind="stable")
    order = order[gains[order] > 0]
    moved = np.zeros_like(room)
    capacity = gains[order] * room[:, order]
    before = np.zeros_like(capacity)
    np.cumsum(capacity[:, :-1], axis=1, out=before[:, 1:])
    moved[:, order] = np.clip(need[:, None] - before, 0.0, capacity) / gains[order]
    return moved


def _rise_together(need: Matrix, gains: Matrix, room: Matrix, pace: Matrix) -> Matrix:
    """Fill the need by moves of ``min(level * pace, room)``, at the lowest level that does."""
    useful = pace > 0
    if not useful.any():
        return np.zeros_like(room)
    room, gains_, pace_ = room[:, useful], gains[useful], pace[useful]
    moved = np.zeros((len(room), len(pace)))
    ends = room / pace_
    order = np.argsort(ends, axis=1, kind="stable")
    sorted_ends = np.take_along_axis(ends, order, axis=1)
    slopes = (gains_ * pace_)[order]
    capacity = np.take_along_axis(gains_ * room, order, axis=1)
    full = np.zeros_like(capacity)
    np.cumsum(capacity[:, :-1], axis=1, out=full[:, 1:])
    rising = np.cumsum(slopes[:, ::-1], axis=1)[:, ::-1]  # what still rises between two ends
    with np.errstate(invalid="ignore"):
        levels = (need[:, None] - full) / rising
    # The right stretch is the first whose end lies above its level.
    fits = levels <= sorted_ends
    first = np.where(fits.any(axis=1), fits.argmax(axis=1), fits.shape[1] - 1)
    level = np.maximum(levels[np.arange(len(levels)), first], 0.0)
    moved[:, useful] = np.minimum(level[:, None] * pace_, room)
    return moved


def _largest_first(need: Matrix, gains: Matrix, room: Matrix) -> Matrix:
    """Fill the need by as few features as can be, each to the end of its room or of the need."""
    capacity = np.where(gains > 0, gains * np.where(gains > 0, room, 0.0), 0.0)
    order = np.argsort(-capacity, axis=1, kind="stable")
    by_size = np.take_along_axis(capacity, order, axis=1)
    before = np.zeros_like(by_size)
    np.cumsum(by_size[:, :-1], axis=1, out=before[:, 1:])
    filled = np.clip(need[:, None] - before, 0.0, by_size)
    moved = np.zeros_like(room)
    np.put_along_axis(moved, order, filled, axis=1)
    return np.divide(moved, gains, out=np.zeros_like(moved), where=gains > 0)


def has_closed_form(norm: Norm, integer: Mask) -> bool:
    """Say whether this module solves it; whole numbers and weighted counts need a programme."""
    equal_weights = norm.kind != "l0" or len(np.unique(norm.weights)) == 1
    return equal_weights and not integer.any()


def solve_linear(model: LinearModel, problem: Problem, norm: Norm) -> Answer:
    """Give the distance of one input."""
    lower, witnesses, none_exists = solve_linear_many(
        model,
        problem.model,
        norm,
        problem.x[None, :],
        np.array([problem.label]),
        problem.low[None, :],
        problem.high[None, :],
    )
    found = not np.isnan(witnesses[0]).any()
    return Answer(
        float(lower[0]),
        witnesses[0] if found else None,
        METHOD,
        BORDER_ONLY,
        bool(none_exists[0]),
    )


def solve_linear_many(
    model: LinearModel,
    adapter: ModelAdapter,
    norm: Norm,
    X: Matrix,
    labels: Labels,
    low: Matrix,
    high: Matrix,
) -> tuple[Matrix, Matrix, Mask]:
    """Give lower bounds, witnesses (NaN: none) and where none exists, for inputs ``(n, d)``.

    ``low`` and ``high`` have a row for each input.
    """
    codes = model.codes(labels)
    lower = np.full(len(X), np.inf)
    witnesses = np.full_like(X, np.nan)
    distances = np.full(len(X), np.inf)
    for own in np.unique(codes):
        rows = np.flatnonzero(codes == own)
        for other in range(model.n_classes):
            if other == own:
                continue
            sought = _Sought(
                model, adapter, norm, X[rows], labels[rows], low[rows], high[rows], other, int(own)
            )
            lower[rows] = np.fmin(lower[rows], sought.at_least())
            found = sought.confirmed()
            lengths = np.nan_to_num(norm.of(found - X[rows]), nan=np.inf)
            better = lengths < distances[rows]
            witnesses[rows[better]] = found[better]
            distances[rows] = np.fmin(distances[rows], lengths)
    return lower, witnesses, np.isinf(lower)


class _Sought:
    """One other class, sought from inputs of one class."""

    def __init__(
        self,
        model: LinearModel,
        adapter: ModelAdapter,
        norm: Norm,
        X: Matrix,
        labels: Labels,
        low: Matrix,
        high: Matrix,
        other: int,
        own: int,
    ) -> None:
        self._adapter, self._norm = adapter, norm
        self._X, self._labels, self._low, self._high = X, labels, low, high
        self._gradient, self._need, self._rounding = model.preference(X, other, own)

    def at_least(self) -> Matrix:
        """Give lower bounds that hold whatever the rounding; infinite: proved out of reach."""
        everything = np.arange(len(self._X))
        moves = self._moves(everything, self._need - self._rounding)
        lengths: Matrix = np.nan_to_num(self._norm.of(moves), nan=np.inf) * (1 - 1e-12)
        return lengths

    def confirmed(self) -> Matrix:
        """Give the nearest points that the model confirms; NaN where there is none."""
        found = np.full_like(self._X, np.nan)
        pending = np.arange(len(self._X))
        for push in PUSHES:
            need = self._need[pending]
            more = need if push is None else need + self._rounding[pending] + push * np.abs(need)
            moves = self._moves(pending, more)
            possible = ~np.isnan(moves).any(axis=1)
            rows = pending[possible]
            if len(rows) == 0:
                continue
            moved = np.clip(self._X[rows] + moves[possible], self._low[rows], self._high[rows])
            points = self._adapter.table.snap(moved)
            flipped = self._adapter.labels(points) != self._labels[rows]
            found[rows[flipped]] = points[flipped]
            pending = np.setdiff1d(pending, rows[flipped], assume_unique=True)
        return found

    def _moves(self, rows: Codes, need: Matrix) -> Matrix:
        X, low, high = self._X[rows], self._low[rows], self._high[rows]
        return HalfSpaces.around(X, self._gradient, need, low, high, self._norm).moves()
