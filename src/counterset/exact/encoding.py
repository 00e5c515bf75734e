"""A ReLU network near an input, as rows of a mixed-integer linear programme.

Beside the moves, the variables are the outputs of the units, and a yes-or-no for each unit that
may be either on or off in the ball.
"""

from __future__ import annotations

import numpy as np

from counterset.arrays import Matrix
from counterset.exact.moves import Affine, Moves, Solution
from counterset.exact.networks import ReluNetwork
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem

__all__ = ["Encoding", "lead_and_gradient"]


class Encoding:
    """The programme for one ball and one other class."""

    def __init__(
        self,
        network: ReluNetwork,
        problem: Problem,
        norm: Norm,
        classes: tuple[int, int],
        radius: float,
    ) -> None:
        self._network, self._classes = network, classes
        self._moves = Moves(problem, norm, radius)
        self._problem, self._norm, self._unit = problem, norm, self._moves.unit
        self._programme = self._moves.programme
        self._add_network()

    def solve(self) -> Solution:
        """Give the nearest point of the ball where the other class leads."""
        return self._moves.solve()

    def raise_lead(self, share: float) -> None:
        """Ask for a lead as large as the slope makes of this share of the radius."""
        self._programme.raise_lower(self._lead, share)

    def _add_network(self) -> None:
        values = self._moves.point()
        for depth, (weights, bias) in enumerate(self._network.layers[:-1]):
            before = Affine(
                values.columns, values.coefficients @ weights, values.constant @ weights + bias
            )
            low, high = self._ranges(before, first=depth == 0)
            values = self._add_units(before, low, high)
        other, own = self._classes
        weights, bias = self._network.layers[-1]
        lead = weights[:, other] - weights[:, own]
        constant = values.constant @ lead + bias[other] - bias[own]
        row = values.coefficients @ lead
        # In units of the slope, so that the solver's tolerance is one on the distance.
        slope = float(np.abs(self._slope()).max(initial=0.0))
        scale = 1.0 / slope if slope > 0 else 1.0
        self._lead = self._programme.add_row(values.columns, row * scale, -constant * scale, np.inf)

    def _slope(self) -> Matrix:
        _, gradient = lead_and_gradient(self._network, self._problem.x, self._classes)
        return gradient * self._unit

    def _ranges(self, before: Affine, first: bool) -> tuple[Matrix, Matrix]:
        """Bound the inputs of a layer's units: by intervals, then by linear programmes."""
        low, high = self._programme.intervals(before.columns, before.coefficients)
        low, high = before.constant + low, before.constant + high
        if first:
            swing = self._swing(before.coefficients[: len(self._unit)])
            low = np.maximum(low, before.constant - swing)
            high = np.minimum(high, before.constant + swing)
            return low, high
        for unit in np.flatnonzero((low < 0) & (high > 0)):
            if self._problem.clock.over:
                break
            row = before.coefficients[:, unit]
            most = self._programme.most(before.columns, row, self._problem.clock.left)
            high[unit] = min(high[unit], before.constant[unit] + most)
            if high[unit] > 0:
                least = -self._programme.most(before.columns, -row, self._problem.clock.left)
                low[unit] = max(low[unit], before.constant[unit] + least)
        # A bound may be off by the solver's tolerance.
        return low - 1e-6, high + 1e-6

    def _swing(self, coefficients: Matrix) -> Matrix:
        """Bound what a move within the ball can do to linear values, by the dual norm."""
        sizes = np.abs(coefficients)
        free = self._norm.weights == 0
        if self._norm.kind in ("l0", "linf") or free.any():
            return np.full(sizes.shape[1], np.inf)
        if self._norm.kind == "l1":
            return np.asarray(sizes.max(axis=0))
        return np.asarray(np.sqrt((sizes**2).sum(axis=0)))

    def _add_units(self, before: Affine, low: Matrix, high: Matrix) -> Affine:
        """Add the outputs of a layer; units that are off in the whole ball are left out."""
        n = len(before.constant)
        outputs = self._programme.add_variables(0.0, np.maximum(high, 0.0))
        for unit in np.flatnonzero(high > 0):
            columns = np.append(before.columns, outputs[unit])
            row = np.append(-before.coefficients[:, unit], 1.0)
            constant = before.constant[unit]
            if low[unit] >= 0:
                self._programme.add_row(columns, row, constant, constant)
                continue
            on = self._programme.add_variables(0.0, np.ones(1), whole=True)
            self._programme.add_row(columns, row, constant, np.inf)
            self._programme.add_row(
                np.append(columns, on), np.append(row, -low[unit]), -np.inf, constant - low[unit]
            )
            pair = np.array([outputs[unit], on[0]])
            self._programme.add_row(pair, np.array([1.0, -high[unit]]), -np.inf, 0.0)
        return Affine(outputs, np.eye(n), np.zeros(n))

    def ways_on(self, point: Matrix) -> list[Matrix]:
        """Give moves from a boundary point that raise the other class's lead the most."""
        _, gradient = lead_and_gradient(self._network, point, self._classes)
        per_length = gradient * self._unit
        moves: Matrix = per_length * self._unit
        size = float(np.abs(per_length).max(initial=0.0))
        steepest = np.where(np.abs(per_length) == size, moves, 0.0)
        return [way / size for way in (moves, steepest)] if size > 0 else []


def lead_and_gradient(
    network: ReluNetwork, x: Matrix, classes: tuple[int, int]
) -> tuple[float, Matrix]:
    """Give by how much the first class leads the second at x, and the slope of that."""
    other, own = classes
    jacobian = np.eye(len(x))
    values = x
    for weights, bias in network.layers[:-1]:
        values = values @ weights + bias
        jacobian = (jacobian @ weights) * (values > 0)
        values = np.maximum(values, 0.0)
    weights, bias = network.layers[-1]
    difference = weights[:, other] - weights[:, own]
    return float(values @ difference + bias[other] - bias[own]), jacobian @ difference
