"""In what options give way to the input.

An option is a whole row, but only some of it is needed to reach another class. In the rest an
option can come towards the input, which is much nearer; but then it moves with the input. So it
gives way only where that saves a good deal, and where the rows around do not need it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import AnyMatrix, Codes, Mask, Matrix
from counterset.anchors.anchors import Options
from counterset.constraints.rules import Rules
from counterset.noise import GaussianNoise, NumericColumns
from counterset.steps.acceptance import REFUSED, Acceptance
from counterset.steps.diversity import View
from counterset.steps.paths import give_way, unit_costs
from counterset.steps.selection import NONE_LEFT, Selector
from counterset.tables.space import TableDistance
from counterset.tables.table import changed

__all__ = ["find_giving_way"]

#: 16 rows around are asked for each set, and three quarters of them have to agree. What it saves to
#: give way is the mean over every second one of them.
WITNESSES, AGREEING, STRIDE = 16, 0.75, 2
#: To give way has to save twice what noise moves a feature by.
WORTH = 2.0


def find_giving_way(
    sets: Codes,
    options: Options,
    anchors: Matrix,
    rows: Acceptance,
    away: AnyMatrix,
    selector: Selector,
    way: float,
    price: float,
) -> Mask:
    """Find the features in which each option of each set gives way.

    They are tried in order of what they save, all at once, and the option gives way if most rows
    around reach another class then too, and if step 3 holds for the set, seen from its anchor. If
    not, half as many are tried, down to a single one.

    Parameters
    ----------
    sets
        Numbers of options, ``(m, k)``, padded with ``NONE_LEFT``.
    options
        What the sets consist of.
    anchors
        The row from where step 3 looks at each set, ``(m, d)``.
    rows
        Asks about rows of the class.
    away
        How far those rows are from the sets, ``(rows, m)``.
    selector
        Steps 1 to 3.
    way
        The share of the way to the input's own values that an option goes.
    price
        How much more distance a set may cost for being so much more diverse.

    Returns
    -------
    gives_way
        ``(m, k, d)``.
    """
    rules, distance = rows.requirements.rules, selector.pool.distance
    found, witnesses = _GivingWay(sets, options, anchors, rows, selector, way), _witnesses(away)
    who, slots = np.nonzero(sets != NONE_LEFT)
    surplus = found.gains(witnesses[:, ::STRIDE], price)[who, slots]
    surplus -= WORTH * _noise(distance, anchors[:1], rules)
    witnesses = witnesses[who]  # each option of each set has its own rows to ask
    rank = np.argsort(np.argsort(-surplus, axis=1, kind="stable"), axis=1)
    last = (surplus > 0).sum(axis=1)
    given = np.zeros(surplus.shape, dtype=bool)
    at, size = np.zeros(len(who), dtype=np.intp), last
    while True:
        size = np.minimum(size, last - at)
        open_ = np.flatnonzero(size > 0)
        if not len(open_):
            return found.gives_way
        first = at[open_, None]
        block = (rank[open_] >= first) & (rank[open_] < first + size[open_, None])
        tried = (given[open_] | block)[:, rules.unit_of]
        agreeing = found.try_features(who[open_], slots[open_], tried, witnesses[open_])
        given[open_[agreeing]] |= block[agreeing]
        # More of them at once where it went well; where not, fewer, and at last the next.
        at[open_] += np.where(agreeing, size[open_], size[open_] == 1)
        size[open_] = np.where(agreeing, 2 * size[open_], np.maximum(size[open_] // 2, 1))


def _noise(distance: TableDistance, row: Matrix, rules: Rules) -> Matrix:
    """Return how far small moves of an input take each unit, on average."""
    columns = NumericColumns.of(distance.table)
    least, moved = row.copy(), row.copy()
    # The mean size of a normal number is sqrt(2 / pi).
    size = math.sqrt(2 / math.pi * GaussianNoise().variance)
    least[:, columns.positions] = columns.low
    moved[:, columns.positions] = columns.low + size * (columns.high - columns.low)
    return unit_costs(distance, distance.coordinates(least), distance.coordinates(moved), rules)


@dataclass
class _GivingWay:
    """In what the options of each set give way so far; see ``find_giving_way``."""

    sets: Codes
    options: Options
    anchors: Matrix
    rows: Acceptance
    selector: Selector
    way: float

    def __post_init__(self) -> None:
        table = self.selector.pool.distance
        self._here = self.sets != NONE_LEFT
        self._ends = self.options.rows[np.where(self._here, self.sets, 0)]
        self._points = table.embed(self.anchors)
        measured = table.in_space.pairwise(self._points.coordinates, self.options.points)
        self._nearest = measured.min(axis=1)
        self._shown = self._ends.copy()  # as the anchors get them
        self.gives_way: Mask = np.zeros(self._ends.shape, dtype=bool)

    def gains(self, witnesses: Codes, price: float) -> Matrix:
        """Return how much better sets are if an option gives way in a unit, and all the way.

        Nearer by what that saves, and less diverse by what the option has less apart from the
        others, as these are.

        Parameters
        ----------
        witnesses
            The rows to ask how far they are, for each set, ``(m, w)``.

        Returns
        -------
        gains
            The mean over the rows, ``(m, k, units)``.
        """
        table, rules = self.selector.pool.distance, self.rows.requirements.rules
        x, count = self.rows.inputs[witnesses.ravel()], witnesses.shape[1]
        options = [np.repeat(ends, count, axis=0) for ends in self._ends.swapaxes(0, 1)]
        coordinates, of_x = [table.coordinates(ends) for ends in options], table.coordinates(x)
        from_x = [unit_costs(table, of_x, ends, rules) for ends in coordinates]
        gains = np.stack(from_x)
        weight = 2 * price / np.maximum(self._here.sum(axis=1) - 1, 1)
        for slot, other in itertools.permutations(range(len(options)), 2):
            lost = unit_costs(table, coordinates[other], coordinates[slot], rules) - from_x[other]
            each = np.where(self._here[:, other], weight, 0.0)
            gains[slot] -= np.repeat(each, count)[:, None] * lost
        means: Matrix = gains.reshape(len(options), *witnesses.shape, -1).mean(axis=2)
        return means.swapaxes(0, 1)

    def try_features(self, who: Codes, slots: Codes, features: Mask, witnesses: Codes) -> Mask:
        """Let options of sets give way in features, where that can be; say where it is."""
        shape = (*witnesses.shape, features.shape[1])
        ends = self._ends[who, slots]
        seen = self._seen(
            self.rows.inputs[witnesses.ravel()],
            np.repeat(ends, shape[1], axis=0),
            np.repeat(features, shape[1], axis=0),
        )
        answers = self.rows.ask(seen, witnesses.ravel())
        agreeing: Mask = (answers != REFUSED).reshape(shape[:2]).mean(axis=1) >= AGREEING
        shown = self._seen(self.anchors[who], ends, features)
        for slot in range(self.sets.shape[1]):
            here = np.flatnonzero(agreeing & (slots == slot))
            agreeing[here] = self._differs(who[here], slot, shown[here])
            here = here[agreeing[here]]
            self.gives_way[who[here], slot] = features[here]
            self._shown[who[here], slot] = shown[here]
        return agreeing

    def _differs(self, who: Codes, slot: int, shown: Matrix) -> Mask:
        """Return where step 3 tells an option that gives way from the others of its set."""
        options = self._shown[who]
        options[:, slot] = shown
        table, size = self.selector.pool.distance, options.shape[1]
        points = table.embed(options.reshape(-1, options.shape[2]))
        view = View(self._points.take(who), points, self._nearest[who], table.in_space)
        # What gives way in all that it changes is no option, and lies in no direction.
        differs: Mask = np.asarray(changed(shown, self.anchors[who]).any(axis=1))
        others = self._here[who] & (np.arange(size) != slot) & differs[:, None]
        which, other = np.nonzero(others)
        alike = ~self.selector.differ(view.of(which), which * size + slot, which * size + other)
        differs[which[alike]] = False
        return differs

    def _seen(self, x: Matrix, ends: Matrix, gives_way: Mask) -> Matrix:
        """Return options as inputs get them."""
        table, rules = self.selector.pool.distance, self.rows.requirements.rules
        return give_way(table, ends, x, gives_way, self.way, rules)


def _witnesses(away: AnyMatrix) -> Codes:
    """Choose the rows that are asked for each set: of those that it is the nearest to.

    If these are few, the nearest others too.

    Parameters
    ----------
    away
        How far the rows are from the sets, ``(rows, m)``.

    Returns
    -------
    witnesses
        Numbers of rows, ``(m, at most WITNESSES)``.
    """
    nearest, most = away.argmin(axis=1), min(WITNESSES, len(away))
    grouped = np.argsort(nearest, kind="stable")
    bounds = np.searchsorted(nearest[grouped], np.arange(away.shape[1] + 1))
    chosen = np.empty((away.shape[1], most), dtype=np.intp)
    for i, (start, stop) in enumerate(itertools.pairwise(bounds)):
        served, away_from = grouped[start:stop], away[:, i]
        if len(served) < most:
            ranks = np.where(nearest == i, -np.inf, away_from)
            served = np.flatnonzero(ranks <= np.partition(ranks, most - 1)[most - 1])
        order = served[np.lexsort((away_from[served], nearest[served] != i))]
        last = max(most, stop - start) - 1
        chosen[i] = order[np.linspace(0, last, most).astype(np.intp)]
    return chosen
