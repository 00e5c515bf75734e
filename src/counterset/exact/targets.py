"""What is wanted, in terms of a model's scores: sets of linear inequalities, one set is enough.

A linear model, a network or an ensemble of trees computes scores, which are linear in what its last
layer or its leaves give. Another class, a wanted one, a range of predictions and, for most models,
a probability are then half-spaces of the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logit, softmax

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.exact.problem import Problem
from counterset.models.goals import AnyOther, InInterval

__all__ = ["Target", "Targets", "targets_of"]

#: Models whose probabilities are the softmax of their scores (a single score is compared with 0).
SOFTMAX = {
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "LGBMClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MLPClassifier",
    "SGDClassifier",
    "XGBClassifier",
}
#: The loss of models that have a choice and then a logistic link.
LOGISTIC = "log_loss"
#: A model computes probabilities in a few roundings; 16 is a generous bound.
PROBABILITY_ERRORS = 16
#: A probability that the link computes differs from the model's by less than this, or the model has
#: another link: single precision is right to 1e-7.
SAME_PROBABILITY = 1e-5


@dataclass(frozen=True, eq=False)
class Target:
    """Scores that are enough: ``weights @ scores >= least`` in all rows.

    Attributes
    ----------
    weights, least
        Of shapes ``(rows, scores)`` and ``(rows,)``.
    loses_ties
        Whether equality is not enough in a row, ``(rows,)``, if the model adds up its scores
        without any rounding.
    """

    weights: Matrix
    least: Vector
    loses_ties: Mask

    def lacks(self, scores: Vector) -> Vector:
        """Return how much each row lacks, ``(rows,)``; 0 or less where it is met."""
        return np.asarray(self.least - self.weights @ scores)


@dataclass(frozen=True, eq=False)
class Targets:
    """The sets of scores that are wanted, the likeliest first, and what they leave out.

    Attributes
    ----------
    each
        One of them is enough.
    ignored
        What is not required of the scores, in the user's words.
    """

    each: tuple[Target, ...]
    ignored: tuple[str, ...] = ()


def targets_of(
    problem: Problem, model: Any, labels: Labels | None, scores: Vector, trees: int | None = None
) -> Targets:
    """Return what is wanted of a model's scores.

    If what is looked for misses the goal, these are the scores that miss it.

    Parameters
    ----------
    model
        What computes the scores: the last step of a pipeline.
    labels
        The class of each score; None for a regression, whose prediction is the last score.
    scores
        The scores of the input, ``(scores,)``.
    trees
        How many trees' shares are averaged; None if scores are no shares.
    """
    goal, count = problem.goal, len(scores)
    if labels is None:
        assert isinstance(goal, InInterval), "checked by the readers"
        inside = _in_interval(goal, count)
        return Targets(_outside(inside) if problem.missed else (inside,))
    wanted = np.flatnonzero(problem.wants(labels))
    wanted = wanted[np.argsort(-scores[wanted], kind="stable")]
    if problem.missed:
        return _missed(problem, model, wanted, scores, trees)
    ignored: tuple[str, ...] = ()
    more: Callable[[int], tuple[Matrix, Vector]] | None = None
    if problem.probability is not None:
        more, complete = _probability(problem, model, scores, trees)
        ignored = () if complete else (f"target_probability={problem.probability:g}",)
    pairs = isinstance(goal, AnyOther) and more is None
    only = np.flatnonzero(labels == problem.label) if pairs else None
    return Targets(tuple(_class(int(k), count, only, more) for k in wanted), ignored)


def _in_interval(goal: InInterval, count: int) -> Target:
    weights, least = [], []
    for sign, end in ((1.0, goal.low), (-1.0, -goal.high)):
        if np.isfinite(end):
            weights.append(np.append(np.zeros(count - 1), sign))
            least.append(end)
    rows = np.array(weights).reshape(-1, count)
    return Target(rows, np.array(least), np.zeros(len(rows), dtype=bool))


def _outside(inside: Target) -> tuple[Target, ...]:
    """Return the scores beyond each end of a range; the ends are among them."""
    rows = zip(inside.weights, inside.least, strict=True)
    return tuple(Target(-row[None, :], np.array([-end]), np.zeros(1, bool)) for row, end in rows)


def _missed(
    problem: Problem, model: Any, others: Indices, scores: Vector, trees: int | None
) -> Targets:
    """Return the scores with which a goal is missed, and no fewer: a few more are no harm.

    Parameters
    ----------
    others
        The classes that are not acceptable.
    """
    count = len(scores)
    each = [_class(int(k), count, None, None) for k in others]
    if problem.probability is None:
        return Targets(tuple(each))
    shares, is_softmax, roundoff = _probability_link(problem, model, scores, trees)
    most = problem.probability + PROBABILITY_ERRORS * roundoff
    # An input that reaches the goal may have a probability near 1, where one link looks like
    # another: here the link must follow from the model.
    is_logistic = is_softmax and count == 2 and getattr(model, "loss", LOGISTIC) == LOGISTIC
    known = shares or (is_logistic and most < 1)
    for k in np.setdiff1d(np.arange(count), others) if known else ():
        own = np.eye(count)[k]
        if shares:
            assert trees is not None, "shares are averaged"
            row, end = -own, -most * trees
        else:
            row, end = np.eye(count)[1 - k] - own, -logit(most)
        each.append(_class(int(k), count, None, partial(_one_row, row, end)))
    ignored = () if known else (f"target_probability={problem.probability:g}",)
    return Targets(tuple(each), ignored)


def _one_row(weights: Vector, end: float, k: int) -> tuple[Matrix, Vector]:
    del k
    return weights[None, :], np.array([end])


def _class(
    k: int,
    count: int,
    only: Any,
    more: Callable[[int], tuple[Matrix, Vector]] | None,
) -> Target:
    """Return the scores with which a class wins; with ``only``, it wins against those at least."""
    others = [j for j in range(count) if j != k and (only is None or j in only)]
    weights = np.zeros((len(others), count))
    weights[:, k] = 1.0
    weights[np.arange(len(others)), others] = -1.0
    least, loses = np.zeros(len(others)), np.array([k > j for j in others], dtype=bool)
    if more is not None:
        rows, ends = more(k)
        weights, least = np.vstack([weights, rows]), np.append(least, ends)
        loses = np.append(loses, np.zeros(len(rows), dtype=bool))
    return _simplified(weights, least, loses)


def _simplified(weights: Matrix, least: Vector, loses: Mask) -> Target:
    """Keep, of rows with equal weights, the one that asks for most."""
    order = np.lexsort((-loses.astype(float), -least))
    _, first = np.unique(weights[order], axis=0, return_index=True)
    keep = np.sort(order[first])
    return Target(weights[keep], least[keep], loses[keep])


def _probability_link(
    problem: Problem, model: Any, scores: Vector, trees: int | None
) -> tuple[bool, bool, float]:
    """Return how probabilities follow from scores, and how they are rounded.

    They are averaged shares, or the softmax of the scores, or neither is known.
    """
    table = problem.model.table
    given = np.asarray(problem.model.model.predict_proba(table.decode(problem.x[None, :])))[0]
    roundoff = max(problem.roundoff, float(np.finfo(given.dtype).eps) / 2)
    near = partial(np.allclose, rtol=0, atol=SAME_PROBABILITY)
    shares = trees is not None and near(scores / trees, given)
    is_softmax = type(model).__name__ in SOFTMAX and near(softmax(scores), given)
    return bool(shares), bool(is_softmax), roundoff


def _probability(
    problem: Problem, model: Any, scores: Vector, trees: int | None
) -> tuple[Callable[[int], tuple[Matrix, Vector]] | None, bool]:
    """Return the rows that a probability requires of a class, and whether they are enough."""
    assert problem.probability is not None
    count = len(scores)
    shares, is_softmax, roundoff = _probability_link(problem, model, scores, trees)
    least = problem.probability - PROBABILITY_ERRORS * roundoff
    if least <= 0:
        return None, True
    if shares and trees is not None:
        return lambda k: (np.eye(count)[[k]], np.array([least * trees])), True
    if not is_softmax:
        return None, False

    def rows(k: int) -> tuple[Matrix, Vector]:
        # The odds of the class are at most those against any other one, and at most those against
        # all others together if these were equal (the logarithm of a sum is convex in them).
        weights = np.delete(np.eye(count)[k] - np.eye(count), k, axis=0)
        mean = weights.mean(axis=0, keepdims=True)
        ends = np.full(count - 1, logit(least))
        return np.vstack([weights, mean]), np.append(ends, logit(least) + np.log(count - 1))

    return rows, count == 2
