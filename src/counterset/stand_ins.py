"""Stand-ins: options that may take the place of one of a set, where they are nearer.

A set is chosen for many inputs, so for one of them there may be something nearer in about the same
direction as one of its options. It takes its place only if it is nearer by a margin, since every
stand-in adds a boundary at which a small move changes the choice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterset.arrays import Codes, Mask, Matrix
from counterset.diversity import View
from counterset.selection import NONE_LEFT, Selector
from counterset.space import Points

__all__ = ["find_stand_ins"]

#: An option has so many stand-ins at most, those nearest to it.
MOST_STAND_INS = 7
#: Pairs of options that are compared at once, and distances that are held at once.
PAIRS, BATCH = 50_000, 2_000_000


def find_stand_ins(
    sets: Codes, anchors: Points, options: Points, selector: Selector, price: float, margin: float
) -> tuple[Codes, Matrix]:
    """Find the stand-ins of each option of each set.

    A stand-in is nearer to its own option than to any other of the set; and step 3 holds for the
    set, seen from its anchor, whichever stand-ins are taken.

    Parameters
    ----------
    sets
        Numbers of options, ``(m, k)``, padded with ``NONE_LEFT``.
    anchors, options
        From where step 3 looks at each set, and all options.
    price
        How much more distance a set may cost for being so much more diverse.
    margin
        How much nearer a stand-in has to be.

    Returns
    -------
    stand_ins
        Numbers of options, ``(m, k, MOST_STAND_INS)``, padded with ``NONE_LEFT``.
    worth
        How much nearer each counts than it is: the diversity that it brings, less the margin.
    """
    here, size = sets != NONE_LEFT, (sets != NONE_LEFT).sum(axis=1)
    if not here.any():
        nothing = np.zeros((*sets.shape, MOST_STAND_INS))
        return np.full(nothing.shape, NONE_LEFT), nothing
    near = _neighbours(np.unique(sets[here]), options, selector)
    stand_ins = np.where(here[..., None], near[sets], NONE_LEFT)
    places, distance = options.places, selector.pool.distance.in_space
    # How far each stand-in, and each option itself, is from all options of the set.
    tried = np.concatenate([sets[..., None], stand_ins], axis=2)
    flat = np.maximum(tried, 0).reshape(len(sets), -1)
    away = np.stack(
        [distance.to_own(places[own], places[flat]) for own in np.maximum(sets, 0).T], axis=1
    ).reshape(*sets.shape, *tried.shape[1:])
    away = np.where(here[:, :, None, None], away, 0.0)  # (m, from, k, option and stand-ins)
    own_slot = np.arange(sets.shape[1])
    to_own = away[:, own_slot, own_slot]
    nearest = np.where(here[:, :, None, None], away, np.inf).min(axis=1)
    possible = (tried != NONE_LEFT) & (to_own <= nearest)
    kept = _keep_diverse(tried, possible, to_own, anchors, options, selector)[..., 1:]
    apart = away.sum(axis=1) - to_own
    worth = 2 * price * (apart[..., 1:] - apart[..., :1])
    worth /= np.maximum(size - 1, 1)[:, None, None]
    return np.where(kept, stand_ins, NONE_LEFT), np.where(kept, worth - margin, 0.0)


def _neighbours(used: Codes, options: Points, selector: Selector) -> Codes:
    """Give the options nearest to some of them, nearest first, by the number of the option."""
    near = np.full((len(options), MOST_STAND_INS), NONE_LEFT)
    most = min(MOST_STAND_INS, len(options) - 1)
    at_once = max(1, BATCH // max(len(options), 1))
    for start in range(0, len(used) if most > 0 else 0, at_once):
        which = used[start : start + at_once]
        distance = selector.pool.distance.in_space
        away = distance.pairwise(options.places[which], options.places)
        away[np.arange(len(which)), which] = np.inf
        first = np.argpartition(away, most - 1, axis=1)[:, :most]
        order = np.argsort(np.take_along_axis(away, first, axis=1), axis=1, kind="stable")
        near[which, :most] = np.take_along_axis(first, order, axis=1)
    return near


def _keep_diverse(
    tried: Codes,
    possible: Mask,
    to_own: Matrix,
    anchors: Points,
    options: Points,
    selector: Selector,
) -> Mask:
    """Keep those that differ enough from all that are kept in the place of other options.

    Parameters
    ----------
    tried
        Each option of each set and then its stand-ins, ``(m, k, 1 + r)``.
    possible, to_own
        Which of them are at hand, and how far they are from the option: nearer ones come first.
    """
    count, width = len(tried), tried.shape[1] * tried.shape[2]
    flat, open_ = tried.reshape(count, width), possible.reshape(count, width)
    slots = np.repeat(np.arange(tried.shape[1]), tried.shape[2])
    order = np.argsort(np.where(open_, to_own.reshape(count, width), np.inf), axis=1, kind="stable")
    flat, open_ = np.take_along_axis(flat, order, axis=1), np.take_along_axis(open_, order, axis=1)
    slots = slots[order]
    alike = np.zeros((count, width, width), dtype=bool)
    pairs = np.triu(np.ones((width, width), dtype=bool), k=1)
    for who, a, b in _in_parts(
        open_[:, :, None] & open_[:, None] & pairs & (slots[:, :, None] != slots[:, None])
    ):
        alike[who, a, b] = ~_differ(anchors, options, selector, who, flat[who, a], flat[who, b])
    kept = open_
    for i in range(1, width):
        kept[:, i] &= ~(alike[:, :i, i] & kept[:, :i]).any(axis=1)
    result = np.zeros_like(possible).reshape(count, width)
    np.put_along_axis(result, order, kept, axis=1)
    return result.reshape(possible.shape)


def _in_parts(pairs: Mask) -> Iterator[tuple[Codes, Codes, Codes]]:
    who, a, b = np.nonzero(pairs)
    for start in range(0, len(who), PAIRS):
        part = slice(start, start + PAIRS)
        yield who[part], a[part], b[part]


def _differ(
    anchors: Points, options: Points, selector: Selector, who: Codes, a: Codes, b: Codes
) -> Mask:
    """Say whether step 3 tells two options apart, seen from an anchor."""
    distance = selector.pool.distance.in_space
    seen, owner = np.unique(who, return_inverse=True)
    away = distance.pairwise(anchors.places[seen], options.places)
    view = View(anchors.take(seen), options, away.min(axis=1), distance)
    return selector.differ(view.of(owner), a, b)
