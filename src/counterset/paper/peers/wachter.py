"""Wachter, Mittelstadt and Russell (2017): descend from the input until the class changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.paper.peers.gradients import Gradients, Leads, movable
from counterset.tables.scaling import learn_scaling
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["Wachter"]

#: The wanted score is that of a probability of 0.51: just beyond the decision boundary, as in the
#: implementations that others compare with. A score within 0.02 of it is near enough.
WANTED = float(np.log(0.51 / 0.49))
TOLERANCE = 0.02
#: The weight of the loss doubles up to 40 times, a factor of a trillion: by then the distance
#: counts for nothing. For each weight there are up to 200 steps: on the paper's networks, 1000 took
#: five times as long and ended 0 to 4 % nearer.
DOUBLINGS = 40
STEPS = 200
#: A descent has ended where no feature moves by a millionth of its median deviation.
LEAST_STEP = 1e-6


@dataclass
class Wachter:
    """The counterfactual of "Counterfactual Explanations Without Opening the Black Box".

    It minimises ``weight * (f(x') - y')^2 + d(x, x')`` for a weight that grows until f(x') is
    within a tolerance of y' (the paper's equation 2). The score f is the log-odds of the wanted
    class: unlike a probability, it does not flatten out far from the boundary. It finds a single
    counterfactual, and moves numbers only: the values of categories stay. They also stay within
    the range of the training rows.

    Left out: other starts, which lead to other counterfactuals, and trying the values of
    categories one after another. Where the descent ends before the boundary, its end is returned
    all the same.

    Parameters
    ----------
    norm
        Not used: the distance is the paper's own.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    immutable: Sequence[str] = ()
    name: str = "wachter"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Read the model, and learn the deviation of each feature."""
        self._table, rows = Table.learn(X, Schema(step=0))
        self._gradients = Gradients.of(model, self._table)
        # The paper's distance is sum_k |x_k - x'_k| / MAD_k, with the median absolute deviation
        # over the training rows. Where that is 0, the range stands for it.
        self._deviation = learn_scaling(rows, self._table, "mad").unit
        self._low, self._high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set of one counterfactual for each row."""
        rows, _ = self._table.encode(X)
        leads = self._gradients.around(rows)
        moved = rows + self._descend(leads, rows, movable(self._table, rows, self.immutable))
        moved = self._table.snap_away(moved, rows)
        return [self._table.decode(each[None, :]) for each in moved]

    def _descend(self, leads: Leads, rows: Matrix, free: Mask) -> Matrix:
        """Return the moves of all rows, each from the first weight that brings it near enough."""
        deviation = np.where(free, self._deviation, 0.0)
        per_unit = np.where(free, 1 / self._deviation, 0.0)
        low = np.where(free, np.minimum(self._low - rows, 0.0), 0.0) * per_unit
        high = np.where(free, np.maximum(self._high - rows, 0.0), 0.0) * per_unit
        moves = np.zeros_like(rows)  # in deviations
        score, slopes = leads.at(moves)
        # With a smaller weight than this, no move pays.
        steepest = np.abs(slopes * deviation).max(axis=1)
        weight = 1 / np.maximum(2 * np.abs(score - WANTED) * steepest, 1e-12)
        for _ in range(DOUBLINGS):
            pending = np.abs(score - WANTED) > TOLERANCE
            if not pending.any():
                break
            ended = _minimise(leads, np.where(pending, weight, 0.0), moves, deviation, low, high)
            moves = np.where(pending[:, None], ended, moves)
            score, _ = leads.at(moves * deviation)
            weight = 2 * weight
        return moves * deviation


def _minimise(
    leads: Leads, weight: Vector, moves: Matrix, deviation: Matrix, low: Matrix, high: Matrix
) -> Matrix:
    """Minimise equation 2 for a weight of each row, by proximal gradient steps.

    The paper takes ADAM, which cannot bring a move to 0; a step that shrinks moves does.
    """
    for _ in range(STEPS):
        score, slopes = leads.at(moves * deviation)
        slopes = slopes * deviation
        # One over the curvature of the loss where the score is linear.
        length = 1 / np.maximum(2 * weight * (slopes**2).sum(axis=1), 1e-12)
        downhill = moves - (length * 2 * weight * (score - WANTED))[:, None] * slopes
        shrunk = np.sign(downhill) * np.maximum(np.abs(downhill) - length[:, None], 0.0)
        shrunk = np.clip(shrunk, low, high)
        step = np.abs(shrunk - moves)[weight > 0].max(initial=0.0)
        moves = shrunk
        if step < LEAST_STEP:
            break
    return moves
