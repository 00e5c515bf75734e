"""The way from an input to a candidate on mixed data.

Numbers move along the straight line, rounded to what their columns hold. Categories cannot move:
they switch, one after the other, at fixed shares of the way, the cheapest change first, so that
at every point the rest is still as close to the input as it can be. So do features that change
together, and numbers of which one end is missing or special.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Indices, Matrix
from counterset.constraints.rules import Rules
from counterset.distances import L1, L2
from counterset.tables.space import TableDistance
from counterset.tables.table import changed

__all__ = ["Paths", "unit_costs"]


class Paths:
    """One path per candidate, as a straight line that a line search can halve.

    A feature that switches is a coordinate from 0 to 1: its share of the way. Every other feature
    is itself.

    Parameters
    ----------
    starts, ends
        The inputs and their candidates, ``(n, d)``.
    coordinates
        The same as points of the space.
    distance
        By which changes are compared.
    rules
        Which features change together.
    """

    def __init__(
        self,
        distance: TableDistance,
        starts: Matrix,
        ends: Matrix,
        coordinates: tuple[Matrix, Matrix],
        rules: Rules,
    ) -> None:
        self._table = distance.table
        self._starts, self._ends = starts, ends
        self._any_switch = False
        if rules.groups or not distance.space.is_plain:
            jumps = np.array([feature.is_category for feature in self._table.features])
            jumps[[i for group in rules.groups if len(group) > 1 for i in group]] = True
            from_, to = (self._table.without_special(rows) for rows in (starts, ends))
            self._switches = (jumps | (np.isnan(from_) != np.isnan(to))) & changed(starts, ends)
            self._any_switch = bool(self._switches.any())
        if self._any_switch:
            costs = np.zeros((len(starts), len(rules.units)))
            if not distance.space.is_plain:
                costs = unit_costs(distance, *coordinates, rules)
            self._shares = self._share_of_each_switch(rules.units, costs)

    @property
    def starts(self) -> Matrix:
        """The beginnings of the lines."""
        return np.where(self._switches, 0.0, self._starts) if self._any_switch else self._starts

    @property
    def ends(self) -> Matrix:
        """The ends of the lines."""
        return np.where(self._switches, 1.0, self._ends) if self._any_switch else self._ends

    def rows(self, points: Matrix, which: Indices) -> Matrix:
        """Return the rows that belong to points on the lines."""
        if self._any_switch:
            switched = np.where(
                points >= self._shares[which], self._ends[which], self._starts[which]
            )
            points = np.where(self._switches[which], switched, points)
        if self._table.is_plain:
            return points
        return self._table.snap(points, self._starts[which], self._ends[which])

    def _share_of_each_switch(self, units: list[Indices], costs: Matrix) -> Matrix:
        """Spread the switches of each path evenly over it, the cheapest first."""
        switching = np.column_stack([self._switches[:, unit].any(axis=1) for unit in units])
        order = np.argsort(np.where(switching, costs, np.inf), axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        share = (rank + 1) / (switching.sum(axis=1, keepdims=True) + 1)
        shares = np.empty_like(self._starts)
        for i, unit in enumerate(units):
            shares[:, unit] = share[:, [i]]
        return shares


def unit_costs(distance: TableDistance, starts: Matrix, ends: Matrix, rules: Rules) -> Matrix:
    """Return how far each input moves if one unit takes its candidate's values, ``(n, units)``.

    Parameters
    ----------
    starts, ends
        The coordinates of the inputs and of their candidates.
    """
    measure, unit_of = distance.in_space, rules.unit_of[distance.feature_of_coordinate]
    if isinstance(measure, L1 | L2):
        apart = np.abs(measure.stretch(ends - starts))
        order = np.argsort(unit_of, kind="stable")
        first = np.searchsorted(unit_of[order], np.arange(len(rules.units)))
        if isinstance(measure, L1):
            return np.add.reduceat(apart[:, order], first, axis=1)
        return np.sqrt(np.add.reduceat(apart[:, order] ** 2, first, axis=1))
    costs = np.empty((len(starts), len(rules.units)))
    for unit in range(len(rules.units)):
        moved = np.where(unit_of == unit, ends, starts)
        costs[:, unit] = measure.rowwise(starts, moved[:, None, :])[:, 0]
    return costs
