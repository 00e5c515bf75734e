"""What options leave as it is in the input.

An option is a whole row, but the model needs only some of it to decide otherwise. Of the rest an
input can keep its own values, which is much nearer; but what an input keeps moves with it. So only
that is left untouched which differs most, and which the rows around do not need.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from counterset.anchors import Options
from counterset.arrays import AnyMatrix, Codes, Mask, Matrix
from counterset.diversity import View
from counterset.line_search import REFUSED
from counterset.paths import unit_costs
from counterset.questions import Questions
from counterset.schema import changed
from counterset.selection import NONE_LEFT, Selector

__all__ = ["find_untouched"]

#: So many rows around are asked for each set, and this share of them has to agree.
WITNESSES, AGREEING = 8, 0.75
#: Features are tried until so many times as many were tried as may be left untouched.
TRIES = 2


def find_untouched(
    sets: Codes,
    options: Options,
    anchors: Matrix,
    rows: Questions,
    away: AnyMatrix,
    selector: Selector,
    share: float,
) -> Mask:
    """Find the features that each option of each set leaves untouched.

    They are tried in order of how much the anchor saves by it, as many at once as may be left, and
    left untouched if most rows around are decided otherwise without them too, and if step 3 holds
    for the set, seen from its anchor. If not, half as many are tried, down to a single one.

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
    share
        Of the features, or of the groups that change together, so many at most.

    Returns
    -------
    untouched
        ``(m, k, d)``.
    """
    units = rows.wishes.rules.units
    unit_of = np.empty(anchors.shape[1], dtype=np.intp)
    for unit, features in enumerate(units):
        unit_of[features] = unit
    who, slots = np.nonzero(sets != NONE_LEFT)
    ends = options.rows[sets[who, slots]]
    saved = unit_costs(selector.pool.distance, anchors[who], ends, units)
    rank = np.argsort(np.argsort(-saved, axis=1, kind="stable"), axis=1)
    most = math.ceil(share * len(units))
    last = np.minimum((saved > 0).sum(axis=1), TRIES * most)
    # Each option of each set has its own rows to ask.
    witnesses = _witnesses(away)[who]
    untouched = _Untouched(sets, options, anchors, selector)
    left = np.zeros(saved.shape, dtype=bool)
    at, size = np.zeros(len(who), dtype=np.intp), np.full(len(who), most)
    while True:
        size = np.minimum(size, np.minimum(most - left.sum(axis=1), last - at))
        open_ = np.flatnonzero(size > 0)
        if not len(open_):
            return untouched.features
        first = at[open_, None]
        block = (rank[open_] >= first) & (rank[open_] < first + size[open_, None])
        tried = (left[open_] | block)[:, unit_of]
        asked = witnesses[open_]
        mixed = np.where(tried[:, None], rows.inputs[asked], ends[open_, None])
        answers = rows.ask(mixed.reshape(-1, mixed.shape[2]), asked.ravel())
        agreeing = (answers != REFUSED).reshape(asked.shape).mean(axis=1) >= AGREEING
        for slot in range(sets.shape[1]):
            here = np.flatnonzero(agreeing & (slots[open_] == slot))
            agreeing[here] = untouched.leave(who[open_[here]], slot, tried[here])
        left[open_[agreeing]] |= block[agreeing]
        # More of them at once where it went well; where not, fewer, and at last the next.
        at[open_] += np.where(agreeing, size[open_], size[open_] == 1)
        size[open_] = np.where(agreeing, 2 * size[open_], np.maximum(size[open_] // 2, 1))


class _Untouched:
    """What the options of each set leave untouched so far.

    Attributes
    ----------
    features
        ``(m, k, d)``.
    """

    def __init__(self, sets: Codes, options: Options, anchors: Matrix, selector: Selector) -> None:
        self._here, self._anchors, self._selector = sets != NONE_LEFT, anchors, selector
        self._ends = options.rows[np.where(self._here, sets, 0)]
        self.features = np.zeros(self._ends.shape, dtype=bool)
        table = selector.pool.distance
        self._points = table.points(anchors)
        self._nearest = table.in_space.pairwise(self._points.places, options.points).min(axis=1)

    def leave(self, who: Codes, slot: int, features: Mask) -> Mask:
        """Leave features untouched where step 3 still tells the option from the others.

        Says where that is.
        """
        tried = self.features[who]
        tried[:, slot] = features
        table, size = self._selector.pool.distance, tried.shape[1]
        seen = np.where(tried, self._anchors[who, None], self._ends[who])
        candidates = table.points(seen.reshape(-1, seen.shape[2]))
        view = View(self._points.take(who), candidates, self._nearest[who], table.in_space)
        # What leaves all that it changes is no option, and lies in no direction.
        differs: Mask = np.asarray(changed(seen[:, slot], self._anchors[who]).any(axis=1))
        for other in range(size):
            which = np.flatnonzero(self._here[who, other] & (other != slot) & differs)
            a, b = which * size + slot, which * size + other
            differs[which] &= self._selector.differ(view.of(which), a, b)
        self.features[who[differs], slot] = features[differs]
        return differs


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
    for i, (start, stop) in enumerate(pairwise(bounds)):
        served, away_from = grouped[start:stop], away[:, i]
        if len(served) < most:
            ranks = np.where(nearest == i, -np.inf, away_from)
            served = np.flatnonzero(ranks <= np.partition(ranks, most - 1)[most - 1])
        order = served[np.lexsort((away_from[served], nearest[served] != i))]
        last = max(most, stop - start) - 1
        chosen[i] = order[np.linspace(0, last, most).astype(np.intp)]
    return chosen
