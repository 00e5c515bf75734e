"""A ReLU network near an input, as rows of a mixed-integer linear programme.

Besides the moves, the variables are the outputs of the units, and a binary variable for each unit
that may be on or off in the ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Matrix, Vector
from counterset.exact.milp.moves import Affine, Moves, Solution
from counterset.exact.networks.models import ReluNetwork
from counterset.exact.norms import Norm
from counterset.exact.problem import Problem

__all__ = ["Encoding", "Rounding", "lead_and_gradient"]

#: A softmax may make outputs equal that differ by a few roundings; 8 is a generous bound.
SOFTMAX_ERRORS = 8


@dataclass(frozen=True, eq=False)
class Rounding:
    """Bounds on the size of values and on the error of the model's own arithmetic.

    Attributes
    ----------
    roundoff
        The relative rounding of one operation.
    size, error
        The bounds, one for each value.
    """

    roundoff: float
    size: Vector
    error: Vector

    @classmethod
    def of_input(cls, roundoff: float, size: Vector) -> Rounding:
        """Start with the inputs, which the model may have to round."""
        return cls(roundoff, size, roundoff * size)

    def after(self, weights: Matrix, bias: Vector, size: Vector) -> Rounding:
        """Return the bounds after a layer whose outputs have at most this size."""
        sizes = np.abs(weights)
        terms = (self.size + self.error) @ sizes + np.abs(bias)
        # The bound on a sum of as many products as there are inputs, in whichever order.
        error = self.error @ sizes + (len(weights) + 2) * self.roundoff * terms
        return Rounding(self.roundoff, size, error)


class Encoding:
    """The programme for one ball and one other class.

    ``classes`` are the columns of the other class and of the input's own.
    """

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
        """Find the nearest point of the ball where the other class leads."""
        return self._moves.solve()

    def raise_lead(self, share: float) -> None:
        """Require a larger lead: what a move of this share of the radius gains at the input."""
        self._programme.raise_lower(self._lead_row, share)

    def _add_network(self) -> None:
        """Add the units, layer by layer, and the row for the lead of the other class."""
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
        # In units of the slope, so that the solver's tolerance is one on the distance. Where the
        # network is flat, the unit is not so small that the other coefficients become huge.
        slope = self._slope(self._problem.x)
        slope = max(slope, 1e-4 * float(np.abs(row).max(initial=0.0)))
        scale = 1.0 / slope if slope > 0 else 1.0
        # By rounding, the model may compute a lead where there is none.
        errors = rounding.after(weights, bias, np.zeros(len(bias))).error
        errors = errors + SOFTMAX_ERRORS * self._network.roundoff
        self._error = float(errors[other] + errors[own])
        least = (-constant - self._error) * scale
        self._lead_row = self._programme.add_row(values.columns, row * scale, least, np.inf)

    def _slope(self, point: Vector) -> float:
        """Return how much a move by the radius raises the lead at most, by the slope at a point."""
        _, gradient = lead_and_gradient(self._network, point, self._classes)
        return float(np.abs(gradient * self._unit).max(initial=0.0))

    def blur(self, point: Vector) -> float:
        """Return how far apart rounding may keep the bounds, by the slope at a point.

        In units of the radius.
        """
        slope = self._slope(point)
        # On either side: a true lead may be rounded away, and a false one may be rounded in.
        return 2 * self._error / slope if slope > 0 else 0.0

    def _ranges(self, before: Affine, first: bool) -> tuple[Vector, Vector]:
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

    def _swing(self, coefficients: Matrix) -> Vector:
        """Bound how much a move within the ball changes linear values, by the dual norm."""
        sizes = np.abs(coefficients)
        free = self._norm.weights == 0
        if self._norm.kind in ("l0", "linf") or free.any():
            return np.full(sizes.shape[1], np.inf)
        if self._norm.kind == "l1":
            return np.asarray(sizes.max(axis=0))
        return np.asarray(np.sqrt((sizes**2).sum(axis=0)))

    def _add_units(self, before: Affine, low: Vector, high: Vector) -> Affine:
        """Add the outputs of a layer; units that are off in the whole ball are left out.

        Each output is in units of the largest value of its unit, so that the solver's tolerance is
        the same part of all, whatever the scale of the weights.
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

    def directions(self, point: Vector) -> list[Vector]:
        """Return moves from a point of the boundary that raise the lead the most."""
        _, gradient = lead_and_gradient(self._network, point, self._classes)
        per_length = gradient * self._unit
        moves: Vector = per_length * self._unit
        size = float(np.abs(per_length).max(initial=0.0))
        steepest = np.where(np.abs(per_length) == size, moves, 0.0)
        return [move / size for move in (moves, steepest)] if size > 0 else []


def lead_and_gradient(
    network: ReluNetwork, x: Vector, classes: tuple[int, int]
) -> tuple[float, Vector]:
    """Return how much the first class leads the second at x, and the gradient of the lead.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [2.0]], [-1.0]), ([[3.0]], [-2.0])])
    >>> lead_and_gradient(network, np.array([1.0, 1.0]), (1, 0))
    (4.0, array([3., 6.]))
    """
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
