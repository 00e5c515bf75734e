"""The list of a region: recipes in a fixed order, each in several strengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.recipes.recipe import Recipes
from counterset.steps.diversity import Diversity, View
from counterset.tables.table import Table

__all__ = ["RUNGS", "NothingMore", "OptionList"]

#: A recipe is tried in four strengths: its numbers are set to points at half the way from the
#: region's median to the recipe's values, to these, and beyond. An input takes the weakest that
#: works for it.
RUNGS = (0.5, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class OptionList:
    """Recipes in the order in which inputs of a region try them.

    Attributes
    ----------
    recipes
        The features that each recipe sets, and the values.
    start
        The median of the region, ``(d,)``. A recipe whose value is above it asks for at least
        that value, one whose value is below it for at most that.
    """

    recipes: Recipes
    start: Vector

    def __len__(self) -> int:
        return len(self.recipes)

    def take(self, which: Indices) -> OptionList:
        """Return some of the recipes."""
        return OptionList(self.recipes.take(which), self.start)

    def apply(self, x: Matrix, table: Table) -> Stack:
        """Apply every recipe to every input on every rung, ``(n, recipes * rungs, d)``.

        Who has at least what a recipe asks for keeps it. What is missing, or no number, is set.
        """
        numbers = np.array([not feature.is_category for feature in table.features])
        low, high = np.array([feature.usual for feature in table.features]).T
        values = np.repeat(self.recipes.values, len(RUNGS), axis=0)
        features = np.repeat(self.recipes.features, len(RUNGS), axis=0)
        rungs = np.tile(RUNGS, len(self))[:, None]
        # Nothing is set beyond the usual range; the values of the recipe itself are in use.
        there = np.clip(self.start + rungs * (values - self.start), low, high)
        asked = np.where(numbers & ~np.isnan(there) & (rungs != 1), there, values)
        own = table.without_special(x)[:, None, :]
        moved = np.where(values >= self.start, np.maximum(own, asked), np.minimum(own, asked))
        moved = np.where(numbers & ~np.isnan(own) & ~np.isnan(self.start), moved, asked)
        return np.where(features, moved, x[:, None, :])


@dataclass(frozen=True)
class NothingMore:
    """Two options differ if another step says so, and neither is the other and something more."""

    inner: Diversity | None

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two options of each input differ enough."""
        x, options = view.x.coordinates, view.candidates.coordinates
        apart = options[a] != options[b]
        holds_first = ~(apart & (options[a] != x)).any(axis=1)
        holds_second = ~(apart & (options[b] != x)).any(axis=1)
        differ: Mask = ~(holds_first | holds_second)
        return differ if self.inner is None else differ & self.inner.differ(view, a, b)
