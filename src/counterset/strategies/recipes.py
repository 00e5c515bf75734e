"""Recipes: some features, each with the value that it is set to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from counterset._base.arrays import (
    Codes,
    Counts,
    Indices,
    Mask,
    Matrix,
    Moves,
    Vector,
    rows_as_bytes,
)
from counterset._base.lazy import Memo
from counterset.constraints.rules import Rules
from counterset.models.goals import Goal, OneOf
from counterset.strategies.batch import REFUSED, UNASKED, Ask, QueryBatch, Requirements
from counterset.strategies.candidates import asked, moved_onto_rules
from counterset.strategies.directions import find_directions
from counterset.strategies.line_search import LineSearch, minimise
from counterset.strategies.ranking import NearestCandidates
from counterset.strategies.selection import Selector
from counterset.strategies.sparsity import undo
from counterset.strategies.training import TrainingData
from counterset.tables.table import Table, changed

__all__ = [
    "RUNGS",
    "RecipeBook",
    "Recipes",
    "first_accepted",
    "first_of_equal",
    "in_parts",
    "learn_recipes",
]

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
    raised, lowered
        How often each feature had to be raised, and how often lowered, ``(d,)``.
    """

    features: Mask
    values: Matrix
    pool_index: Indices
    raised: Counts
    lowered: Counts

    @classmethod
    def distinct(cls, starts: Matrix, ends: Matrix, pool_index: Indices, moves: Moves) -> Recipes:
        """Return what leads from each start to its end, equal recipes once.

        Of too many, those are kept that come first for their sets of features: one of each set,
        then a second one, and so on.

        Parameters
        ----------
        moves
            Where each end is above its start, and where below.

        Examples
        --------
        >>> starts, ends = np.array([[0.0, 1.0], [5.0, 1.0]]), np.array([[0.0, 2.0], [5.0, 2.0]])
        >>> recipes = Recipes.distinct(starts, ends, np.array([7, 8]), np.sign(ends - starts))
        >>> recipes.values, recipes.raised
        (array([[0., 2.]]), array([0, 2]))
        """
        features = changed(starts, ends)
        values = np.where(features, ends, 0.0)
        kept = first_of_equal(np.concatenate([features, values], axis=1))
        _, set_of = np.unique(features[kept], axis=0, return_inverse=True)
        by_set = np.argsort(set_of, kind="stable")
        rank = np.empty(len(kept), dtype=np.intp)
        rank[by_set] = np.arange(len(kept)) - np.searchsorted(set_of[by_set], set_of[by_set])
        kept = kept[np.sort(np.argsort(rank, kind="stable")[:MOST])]
        raised, lowered = (moves > 0).sum(axis=0), (moves < 0).sum(axis=0)
        return cls(features[kept], values[kept], pool_index[kept], raised, lowered)

    @property
    def directions(self) -> Moves:
        """In which direction each feature helps, ``(d,)``; see :func:`find_directions`."""
        return find_directions(self.raised, self.lowered)

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


#: The model is asked about 2000 rows at once, if there are as many: a call of a pipeline with
#: encoders costs as much as 2000 rows in it.
ROWS_IN_A_CALL = 2000


def first_accepted(
    ask: Ask, rows: Matrix, owners: Indices, groups: Indices, most: int | None = None
) -> tuple[Indices, Codes]:
    """Return the first acceptable row of each group, and the class codes of these.

    Of each group that has none yet, the next row is asked about, then the next two, the next four
    and so on: what comes after an acceptable row of the same group need not be known. Of each
    input, those rows come first that come first in its order. Where these are few rows, those of
    the next rounds are asked about with them.

    Parameters
    ----------
    ask
        Tells which rows are acceptable for which inputs.
    rows, owners
        The rows in order, and the input of each, ascending.
    groups
        A number for each row, 0 and up; a group belongs to one input.
    most
        How many groups of each input to return, those whose rows come first; None: all.

    Returns
    -------
    first, codes
        The positions of the rows, ascending, and their class codes.

    Examples
    --------
    >>> def ask(rows, owners):
    ...     return np.where(rows[:, 0] > 1, 0, REFUSED)
    >>> rows, owners = np.array([[1.0], [2.0], [3.0], [0.0]]), np.zeros(4, dtype=np.intp)
    >>> first_accepted(ask, rows, owners, groups=np.array([0, 1, 0, 2]))
    (array([1, 2]), array([0, 0]))
    """
    codes = np.full(len(rows), UNASKED, dtype=np.intp)
    first, open_ = np.empty(0, dtype=np.intp), np.ones(len(rows), dtype=bool)
    position, nth = np.arange(len(rows)), _count_before(groups)
    n_asked = np.zeros(groups.max(initial=-1) + 1, dtype=np.intp)
    reach = None if most is None else max(most, ROWS_IN_A_CALL // max(len(np.unique(owners)), 1))
    while left := int(open_.sum()):
        now = _next_rows(open_, nth, n_asked[groups], owners, reach, min(left, ROWS_IN_A_CALL))
        reach = None if reach is None else 2 * reach
        codes[now] = ask(rows[now], owners[now])
        n_asked += np.bincount(groups[now], minlength=len(n_asked))
        accepted = np.flatnonzero((codes != REFUSED) & (codes != UNASKED))
        first = np.sort(accepted[np.unique(groups[accepted], return_index=True)[1]])
        has_one = np.zeros(groups.max() + 1, dtype=bool)
        has_one[groups[first]] = True
        open_ &= (codes == UNASKED) & ~has_one[groups]
        if most is not None:
            rank = np.arange(len(first)) - np.searchsorted(owners[first], owners[first])
            end = np.full(owners[-1] + 1, len(rows))
            last = first[rank == most - 1]
            end[owners[last]] = last
            open_ &= position < end[owners]
            first = first[rank < most]
    return first, codes[first]


def _next_rows(
    open_: Mask, nth: Counts, n_asked: Counts, owners: Indices, reach: int | None, least: int
) -> Indices:
    """Return the rows to ask about next.

    Parameters
    ----------
    open_
        About which rows may be asked.
    nth, n_asked
        The place of each row in its group, and how many of its group were asked about.
    reach
        The most rows of each input, those that come first; None: all.
    least
        How many rows are asked about at least.
    """
    everything, wider = int(open_.sum()), 2
    while True:
        next_ = np.flatnonzero(open_ & (nth < wider * (n_asked + 1) - 1))
        now = next_
        if reach is not None:
            now = now[np.arange(len(now)) - np.searchsorted(owners[now], owners[now]) < reach]
        if len(now) >= least:
            return now
        wider *= 2
        if reach is not None and len(next_) == everything:
            reach *= 2


def _count_before(groups: Indices) -> Counts:
    """Return how many rows of the same group stand before each."""
    order = np.argsort(groups, kind="stable")
    count = np.empty_like(groups)
    count[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return count


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

    def groups(self, batch: QueryBatch) -> Iterator[tuple[Indices, Goal, Recipes]]:
        """Yield groups of inputs, what each wants, and its recipes; some inputs may be in none.

        Recipes are learned for the explainer's own constraints. They serve other constraints too:
        a recipe that breaks those is not accepted.
        """
        own_rules = batch.requirements.rules_to_learn_for
        goal, classes = batch.requirements.goal, self.training.classes
        codes = batch.input_codes
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

    def of_all_classes(self, requirements: Requirements) -> Iterator[tuple[int, Recipes]]:
        """Yield the recipes of every class that does not have what is wanted.

        The number of these classes comes with them.
        """
        pool = self.training.pool
        _, first = np.unique(pool.codes, return_index=True)
        rows = self.training.without_goal(requirements.goal, first)
        if self.training.classes.are_measurements:
            rows = rows[:1]  # the recipes of one serve all
        for _, _, recipes in self.groups(self.training.batch(rows, requirements)):
            yield len(rows), recipes

    def with_directions(self, batch: QueryBatch) -> QueryBatch:
        """Return the batch with the direction in which each feature helps each input."""
        directions = np.zeros(batch.inputs.shape, dtype=np.int8)
        for members, _, recipes in self.groups(batch):
            directions[members] = recipes.directions
        return batch.with_directions(directions)

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
    batch = training.batch(rows, Requirements(goal, None, rules, training.support))
    selector = Selector(pool, training.usable(None), NearestCandidates(NEAREST), None, NEAREST)
    owners, pool_index = _candidates(selector, batch, pool.lots[rows])
    found = asked(moved_onto_rules(pool, batch, owners, pool_index), batch)
    found = undo(found, batch)
    found = undo(minimise(found, SEARCH, batch), batch)
    starts = batch.inputs[found.owners]
    moves = training.table.moves(starts, found.rows)
    return Recipes.distinct(starts, found.rows, found.pool_index, moves)


def _candidates(selector: Selector, batch: QueryBatch, lots: Vector) -> tuple[Indices, Indices]:
    """Return the candidates of each row, near ones and ones from anywhere, sorted by row.

    Parameters
    ----------
    lots
        A random number of each row, from 0 to 1.
    """
    x, ignored = batch.embedded, batch.fixed_coordinates
    parts = [np.empty((2, 0), dtype=np.intp)]
    for members, eligible in selector.eligible(batch):
        for some, candidates, ranking in selector.rank(x.take(members), eligible, ignored):
            who, which = ranking.left()
            picked = (np.arange(len(who)) - np.searchsorted(who, who)) % STRIDE == 0
            who, which = who[picked], which[picked]
            parts.append(np.stack([members[some[who]], candidates.positions[which]]))
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
