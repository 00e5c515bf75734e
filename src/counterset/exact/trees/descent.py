"""A near counterfactual of a tree ensemble by descent: two features move at a time.

With the other features fixed, a lead for every pair of cells of two features is one matrix product
over the leaves. The nearer the counterfactual, the smaller is the ball that
the constraint programme must search.
"""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Mask, Vector
from counterset.exact.problem import Clock
from counterset.exact.trees.cells import Axis, Leads, Region, first_and_last

__all__ = ["Descent"]

#: At most 100 steps: the result is only a start for the constraint programme.
MOST_STEPS = 100
#: A step must gain a billionth of the total, or rounding might lead in circles.
LEAST_GAIN = 1e-9
#: Each moved feature is paired with the 40 features that promise most, since all pairs of many
#: features would take too long.
MOST_PARTNERS = 40


class Descent:
    """Moves combinations of cells towards the input while all leads are 0 or more."""

    def __init__(self, region: Region, leads: Leads) -> None:
        self._region = region
        alone = [leaves[0].value for leaves in region.trees if len(leaves) == 1]
        leaves = [leaf for leaves in region.trees if len(leaves) > 1 for leaf in leaves]
        # If a tie is lost, whole votes must be ahead by one: half a vote less makes a tie negative.
        self._base = leads.base + sum(alone) - np.where(leads.loses_ties, 0.5, 0.0)
        self._values = np.array([leaf.value for leaf in leaves]).reshape(-1, len(leads.base))
        self._inside = [
            _membership([leaf.cells.get(i) for leaf in leaves], axis)
            for i, axis in enumerate(region.axes)
        ]

    def leads(self, cells: list[int]) -> bool:
        """Return whether all leads are 0 or more in these cells, one for each feature."""
        held = np.all([each[:, c] for each, c in zip(self._inside, cells, strict=True)], axis=0)
        return bool((self._base + self._values[held].sum(axis=0) >= 0).all())

    def descend(self, cells: list[int], clock: Clock) -> list[int]:
        """Return cells that are no farther, and where all leads are still 0 or more."""
        for _ in range(MOST_STEPS):
            better = self._best_step(cells)
            if better is None or clock.over:
                break
            cells = better
        return cells

    def _best_step(self, cells: list[int]) -> list[int] | None:
        """Find the nearest combination that differs in two features, if one is nearer."""
        axes = self._region.axes
        costs = np.array([axis.costs[cell] for axis, cell in zip(axes, cells, strict=True)])
        held = np.array([each[:, c] for each, c in zip(self._inside, cells, strict=True)])
        lacking = (~held).sum(axis=0)
        best, found = float(self._region.norm.total(costs)) * (1 - LEAST_GAIN), None
        # A nearer combination has a nearer cell in at least one of the features that moved.
        moved = np.flatnonzero(costs > 0)
        partners = np.argsort(-self._weight(held), kind="stable")[:MOST_PARTNERS]
        for f in moved:
            for g in partners:
                if f == g or (g in moved and g < f):
                    continue
                rows = lacking - ~held[f] - ~held[g] == 0
                step = self._nearest_pair(int(f), int(g), rows, costs, best)
                if step is not None:
                    best = step[0]
                    found = list(cells)
                    found[f], found[g] = step[1], step[2]
        return found

    def _weight(self, held: Mask) -> Vector:
        """Return how much the score could change by moving each feature alone, ``(d,)``.

        ``held`` is which leaves hold the current cell of each feature, ``(d, leaves)``.
        """
        lacking = (~held).sum(axis=0)
        near = (lacking[None, :] == 1) & ~held
        gains: Vector = near @ np.abs(self._values).sum(axis=1)
        return gains

    def _nearest_pair(
        self, f: int, g: int, rows: Mask, costs: Vector, best: float
    ) -> tuple[float, int, int] | None:
        """Find the nearest pair of cells of two features where all leads are 0 or more.

        ``rows`` are the leaves that hold the cells of all other features. Returns the total cost
        and the two cells; None if no pair costs less than ``best``.
        """
        axes = self._region.axes
        rest = np.delete(costs, [f, g])
        pairs = axes[f].costs[:, None], axes[g].costs[None, :]
        if self._region.norm.kind == "linf":
            totals = np.maximum(np.maximum(*pairs), rest.max(initial=0.0))
        else:
            totals = np.add(*pairs) + rest.sum()
        near = totals < best
        if not near.any():
            return None
        at_g = self._inside[g][rows].astype(np.float64)
        for base, values in zip(self._base, self._values[rows].T, strict=True):
            weighted = self._inside[f][rows] * values[:, None]
            near &= base + weighted.T @ at_g >= 0
        totals = np.where(near, totals, np.inf)
        pair = np.unravel_index(np.argmin(totals), totals.shape)
        if np.isinf(totals[pair]):
            return None
        return float(totals[pair]), int(pair[0]), int(pair[1])


def _membership(sets: list[int | None], axis: Axis) -> Mask:
    """Return which cells of an axis each set holds, ``(sets, cells)``; None holds all."""
    every = axis.all_cells
    given = [every if each is None else each for each in sets]
    if axis.cuts is None:
        held = [[bool(each >> j & 1) for j in range(len(axis.points))] for each in given]
        return np.array(held, dtype=bool).reshape(-1, len(axis.points))
    ends = np.array([first_and_last(each) for each in given]).reshape(-1, 2)
    cells = np.arange(len(axis.points))
    inside: Mask = (cells >= ends[:, :1]) & (cells <= ends[:, 1:])
    return inside
