"""Reasons: what counted against an input, compared with people who have the wanted result.

They follow from the model and a fixed background alone: neither the options that were found, nor
what may change, has a part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import (
    Indices,
    Labels,
    Mask,
    Matrix,
    Stack,
    Vector,
    row_blocks,
    to_python,
)
from counterset._base.checks import numbers
from counterset.explanations.shapley import (
    MOST_CELLS,
    antithetic_orders,
    ask_once,
    shapley_values,
)
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import ask_model
from counterset.models.goals import Goal, InInterval
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table, changed

__all__ = [
    "MOST_REASONS",
    "Background",
    "Contributions",
    "Reason",
    "Worth",
    "find_contributions",
    "make_reason",
]

#: Four: more reasons than four are not likely to help (Regulation B, comment 9(b)(2)-1).
MOST_REASONS = 4
#: What counts for less than a tenth of the first reason is no principal reason.
LEAST_SHARE = 0.1
#: People almost alike should have the same reasons, so a number near the typical one is typical:
#: within a fifth of the width of the middle half of the people compared with. If all values are
#: equally frequent, that is a tenth of their range. A share of the range itself would make nearly
#: all amounts typical where a few are large.
NEARLY = 0.2
#: An input is compared with 32 people, with each in a random order of the features and its reverse.
#: Of 20 features that asks about 1,344 rows at most. Twice as many orders gave people almost alike
#: no more reasons in common.
PEOPLE = 32
#: The orders are the same for everybody, so that people alike get reasons alike.
SEED = 1953


@dataclass(frozen=True, eq=False)
class Background:
    """Training rows to compare inputs with, in the order in which they were drawn.

    Attributes
    ----------
    matrix : ndarray of shape (k, d)
        The rows as codes.
    labels : ndarray of shape (k,)
        The model's label of each.
    """

    matrix: Matrix
    labels: Labels

    @classmethod
    def draw(cls, matrix: Matrix, labels: Labels, lots: Vector, goal: Goal) -> Background:
        """Draw the rows that inputs of any label are compared with: those of the smallest lots.

        Examples
        --------
        >>> from counterset.models.goals import AnyOther
        >>> rows, labels = np.arange(100.0)[:, None], np.arange(100) < 60
        >>> drawn = Background.draw(rows, labels, np.linspace(1, 0, 100), AnyOther())
        >>> drawn.of(AnyOther(), True)[:3, 0], drawn.of(AnyOther(), False)[:3, 0]
        (array([99., 98., 97.]), array([59., 58., 57.]))
        """
        order = np.argsort(lots)
        sorted_labels = labels[order]
        first = _accepted(goal, sorted_labels, None)
        kept = {*first.tolist()}
        if goal.per_label:  # only the labels of these rows are compared with others
            for label in {to_python(each): each for each in sorted_labels[first]}.values():
                kept |= {*_accepted(goal, sorted_labels, label).tolist()}
        which = order[sorted(kept)]
        return cls(matrix[which], labels[which])

    def of(self, goal: Goal, label: Any) -> Matrix:
        """Return the rows to compare an input of this label with: at most 32, or none."""
        return self.matrix[_accepted(goal, self.labels, label)]


def _accepted(goal: Goal, labels: Labels, label: Any) -> Indices:
    """Return the positions of the first labels that are acceptable; of all, without a label."""
    if label is None and goal.per_label:
        return np.arange(min(PEOPLE, len(labels)))
    accepted: Indices = np.flatnonzero(goal.accepts(labels, _repeated(label, labels)))
    return accepted[:PEOPLE]


@dataclass(frozen=True)
class Reason:
    """One value that counted against an input.

    Attributes
    ----------
    feature : str
        The name of the feature.
    label : str
        What people call it.
    value : object
        The input's own value, in the units of the data; ``"missing"`` if it has no value.
    text : str
        The value as the English sentences write it.
    contribution : float
        How much it takes away from the probability of the wanted result, on average: its Shapley
        value. For a model without probabilities, from the share of comparisons with that result;
        for a regression, how much farther it moves the prediction from the wanted interval.
    standard_error : float
        The standard error of ``contribution`` over the comparisons with 32 people.
    typical : object
        The typical value of these people: the median, or the most common value of a category.
    typical_text : str
        That value as the English sentences write it.
    code, typical_code : float
        The codes of the two values, of ``explanation.coded.table``.

    See Also
    --------
    Explanation.reasons : The reasons of one decision.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(3).random((200, 2)).round(2)
    >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, max_counterfactuals=1).fit(X)
    >>> (reason,) = explainer.explain([0.2, 0.9]).reasons()
    >>> reason.feature, reason.value, reason.contribution, reason.typical
    ('x0', 0.2, 1.0, 0.75)
    """

    feature: str
    label: str
    value: Any
    text: str
    contribution: float
    standard_error: float
    typical: Any
    typical_text: str
    code: float = field(repr=False, compare=False)
    typical_code: float = field(repr=False, compare=False)


def make_reason(
    feature: Feature, code: float, contribution: float, standard_error: float, typical: float
) -> Reason:
    """Make a reason of a feature from the codes of the input's value and of the typical one."""
    from counterset.words.templates import Templates  # noqa: PLC0415 - a room above
    from counterset.words.values import Writer  # noqa: PLC0415 - a room above

    writer = Writer(Templates.read())
    return Reason(
        feature=feature.name,
        label=feature.label,
        value=to_python(feature.describe(code)),
        text=writer.own(feature, code),
        contribution=contribution,
        standard_error=standard_error,
        typical=to_python(feature.describe(typical)),
        typical_text=writer.value(feature, typical),
        code=code,
        typical_code=typical,
    )


@dataclass(frozen=True, eq=False)
class Contributions:
    """What every value of some inputs contributes, one row for each input.

    Attributes
    ----------
    table
        The features.
    inputs
        The inputs, ``(n, d)``.
    against
        The Shapley value of each value, counted against the input, ``(n, d)``. They sum to the
        mean worth of the background less the input's.
    errors
        Their standard errors over the comparisons, ``(n, d)``.
    alone
        How much it helps on average to replace each value alone by one of the background's,
        ``(n, d)``; it is asked only where ``against`` is positive, and 0 elsewhere.
    typical
        The typical value of the background of each input, ``(n, d)``.
    nearly
        How far from it a value is typical too, ``(n, d)``.
    by_typical
        How much it helps to replace each value alone by the typical one, ``(n, d)``; asked like
        ``alone``.
    is_label
        Whether the model tells labels alone: then a single value that helps may change nothing.
    """

    table: Table
    inputs: Matrix
    against: Matrix
    errors: Matrix
    alone: Matrix
    typical: Matrix
    nearly: Matrix
    by_typical: Matrix
    is_label: bool

    def order(self, i: int) -> Indices:
        """Return the positions of the features that are reasons of input i, the main one first."""
        against, alone = self.against[i], self.alone[i]
        counts = against > 0
        # A value that is typical of people with the wanted result is hardly a reason, nor is one
        # that is better than typical, as savings above those that most of them have.
        gains = self.by_typical[i].round(9)
        helps = gains >= 0 if self.is_label else gains > 0
        unusual = counts & ~self.is_typical(i) & helps
        counts = unusual if unusual.any() else counts
        helps = counts & (alone > 0)
        if not helps.any():  # values that count only together
            helps = counts & (alone >= 0)
        helps &= against >= LEAST_SHARE * np.max(against, where=helps, initial=0.0)
        # Rounded, so that what a model computes a little differently in another call is a tie.
        order: Indices = np.argsort(-against.round(9), kind="stable")
        reasons: Indices = order[helps[order]]
        return reasons

    def is_typical(self, i: int) -> Mask:
        """Return which values of input i are typical of its background, or nearly so."""
        x, typical = self.inputs[i], self.typical[i]
        near: Mask = np.abs(x - typical) <= self.nearly[i]
        return near | ~changed(x, typical)

    def reasons(self, i: int) -> tuple[Reason, ...]:
        """Return the reasons of input i, the main one first."""
        return tuple(
            make_reason(
                self.table.features[at],
                float(self.inputs[i, at]),
                float(self.against[i, at]),
                float(self.errors[i, at]),
                float(self.typical[i, at]),
            )
            for at in self.order(i)
        )


@dataclass(frozen=True)
class Worth:
    """What a row is worth to an input: how near the model's answer is to what was wanted.

    That is the probability of the wanted labels, if the model has ``predict_proba`` and
    ``classes_``; of a regression, the distance of the prediction to the wanted interval, negative;
    otherwise 1 for a wanted label and 0 for another.

    Attributes
    ----------
    model, table, goal
        The model, the columns, and which labels are wanted.
    label
        The label of the input.
    """

    model: Any
    table: Table
    goal: Goal
    label: Any

    def __call__(self, rows: Matrix) -> Vector:
        probable = None if self._wanted is None else self._probabilities(rows, self._wanted)
        if probable is not None:
            return probable
        predicted = ModelAdapter(self.model, self.table).labels(rows)
        if isinstance(self.goal, InInterval):
            number = predicted.astype(np.float64)
            return -np.maximum(np.maximum(self.goal.low - number, number - self.goal.high), 0.0)
        return self.goal.accepts(predicted, _repeated(self.label, predicted)).astype(np.float64)

    @property
    def is_label(self) -> bool:
        """Whether it is 0 or 1, for a model without probabilities."""
        return self._wanted is None and not isinstance(self.goal, InInterval)

    @property
    def _wanted(self) -> Mask | None:
        """Which classes of the model are wanted; None if it has no probabilities of them."""
        classes = getattr(self.model, "classes_", None)
        has_probabilities = callable(getattr(self.model, "predict_proba", None))
        if classes is None or not has_probabilities or isinstance(self.goal, InInterval):
            return None
        known = np.ravel(np.asarray(classes))
        wanted = self.goal.accepts(known, _repeated(self.label, known))
        # All or none: such as classes_ that are numbers, while the model predicts their names.
        return wanted if wanted.any() and not wanted.all() else None

    def _probabilities(self, rows: Matrix, wanted: Mask) -> Vector | None:
        """Return how probable the wanted labels are together; None if that cannot be read."""
        answer = numbers(ask_model(self.model.predict_proba, self.table.decode(rows)))
        if answer.shape != (len(rows), len(wanted)):
            return None
        probable: Vector = answer[:, wanted].sum(axis=1)
        return probable


def _repeated(label: Any, like: Labels) -> Labels:
    """Return a label as often as there are others."""
    repeated = np.empty(len(like), dtype=object)
    repeated[:] = [label] * len(like)
    return repeated


def find_contributions(
    table: Table,
    inputs: Matrix,
    labels: Labels,
    *,
    model: Any,
    goal: Goal,
    background: Background,
) -> Contributions:
    """Find what every value of some inputs contributes, in two calls of the model if they are few.

    Parameters
    ----------
    table
        The features.
    inputs, labels
        The inputs, ``(n, d)``, and their labels.
    model, goal, background
        Whom to ask, what is wanted, and the rows to compare with.
    """
    shape = inputs.shape
    against, errors, alone, by_typical = np.zeros((4, *shape))
    typical, nearly = np.full((2, *shape), np.nan)
    is_label = all(Worth(model, table, goal, label).is_label for label, _ in _groups(goal, labels))
    found = Contributions(
        table, inputs, against, errors, alone, typical, nearly, by_typical, is_label
    )
    for label, mine in _groups(goal, labels):
        people = background.of(goal, label)
        if not len(people):
            continue
        worth = Worth(model, table, goal, label)
        rounds = -(-PEOPLE // len(people))
        orders = antithetic_orders(rounds * len(people), shape[1], SEED)
        columns = list(zip(table.features, people.T, strict=True))
        typical[mine] = [_typical(feature, codes) for feature, codes in columns]
        nearly[mine] = [_nearly(feature, codes) for feature, codes in columns]
        rows_each = orders[..., 0].size * (shape[1] + 1)
        for block in row_blocks(len(mine), max(1, MOST_CELLS // (rows_each * shape[1]))):
            which = mine[block]
            added = _in_pairs(worth, inputs[which], people, orders)
            against[which] = -added.mean(axis=1)
            errors[which] = added.std(axis=1, ddof=1) / np.sqrt(len(orders))
            alone[which], by_typical[which] = _alone(
                worth, inputs[which], people, typical[which], against[which] > 0
            )
    return found


def _groups(goal: Goal, labels: Labels) -> Iterator[tuple[Any, Indices]]:
    """Yield the inputs that are compared with the same people: a label of them, and where they are.

    Each label has people of its own where any other result is wanted.
    """
    if not goal.per_label:
        yield to_python(labels[0]), np.arange(len(labels))
        return
    codes, found = pd.factorize(labels)
    for code, label in enumerate(found):
        yield to_python(label), np.flatnonzero(codes == code)


def _in_pairs(
    worth: Callable[[Matrix], Vector], inputs: Matrix, people: Matrix, orders: Indices
) -> Stack:
    """Return the mean of what each value adds in each pair of orders, ``(n, pairs, d)``."""
    pairs, _, d = orders.shape
    # All orders, then all reverses. There are as many pairs for each of the people, so that an
    # order and its reverse are compared with the same one.
    single = orders.swapaxes(0, 1).reshape(2 * pairs, d)
    added = shapley_values(worth, inputs, people, single)
    means: Stack = added.reshape(len(inputs), 2, pairs, d).mean(axis=1)
    return means


def _alone(
    worth: Callable[[Matrix], Vector],
    inputs: Matrix,
    people: Matrix,
    typical: Matrix,
    which: Mask,
) -> tuple[Matrix, Matrix]:
    """Return how much it helps to replace single values: by those of the people, by typical ones.

    The first is the mean over the people. Both have the shape of the inputs.
    """
    i, at = np.nonzero(which)
    new = np.column_stack([people[:, at].T, typical[i, at]])
    rows = np.repeat(inputs[i], new.shape[1], axis=0)
    rows[np.arange(len(rows)), np.repeat(at, new.shape[1])] = new.ravel()
    values = ask_once(worth, np.vstack([inputs, rows]))
    gains = values[len(inputs) :].reshape(new.shape) - values[i][:, None]
    alone, by_typical = np.zeros((2, *inputs.shape))
    alone[i, at], by_typical[i, at] = gains[:, :-1].mean(axis=1), gains[:, -1]
    return alone, by_typical


def _typical(feature: Feature, codes: Vector) -> float:
    """Return the most common code of a category, and the median of others, of those that are known.

    Examples
    --------
    >>> table, rows = Table.learn([[1.0], [2.0], [9.0]])
    >>> _typical(table.features[0], rows[:, 0])
    2.0
    """
    known = feature.is_known(codes)
    if not feature.is_category and known.mean() > 0.5:
        # One of the values, as an ordinal needs it.
        return float(np.quantile(codes[known], 0.5, method="inverted_cdf"))
    values, counts = np.unique(codes, return_counts=True)
    return float(values[np.argmax(counts)])


def _nearly(feature: Feature, codes: Vector) -> float:
    """Return how far from the typical code others are typical too; 0 for categories.

    Examples
    --------
    >>> table, rows = Table.learn([[0.0], [10.0], [20.0], [30.0], [1000.0]])
    >>> _nearly(table.features[0], rows[:, 0])
    4.0
    """
    known = codes[feature.is_known(codes)]
    if feature.is_category or not len(known):
        return 0.0
    low, high = np.quantile(known, [0.25, 0.75])
    return float(NEARLY * (high - low))
