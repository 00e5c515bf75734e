"""The list of a region: options in a fixed order, each of which sets features to fixed values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Indices, Matrix, Stack, Vector
from counterset.recipes.recipe import Recipes
from counterset.tables.table import Table

__all__ = ["RUNGS", "OptionList", "on_rungs"]

#: A recipe becomes four options: its numbers are set to points at half the way from the region's
#: median to the recipe's values, to these, and beyond. Weak ones are near, strong ones work for
#: most.
RUNGS = (0.5, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class OptionList:
    """Options in the order in which inputs of a region try them.

    Attributes
    ----------
    options
        The features that each option sets, and the values.
    start
        The median of the region, ``(d,)``. An option whose value is above it asks for at least
        that value, one whose value is below it for at most that.
    """

    options: Recipes
    start: Vector

    def __len__(self) -> int:
        return len(self.options)

    def take(self, which: Indices) -> OptionList:
        """Return some of the options."""
        return OptionList(self.options.take(which), self.start)

    def apply(self, x: Matrix, table: Table) -> Stack:
        """Apply every option to every input, ``(n, options, d)``.

        Who has at least what an option asks for keeps it. What is missing, or no number, is set.
        """
        values, own = self.options.values, table.without_special(x)[:, None, :]
        numbers = np.array([not feature.is_category for feature in table.features])
        rises = values >= self.start
        moved = np.where(rises, np.maximum(own, values), np.minimum(own, values))
        moved = np.where(numbers & ~np.isnan(own) & ~np.isnan(self.start), moved, values)
        return np.where(self.options.features, moved, x[:, None, :])


def on_rungs(recipes: Recipes, start: Vector, table: Table) -> OptionList:
    """Return every recipe on every rung, measured from the median of a region."""
    numbers = np.array([not feature.is_category for feature in table.features])
    low, high = np.array([feature.usual for feature in table.features]).T
    parts = []
    for rung in RUNGS:
        there = np.clip(start + rung * (recipes.values - start), low, high)
        moved = numbers & recipes.features & ~np.isnan(there) & (rung != 1)
        values = np.where(moved, there, recipes.values)
        sets_numbers = moved.any(axis=1) if rung != 1 else np.ones(len(recipes), dtype=bool)
        which = np.flatnonzero(sets_numbers)
        parts.append(Recipes(recipes.features[which], values[which], recipes.pool_index[which]))
    options = Recipes(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.pool_index for part in parts]),
    )
    return OptionList(options, start)
