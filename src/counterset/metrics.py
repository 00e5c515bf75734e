"""Metrics of explanations, as defined in the paper.

Each takes rows in the form that its ``distance`` takes: arrays for a named distance, tables in the
model's own units for a fitted explainer's ``distance_``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset import distances
from counterset._base.checks import check_count, read_pair
from counterset._base.row_counts import RowCounts
from counterset.distances import DistanceLike
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.tables.frames import to_pandas
from counterset.tables.space import TableDistance
from counterset.tables.table import changed

__all__ = [
    "coverage",
    "disclosure",
    "jump",
    "k_distance",
    "k_diversity",
    "set_distance",
    "sparsity",
    "validity",
]


def validity(explanation: Explanation, model: Any = None) -> float:
    """Return the share of counterfactuals that are classified differently from the input.

    Parameters
    ----------
    explanation : Explanation
        The explanation whose counterfactuals are checked.
    model : object, default=None
        A model to ask for the labels; None: use the labels in the explanation.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1.5, max_counterfactuals=3)
    >>> validity(explainer.fit(X).explain([0.1, 0.2, 0.3]))
    1.0
    """
    _check_not_empty(explanation.labels)
    if model is None:
        return float(np.mean(explanation.labels != explanation.label))
    predict = getattr(model, "predict", model)
    return float(np.mean(np.asarray(predict(explanation.counterfactuals)) != explanation.label))


def k_distance(x: Any, S: Any, distance: DistanceLike = "l1") -> float:
    """Return the mean distance from the input to the counterfactuals.

    Parameters
    ----------
    x : row
        The input.
    S : rows
        The counterfactuals.
    distance : str, Distance or callable, default="l1"
        How rows are compared, such as a fitted explainer's ``distance_``.

    Examples
    --------
    >>> k_distance([0, 0], [[1, 0], [0, 3]], "l1")
    2.0
    """
    _check_not_empty(S)
    return float(distances.get(distance)(x, S).mean())


def k_diversity(S: Any, distance: DistanceLike = "l1") -> float:
    """Return the mean distance between two counterfactuals of the set; 0 for a single one.

    Parameters
    ----------
    S : rows
        The counterfactuals.
    distance : str, Distance or callable, default="l1"
        How rows are compared, such as a fitted explainer's ``distance_``.

    Examples
    --------
    >>> k_diversity([[1, 0], [0, 3], [0, 0]], "l1")
    2.6666666666666665
    >>> k_diversity([[1, 0]], "l1")
    0.0
    """
    _check_not_empty(S)
    between = distances.get(distance)(S, S)
    if len(between) == 1:
        return 0.0
    return float(between[np.triu_indices(len(between), k=1)].mean())


def set_distance(
    S1: Any, S2: Any, distance: DistanceLike = "l1", how: Literal["mean", "max"] = "mean"
) -> float:
    """Return the distance between two sets of counterfactuals.

    The distance from each counterfactual to the nearest one of the other set is taken. The two
    directions are averaged.

    Parameters
    ----------
    S1, S2 : rows
        The two sets.
    distance : str, Distance or callable, default="l1"
        How rows are compared, such as a fitted explainer's ``distance_``.
    how : {"mean", "max"}, default="mean"
        Whether to take the mean of these distances or the largest.

    Examples
    --------
    >>> S1, S2 = [[0.0], [1.0]], [[0.0], [4.0]]
    >>> set_distance(S1, S2, "l1"), set_distance(S1, S2, "l1", how="max")
    (1.0, 2.0)
    """
    if how not in ("mean", "max"):
        raise InvalidInputError(f"how must be 'mean' or 'max', got {how!r}.")
    _check_not_empty(S1)
    _check_not_empty(S2)
    measure = distances.get(distance)
    there = measure(S1, S2).min(axis=1)
    back = measure(S2, S1).min(axis=1)
    if how == "mean":
        return float((there.mean() + back.mean()) / 2)
    return float((there.max() + back.max()) / 2)


def coverage(S1: Any, S2: Any, distance: DistanceLike = "l1") -> float:
    """Return how far the nearest option of one person is from the set of the other.

    The first counterfactual of each set is compared with the nearest one of the other set, and the
    two distances are averaged. 0 means that both find their own nearest option on the other's list.
    For two single counterfactuals it is the set-distance.

    Parameters
    ----------
    S1, S2 : rows
        The two sets, nearest first. ``explanation.counterfactuals`` is sorted so, but for options
        with ``unusual`` changes: they come last.
    distance : str, Distance or callable, default="l1"
        How rows are compared, such as a fitted explainer's ``distance_``.

    Examples
    --------
    The nearest option of each is on the list of the other, though the sets differ:

    >>> S1, S2 = [[1.0], [2.0]], [[2.0], [1.0], [9.0]]
    >>> coverage(S1, S2, "l1"), round(set_distance(S1, S2, "l1"), 2)
    (0.0, 1.17)
    """
    _check_not_empty(S1)
    _check_not_empty(S2)
    measure = distances.get(distance)
    there, back = measure(S1, S2)[0], measure(S2, S1)[0]
    return float((there.min() + back.min()) / 2)


def jump(x1: Any, S1: Any, x2: Any, S2: Any, distance: DistanceLike = "l1") -> float:
    """Return how far two sets are apart beyond the difference between the two people themselves.

    What an option leaves unchanged differs as the two people do, so that sets of the same options
    have a set-distance above 0. Here the options of one person are first carried over to the other:
    what they change stays, all other features take the other person's values. Then the mean
    set-distance is taken. It is 0 if both are offered the same changes to the same values. A
    set-distance is at most the jump plus what is carried, where the triangle inequality holds.

    Parameters
    ----------
    x1, x2 : rows
        The two inputs.
    S1, S2 : rows
        The set of each.
    distance : str, Distance or callable, default="l1"
        How rows are compared, such as a fitted explainer's ``distance_``.

    Examples
    --------
    Both set the first feature to 5, so that the sets differ just as the people do:

    >>> x1, S1, x2, S2 = [1.0, 2.0], [[5.0, 2.0]], [1.0, 2.5], [[5.0, 2.5]]
    >>> set_distance(S1, S2, "l1"), jump(x1, S1, x2, S2, "l1")
    (0.5, 0.0)
    """
    _check_not_empty(S1)
    _check_not_empty(S2)
    measure = distances.get(distance)
    if isinstance(measure, TableDistance):
        x1, S1, x2, S2 = map(measure.table.encode_any, (x1, S1, x2, S2))
    else:
        (x1, S1), (x2, S2) = read_pair(x1, S1), read_pair(x2, S2)
    there = measure.pairwise(np.where(changed(x1, S1), S1, x2), S2).min(axis=1)
    back = measure.pairwise(np.where(changed(x2, S2), S2, x1), S1).min(axis=1)
    return float((there.mean() + back.mean()) / 2)


def sparsity(x: Any, S: Any) -> float:
    """Return the mean number of features that a counterfactual changes.

    A value that is missing in both rows has not changed.

    Parameters
    ----------
    x : row
        The input.
    S : rows
        The counterfactuals.

    Examples
    --------
    >>> sparsity([0, 0, 0], [[1, 0, 0], [1, 2, 0]])
    1.5
    """
    row, rows = _cells(x), _cells(S)
    _check_not_empty(rows)
    if len(row) != 1 or row.shape[1] != rows.shape[1]:
        raise InvalidInputError(
            f"sparsity takes one row x and rows S with the same features, got shapes {row.shape} "
            f"and {rows.shape}."
        )
    missing = pd.isna(row) & pd.isna(rows)
    return float(((rows != row) & ~missing).sum(axis=1).mean())


def disclosure(
    explanations: Explanation | Explanations, X_train: Any, *, fewer_than: int | None = None
) -> float:
    """Return the share of options that equal a training row in all features together.

    Such an option shows the whole row of somebody else, what it changes and what it leaves as it
    is. ``DiverseExplainer(anonymity=2)`` makes it 0 for rows of one person.

    Parameters
    ----------
    explanations : Explanation or Explanations
        What an explainer returned.
    X_train : table or array of shape (n, d)
        The training rows.
    fewer_than : int, default=None
        Count an option only if fewer training rows than this are equal to it: 2 counts rows of one
        person alone. None: count it however many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer, Paper
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> approve = lambda rows: rows.sum(axis=1) > 1.5
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=3).fit(X)
    >>> disclosure(explainer.explain([0.1, 0.2, 0.3]), X)
    0.0
    >>> rows = explainer.with_strategy(Paper(diversity=None, search=None))
    >>> disclosure(rows.explain([0.1, 0.2, 0.3]), X)
    1.0
    """
    if not isinstance(explanations, Explanation | Explanations):
        raise InvalidInputError(
            f"disclosure takes explanations, as explain or explain_many returns them, got "
            f"{type(explanations).__name__}."
        )
    if fewer_than is not None:
        check_count(fewer_than, "fewer_than", least=2)
    coded = explanations.coded
    _check_not_empty(coded.matrix)
    rows, _ = coded.table.encode(X_train)
    equal = RowCounts.of(rows).at(coded.matrix)
    counted = equal > 0
    if fewer_than is not None:
        counted &= equal < fewer_than
    return float(counted.mean())


def _cells(rows: Any) -> NDArray[Any]:
    """Return one row or many as a 2-d array of values of any type."""
    try:
        cells = np.asarray(to_pandas(rows, "A set of rows"), dtype=object)
    except ValueError:
        raise InvalidInputError(
            "The rows have different lengths. Pass rows with the same features."
        ) from None
    return cells[None, :] if cells.ndim == 1 and len(cells) else cells


def _check_not_empty(S: Any) -> None:
    if len(S) == 0:
        raise InvalidInputError(
            "The set of counterfactuals is empty, so the metric is undefined. Leave inputs without "
            "counterfactuals out."
        )
