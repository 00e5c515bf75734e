"""Lifting: which limit stands in the way of more ways, and what lifting it would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from counterset.serve.case_requests import (
    CaseRequest,
    Limit,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
    row_of,
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

    Limits are lifted one at a time, until one leads to as many ways as were asked for.

    Returns
    -------
    dict
        ``name`` and ``part``: the feature and the part of its limit, None if no single limit
        stands in the way; ``ways``: how many there would be; ``sentence``; ``button``.
    """
    search = _Search(request, served)
    before, best, most = search.count(request.limits), None, 0
    for each in islice(_each_lifted(request), MOST_LIFTED):
        found = search.count(each.limits)
        if found > max(most, before):
            best, most = each, found
        if most == request.ways:
            break
    if best is not None:
        return _one(best, most, served)
    everything = search.count(_without_limits(request)) if request.limits else 0
    if everything > before:
        sentence = (
            f"No single limit stands in the way; without all of them there {_ways(everything)}."
        )
        return _answer(None, everything, sentence, "Lift all limits")
    return _answer(None, before, "No limit stands in the way: lifting them finds no more ways.", "")


@dataclass(frozen=True)
class _Search:
    """Look for the ways of one case within different limits."""

    request: CaseRequest
    served: Served

    def count(self, limits: Mapping[str, Limit]) -> int:
        """Return how many ways there are."""
        row = row_of(codes_of(self.request.values, self.served.table), self.served)
        (found,) = explainer_of(self.request, self.served).explain_many(
            row,
            constraints=constraints_of(limits, self.served),
            if_none="ignore",
            skip=True,
            **goal_of(self.request, self.served),
        )
        return len(found)


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
    free: dict[str, dict[str, Any]] = {
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
