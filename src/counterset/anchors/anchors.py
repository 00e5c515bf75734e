"""Anchors: the regions of inputs, and what is offered to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from counterset._base.arrays import Codes, Indices, Vector
from counterset._base.memo import Memo
from counterset.anchors.learning import learn_list
from counterset.anchors.option_list import OptionList
from counterset.anchors.regions import Regions
from counterset.constraints.rules import Rules
from counterset.models.goals import Goal
from counterset.recipes.learning import RecipeBook
from counterset.recipes.recipe import Recipes
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.choosers import PoolChooser
from counterset.steps.chosen import Chosen
from counterset.steps.selection import Selector

__all__ = ["Anchors"]

#: What was learned is kept for the last 10,000 regions and goals.
MOST_KEPT = 10_000


@dataclass
class Anchors:
    """The regions of inputs, and what is offered to each, found when it is first needed.

    What is found depends on the training data, the settings and the goal only, not on who asks
    first. Threads may share it.

    Attributes
    ----------
    regions
        The regions of each class.
    book
        The recipes that lists are made of, and the training data.
    """

    regions: Regions
    book: RecipeBook
    _lists: Memo[OptionList] = field(
        default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False
    )
    _sets: Memo[Chosen] = field(default_factory=lambda: Memo(MOST_KEPT), init=False, repr=False)

    def __len__(self) -> int:
        return len(self.regions)

    def regions_of(self, acceptance: Acceptance) -> Indices:
        """Return the region of each input, -1 for a class that no training row has."""
        return self.regions.of(acceptance.embedded, self._codes(acceptance))

    def radius(self, acceptance: Acceptance) -> Vector:
        """Return how far each input is at least from the border of its region."""
        return self.regions.radius(acceptance.embedded, self._codes(acceptance))

    def set_of(self, region: int, chooser: PoolChooser, requirements: Requirements) -> Chosen:
        """Return what steps 1 to 3 choose for the row at the centre of a region."""
        selector, training = chooser.selector, self.book.training
        centre = self.regions.pool_index[[region]]

        def choose() -> Chosen:
            return chooser.choose(training.acceptance(centre, requirements))

        steps = repr(selector.cutoff), repr(selector.diversity), selector.limit
        wanted = repr(requirements.goal), requirements.probability, selector.find_farthest
        return self._sets.get((region, steps, wanted), choose)

    def lists(
        self, acceptance: Acceptance, own_rules: Rules, selector: Selector
    ) -> Iterator[tuple[Indices, OptionList]]:
        """Yield the inputs of each region, and its list; inputs without a list are left out.

        Parameters
        ----------
        own_rules
            The explainer's own constraints. Lists for others are the same: what they forbid is
            passed over.
        selector
            Says how many options are wanted, and when two of them differ.
        """
        regions = self.regions_of(acceptance)
        for inputs, goal, recipes in self.book.groups(acceptance, own_rules):
            for region in np.unique(regions[inputs]):
                options = self._list(int(region), goal, recipes, own_rules, selector)
                if len(options):
                    yield inputs[regions[inputs] == region], options

    def _list(
        self, region: int, goal: Goal, recipes: Recipes, rules: Rules, selector: Selector
    ) -> OptionList:
        training = self.book.training

        def learn() -> OptionList:
            rows = np.flatnonzero(self._region_of_row == region)
            labels = training.classes.labels[training.pool.codes[rows]]
            rows = rows[~goal.accepts(labels, labels)]
            centre = self.regions.pool_index[[region]]
            wanted = Requirements(goal, None, rules, training.support)
            return learn_list(recipes, rows, centre, wanted, training, selector)

        step_3 = repr(selector.diversity), selector.limit
        return self._lists.get((region, repr(goal), rules.texts, step_3), learn)

    @cached_property
    def _region_of_row(self) -> Indices:
        """The region of each row of the pool."""
        pool = self.book.training.pool
        return self.regions.of(pool.embedded, self._known(pool.codes))

    def _codes(self, acceptance: Acceptance) -> Codes:
        return self._known(acceptance.input_codes)

    def _known(self, codes: Codes) -> Codes:
        # A model that predicts numbers has one class for each of them: take them together.
        return np.zeros_like(codes) if self.book.training.classes.are_measurements else codes
