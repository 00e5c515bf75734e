"""Lifting: which limit stands in the way of more ways, and what lifting it would do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset.serve.case_requests import (
    CaseRequest,
    Limit,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
)
from counterset.serve.served import Served
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["find_in_the_way"]

#: The first 30 limits are lifted one at a time: each takes as long as an explanation.
MOST_LIFTED = 30


@dataclass(frozen=True)
class _Lifted:
    """The limits of a request without one of them.

    Attributes
    ----------
    name
        The feature.
    part
        What is lifted: ``"locked"``, ``"way"`` or ``"range"``.
    limits
        All limits that are left.
    """

    name: str
    part: str
    limits: dict[str, Limit]


def find_in_the_way(request: CaseRequest, served: Served) -> dict[str, Any]:
    """Find the limit whose lifting leads to most ways, the first of equals.

    Returns
    -------
    dict
        ``name`` and ``part``: the feature and the part of its limit, None if no single limit
        stands in the way; ``ways``: how many there would be; ``sentence``; ``button``.
    """
    lifted = list(_each_lifted(request))[:MOST_LIFTED]
    if not lifted:
        return _answer(None, 0, "No limit is set. The model and its data lead to no more ways.", "")
    codes = codes_of(request.values, served.table)
    everything = [*(each.limits for each in lifted), _without_limits(request)]
    rows = served.table.decode(
        np.repeat(codes[None, :], len(everything), axis=0), pd.RangeIndex(len(everything))
    )
    found = explainer_of(request, served).explain_many(
        rows,
        constraints=[constraints_of(limits, served) for limits in everything],
        if_none="warn",
        **goal_of(request, served),
    )
    counts = [len(each) for each in found]
    best = int(np.argmax(counts[:-1]))
    before = len(
        explainer_of(request, served).explain_many(
            rows[:1],
            constraints=constraints_of(request.limits, served),
            if_none="warn",
            **goal_of(request, served),
        )[0]
    )
    if counts[best] > before:
        return _one(lifted[best], counts[best], served)
    if counts[-1] > before:
        sentence = (
            f"No single limit stands in the way; without all of them there {_ways(counts[-1])}."
        )
        return _answer(None, counts[-1], sentence, "Lift all limits")
    return _answer(
        None, before, "No limit of yours stands in the way: lifting them finds no more ways.", ""
    )


def _one(lifted: _Lifted, ways: int, served: Served) -> dict[str, Any]:
    feature = served.table.features[served.table.position(lifted.name)]
    named = Writer(Templates.read()).feature(feature)
    what, button = {
        "locked": (f"That {named} is locked", f"Unlock {named}"),
        "way": (f"That {named} may only go one way", f"Let {named} go any way"),
        "range": (f"The range of {named}", f"Lift the range of {named}"),
    }[lifted.part]
    sentence = f"{what} stands in the way: without it there {_ways(ways)}."
    return _answer(lifted, ways, sentence, button)


def _ways(count: int) -> str:
    return "is 1 way" if count == 1 else f"are {count} ways"


def _answer(lifted: _Lifted | None, ways: int, sentence: str, button: str) -> dict[str, Any]:
    return {
        "name": None if lifted is None else lifted.name,
        "part": None if lifted is None else lifted.part,
        "ways": ways,
        "sentence": sentence,
        "button": button,
    }


def _each_lifted(request: CaseRequest) -> Iterator[_Lifted]:
    """Yield the limits without one of them, each in turn: locks first, as they take most away."""
    free = {
        "locked": {"locked": False},
        "way": {"way": "any"},
        "range": {"low": None, "high": None},
    }
    for part, change in free.items():
        for name, limit in request.limits.items():
            loose = limit.model_copy(update=change)
            if loose != limit:
                yield _Lifted(name, part, {**request.limits, name: loose})


def _without_limits(request: CaseRequest) -> dict[str, Limit]:
    return {name: Limit(difficulty=each.difficulty) for name, each in request.limits.items()}
