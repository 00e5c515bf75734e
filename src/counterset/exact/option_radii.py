"""option_radii: how far an input may move before an option stops working, from exact distances.

An option sets some features and keeps the others. Who differs by ``r`` from the input and makes the
same change gets a row that differs from the option's row by at most ``r``, in the kept features
only. So the option works for all who are nearer than the exact distance from its row to another
class, with the set features held.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.exact.arguments import changeable_mask
from counterset.exact.domains import Box
from counterset.exact.problem import Clock, Problem
from counterset.exact.query import DistanceQuery
from counterset.exceptions import InvalidInputError
from counterset.tables.table import changed

__all__ = ["option_radii"]

#: A radius is smaller by a billionth than what is proved: more than rounding adds to distances.
MARGIN = 1e-9
#: When the time is up, an option still gets a thousandth of a second: what needs no solver is
#: proved.
SHORTEST = 1e-3


def option_radii(
    query: DistanceQuery, problem: Problem, rows: Matrix, from_list: Mask | None
) -> Vector:
    """Return for each option a distance within which it is proved to work for others, ``(k,)``.

    Infinite where it works for all inputs of the domain; 0 where nothing is proved.

    Parameters
    ----------
    query, problem
        The model, the distance and the domain; and the input.
    rows
        The rows of the options.
    from_list
        Which options come from a list: who has more than such an option asks for keeps it. None:
        none.
    """
    if not isinstance(query.domain, Box):
        raise InvalidInputError(
            f"options=True needs a Box as domain, got {type(query.domain).__name__}: whether an "
            f"option works for others is proved for all inputs between two bounds. Pass a Box, or "
            f"leave domain= out for the range of the training data."
        )
    listed = np.zeros(len(rows), dtype=bool) if from_list is None else from_list
    clock, radii = Clock.start(query.time_limit), np.zeros(len(rows))
    for i, row in enumerate(rows):
        share = max(clock.left / (len(rows) - i), SHORTEST)
        option = _Option(replace(query, time_limit=share), problem, row)
        radii[i] = option.radius_of_list() if listed[i] else option.radius()
    return radii * (1 - MARGIN)


class _Option:
    """One option of an input: its row, and the query to bound how far it is from another class."""

    def __init__(self, query: DistanceQuery, problem: Problem, row: Vector) -> None:
        self.query, self.problem, self.row = query, problem, row
        table = problem.model.table
        assert isinstance(query.domain, Box), "checked by option_radii"
        self.box = query.domain
        self.low, self.high = self.box.bounds(len(row))
        self.set = changed(problem.x, row)
        self.free = changeable_mask(self.box.may_change, table.names) & ~self.set
        numbers = np.array([not feature.is_category for feature in table.features])
        self.set_numbers = self.set & numbers

    def radius(self) -> float:
        """Return how far inputs may be that set the same features to the same values."""
        return self._distance(self.free, self.low, self.high)

    def radius_of_list(self) -> float:
        """Return how far inputs may be that have at least what the option asks for afterwards."""
        held = self.radius()
        step = self._shortest_step()
        if held <= step:
            return held
        # From this step on, an input may be beyond what is asked for: then it keeps what it has.
        rises = self.row > self.problem.x
        low = np.where(self.set_numbers & rises, self.row, self.low)
        high = np.where(self.set_numbers & ~rises, self.row, self.high)
        beyond = self._distance(self.free | self.set_numbers, low, high)
        return min(held, max(step, beyond))

    def _shortest_step(self) -> float:
        """Return how far an input must be at least to be beyond a number that the option sets."""
        steps = np.tile(self.problem.x, (len(self.row), 1))
        np.fill_diagonal(steps, self.row)
        lengths = self.problem.lengths(steps)[self.set_numbers]
        return float(lengths.min(initial=np.inf))

    def _distance(self, free: Mask, low: Vector, high: Vector) -> float:
        """Return how far it is at least to another class, if these features move."""
        if not free.any():
            return np.inf
        box = replace(
            self.box,
            low=np.fmin(low, self.row),
            high=np.fmax(high, self.row),
            may_change=free,
        )
        table = self.problem.model.table
        return replace(self.query, domain=box).bounds_of_row(table, self.row).lower
