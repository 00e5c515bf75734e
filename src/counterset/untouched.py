"""What options leave as it is in the input.

An option is a whole row, but the model needs only some of it to decide otherwise. Of the rest an
input can keep its own values, which is much nearer; but what an input keeps moves with it. So only
that is left untouched which differs most, and which the rows around do not need.
"""

from __future__ import annotations

import math

import numpy as np

from counterset.anchors import Options
from counterset.arrays import Codes, Mask, Matrix
from counterset.diversity import View
from counterset.line_search import REFUSED
from counterset.paths import unit_costs
from counterset.questions import Questions
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
    away: Matrix,
    selector: Selector,
    share: float,
) -> Mask:
    """Find the features that each option of each set leaves untouched.

    They are tried one by one, in order of how much is saved by it, and left untouched if most rows
    around are decided otherwise without them too, and if step 3 holds for the set, seen from its
    anchor.

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
    members = np.zeros((len(units), anchors.shape[1]), dtype=bool)
    for unit, features in enumerate(units):
        members[unit, features] = True
    firsts = [features[0] for features in units]
    most = math.ceil(share * len(units))
    who, slots = np.nonzero(sets != NONE_LEFT)
    ends = options.rows[sets[who, slots]]
    # Each option of each set has its own rows to ask.
    witnesses = _witnesses(away)[who]
    option, asked = np.repeat(np.arange(len(who)), witnesses.shape[1]), witnesses.ravel()
    costs = unit_costs(selector.pool.distance, rows.inputs[asked], ends[option], units)
    saved = costs.reshape(*witnesses.shape, len(units)).mean(axis=1)
    order = np.argsort(-saved, axis=1, kind="stable")[:, : TRIES * most]
    untouched = _Untouched(sets, options, anchors, selector)
    for unit in order.T:
        left = untouched.features[who, slots]
        tried = left | members[unit]
        open_ = (left[:, firsts].sum(axis=1) < most) & (saved[np.arange(len(who)), unit] > 0)
        here = np.flatnonzero(open_[option])
        mixed = np.where(tried[option[here]], rows.inputs[asked[here]], ends[option[here]])
        agreeing = rows.ask(mixed, asked[here]) != REFUSED
        open_ &= np.bincount(option[here], agreeing, len(who)) >= AGREEING * witnesses.shape[1]
        for slot in range(sets.shape[1]):
            here = np.flatnonzero(open_ & (slots == slot))
            untouched.leave(who[here], slot, tried[here])
    return untouched.features


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

    def leave(self, who: Codes, slot: int, features: Mask) -> None:
        """Leave features untouched where step 3 still tells the option from the others."""
        tried = self.features[who]
        tried[:, slot] = features
        table, size = self._selector.pool.distance, tried.shape[1]
        seen = np.where(tried, self._anchors[who, None], self._ends[who])
        candidates = table.points(seen.reshape(-1, seen.shape[2]))
        view = View(self._points.take(who), candidates, self._nearest[who], table.in_space)
        differs = np.ones(len(who), dtype=bool)
        for other in range(size):
            which = np.flatnonzero(self._here[who, other] & (other != slot))
            a, b = which * size + slot, which * size + other
            differs[which] &= self._selector.differ(view.of(which), a, b)
        self.features[who[differs], slot] = features[differs]


def _witnesses(away: Matrix) -> Codes:
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
    chosen = np.empty((away.shape[1], most), dtype=np.intp)
    for i, own in enumerate(chosen):
        order = np.lexsort((away[:, i], nearest != i))
        served = max(most, int((nearest == i).sum()))
        own[:] = order[np.linspace(0, served - 1, most).astype(np.intp)]
    return chosen
