"""ROAR (Upadhyay, Joshi and Lakkaraju 2021): a counterfactual for all models near this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers.gradients import Gradients, movable
from counterset.tables.schema import Schema
from counterset.tables.table import Table

__all__ = ["LinearScores", "Roar"]

#: The weights of the cost that are tried, the largest first. The paper's are 0.1 to 1; scores of
#: other scales need others. On German credit, the cost is 8 % above the optimum of a linear
#: programme with 20 weights, and 13 % with 10. With 1000 steps for each it is 5 %.
WEIGHTS = np.geomspace(10.0, 0.01, 20)
STEPS = 300
#: A local surrogate is fitted to 1000 rows around the input, with the kernel of LIME, whose width
#: is 0.75 times the root of the number of features, and its ridge of 1.
SAMPLES, WIDTH, RIDGE = 1000, 0.75, 1.0
#: Probabilities of 0 and 1 have no log-odds: a forest's shares are cut off at a thousandth.
LEAST_PROBABILITY = 1e-3


@dataclass(frozen=True, eq=False)
class LinearScores:
    """For n inputs, linear scores of the wanted class, of columns that are linear in the features.

    Attributes
    ----------
    start
        The columns of the inputs, ``(n, c)``.
    feature, factor
        The feature that each column is made from, and how much it rises with it, ``(c,)``.
    weights, bias
        The score is ``columns @ weights + bias``; ``(n, c)`` and ``(n,)``.
    """

    start: Matrix
    feature: Indices
    factor: Vector
    weights: Matrix
    bias: Vector

    def columns(self, moves: Matrix) -> Matrix:
        """Return the columns after moves of the features, ``(n, d)``."""
        columns: Matrix = self.start + self.factor * moves[:, self.feature]
        return columns

    def worst_shift(self, moves: Matrix, most: float) -> tuple[Matrix, Vector]:
        """Return the shift of the weights and of the bias that lowers the score the most.

        That is the inner maximum of the paper's objective, over shifts of at most ``most`` in each
        parameter: the score is linear in them, so each takes the end against its column's sign.
        """
        columns = self.columns(moves)
        return -most * np.sign(columns), np.full(len(columns), -most)

    def worst(self, moves: Matrix, most: float) -> Vector:
        """Return the least score under such a shift."""
        shift, of_bias = self.worst_shift(moves, most)
        shifted: Vector = (self.columns(moves) * (self.weights + shift)).sum(axis=1)
        return shifted + self.bias + of_bias


@dataclass
class Roar:
    """The counterfactual that stays one when each parameter of a linear score shifts a little.

    It minimises ``max over shifts of loss(shifted f(x'), y') + weight * d(x, x')`` (the paper's
    minimax objective). The weight of the cost is the largest tried with which x' keeps the wanted
    class under the worst shift, or else the smallest; the paper chooses one weight for all inputs.
    A linear model is read as it is, so the shifts are those of its own coefficients. Any other
    model with probabilities is replaced by a linear surrogate around the input, as the paper does
    with LIME; nothing is promised for the model itself then. It finds a single counterfactual, and
    moves numbers only, so there need not be an outcome that holds.

    Left out: causal recourse, and choosing the largest shift by validity on other rows.

    Parameters
    ----------
    norm
        Not used: the cost is L1, numbers of a table in standard deviations.
    shift
        The largest shift of each parameter; the paper's default is 0.1.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    shift: float = 0.1
    immutable: Sequence[str] = ()
    name: str = "roar"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Read the model if it is linear, and learn the spread of each feature."""
        self._model = model
        self._table, rows = Table.learn(X, Schema(step=0))
        gradients = Gradients.read(model, self._table)
        self._gradients = gradients if gradients is not None and gradients.is_linear else None
        if self._gradients is None and not hasattr(model, "predict_proba"):
            raise UnsupportedModelError(
                f"ROAR needs a linear model or one with predict_proba, to fit a linear surrogate "
                f"to, got {type(model).__name__}."
            )
        self._low, self._high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
        spread = np.nanstd(rows, axis=0)
        self._centre, self._spread = np.nanmean(rows, axis=0), np.where(spread > 0, spread, 1.0)
        # Arrays are scaled already.
        self._unit = self._spread if isinstance(X, pd.DataFrame) else np.ones_like(spread)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set of one counterfactual for each row."""
        rows, _ = self._table.encode(X)
        free = movable(self._table, rows, self.immutable)
        scores = self._surrogate(rows) if self._gradients is None else self._exact(rows)
        moves = self._choose(scores, rows, free)
        moved = self._table.snap_away(rows + moves, rows)
        return [self._table.decode(each[None, :]) for each in moved]

    def _exact(self, rows: Matrix) -> LinearScores:
        """Return the lead of a linear model."""
        assert self._gradients is not None
        leads = self._gradients.around(rows)
        weights, bias = leads.network.layers[0]
        return LinearScores(
            leads.start,
            leads.feature,
            leads.factor,
            leads.weights @ weights.T,
            leads.weights @ bias,
        )

    def _surrogate(self, rows: Matrix) -> LinearScores:
        """Fit a linear score of the numbers around each row, as LIME does."""
        numbers = np.flatnonzero([each.values is None for each in self._table.features])
        centre = np.zeros(len(numbers)) if (self._unit == 1).all() else self._centre[numbers]
        unit = self._unit[numbers]
        fitted = [self._fit_around(row, numbers) for row in rows]
        start = np.nan_to_num((rows[:, numbers] - centre) / unit)
        weights = np.array([slopes * unit for slopes, _ in fitted])
        bias = np.array([score for _, score in fitted]) - (start * weights).sum(axis=1)
        return LinearScores(start, numbers, 1 / unit, weights, bias)

    def _fit_around(self, row: Vector, numbers: Indices) -> tuple[Vector, float]:
        """Return the slopes of the wanted class's log-odds around a row, and their value there."""
        random = np.random.default_rng(0)
        draws = random.normal(size=(SAMPLES, len(numbers)))
        draws[0] = 0.0
        near = np.tile(row, (SAMPLES, 1))
        near[:, numbers] += draws * self._spread[numbers]
        near = self._table.hold(near)
        draws = np.nan_to_num((near - row)[:, numbers] / self._spread[numbers])
        probabilities = self._model.predict_proba(self._table.decode(near))
        wanted = np.argsort(probabilities[0], kind="stable")[-2]
        share = np.clip(probabilities[:, wanted], LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        kernel = np.exp(-(draws**2).sum(axis=1) / (2 * WIDTH**2 * len(numbers)))
        design = np.column_stack([draws, np.ones(SAMPLES)])
        normal = design.T @ (design * kernel[:, None])
        normal[np.diag_indices(len(numbers))] += RIDGE
        *slopes, score = np.linalg.solve(normal, design.T @ (kernel * logit(share)))
        return np.array(slopes) / self._spread[numbers], float(score)

    def _choose(self, scores: LinearScores, rows: Matrix, free: Mask) -> Matrix:
        """Return the moves with the largest weight of the cost whose outcome holds."""
        unit = np.where(free, self._unit, 0.0)
        low = np.where(free, np.minimum(self._low - rows, 0.0) / self._unit, 0.0)
        high = np.where(free, np.maximum(self._high - rows, 0.0) / self._unit, 0.0)
        moves, pending = np.zeros_like(rows), np.ones(len(rows), dtype=bool)
        for weight in WEIGHTS:
            ended = self._minimise(scores, float(weight), unit, low, high)
            moves = np.where(pending[:, None], ended * unit, moves)
            pending &= scores.worst(moves, self.shift) < 0
            if not pending.any():
                break
        return moves

    def _minimise(
        self, scores: LinearScores, weight: float, unit: Matrix, low: Matrix, high: Matrix
    ) -> Matrix:
        """Minimise the objective by proximal gradient steps (algorithm 1 takes ADAM)."""
        slopes = np.zeros_like(unit)
        np.add.at(slopes.T, scores.feature, (scores.weights * scores.factor).T)
        # The logistic loss bends by at most a quarter of the squared slope.
        length = 4 / np.maximum(((slopes * unit) ** 2).sum(axis=1), 1e-12)
        moves = np.zeros_like(unit)
        for step in range(STEPS):
            # First the shift that is worst for these moves, then a step against it.
            shift, _ = scores.worst_shift(moves * unit, self.shift)
            slopes = np.zeros_like(unit)
            shifted = (scores.weights + shift) * scores.factor
            np.add.at(slopes.T, scores.feature, shifted.T)
            pull = expit(-scores.worst(moves * unit, self.shift))  # of the cross-entropy
            # The worst shift jumps where a column changes its sign, so steps become shorter.
            own = (length / (1 + step / STEPS * 10))[:, None]
            downhill = moves + own * pull[:, None] * slopes * unit
            shrunk = np.sign(downhill) * np.maximum(np.abs(downhill) - own * weight, 0.0)
            moves = np.clip(shrunk, low, high)
        return moves
