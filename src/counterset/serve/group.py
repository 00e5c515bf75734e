"""Group: all cases without the wanted result, with their options, for who must judge a system.

The page asks for them part by part. A part is worked on for about a second, after which edits and
other requests have their turn, and it is remembered: who asks for the same later has it at once.
When a page is closed, nothing is asked any more, and nothing is worked on.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from fastapi import APIRouter
from pydantic import Field

from counterset._base.arrays import Indices, Mask, to_python
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanations import Explanations
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import is_reached, read_goal
from counterset.serve.cases import Cases, GoalRequest
from counterset.serve.errors import RefusedError, shortened
from counterset.serve.readable import ReadableRows
from counterset.serve.workers import Workers
from counterset.words.changes import capitalised
from counterset.words.groups import LEAST, Group, group_by

__all__ = ["MOST_PEOPLE", "GroupRequest", "Survey", "Surveys", "add_group"]

#: The first 10,000 cases are looked at: on one core, that takes up to two minutes.
MOST_PEOPLE = 10_000
#: What was found is remembered for the last 4 goals and constraints, some 3 MB each.
MOST_SURVEYS = 4
#: After this many seconds a part ends, so that a page shows how far it is.
PART_SECONDS = 0.7
#: A part is worked on in blocks of 32 cases. Larger ones cost as much for each case, and edits wait
#: longer until they can have their turn.
BLOCK = 32


class GroupRequest(GoalRequest):
    """What the page asks about all cases.

    Attributes
    ----------
    first
        How many cases the page has already; more are explained if there are no others. None: the
        page wants figures only.
    by
        The feature by whose values people are grouped.
    """

    first: int | None = Field(default=0, ge=0, strict=True)
    by: str | None = None


@dataclass(eq=False)
class Survey:
    """The cases without what is wanted, of which some are explained already.

    Attributes
    ----------
    people
        All cases that can be read.
    open
        The positions, among these, of those that do not have what is wanted.
    rows
        What was found for the first of them, as the page has it.
    why
        Why cases have no option: a sentence each, in the order in which they were found.
    """

    people: ReadableRows
    open: Indices
    rows: list[dict[str, Any]] = field(default_factory=list)
    why: dict[str, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def is_done(self) -> bool:
        """Whether all are explained."""
        return len(self.rows) == len(self.open)

    def add(self, start: int, explanations: Explanations) -> None:
        """Add what was found for some cases, unless others have done so meanwhile.

        Parameters
        ----------
        start
            How many were explained before them.
        explanations
            Those of the cases that follow.
        """
        # Why there is none is found out here, and may take long: not under the lock.
        reasons = [explanations.why_none.get(at) for at in range(len(explanations))]
        coded = explanations.coded
        changed = coded.changed
        # The nearest need not be the first: unusual options come last.
        order = np.lexsort((coded.distances, coded.owners))
        start_of = np.cumsum(coded.counts) - coded.counts
        with self.lock:
            if len(self.rows) != start:
                return
            for at, count in enumerate(coded.counts.tolist()):
                position = int(self.people.positions[self.open[start + at]])
                row: dict[str, Any] = {
                    "case": position,
                    "number": str(to_python(explanations.index[at])),
                    "options": count,
                }
                if count:
                    nearest = order[start_of[at]]
                    row["distance"] = float(f"{coded.distances[nearest]:.4g}")
                    row["changes"] = np.flatnonzero(changed[nearest]).tolist()
                elif (reason := reasons[at]) is not None:
                    row["why"] = self.why.setdefault(capitalised(str(reason)), len(self.why))
                self.rows.append(row)


class Surveys:
    """Explains all cases, for the goals and constraints that pages ask for.

    Threads may share this object.

    Parameters
    ----------
    cases
        The cases, and what explains them.
    clock
        Returns the time in seconds.
    """

    def __init__(self, cases: Cases, clock: Callable[[], float] = time.monotonic) -> None:
        self._cases, self._clock = cases, clock
        self._people: list[ReadableRows] = []
        self._surveys: OrderedDict[str, Survey] = OrderedDict()
        self._lock = Lock()

    def key(self, request: GroupRequest) -> str:
        """Return what is equal for requests with the same goal and constraints."""
        return request.model_dump_json(exclude={"first", "by"})

    def needs_work(self, request: GroupRequest) -> bool:
        """Whether there is nothing yet that a page does not have."""
        survey = self._known(request)
        if request.first is None:
            return False
        return survey is None or (len(survey.rows) <= request.first and not survey.is_done)

    def explain_more(self, request: GroupRequest) -> None:
        """Explain more cases, for about as long as a part takes."""
        explainer, asked = self._cases.settings(request)
        survey = self._known(request) or self._begin(request, explainer, asked)
        end = self._clock() + PART_SECONDS
        index = self._cases.served.cases.index
        while not survey.is_done:
            start = len(survey.rows)
            which = survey.open[start : start + BLOCK]
            rows = survey.people.matrix[which]
            found = explainer.explain_many(
                explainer.training_.table.decode(rows, index[survey.people.positions[which]]),
                if_none="ignore",
                **asked,
            )
            survey.add(start, found)
            if self._clock() >= end:
                break

    def describe(self, request: GroupRequest) -> dict[str, Any]:
        """Return what is known about all cases.

        Returns
        -------
        dict
            ``people``: how many cases there are, of those that can be read; ``left_out``: how many
            are not looked at; ``total``: how many do not have what is wanted, None if that is not
            known yet; ``done``: how many of them are explained; ``rows``: those that the page does
            not have; ``why``: why there is no option, a sentence each; ``groups``: figures of
            groups, None if none are asked for.
        """
        survey, groups = self._known(request), None
        left_out = max(0, len(self._cases.served.cases) - MOST_PEOPLE)
        if request.by is not None:
            groups = self._figures(request.by, survey)
        if survey is None:
            known: dict[str, Any] = {
                "people": None,
                "total": None,
                "done": 0,
                "rows": [],
                "why": [],
            }
            return {**known, "left_out": left_out, "groups": groups}
        with survey.lock:
            done = len(survey.rows)
            first = done if request.first is None else request.first
            return {
                "people": len(survey.people.labels),
                "total": len(survey.open),
                "done": done,
                "rows": survey.rows[first:done],
                "why": list(survey.why),
                "left_out": left_out,
                "groups": groups,
            }

    def _known(self, request: GroupRequest) -> Survey | None:
        with self._lock:
            survey = self._surveys.get(self.key(request))
            if survey is not None:
                self._surveys.move_to_end(self.key(request))
            return survey

    def _begin(
        self, request: GroupRequest, explainer: DiverseExplainer, asked: dict[str, Any]
    ) -> Survey:
        """Find out who does not have what is wanted."""
        people = self._all()
        survey = Survey(people, np.flatnonzero(~_reached(people, explainer, asked)))
        with self._lock:
            survey = self._surveys.setdefault(self.key(request), survey)
            while len(self._surveys) > MOST_SURVEYS:
                self._surveys.popitem(last=False)
        return survey

    def _all(self) -> ReadableRows:
        """Return all cases that can be read, which is found out once."""
        if not self._people:
            served = self._cases.served
            rows = served.cases.iloc[:MOST_PEOPLE]
            self._people.append(ReadableRows.of(rows, served.table, served.model))
        return self._people[0]

    def _figures(self, name: str, survey: Survey | None) -> dict[str, Any]:
        """Return figures of the groups by a feature; those of fewer than 10 people are left out."""
        table = self._cases.served.table
        if name not in table.names:
            raise RefusedError(
                f"There is no feature {shortened(name)!r}. The features are "
                f"{', '.join(table.names)}."
            )
        feature = table.features[table.position(name)]
        found: dict[str, Any] = {"by": name, "shown": [], "hidden": 0, "hidden_people": 0}
        if survey is None:
            return found
        codes = survey.people.matrix[:, table.position(name)]
        is_open = np.zeros(len(codes), dtype=bool)
        is_open[survey.open] = True
        with survey.lock:
            rows = list(survey.rows)
        for group in group_by(feature, codes, np.ones(len(codes), dtype=bool)):
            count = int((group.members & is_open).sum())
            if count < LEAST:
                found["hidden"] += 1
                found["hidden_people"] += count
            else:
                found["shown"].append(_figures_of(group, is_open, survey.open, rows))
        return found


def _reached(people: ReadableRows, explainer: DiverseExplainer, asked: dict[str, Any]) -> Mask:
    """Return which people have what is wanted already."""
    goal = read_goal(explainer.training_.classes, asked.get("target"), asked.get("interval"))
    answers, probability = Answers(people.labels), asked.get("target_probability")
    if probability is not None:
        adapter = ModelAdapter(explainer.model, explainer.training_.table, with_confidence=True)
        answers = adapter.answers(people.matrix)
    return is_reached(goal, answers, probability)


def _figures_of(
    group: Group, is_open: Mask, open_: Indices, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the figures of a group: of all its people, and of those that are explained.

    Figures of fewer than 10 people are None.
    """
    mine = [row for row, at in zip(rows, open_, strict=False) if group.members[at]]
    distances = [row["distance"] for row in mine if "distance" in row]
    return {
        "text": capitalised(group.text),
        "people": int(group.members.sum()),
        "open": int((group.members & is_open).sum()),
        "done": len(mine),
        "with_an_option": len(distances) / len(mine) if len(mine) >= LEAST else None,
        "median_distance": float(f"{np.median(distances):.4g}")
        if len(distances) >= LEAST
        else None,
    }


def add_group(router: APIRouter, cases: Cases, workers: Workers) -> None:
    """Add the route that the page asks about all cases.

    Parameters
    ----------
    router
        The routes of the page.
    cases
        What explains cases.
    workers
        The threads that explain.
    """
    surveys = Surveys(cases)

    @router.post("/group")
    async def group(request: GroupRequest) -> dict[str, Any]:
        """Return all cases without the wanted result, the next part of them, and figures."""
        if surveys.needs_work(request):
            key = surveys.key(request)
            await workers.run(surveys.explain_more, request, urgency="later", join=key)
        return await workers.run(surveys.describe, request, urgency="now")
