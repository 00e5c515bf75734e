"""Recourse of groups: who has no option, how far options are, and few options that help many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, stdtrit
from scipy.stats import binom

from counterset._base.arrays import Labels, Vector, to_python
from counterset._base.checks import check_count
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanations import Explanations
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import is_reached, set_goal
from counterset.strategies.batch import QueryBatch, Requirements
from counterset.strategies.listing import few_options as choose_few
from counterset.strategies.shared import SharedFinder

__all__ = ["few_options", "groups_of", "recourse"]

#: Intervals hold with 95 %, half of what is left on either side.
TAIL = 0.025
#: Groups of fewer people are not shown: their figures say little, and may be those of a person.
LEAST_PEOPLE = 10


def recourse(
    explanations: Explanations, by: Any = None, *, least: int = LEAST_PEOPLE
) -> pd.DataFrame:
    """Count the people who have no option, and say how far options are, by group.

    Those are left out who have what was wanted already.

    Parameters
    ----------
    explanations : Explanations
        What ``explain_many`` returned for the people, with ``if_none="ignore"`` or ``"warn"``, so
        that those without an option are among them.
    by : str or sequence, default=None
        The name of a feature, or the group of each person; None: all people are one group.
    least : int, default=10
        Groups of fewer people are not shown. This does not keep a person from being found out by
        who compares several tables.

    Returns
    -------
    DataFrame
        One row for each group, with intervals that hold with 95 % for people like these:

        - ``people``: how many there are; missing, like all else, for groups that are not shown.
        - ``without``: how many of them have no option; ``share_without`` from
          ``share_without_low`` to ``share_without_high`` (Clopper and Pearson).
        - ``options``: how many options they have on average, from ``options_low`` to
          ``options_high`` (Student's t).
        - ``distance``: the median distance of the nearest option, of those who have one, from
          ``distance_low`` to ``distance_high`` (order statistics; open where there are too few).

    See Also
    --------
    few_options : What the people with few options have in common.
    reach : Which features can lead anybody there.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from counterset import Constraints, DiverseExplainer
    >>> random = np.random.default_rng(0)
    >>> people = pd.DataFrame(
    ...     {"income": random.random(200).round(2), "home": random.choice(["own", "rent"], 200)}
    ... )
    >>> approve = lambda rows: rows["income"] + 0.2 * (rows["home"] == "own") > 0.9
    >>> kept = Constraints(immutable=["home"], max_increase={"income": 0.5})
    >>> explainer = DiverseExplainer(approve, constraints=kept, max_counterfactuals=1).fit(people)
    >>> explained = explainer.explain_many(people, target=True, if_none="ignore")
    >>> recourse(explained, by="home").reset_index()[["home", "people", "without"]]
       home  people  without
    0   own      70       21
    1  rent      85       30
    """
    if not isinstance(explanations, Explanations):
        raise InvalidInputError(
            f"recourse takes explanations, as explain_many returns them, got "
            f"{type(explanations).__name__}."
        )
    check_count(least, "least")
    name, values = groups_of(explanations, by)
    asked = np.array([status != "already_reached" for status in explanations.status], dtype=bool)
    counts, nearest = explanations.counts, explanations.coded.nearest
    rows = {}
    for value in sorted(set(values.tolist()), key=str):
        mine = (values == value) & asked
        rows[value] = _figures(counts[mine], nearest[mine]) if mine.sum() >= least else {}
    index = pd.Index(list(rows), name=name, dtype=object)
    table = pd.DataFrame(list(rows.values()), index=index, columns=_COLUMNS)
    return table.astype({"people": "Int64", "without": "Int64"}).astype(
        dict.fromkeys(_COLUMNS[2:], np.float64)
    )


_COLUMNS = [
    "people", "without",
    "share_without", "share_without_low", "share_without_high",
    "options", "options_low", "options_high",
    "distance", "distance_low", "distance_high",
]  # fmt: skip


def _figures(counts: Vector, nearest: Vector) -> Mapping[str, float]:
    """Return the figures of a group."""
    people, without = len(counts), int((counts == 0).sum())
    known = np.sort(nearest[~np.isnan(nearest)])
    figures = {
        "share_without": (without / people, *_share(without, people)),
        "options": (float(counts.mean()), *_mean(counts)),
        "distance": (float(np.median(known)) if len(known) else np.nan, *_median(known)),
    }
    spread = {
        f"{name}{end}": each
        for name, three in figures.items()
        for end, each in zip(("", "_low", "_high"), three, strict=True)
    }
    return {"people": people, "without": without} | spread


def _share(count: int, people: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share."""
    low = betaincinv(count, people - count + 1, TAIL) if count else 0.0
    high = betaincinv(count + 1, people - count, 1 - TAIL) if count < people else 1.0
    return float(low), float(high)


def _mean(values: Vector) -> tuple[float, float]:
    """Return the interval of Student's t for the mean of numbers of at least 0."""
    if len(values) < 2:
        return np.nan, np.nan
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    half = float(stdtrit(len(values) - 1, 1 - TAIL)) * error
    return max(0.0, float(values.mean()) - half), float(values.mean()) + half


def _median(ordered: Vector) -> tuple[float, float]:
    """Return the interval between two of the values that holds the median of all such people."""
    # The number of values below the median follows a binomial distribution.
    rank = int(binom.ppf(TAIL, len(ordered), 0.5)) if len(ordered) else 0
    if rank == 0:
        return np.nan, np.nan
    return float(ordered[rank - 1]), float(ordered[len(ordered) - rank])


def groups_of(explanations: Explanations, by: Any) -> tuple[str, Labels]:
    """Return the name of groups, and the group of each input, as text."""
    table = explanations.coded.table
    if by is None:
        return "group", np.full(len(explanations), "all", dtype=object)
    if isinstance(by, str) or np.ndim(by) == 0:
        at = table.position(by)
        feature, codes = table.features[at], explanations.coded.inputs[:, at]
        return feature.label, np.array([feature.text_of(code) for code in codes], dtype=object)
    if len(by) != len(explanations):
        raise InvalidInputError(
            f"by holds {len(by)} values for {len(explanations)} inputs. Pass one for each, or the "
            f"name of a feature."
        )
    name = str(getattr(by, "name", None) or "group")
    return name, np.array([str(to_python(each)) for each in by], dtype=object)


def few_options(
    explainer: Any,
    X: Any,
    most: int = 5,
    *,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: Constraints | None = None,
) -> pd.DataFrame:
    """Choose few options of the shared lists that help most people of a group.

    For who decides about a group: what to offer, and whom it reaches. Each next option is the one
    that helps most of the people whom none before helps.

    Parameters
    ----------
    explainer : DiverseExplainer
        A fitted explainer with ``strategy=Shared()``.
    X : table or array of shape (n, d)
        The people. Those are left out who have what is wanted already.
    most : int, default=5
        How many options to choose at most.
    target, target_probability, interval, constraints
        As in :meth:`counterset.DiverseExplainer.explain_many`; constraints are the same for all.

    Returns
    -------
    DataFrame
        One row for each option, in the order in which they were chosen: ``option``, what it asks
        for; ``people``, for how many of them it works, in one of the four strengths in which lists
        are tried; ``works_for``, the share of them; ``together``, the share for whom it or an
        option before it works. ``table.attrs["people"]`` is how many people were looked at.

    See Also
    --------
    recourse : Options by group.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer, Shared
    >>> X = np.random.default_rng(0).random((300, 2)).round(1)
    >>> approve = lambda rows: (rows[:, 0] > 0.7) | (rows[:, 1] > 0.8)
    >>> explainer = DiverseExplainer(approve, strategy=Shared()).fit(X)
    >>> few_options(explainer, X, target=True)
                option  people  works_for  together
    0  x0 at least 0.8     179        1.0       1.0
    """
    finder = getattr(explainer, "strategy_", None)
    if not isinstance(finder, SharedFinder):
        raise InvalidInputError(
            f"few_options takes a fitted explainer with strategy=Shared(), whose lists it chooses "
            f"from, got {explainer!r}. Write explainer.with_strategy(Shared())."
        )
    check_count(most, "most")
    training = explainer.training_
    goal = set_goal(training.classes, target, interval)
    matrix, _ = training.table.encode(X)
    model = ModelAdapter(
        training.model, training.table, with_confidence=target_probability is not None
    )
    answers = model.answers_once(matrix)
    open_ = np.flatnonzero(~is_reached(goal, answers, target_probability))
    own = training.rules(explainer.constraints)
    rules = own if constraints is None else training.rules(constraints)
    count = explainer.max_counterfactuals
    required = Requirements(goal, target_probability, rules, training.support, count, own)
    batch = QueryBatch(
        model, training.distance, training.classes, required, matrix[open_], answers.labels[open_]
    )
    table = choose_few(finder, batch, most)
    table.attrs["people"] = len(open_)
    return table
