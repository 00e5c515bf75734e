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
from counterset.exact.preprocessing import Columns
from counterset.exact.problem import DOUBLE_ROUNDOFF, Problem
from counterset.exact.targets import Target

__all__ = ["Encoding", "Rounding", "sum_and_gradient"]

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
    def of_input(cls, roundoff: float, size: Vector, roundings: float = 1.0) -> Rounding:
        """Start with the inputs, which the model may have to round, and scalers before it too."""
        return cls(roundoff, size, roundings * roundoff * size)

    def after(self, weights: Matrix, bias: Vector, size: Vector) -> Rounding:
        """Return the bounds after a layer whose outputs have at most this size."""
        sizes = np.abs(weights)
        terms = (self.size + self.error) @ sizes + np.abs(bias)
        # Twice the bound on a sum of as many products as there are inputs, in whichever order: the
        # model's sum is rounded, and so is that of the programme.
        error = self.error @ sizes + 2 * (len(weights) + 2) * self.roundoff * terms
        return Rounding(self.roundoff, size, error)


class Encoding:
    """The programme for one ball and one target, which is about the network's outputs.

    ``columns`` are what the network sees.
    """

    def __init__(
        self,
        network: ReluNetwork,
        columns: Columns,
        problem: Problem,
        norm: Norm,
        target: Target,
        radius: float,
    ) -> None:
        self._network, self._columns, self._target = network, columns, target
        self._moves = Moves(problem, norm, radius)
        self._problem, self._unit = problem, self._moves.unit
        self._programme = self._moves.programme
        self._add_network()

    def solve(self) -> Solution:
        """Find the nearest point of the ball where the target is reached."""
        return self._moves.solve()

    def raise_lead(self, share: float) -> None:
        """Require larger leads: what a move of this share of the radius gains at the input."""
        for row in self._lead_rows:
            self._programme.raise_lower(row, share)

    def _add_network(self) -> None:
        """Add the units, layer by layer, and the rows for the leads of the target."""
        values = self._moves.seen(self._columns)
        largest = self._columns.largest(*self._moves.ends()) + self._columns.rounds
        rounding = Rounding.of_input(self._network.roundoff, largest, self._columns.roundings)
        for depth, (weights, bias) in enumerate(self._network.layers[:-1]):
            before = Affine(
                values.columns, values.coefficients @ weights, values.constant @ weights + bias
            )
            low, high = self._ranges(before, first=depth == 0)
            values = self._add_units(before, low, high)
            rounding = rounding.after(weights, bias, np.maximum(high, 0.0))
        weights, bias = self._network.layers[-1]
        # By rounding, the model may compute a lead where there is none.
        errors = rounding.after(weights, bias, np.zeros(len(bias))).error
        errors = errors + SOFTMAX_ERRORS * self._network.roundoff
        self._errors: list[float] = []
        self._lead_rows: list[int] = []
        for row, least in zip(self._target.weights, self._target.least, strict=True):
            self._add_lead(values, row, float(least), float(errors @ np.abs(row)))

    def _add_lead(self, values: Affine, row: Vector, least: float, error: float) -> None:
        """Add the row for one lead: a weighted sum of the outputs, over the least of it."""
        weights, bias = self._network.layers[-1]
        lead = weights @ row
        constant = values.constant @ lead + bias @ row - least
        coefficients = values.coefficients @ lead
        # In units of the slope, so that the solver's tolerance is one on the distance. Where the
        # network is flat, the unit is not so small that the other coefficients become huge.
        slope = self._slope(self._problem.x, row)
        slope = max(slope, 1e-4 * float(np.abs(coefficients).max(initial=0.0)))
        scale = 1.0 / slope if slope > 0 else 1.0
        error += 2 * self._network.roundoff * abs(least)
        self._errors.append(error)
        self._lead_rows.append(
            self._programme.add_row(
                values.columns, coefficients * scale, (-constant - error) * scale, np.inf
            )
        )

    def _slope(self, point: Vector, row: Vector) -> float:
        """Return how much a move by the radius raises a lead at most, by the slope at a point."""
        gradient = self._gradient(point, row)
        return float(np.abs(gradient * self._unit).max(initial=0.0))

    def _gradient(self, point: Vector, row: Vector) -> Vector:
        """Return the gradient of a lead at a point, ``(d,)``; 0 for features of values."""
        columns = self._columns
        _, gradient = sum_and_gradient(self._network, columns.at(point), row)
        return columns.gradient(gradient)

    def blur(self, point: Vector) -> float:
        """Return how far apart rounding may keep the bounds, by the slope at a point.

        In units of the radius.
        """
        slopes = [self._slope(point, row) for row in self._target.weights]
        # On either side: a true lead may be rounded away, and a false one may be rounded in.
        blurs = [2 * e / slope for e, slope in zip(self._errors, slopes, strict=True) if slope > 0]
        return max(blurs, default=0.0)

    def _ranges(self, before: Affine, first: bool) -> tuple[Vector, Vector]:
        """Bound the inputs of a layer's units: by intervals, then by linear programmes."""
        constant = before.constant
        # The sum of the constant and a bound is rounded.
        rounding = 4 * DOUBLE_ROUNDOFF * np.abs(constant)
        if first:
            low, high = self._moves.ranges(before)
            return constant + low - rounding, constant + high + rounding
        low, high = self._programme.intervals(before.columns, before.coefficients)
        # A bound may be off by the solver's tolerance.
        off = 1e-6 * np.maximum(np.abs(low), np.abs(high)) + rounding
        low, high = low - off, high + off
        for unit in np.flatnonzero((constant + low < 0) & (constant + high > 0)):
            if self._problem.clock.over:
                break
            row = before.coefficients[:, unit]
            most = self._programme.most(before.columns, row, self._problem.clock.left)
            high[unit] = min(high[unit], most + off[unit])
            if constant[unit] + high[unit] > 0:
                least = -self._programme.most(before.columns, -row, self._problem.clock.left)
                low[unit] = max(low[unit], least - off[unit])
        return constant + low, constant + high

    def _add_units(self, before: Affine, low: Vector, high: Vector) -> Affine:
        """Add the outputs of a layer; units that are off in the whole ball are left out.

        Each output is in units of the range of its unit, so that the solver's tolerance is the same
        part of all, whatever the scale of the weights. A unit that is always on counts from its
        lowest value: far from 0 the solver would not see it change.
        """
        start = np.maximum(low, 0.0)
        most = np.where(high > start, np.maximum(high - start, start - low), 1.0)
        outputs = self._programme.add_variables(0.0, np.maximum(high - start, 0.0) / most)
        for unit in np.flatnonzero(high > 0):
            columns = np.append(before.columns, outputs[unit])
            row = np.append(-before.coefficients[:, unit] / most[unit], 1.0)
            constant = (before.constant[unit] - start[unit]) / most[unit]
            least = low[unit] / most[unit]
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
        return Affine(outputs, np.diag(most), start)

    def directions(self, point: Vector) -> list[Vector]:
        """Return moves from a point of the boundary that raise a lead the most."""
        found = []
        for row in self._target.weights:
            per_length = self._gradient(point, row) * self._unit
            moves: Vector = per_length * self._unit
            size = float(np.abs(per_length).max(initial=0.0))
            steepest = np.where(np.abs(per_length) == size, moves, 0.0)
            found += [move / size for move in (moves, steepest)] if size > 0 else []
        return found


def sum_and_gradient(network: ReluNetwork, x: Vector, row: Vector) -> tuple[float, Vector]:
    """Return a weighted sum of the outputs at x, and its gradient.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [2.0]], [-1.0]), ([[3.0]], [-2.0])])
    >>> sum_and_gradient(network, np.array([1.0, 1.0]), np.array([-1.0, 1.0]))
    (4.0, array([3., 6.]))
    """
    jacobian = np.eye(len(x))
    values = x
    for weights, bias in network.layers[:-1]:
        values = values @ weights + bias
        jacobian = (jacobian @ weights) * (values > 0)
        values = np.maximum(values, 0.0)
    weights, bias = network.layers[-1]
    difference = weights @ row
    return float(values @ difference + bias @ row), jacobian @ difference
