"""A ReLU network near an input, as rows of a mixed-integer linear programme.

Beside the moves, the variables are the outputs of the units, and a yes-or-no for each unit that
may be either on or off in the ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exact.networks.models import ReluNetwork
from counterset.exact.networks.moves import Affine, Moves, Solution
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem

__all__ = ["Encoding", "Rounding", "lead_and_gradient"]

#: A softmax may level outputs that differ by a few roundings.
SOFTMAX_ERRORS = 8


@dataclass(frozen=True, eq=False)
class Rounding:
    """How large values are at most, and how far a model's own arithmetic may be off them."""

    roundoff: float
    size: Matrix
    error: Matrix

    @classmethod
    def of_input(cls, roundoff: float, size: Matrix) -> Rounding:
        """Start with inputs, which the model may have to round."""
        return cls(roundoff, size, roundoff * size)

    def after(self, weights: Matrix, bias: Matrix, size: Matrix) -> Rounding:
        """Give the same after a layer whose outputs are at most of a size."""
        sizes = np.abs(weights)
        terms = (self.size + self.error) @ sizes + np.abs(bias)
        # The bound on a sum of so many products, in whichever order it is taken.
        error = self.error @ sizes + (len(weights) + 2) * self.roundoff * terms
        return Rounding(self.roundoff, size, error)


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
        rounding = Rounding.of_input(self._network.roundoff, self._moves.largest())
        for depth, (weights, bias) in enumerate(self._network.layers[:-1]):
            before = Affine(
                values.columns, values.coefficients @ weights, values.constant @ weights + bias
            )
            low, high = self._ranges(before, first=depth == 0)
            values = self._add_units(before, low, high)
            rounding = rounding.after(weights, bias, np.maximum(high, 0.0))
        other, own = self._classes
        weights, bias = self._network.layers[-1]
        lead = weights[:, other] - weights[:, own]
        constant = values.constant @ lead + bias[other] - bias[own]
        row = values.coefficients @ lead
        # In units of the slope, so that the solver's tolerance is one on the distance; but where
        # the network is flat, not of so small ones that others are lost beside them.
        slope = self._slope(self._problem.x)
        slope = max(slope, 1e-4 * float(np.abs(row).max(initial=0.0)))
        scale = 1.0 / slope if slope > 0 else 1.0
        # The model may see a lead where there is none, by as much as it rounds.
        errors = rounding.after(weights, bias, np.zeros(len(bias))).error
        errors = errors + SOFTMAX_ERRORS * self._network.roundoff
        self._error = float(errors[other] + errors[own])
        least = (-constant - self._error) * scale
        self._lead = self._programme.add_row(values.columns, row * scale, least, np.inf)

    def _slope(self, point: Matrix) -> float:
        """Give the most that a move of the ball's radius raises the lead, as a point has it."""
        _, gradient = lead_and_gradient(self._network, point, self._classes)
        return float(np.abs(gradient * self._unit).max(initial=0.0))

    def blur(self, point: Matrix) -> float:
        """Give how far apart rounding may keep the bounds, as the slope at a point has it."""
        slope = self._slope(point)
        # To either side: a lead that is there may not be seen, and one that is not there may be.
        return 2 * self._error / slope if slope > 0 else 0.0

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
        off = 1e-6 * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        return low - off, high + off

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
        """Add the outputs of a layer; units that are off in the whole ball are left out.

        Each is in units of the most that it can be, so that the solver's tolerance is the same
        part of all, whatever the scale of the weights.
        """
        most = np.where(high > 0, np.maximum(high, -low), 1.0)
        outputs = self._programme.add_variables(0.0, np.maximum(high, 0.0) / most)
        for unit in np.flatnonzero(high > 0):
            columns = np.append(before.columns, outputs[unit])
            row = np.append(-before.coefficients[:, unit] / most[unit], 1.0)
            constant, least = before.constant[unit] / most[unit], low[unit] / most[unit]
            if low[unit] >= 0:
                self._programme.add_row(columns, row, constant, constant)
                continue
            on = self._programme.add_variables(0.0, np.ones(1), whole=True)
            self._programme.add_row(columns, row, constant, np.inf)
            self._programme.add_row(
                np.append(columns, on), np.append(row, -least), -np.inf, constant - least
            )
            pair = np.array([outputs[unit], on[0]])
            self._programme.add_row(pair, np.array([1.0, -high[unit] / most[unit]]), -np.inf, 0.0)
        return Affine(outputs, np.diag(most), np.zeros(len(most)))

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
