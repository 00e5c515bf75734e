"""The shortest move into a half-space within a box, for many inputs at once, in closed form.

A half-space is ``gradient @ move >= need``. Only features with ``gradient != 0`` need to move, each
in the direction of its sign, at most to the end of the box. So the problem is to fill the need at
the least cost:

- ``l1``: the features with the most gain per cost first, each to the end of its room (a fractional
  knapsack, the optimum of the linear programme);
- ``linf``, ``l2``: all features rise together, in fixed proportions, until their room ends;
- ``l0`` with equal weights: the features with the largest possible gain first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.exact.norms import Norm

__all__ = ["HalfSpaces"]


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """Half-spaces ``gradient @ move >= need`` around n inputs.

    Attributes
    ----------
    gradient
        The same for all inputs, ``(d,)``.
    room
        How far each feature may move in the direction of its gradient, ``(d, n)``: one row per
        feature, since the computation goes feature by feature for all inputs together.
    norm
        The length of a move.
    """

    gradient: Vector
    room: Matrix
    norm: Norm

    @classmethod
    def around(
        cls, X: Matrix, gradient: Vector, low: Matrix, high: Matrix, norm: Norm
    ) -> HalfSpaces:
        """Make the half-spaces around inputs ``(n, d)`` in a box.

        The bounds of the box may be the same for all inputs, ``(d,)``, or differ, ``(n, d)``.
        """
        room = np.zeros(X.shape[::-1])
        low, high = np.broadcast_to(low, X.shape), np.broadcast_to(high, X.shape)
        for i, slope in enumerate(gradient):
            if slope != 0:
                room[i] = high[:, i] - X[:, i] if slope > 0 else X[:, i] - low[:, i]
        return cls(gradient, room, norm)

    def widened(self, growth: Vector, X: Matrix, low: Matrix, high: Matrix) -> HalfSpaces:
        """Return the half-spaces with gradients that are larger by as much as rounding adds.

        Where rounding may turn the sign of a gradient, the feature may move either way.
        """
        gradient = self.gradient + np.where(self.gradient >= 0, growth, -growth)
        either = ((growth > 0) & (growth >= np.abs(self.gradient)))[:, None]
        room = np.where(either, np.maximum(high - X, X - low).T, self.room)
        return HalfSpaces(gradient, room, self.norm)

    def of(self, inputs: Indices) -> HalfSpaces:
        """Return the half-spaces around some of the inputs."""
        return HalfSpaces(self.gradient, self.room[:, inputs], self.norm)

    def moves(self, need: Vector) -> Matrix:
        """Find the shortest move of each input that fills its need, ``(n, d)``.

        NaN where the box has too little room.
        """
        gains = np.abs(self.gradient)
        moved = np.zeros_like(self.room)
        # Features without a cost move first, and the others make up for the rest of the need.
        left = np.maximum(need, 0.0)
        for i in np.flatnonzero((self.norm.weights == 0) & (gains > 0)):
            left = _take(left, gains[i], self.room[i], moved[i])
        paid = np.flatnonzero((self.norm.weights > 0) & (gains > 0))
        if len(paid):
            self._pay(left, gains, paid, moved)
        with np.errstate(over="ignore"):
            most = sum((gains[i] * self.room[i] for i in np.flatnonzero(gains)), 0.0 * left)
        moved[:, most < need] = np.nan
        moved *= np.sign(self.gradient)[:, None]
        return np.ascontiguousarray(moved.T)

    def _pay(self, need: Vector, gains: Vector, paid: Indices, moved: Matrix) -> None:
        """Fill the need by the features that have a cost; write their moves into ``moved``."""
        weights = self.norm.weights[paid]
        if self.norm.kind == "l1":
            for i in paid[np.argsort(-gains[paid] / weights, kind="stable")]:
                need = _take(need, gains[i], self.room[i], moved[i])
            return
        if self.norm.kind == "l0":
            moved[paid] = _largest_first(need, gains[paid], self.room[paid])
            return
        pace = gains[paid] / weights if self.norm.kind == "l2" else 1.0 / weights
        moved[paid] = _rise_together(need, gains[paid], self.room[paid], pace)


def _take(need: Vector, gain: float, room: Vector, moved: Vector) -> Vector:
    """Move one feature as far as needed and possible; return the need that is left."""
    taken = np.minimum(need, gain * room)
    np.divide(taken, gain, out=moved)
    return np.asarray(need - taken)


def _rise_together(need: Vector, gains: Vector, room: Matrix, pace: Vector) -> Matrix:
    """Fill the need by moves of ``min(level * pace, room)``, at the lowest level that does.

    The gain is concave in the level. So Newton's steps from below never pass the right level, and
    they reach it when no further feature comes to the end of its room.
    """
    slopes = gains * pace
    level = need / slopes.sum()
    moved: Matrix = np.minimum(level * pace[:, None], room)
    pending = np.flatnonzero((moved < level * pace[:, None]).any(axis=0))
    for _ in range(len(pace)):
        if len(pending) == 0:
            break
        here, level_here = room[:, pending], level[pending]
        ended = here <= level_here * pace[:, None]
        full = np.where(ended, here, 0.0) * gains[:, None]
        rising = slopes @ ~ended
        left = need[pending] - full.sum(axis=0)
        # Where nothing rises any more, all the room is used.
        raised = np.divide(left, rising, out=np.full(len(left), np.inf), where=rising > 0)
        level[pending] = np.maximum(raised, level_here)
        with np.errstate(invalid="ignore"):
            moved[:, pending] = np.minimum(level[pending] * pace[:, None], here)
        more = ((here <= level[pending] * pace[:, None]) & ~ended).any(axis=0)
        pending = pending[more]
    return moved


def _largest_first(need: Vector, gains: Vector, room: Matrix) -> Matrix:
    """Fill the need by as few features as possible, those with the largest possible gain first."""
    capacity = gains[:, None] * room
    order = np.argsort(-capacity, axis=0, kind="stable")
    inputs = np.arange(len(need))
    filled = np.zeros_like(room)
    for features in order:  # one feature for each input
        taken = np.minimum(need, capacity[features, inputs])
        filled[features, inputs] = taken
        need = need - taken
    return np.asarray(filled / gains[:, None])
