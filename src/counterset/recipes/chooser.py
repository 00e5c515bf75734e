"""Choosing among recipes: the nearest different ones that work for an input."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.recipes.first_accepted import first_accepted
from counterset.recipes.further import ROWS_EACH, further_ways
from counterset.recipes.learning import RecipeBook
from counterset.recipes.recipe import RUNGS, Recipes, first_of_equal, in_parts
from counterset.steps.acceptance import Acceptance
from counterset.steps.choosers import Chooser, pick_diverse
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import Search
from counterset.steps.minimisation import minimise
from counterset.steps.pipeline import Pipeline
from counterset.steps.selection import Selector
from counterset.steps.sparse_choice import undo
from counterset.tables.table import changed

__all__ = ["RecipeChooser", "with_recipes"]

#: The search starts from the nearest 60 ways that work, or from 4 for each counterfactual asked
#: for: many ways turn out to be one when what they do not need is undone.
WAYS, WAYS_EACH = 60, 4
#: Further ways are looked for in 3 rounds, for inputs that have too few: each starts from what the
#: rounds before it found.
ROUNDS = 3


def with_recipes(paper: Pipeline, book: RecipeBook, constraints: Constraints | None) -> Pipeline:
    """Return a pipeline that chooses among recipes first, if its answers are to be sparse.

    Without a search, answers have values of training rows: recipes have others.

    Parameters
    ----------
    constraints
        The explainer's own, for which recipes are learned.
    """
    if not paper.sparsify or paper.search is None:
        return paper
    own_rules = book.training.rules(constraints)
    return replace(paper, chooser=RecipeChooser(book, paper.search, own_rules, paper.chooser))


@dataclass(frozen=True)
class RecipeChooser:
    """Choose among the recipes that work for each input, as seen from the input.

    Attributes
    ----------
    book
        The recipes.
    search
        Takes step 4, before options are compared: only then is it known how near they are.
    own_rules
        The explainer's constraints, for which recipes are learned.
    otherwise
        Chooses among training rows, for inputs that have too few options then.
    """

    book: RecipeBook
    search: Search | None
    own_rules: Rules
    otherwise: Chooser

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.otherwise.selector

    def choose(self, acceptance: Acceptance) -> Chosen:
        """Choose options for every input."""
        selector, training_index = self.selector, self.selector.pool.training_index
        chosen = pick_diverse(
            selector, self._options(acceptance).nearest_first(training_index), acceptance
        )
        short = np.flatnonzero(chosen.counts < selector.limit)
        if not len(short):
            return chosen
        more = self._otherwise(acceptance, short)
        both = Chosen.joined([chosen, more], more.n_candidates, more.farthest)
        both = self._with_further(both, acceptance, short)
        return pick_diverse(selector, both.nearest_first(training_index), acceptance)

    def _with_further(self, known: Chosen, acceptance: Acceptance, inputs: Indices) -> Chosen:
        """Add ways that are no known way and something more, as long as there are such."""
        for members, _, recipes in self.book.groups(acceptance, self.own_rules):
            open_ = np.intersect1d(members, inputs)
            for _ in range(ROUNDS):
                parts = [known]
                for some in in_parts(open_, ROWS_EACH * recipes.features.shape[1]):
                    found = further_ways(known, recipes, acceptance, some)
                    parts.append(self._settled(found, acceptance))
                known = Chosen.joined(parts, known.n_candidates, known.farthest)
                open_ = np.unique(np.concatenate([open_[:0], *(part.owners for part in parts[1:])]))
        return known

    def _otherwise(self, acceptance: Acceptance, inputs: Indices) -> Chosen:
        """Choose among training rows for some of the inputs."""
        part = acceptance.take(inputs)
        found = self._settled(self.otherwise.choose(part), part)
        return found.among(inputs, len(acceptance.inputs))

    def _options(self, acceptance: Acceptance) -> Chosen:
        """Return the recipes that work for each input, with only the changes that are needed."""
        parts = [Chosen.nothing(acceptance)]
        for inputs, _, recipes in self.book.groups(acceptance, self.own_rules):
            for some in in_parts(inputs, len(RUNGS) * recipes.features.size):
                parts.append(self._working(recipes, acceptance, some))
        nothing = parts[0]
        found = Chosen.joined(parts, nothing.n_candidates, _farthest(parts, nothing.farthest))
        return self._settled(found, acceptance)

    def _working(self, recipes: Recipes, acceptance: Acceptance, inputs: Indices) -> Chosen:
        """Return the nearest recipe that works for each set of features, nearest sets first."""
        ways = max(WAYS, WAYS_EACH * self.selector.limit)
        rows, owners, which = _applied(recipes, acceptance, inputs)
        lengths = acceptance.lengths_of(rows, owners)
        order = np.lexsort((which, lengths, owners))
        rows, owners, which, lengths = rows[order], owners[order], which[order], lengths[order]
        kept, codes = first_accepted(
            acceptance.ask, rows, owners, _sets(acceptance, rows, owners), ways
        )
        nothing = Chosen.nothing(acceptance)
        return replace(
            nothing,
            owners=owners[kept],
            pool_index=recipes.pool_index[which[kept]],
            rows=rows[kept],
            codes=codes,
            embedded=acceptance.distance.embed(rows[kept]),
            lengths=lengths[kept],
            settled=np.zeros(len(kept), dtype=bool),
        )

    def _settled(self, found: Chosen, acceptance: Acceptance) -> Chosen:
        """Take step 4, and undo what is not needed."""
        if self.search is not None:
            found = minimise(found, self.search, acceptance)
        found = undo(found, acceptance)
        return replace(found, settled=np.ones(len(found.owners), dtype=bool))


def _applied(
    recipes: Recipes, acceptance: Acceptance, inputs: Indices
) -> tuple[Matrix, Indices, Indices]:
    """Apply recipes to inputs within the constraints: different rows, their inputs and recipes."""
    rows, owners, which = recipes.apply(acceptance.inputs[inputs], acceptance.distance.table)
    owners = inputs[owners]
    rows = acceptance.onto_steps(rows, owners)
    kept = first_of_equal(np.concatenate([rows, owners[:, None]], axis=1))
    kept = kept[changed(acceptance.inputs[owners[kept]], rows[kept]).any(axis=1)]
    return rows[kept], owners[kept], which[kept]


def _farthest(parts: list[Chosen], nothing: Vector) -> Vector:
    """Return the length of the longest way of each input, which some searches need to know."""
    farthest = nothing.copy()
    for part in parts:
        np.maximum.at(farthest, part.owners, part.lengths)
    return farthest


def _sets(acceptance: Acceptance, rows: Matrix, owners: Indices) -> Indices:
    """Return a number for each row, equal where the same features of the same input change."""
    sets = owners
    for bits in np.packbits(changed(acceptance.inputs[owners], rows), axis=1).T:
        sets = pd.factorize(sets * 256 + bits)[0]
    return sets
