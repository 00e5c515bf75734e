"""The shortest move into a half-space within a box, for many inputs at once, in closed form.

Only the features with ``gradient != 0`` are worth moving, each in the direction of its sign, as far
as the box leaves room; so the task is to fill a ``need`` at the least cost:

- ``l1``: the features with the most gain per cost first, to the end of their room (a fractional
  knapsack, the optimum of the linear programme);
- ``linf``, ``l2``: all features rise together, in fixed proportions, until their room ends;
- ``l0`` with equal weights: the features with the most gain in all first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Codes, Matrix
from counterset.exact.norms import Norm

__all__ = ["HalfSpaces"]


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """Half-spaces ``gradient @ move >= need`` around n inputs.

    Attributes
    ----------
    gradient
        Shape ``(d,)``.
    room
        How far each feature may move the way it should, ``(d, n)``: a row per feature, since all
        is done feature by feature for all inputs together.
    norm
        The length of a move.
    """

    gradient: Matrix
    room: Matrix
    norm: Norm

    @classmethod
    def around(
        cls, X: Matrix, gradient: Matrix, low: Matrix, high: Matrix, norm: Norm
    ) -> HalfSpaces:
        """Give the half-spaces of these inputs in a box, whose bounds may differ by input."""
        room = np.zeros(X.shape[::-1])
        low, high = np.broadcast_to(low, X.shape), np.broadcast_to(high, X.shape)
        for i, slope in enumerate(gradient):
            if slope != 0:
                room[i] = high[:, i] - X[:, i] if slope > 0 else X[:, i] - low[:, i]
        return cls(gradient, room, norm)

    def of(self, inputs: Codes) -> HalfSpaces:
        """Give the half-spaces of some of the inputs."""
        return HalfSpaces(self.gradient, self.room[:, inputs], self.norm)

    def moves(self, need: Matrix) -> Matrix:
        """Give the shortest move of each input that fills its need; NaN where there is none."""
        gains = np.abs(self.gradient)
        moved = np.zeros_like(self.room)
        # What costs nothing is moved first, and only the rest of the need is paid for.
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

    def _pay(self, need: Matrix, gains: Matrix, paid: Codes, moved: Matrix) -> None:
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


def _take(need: Matrix, gain: float, room: Matrix, moved: Matrix) -> Matrix:
    """Move one feature as far as is needed and there is room; give the need that is left."""
    taken = np.minimum(need, gain * room)
    np.divide(taken, gain, out=moved)
    return np.asarray(need - taken)


def _rise_together(need: Matrix, gains: Matrix, room: Matrix, pace: Matrix) -> Matrix:
    """Fill the need by moves of ``min(level * pace, room)``, at the lowest level that does.

    The gain is concave in the level, so Newton's steps from below never pass the right level, and
    reach it when no further feature comes to the end of its room.
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


def _largest_first(need: Matrix, gains: Matrix, room: Matrix) -> Matrix:
    """Fill the need by as few features as can be, each to the end of its room or of the need."""
    capacity = gains[:, None] * room
    order = np.argsort(-capacity, axis=0, kind="stable")
    inputs = np.arange(len(need))
    filled = np.zeros_like(room)
    for place in order:
        taken = np.minimum(need, capacity[place, inputs])
        filled[place, inputs] = taken
        need = need - taken
    return np.asarray(filled / gains[:, None])
