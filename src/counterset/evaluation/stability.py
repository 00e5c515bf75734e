"""Stability: how many noisy copies of an input are offered the same ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset._base.checks import check_count
from counterset.constraints.constraints import Constraints
from counterset.evaluation.evaluate import Judge
from counterset.evaluation.noise import GaussianNoise, Noise
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Steadiness
from counterset.models.goals import InInterval, OneOf
from counterset.tables.table import Table, changed

__all__ = ["CopiesCompared", "asked_for", "compare_with_copies", "stability", "ways_of"]

#: How :func:`ways_of` writes a number or a time that had no value before: it has no direction.
STATED = 2.0


def stability(
    explainer: Any,
    explanation: Explanation,
    *,
    repeats: int = 20,
    random_state: int | np.random.Generator | None = 0,
    noise: Noise = GaussianNoise(),
) -> Steadiness:
    """Measure for how many noisy copies of an input each of its ways is found again.

    The copies are explained in one batch, asked for the same goal under the same constraints. Two
    ways are the same if they change the same features: numbers, times and ordinals in the same
    direction, and categories to the same value. How far numbers are moved is not compared:
    :func:`evaluate` measures that.

    Parameters
    ----------
    explainer
        The fitted explainer that made the explanation.
    explanation
        The explanation of the input, with at least one way.
    repeats
        The number of copies to draw. Only copies that the model puts into the input's class, and
        that have not reached the goal, are compared.
    random_state
        The seed of the noise. The same number gives the same result.
    noise
        Draws the copies, see :class:`~counterset.GaussianNoise`.

    Returns
    -------
    Steadiness
        ``kept``: for each way, by how many of ``copies`` copies it is kept; ``same``: how many
        copies have the same ways and no others.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2)
    >>> explanation = explainer.fit(X).explain([0.3, 0.4])
    >>> print(stability(explainer, explanation, repeats=10))
    way 1: kept by 10 of 10 near copies
    way 2: kept by 10 of 10 near copies
    the same ways, and no others: 10 of 10 near copies
    """
    compared = compare_with_copies(
        explainer, explanation, repeats=repeats, random_state=random_state, noise=noise
    )
    moved = float(compared.distances.mean()) if len(compared) else np.nan
    kept = compared.kept_by.sum(axis=1, dtype=np.intp)
    same = int(compared.same.sum())
    return Steadiness(len(compared), kept, same, moved, compared.differences)


@dataclass(frozen=True, eq=False)
class CopiesCompared:
    """What each copy of an input is offered, compared with what the input is offered.

    Attributes
    ----------
    kept_by
        Whether each way is kept by each copy, ``(ways, copies)``.
    same
        Whether each copy has the same ways and no others, ``(copies,)``.
    set_distances
        The mean set-distance between the input's ways and each copy's; NaN for a copy without
        ways.
    distances
        From the input to each copy.
    differences
        How much the copies differ from the input on average, in the units of each number, by its
        name.
    """

    kept_by: Mask
    same: Mask
    set_distances: Vector
    distances: Vector
    differences: dict[str, float]

    def __len__(self) -> int:
        return len(self.distances)


def compare_with_copies(
    explainer: Any,
    explanation: Explanation,
    *,
    repeats: int = 20,
    random_state: int | np.random.Generator | None = 0,
    noise: Noise = GaussianNoise(),
) -> CopiesCompared:
    """Explain noisy copies of an input, and compare copy by copy what they are offered.

    Parameters
    ----------
    explainer, explanation, repeats, random_state, noise
        As for :func:`stability`, which counts what is found here.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2)
    >>> explanation = explainer.fit(X).explain([0.3, 0.4])
    >>> compare_with_copies(explainer, explanation, repeats=3).kept_by
    array([[ True,  True,  True],
           [ True,  True,  True]])
    """
    check_count(repeats, "repeats")
    if not isinstance(explanation, Explanation) or not len(explanation):
        told = "no ways" if isinstance(explanation, Explanation) else type(explanation).__name__
        raise InvalidInputError(
            f"stability takes one explanation that has at least one way, as explain returns it, "
            f"got {told}."
        )
    asked = asked_for(explanation.context)
    judge = Judge.of(
        explainer,
        None,
        None,
        None,
        target=asked.get("target"),
        probability=asked.get("target_probability"),
        interval=asked.get("interval"),
    )
    table = judge.table
    x = table.encode_one(explanation.input)[0]
    rows, _ = table.encode(explanation.counterfactuals)
    if not np.allclose(judge.distance.pairwise(x, rows)[0], explanation.distances, atol=0.0):
        raise InvalidInputError(
            "The explanation was made by another explainer: its distances are not this one's. Call "
            "stability with the explainer that made it."
        )
    copies = _copies(judge, x, explanation.label, noise, repeats, random_state)
    own = ways_of(x[0], rows, table)
    kept_by = np.zeros((len(own), len(copies)), dtype=bool)
    same, differ = np.zeros(len(copies), dtype=bool), np.full(len(copies), np.nan)
    if not len(copies):
        return CopiesCompared(kept_by, same, differ, differ, {})
    inputs = table.decode(copies, pd.RangeIndex(len(copies)))
    answers = explainer.explain_many(inputs, if_none="ignore", **asked)
    for i, (copy, answer) in enumerate(zip(copies, answers, strict=True)):
        ways = set(ways_of(copy, answer._matrix, table))
        kept_by[:, i] = [way in ways for way in own]
        same[i] = ways == set(own)
        differ[i] = judge.of_pair(x[0], copy, rows, answer._matrix)["set_distance_mean"]
    differences = judge.numeric_columns.differences(x, copies)
    moved = judge.distance.pairwise(x, copies)[0]
    return CopiesCompared(kept_by, same, differ, moved, differences)


def ways_of(x: Vector, rows: Matrix, table: Table) -> list[bytes]:
    """Return what names the way from an input to each row: equal names are the same way.

    Examples
    --------
    >>> table, rows = Table.learn([[0.5, 1.5], [0.7, 1.5], [0.9, 1.5], [0.3, 2.5]])
    >>> ways = ways_of(rows[0], rows[1:], table)
    >>> ways[0] == ways[1], ways[1] == ways[2]
    (True, False)
    """
    x = np.broadcast_to(x, rows.shape)
    # To which value, for what switches or becomes a special code, which is no direction.
    moves, known = rows.copy(), np.ones(rows.shape, dtype=bool)
    for i, feature in enumerate(table.features):
        if feature.is_category:
            continue
        before, after = feature.is_known(x[:, i]), feature.is_known(rows[:, i])
        direction = np.where(before, np.sign(rows[:, i] - x[:, i]), STATED)
        moves[:, i] = np.where(after, direction, rows[:, i])
        known[:, i] = after
    features = changed(x, rows)
    named = np.column_stack([features, known, np.where(features, moves, 0.0) + 0.0])
    return [way.tobytes() for way in named]


def asked_for(context: Context) -> dict[str, Any]:
    """Return what an explanation was asked for, as parameters of ``explain_many``."""
    asked: dict[str, Any] = {"target_probability": context.probability}
    if isinstance(context.goal, OneOf):
        asked["target"] = context.goal.wanted.tolist()
    elif isinstance(context.goal, InInterval):
        asked["interval"] = (context.goal.low, context.goal.high)
    if context.constraints:
        asked["constraints"] = Constraints(**context.constraints)
    return asked


def _copies(
    judge: Judge,
    x: Matrix,
    label: Any,
    noise: Noise,
    repeats: int,
    random_state: int | np.random.Generator | None,
) -> Matrix:
    """Draw copies of one input, ``(1, d)``, that are in the same case as it is."""
    labels = np.array([label])

    def same_class(copies: Matrix, owners: Indices) -> Mask:
        return judge.of_same_class(copies, labels[owners])

    random = np.random.default_rng(random_state)
    copies, found = noise.copies(x, judge.numeric_columns, repeats, same_class, random)
    return copies[found]
