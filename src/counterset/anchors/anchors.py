"""Anchored selection: diverse examples chosen for fixed points, not for the input.

The paper's selection looks from the input itself, so that a small move of the input can reorder
the candidates, and the greedy filter turns that into another set. Here a set is chosen once for
each of a few training rows, the anchors, and an input takes the set that is nearest to it, among
those of the anchors of its own class: inputs that share an anchor share the choice.
``docs/anchors.md`` has the proof of the stable radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterset._base.arrays import Codes, Labels, Mask, Matrix
from counterset.anchors.stability import Sets
from counterset.distances import Distance
from counterset.steps.selection import NONE_LEFT
from counterset.tables.space import Embedded

__all__ = ["Anchors", "Options", "renumbered"]


@dataclass(frozen=True)
class Options:
    """Counterfactuals that sets are put together from.

    Attributes
    ----------
    rows
        The counterfactuals.
    points
        Where they are in the space.
    pool_index
        The row of the pool that each comes from.
    labels
        What the model answered there.
    """

    rows: Matrix
    points: Matrix
    pool_index: Codes
    labels: Labels

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: Codes) -> Options:
        """Return some of the options."""
        return Options(
            self.rows[which], self.points[which], self.pool_index[which], self.labels[which]
        )


@dataclass(frozen=True)
class Anchors:
    """The anchors of all classes, each with its set.

    Attributes
    ----------
    points
        The anchors, as points of the space.
    codes
        The code of the class of each, ascending.
    options
        What the sets consist of.
    sets
        The set of each, for inputs that accept any other class: numbers of options, ascending,
        ``(m, limit)``, padded with ``NONE_LEFT``. All of a class differ.
    bonus
        How much nearer each set counts than it is, for being diverse.
    gives_way
        The features in which each option of a set gives way to the input, as far as the model
        allows, ``(m, limit, features)``.
    way
        The share of the way to the input's own values that it goes there.
    n_candidates, farthest
        How many candidates there were for each, and how far the farthest of them was.
    settings
        How the sets were chosen: sets for other settings have to be chosen anew.
    distance
        Between points.
    """

    points: Embedded
    codes: Codes
    options: Options
    sets: Codes
    bonus: Matrix
    gives_way: Mask
    way: float
    n_candidates: Codes
    farthest: Matrix
    settings: tuple[Any, ...]
    distance: Distance

    @classmethod
    def joined(cls, parts: list[Anchors]) -> Anchors:
        """Put the anchors of several classes together."""
        counts = np.cumsum([0, *(len(part.options) for part in parts)])
        return cls(
            Embedded(
                np.concatenate([part.points.coordinates for part in parts]),
                np.concatenate([part.points.directions for part in parts]),
            ),
            np.concatenate([part.codes for part in parts]),
            Options(
                np.concatenate([part.options.rows for part in parts]),
                np.concatenate([part.options.points for part in parts]),
                np.concatenate([part.options.pool_index for part in parts]),
                np.concatenate([part.options.labels for part in parts]),
            ),
            np.concatenate(
                [
                    np.where(part.sets == NONE_LEFT, NONE_LEFT, part.sets + count)
                    for part, count in zip(parts, counts[:-1], strict=True)
                ]
            ),
            np.concatenate([part.bonus for part in parts]),
            np.concatenate([part.gives_way for part in parts]),
            parts[0].way,
            np.concatenate([part.n_candidates for part in parts]),
            np.concatenate([part.farthest for part in parts]),
            parts[0].settings,
            parts[0].distance,
        )

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def _sets_of(self) -> dict[int, tuple[int, Sets]]:
        """The number of the first set of each class, and its sets."""
        result = {}
        for code in np.unique(self.codes):
            start, stop = np.searchsorted(self.codes, [code, code + 1])
            own = slice(int(start), int(stop))
            used, sets = renumbered(self.sets[own])
            points = self.options.points[used]
            result[int(code)] = int(start), Sets(points, sets, self.bonus[own], self.distance)
        return result

    def nearest(self, x: Embedded, codes: Codes) -> Codes:
        """Find the anchor of each input's own class with the nearest set.

        Parameters
        ----------
        x, codes
            The inputs, and the codes of their classes.

        Returns
        -------
        anchors
            The first of equally near ones; -1 for a class without any.
        """
        anchors = np.full(len(x), -1, dtype=np.intp)
        for code in np.unique(codes):
            if int(code) in self._sets_of:
                start, sets = self._sets_of[int(code)]
                inputs = np.flatnonzero(codes == code)
                anchors[inputs] = start + sets.nearest(x.coordinates[inputs])
        return anchors

    def radius(self, x: Embedded, codes: Codes) -> Matrix:
        """Return the stable radius of each input; NaN where nothing is proved."""
        radius = np.full(len(x), np.nan)
        for code in np.unique(codes):
            if int(code) in self._sets_of:
                _, sets = self._sets_of[int(code)]
                radius[codes == code] = sets.radius(x.coordinates[codes == code])
        return radius


def renumbered(sets: Codes) -> tuple[Codes, Codes]:
    """Return new numbers to the options that are used.

    Returns
    -------
    used
        Their numbers until now, ascending.
    sets
        The new numbers, in place of the old ones.
    """
    used = np.unique(sets[sets != NONE_LEFT])
    return used, np.where(sets == NONE_LEFT, NONE_LEFT, np.searchsorted(used, sets))
