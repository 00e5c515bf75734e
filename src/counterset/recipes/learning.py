"""Learning recipes: what a few hundred training rows of a class had to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from counterset._base.arrays import Indices, Mask, Vector
from counterset._base.memo import Memo
from counterset.constraints.rules import Rules
from counterset.models.goals import Goal, OneOf
from counterset.recipes.recipe import Recipes
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.choosers import asked, moved_onto_rules
from counterset.steps.cutoffs import NearestCandidates
from counterset.steps.line_search import LineSearch
from counterset.steps.minimisation import minimise
from counterset.steps.selection import Selector
from counterset.steps.sparse_choice import undo
from counterset.steps.training import TrainingData

__all__ = ["RecipeBook", "learn_recipes"]

#: Recipes are learned from 300 rows of a class: twice as many cost twice the time, for options that
#: are 1 to 4 % nearer.
ROWS = 300
#: Of a table with more than 32 features, fewer rows are learned from, so that their cells are as
#: many, but at least 40 rows.
MOST_FEATURES, LEAST_ROWS = 32, 40
#: Each row starts from every third of its 30 nearest candidates, which lead to near options, and
#: from 8 candidates from anywhere, which lead to other options.
NEAREST, STRIDE, ANYWHERE = 30, 3, 8
#: The search ends within 0.01 of the boundary: closer would not last on another input.
SEARCH = LineSearch(0.01)
#: A book holds what was learned for the last 64 goals and constraints, up to 50 MB.
MOST_LEARNED = 64


@dataclass
class RecipeBook:
    """The recipes of each class of inputs, learned when they are first needed.

    What is learned depends on the training data, the constraints and the wanted classes only, not
    on who asks first. Threads may share a book.

    Attributes
    ----------
    training
        The training rows, and what the model predicts for them.
    """

    training: TrainingData
    _learned: Memo[Recipes] = field(
        default_factory=lambda: Memo(MOST_LEARNED), init=False, repr=False
    )

    def groups(
        self, acceptance: Acceptance, own_rules: Rules
    ) -> Iterator[tuple[Indices, Goal, Recipes]]:
        """Yield groups of inputs, what each wants, and its recipes; some inputs may be in none.

        Parameters
        ----------
        own_rules
            The explainer's own constraints. What is learned for them serves other constraints too:
            a recipe that breaks those is not accepted.
        """
        goal, classes = acceptance.requirements.goal, self.training.classes
        codes = acceptance.input_codes
        if classes.are_measurements:  # each prediction is a class of its own: take them together
            codes = np.zeros_like(codes)
        for code in np.unique(codes[codes < len(classes)]):
            wanted = goal.accepts(classes.labels, np.repeat(classes.labels[[code]], len(classes)))
            start = ~wanted if classes.are_measurements else np.arange(len(classes)) == code
            # By the classes: then the only other class is the same goal as any other class.
            by_class = goal if classes.are_measurements else OneOf(classes.labels[wanted & ~start])
            recipes = self._recipes(start, by_class, own_rules)
            if len(recipes):
                yield np.flatnonzero(codes == code), by_class, recipes

    def _recipes(self, start: Mask, goal: Goal, rules: Rules) -> Recipes:
        key = start.tobytes(), repr(goal), rules.texts
        return self._learned.get(key, lambda: learn_recipes(self.training, start, goal, rules))


def learn_recipes(training: TrainingData, start: Mask, goal: Goal, rules: Rules) -> Recipes:
    """Find out what rows of some classes had to change to reach a goal.

    Parameters
    ----------
    start
        Which classes the rows have.
    goal
        What they are to reach.
    rules
        What may change.
    """
    pool = training.pool
    there = np.flatnonzero(start[pool.codes])
    count = min(ROWS, max(LEAST_ROWS, ROWS * MOST_FEATURES // pool.matrix.shape[1]))
    rows = np.sort(there[np.argsort(pool.lots[there], kind="stable")[:count]])
    acceptance = training.acceptance(rows, Requirements(goal, None, rules, training.support))
    selector = Selector(pool, training.usable(None), NearestCandidates(NEAREST), None, NEAREST)
    owners, pool_index = _candidates(selector, acceptance, pool.lots[rows])
    found = asked(moved_onto_rules(pool, acceptance, owners, pool_index), acceptance)
    found = undo(found, acceptance)
    found = undo(minimise(found, SEARCH, acceptance), acceptance)
    return Recipes.distinct(acceptance.inputs[found.owners], found.rows, found.pool_index)


def _candidates(
    selector: Selector, acceptance: Acceptance, lots: Vector
) -> tuple[Indices, Indices]:
    """Return the candidates of each row, near ones and ones from anywhere, sorted by row.

    Parameters
    ----------
    lots
        A random number of each row, from 0 to 1.
    """
    x, ignored = acceptance.embedded, acceptance.fixed_coordinates
    parts = [np.empty((2, 0), dtype=np.intp)]
    for members, eligible in selector.eligible(acceptance):
        for batch, candidates, ranking in selector.rank(x.take(members), eligible, ignored):
            who, which = ranking.left()
            picked = (np.arange(len(who)) - np.searchsorted(who, who)) % STRIDE == 0
            who, which = who[picked], which[picked]
            parts.append(np.stack([members[batch[who]], candidates.positions[which]]))
        there = np.flatnonzero(eligible)
        if len(there):
            # The candidates with the next larger lots: one more training row changes few of them.
            there = there[np.argsort(selector.pool.lots[there], kind="stable")]
            drawn = (lots[members][:, None] + np.arange(ANYWHERE) / ANYWHERE) % 1
            next_ = np.searchsorted(selector.pool.lots[there], drawn.ravel()) % len(there)
            parts.append(np.stack([np.repeat(members, ANYWHERE), there[next_]]))
    owners, pool_index = np.concatenate(parts, axis=1)
    order = np.argsort(owners, kind="stable")
    return owners[order], pool_index[order]
