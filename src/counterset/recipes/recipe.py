"""Recipes: some features, each with the value that it is set to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Vector, rows_as_bytes
from counterset.tables.table import Table, changed

__all__ = ["RUNGS", "Recipes", "first_of_equal", "in_parts"]

#: A number is set to its value, and to a point twice as far away: what was just enough for the row
#: that a recipe was learned from is too little for others. The line search looks at what lies
#: before the value.
RUNGS = (1.0, 2.0)
#: Up to 1500 recipes are kept for a class of inputs: the model is asked about each.
MOST = 1500
#: Recipes are applied to some inputs at a time: 4 million numbers, 32 MB.
NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Recipes:
    """Several recipes, in a fixed order.

    Attributes
    ----------
    features
        The features that each recipe sets, ``(r, d)``.
    values
        The values that it sets them to, ``(r, d)``; 0 elsewhere.
    pool_index
        The row of the pool that each comes from: the values are those of this row, or lie on the
        way to it.
    trend
        For each feature, how much more often its number was raised than lowered, from -1 to 1;
        None if that is not known.
    """

    features: Mask
    values: Matrix
    pool_index: Indices
    trend: Vector | None = None

    @classmethod
    def distinct(cls, starts: Matrix, ends: Matrix, pool_index: Indices) -> Recipes:
        """Return what leads from each start to its end, equal recipes once.

        Of too many, those are kept that come first for their sets of features: one of each set,
        then a second one, and so on.

        Examples
        --------
        >>> starts, ends = np.array([[0.0, 1.0], [5.0, 1.0]]), np.array([[0.0, 2.0], [5.0, 2.0]])
        >>> Recipes.distinct(starts, ends, np.array([7, 8])).values
        array([[0., 2.]])
        """
        features = changed(starts, ends)
        values = np.where(features, ends, 0.0)
        kept = first_of_equal(np.concatenate([features, values], axis=1))
        _, set_of = np.unique(features[kept], axis=0, return_inverse=True)
        by_set = np.argsort(set_of, kind="stable")
        rank = np.empty(len(kept), dtype=np.intp)
        rank[by_set] = np.arange(len(kept)) - np.searchsorted(set_of[by_set], set_of[by_set])
        kept = kept[np.sort(np.argsort(rank, kind="stable")[:MOST])]
        trend = np.nan_to_num(np.sign(ends - starts)).sum(axis=0) / np.maximum(
            features.sum(axis=0), 1
        )
        return cls(features[kept], values[kept], pool_index[kept], trend)

    def __len__(self) -> int:
        return len(self.features)

    def take(self, which: Indices) -> Recipes:
        """Return some of the recipes."""
        return replace(
            self,
            features=self.features[which],
            values=self.values[which],
            pool_index=self.pool_index[which],
        )

    def apply(self, x: Matrix, table: Table) -> tuple[Matrix, Indices, Indices]:
        """Apply every recipe to every input, on every rung.

        Parameters
        ----------
        x
            The inputs, ``(n, d)``.

        Returns
        -------
        rows, owners, recipes
            The changed rows, and the input and the recipe of each; ascending by input. A recipe
            that sets no numbers has one rung.
        """
        moves = np.array([not feature.is_category for feature in table.features])
        low, high = np.array([feature.usual for feature in table.features]).T
        everyone, known = x[:, None, :], table.without_special(x)[:, None, :]
        parts, which = [], []
        for rung in RUNGS:
            kept = np.arange(len(self))
            if rung != 1:
                kept = np.flatnonzero((self.features & moves).any(axis=1))
            values = np.broadcast_to(self.values[kept], (len(x), len(kept), x.shape[1]))
            if rung != 1:
                # What is missing cannot be moved from; nothing is set beyond the usual range.
                beyond = np.clip(known + rung * (values - known), low, high)
                values = np.where(moves & ~np.isnan(beyond), beyond, values)
            parts.append(np.where(self.features[kept], values, everyone))
            which.append(kept)
        rows = np.concatenate(parts, axis=1)
        recipes = np.tile(np.concatenate(which), len(x))
        owners = np.repeat(np.arange(len(x)), rows.shape[1])
        return rows.reshape(-1, x.shape[1]), owners, recipes


def first_of_equal(rows: Matrix) -> Indices:
    """Return the positions of the rows that no earlier row is equal to, ascending.

    Examples
    --------
    >>> first_of_equal(np.array([[2.0, np.nan], [1.0, 0.0], [2.0, np.nan]]))
    array([0, 1])
    """
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    return np.sort(np.unique(rows_as_bytes(rows), return_index=True)[1])


def in_parts(inputs: Indices, numbers_each: int) -> Iterator[Indices]:
    """Yield the inputs a few at a time, so that they take 32 MB at most.

    Parameters
    ----------
    numbers_each
        How many numbers are made for one input.
    """
    at_once = max(1, NUMBERS_AT_ONCE // numbers_each)
    for start in range(0, len(inputs), at_once):
        yield inputs[start : start + at_once]
