"""Stability: how many noisy copies of an input are offered the same options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset._base.checks import check_count
from counterset.constraints.constraints import Constraints
from counterset.evaluation.evaluate import Judge
from counterset.evaluation.noise import GaussianNoise, Noise
from counterset.evaluation.option_keys import option_keys
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Stability
from counterset.models.goals import InInterval, OneOf

__all__ = ["CopiesCompared", "asked_for", "compare_with_copies", "stability"]


def stability(
    explainer: Any,
    explanation: Explanation,
    *,
    repeats: int = 20,
    random_state: int | np.random.Generator | None = 0,
    noise: Noise = GaussianNoise(),
) -> Stability:
    """Count the noisy copies of an input for which each of its options is found again.

    The copies are explained in one batch, with the same goal and the same constraints. Two options
    are the same if they change the same features: numbers, times and ordinals in the same
    direction, and categories to the same value. How far numbers move is not compared:
    :func:`~counterset.evaluate` measures that.

    Parameters
    ----------
    explainer : DiverseExplainer
        The fitted explainer that made the explanation.
    explanation : Explanation
        The explanation of the input, with at least one option.
    repeats : int, default=20
        The number of copies to draw. Only copies that the model puts into the input's class, and
        that do not meet the goal, are compared.
    random_state : int, Generator or None, default=0
        The seed of the noise. The same number gives the same result.
    noise : Noise, default=GaussianNoise()
        Draws the copies, see :class:`~counterset.evaluation.GaussianNoise`.

    Returns
    -------
    Stability
        ``kept``: for how many of the ``copies`` each option is found again; ``same``: how many
        copies have the same options and no others; ``covered``: for how many the nearest option is
        one of the input's.

    See Also
    --------
    counterset.evaluate : Measure an explainer on many inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2)
    >>> explanation = explainer.fit(X).explain([0.3, 0.4])
    >>> print(stability(explainer, explanation, repeats=10))
    option 1: kept by 10 of 10 near copies (95% sure: at least 74%)
    option 2: kept by 10 of 10 near copies (95% sure: at least 74%)
    the nearest option of the copy is one of these: 10 of 10 near copies
    the same options, and no others: 10 of 10 near copies
    """
    compared = compare_with_copies(
        explainer, explanation, repeats=repeats, random_state=random_state, noise=noise
    )
    moved = float(compared.distances.mean()) if len(compared) else np.nan
    kept = compared.kept_by.sum(axis=1, dtype=np.intp)
    same, covered = int(compared.same.sum()), int(compared.covered.sum())
    return Stability(len(compared), kept, same, covered, moved, compared.differences)


@dataclass(frozen=True, eq=False)
class CopiesCompared:
    """The options of each copy of an input, compared with those of the input.

    Attributes
    ----------
    kept_by
        Whether each option is found again for each copy, ``(options, copies)``.
    same
        Whether each copy has the same options and no others, ``(copies,)``.
    covered
        Whether the nearest option of each copy is one of the input's, ``(copies,)``.
    distances
        From the input to each copy.
    copies
        The codes of the copies, ``(copies, d)``.
    answers
        The explanation of each copy.
    differences
        How much the copies differ from the input on average, by the name of each number and in its
        own units.
    """

    kept_by: Mask
    same: Mask
    covered: Mask
    distances: Vector
    copies: Matrix
    answers: Sequence[Explanation]
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
    """Explain noisy copies of an input, and compare the options of each with the input's.

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
        empty = isinstance(explanation, Explanation)
        got = "one without options" if empty else type(explanation).__name__
        raise InvalidInputError(
            f"stability takes one explanation with at least one option, as explain returns it, got "
            f"{got}."
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
    own = option_keys(x[0], rows, table)
    kept_by = np.zeros((len(own), len(copies)), dtype=bool)
    same, covered = np.zeros((2, len(copies)), dtype=bool)
    if not len(copies):
        return CopiesCompared(kept_by, same, covered, np.empty(0), copies, (), {})
    inputs = table.decode(copies, pd.RangeIndex(len(copies)))
    answers = explainer.explain_many(inputs, if_none="ignore", **asked)
    for i, (copy, answer) in enumerate(zip(copies, answers, strict=True)):
        offered = option_keys(copy, answer.coded.matrix, table)
        kept_by[:, i] = [key in offered for key in own]
        same[i] = set(offered) == set(own)
        covered[i] = bool(len(answer)) and offered[answer.distances.argmin()] in own
    differences = judge.numeric_columns.differences(x, copies)
    moved = judge.distance.pairwise(x, copies)[0]
    return CopiesCompared(kept_by, same, covered, moved, copies, tuple(answers), differences)


def asked_for(context: Context) -> dict[str, Any]:
    """Return the goal and the constraints of an explanation, as parameters of ``explain_many``."""
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
    """Draw copies of one input, ``(1, d)``, that have its class and do not meet the goal."""
    labels = np.array([label])

    def same_class(copies: Matrix, owners: Indices) -> Mask:
        return judge.of_same_class(copies, labels[owners])

    random = np.random.default_rng(random_state)
    copies, found = noise.copies(x, judge.numeric_columns, repeats, same_class, random)
    return copies[found]
