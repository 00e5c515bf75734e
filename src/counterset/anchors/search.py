"""Find the anchors of each class: how many, and how their sets are to be chosen.

Few sets make large regions, and explanations that stay the same for long; but the larger a region
is, the farther its inputs are from what was chosen for all of them. So some training rows are held
out, sets are put together for the others, by one plan after another, and the held-out rows are
explained with them. What counts is by how much a plan exceeds the limit that it keeps worst.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from counterset._base.arrays import Matrix
from counterset._base.progress import Progress
from counterset.anchors.anchors import Anchors
from counterset.anchors.catalogue import AcceptanceOf
from counterset.anchors.trials import Trials, Workshops
from counterset.anchors.workshop import PRICES, Plan
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import AnyOther
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.pipeline import Pipeline
from counterset.steps.training import TrainingData

__all__ = ["find_anchors"]

#: The power to which being too far away, or too much alike, counts against changing too much: a
#: tenth nearer than the limit is about as good as changing half as much as is allowed.
CLOSENESS_POWER = 6
#: The numbers of anchors that are tried, one step at a time, from the first on; with a search there
#: are no more than 512.
COUNTS, FIRST_COUNT, MOST_SEARCHED = [2**i for i in range(2, 13)], 32, 512
#: The shares of the way that options go towards the input, likewise.
WAYS, FIRST_WAY = [0.2, 0.4, 0.6, 0.8, 1.0], 0.6
#: How far from the last best price the next one is tried; then twice as far, and so on.
FIRST_STRIDE = 2
#: A first plan that is 10 times worse than the best one is not worth going on from.
HOPELESS = 10
#: Sets as they are that come to no more than this share of any limit are good enough: to give way
#: takes longer, and what gives way moves with the input.
COMFORTABLE = 0.75


def find_anchors(
    count: int | Literal["auto"],
    pipeline: Pipeline,
    training: TrainingData,
    *,
    progress: bool = False,
) -> Anchors:
    """Find the anchors of all classes, and choose their sets.

    Parameters
    ----------
    count
        How many for each class, or ``"auto"``.
    pipeline
        The paper's method, without anchors.
    training
        The training rows, of which the pipeline chooses.
    progress
        Show a progress bar on the error stream.
    """
    model = ModelAdapter(training.model, training.table)
    requirements = Requirements(AnyOther(), None, training.no_rules, training.support)

    def acceptance_of(rows: Matrix) -> Acceptance:
        labels = model.answers(rows).labels
        return Acceptance(model, training.distance, training.classes, requirements, rows, labels)

    rows = np.arange(len(pipeline.selector.pool.codes))
    with Progress(5, "anchors", shown=progress) as bar:
        plan = _find_plan(count, pipeline, acceptance_of, bar)
        bar.advance(bar.total - 1 - bar.done)
        anchors = Workshops(pipeline, acceptance_of, rows).anchors(plan)
        bar.advance()
    return anchors


def _find_plan(
    count: int | Literal["auto"], pipeline: Pipeline, acceptance_of: AcceptanceOf, bar: Progress
) -> Plan:
    """Find the plan that keeps all limits best."""
    searched = pipeline.search is not None
    as_they_are = Plan(FIRST_COUNT if count == "auto" else count, closed_in=searched)
    giving_way = [replace(as_they_are, closed_in=own, way=FIRST_WAY) for own in (True, False)]
    plans = [as_they_are, *(giving_way if searched else [])]
    trials = Trials.hold_out(pipeline, acceptance_of)
    if trials is None:
        return plans[-1]  # nothing tells how far sets as they are would be from other inputs
    counts = [each for each in COUNTS if not searched or each <= MOST_SEARCHED]
    search = _Search(trials, counts if count == "auto" else [count])
    for plan in plans:
        search.climb(plan)
        bar.advance()
        if search.best.excess <= COMFORTABLE and not search.best.plan.way:
            return search.best.plan
    if search.best.excess > 1:
        search.climb(search.best.plan, patiently=True)
    return search.best.plan


@dataclass(frozen=True)
class _Attempt:
    """What became of a plan.

    Attributes
    ----------
    plan
        With the best price.
    cost, change
        How bad it is that sets are too far or too much alike, and that they change.
    has_all
        Whether there are as many anchors as the plan has in mind.
    """

    plan: Plan
    cost: float
    change: float
    has_all: bool

    @property
    def excess(self) -> float:
        """By how much the plan exceeds the limit that it keeps worst."""
        return max(self.cost, self.change)


class _Search:
    """Looks for the plan that keeps all limits best.

    Parameters
    ----------
    trials
        Tell how good a plan is.
    counts
        The numbers of anchors that there may be.
    """

    def __init__(self, trials: Trials, counts: list[int]) -> None:
        self.trials, self.counts = trials, counts
        self._attempts: dict[Plan, _Attempt] = {}  # by the plan without its price

    @property
    def best(self) -> _Attempt:
        """The best of all attempts."""
        return min(self._attempts.values(), key=lambda attempt: attempt.excess)

    def climb(self, plan: Plan, *, patiently: bool = False) -> None:
        """Try more or fewer anchors, and to give way more or less, as long as that helps.

        Where sets are too far away, or too much alike, and change too much as well, neither more
        nor less will keep all limits: only a patient search goes on, for what breaks them least.
        """
        best = self._try(plan)
        while best.excess <= HOPELESS * self.best.excess:
            if not patiently and min(best.cost, best.change) > 1:
                return
            better = self._better(best)
            if better is None:
                return
            best = better

    def _better(self, than: _Attempt) -> _Attempt | None:
        """Find something better one step away, if there is anything."""
        # More anchors, and to give way more, cost less, but change more. If more of either alone
        # does not help, more of one and less of the other may.
        more = 1 if than.cost > than.change else -1
        for steps in ([(more, 0), (0, more)], [(1, -1), (-1, 1)]):
            plans = [self._next(than, *step) for step in steps]
            near = [self._try(plan) for plan in plans if plan is not None]
            best = min(near, key=lambda attempt: attempt.excess, default=than)
            if best.excess < than.excess:
                return best
        return None

    def _next(self, attempt: _Attempt, anchors: int, way: int) -> Plan | None:
        """Return the plan that is this many steps away, if there is one."""
        plan = attempt.plan
        count = self.counts.index(plan.count) + anchors
        if not 0 <= count < len(self.counts) or (anchors > 0 and not attempt.has_all):
            return None
        if not way:
            return replace(plan, count=self.counts[count])
        share = WAYS.index(plan.way) + way if plan.way else -1
        if not 0 <= share < len(WAYS):
            return None
        return replace(plan, count=self.counts[count], way=WAYS[share])

    def _try(self, plan: Plan) -> _Attempt:
        """Find the price at which sets are neither too far away nor too much alike.

        The search begins at the price of the plan: what was best with more or fewer sets.
        """
        key = replace(plan, step=0)
        if key in self._attempts:
            return self._attempts[key]
        step, cost = _best_step(plan.step, lambda at: self.trials.cost(replace(plan, step=at)))
        plan = replace(plan, step=step)
        self._attempts[key] = _Attempt(
            plan, cost**CLOSENESS_POWER, self.trials.change(plan), self.trials.has(plan)
        )
        return self._attempts[key]


def _best_step(first: int, cost: Callable[[int], tuple[float, float]]) -> tuple[int, float]:
    """Find the step among the prices at which the larger one of two costs is least, and that cost.

    The first cost rises with the price, the second one falls. The best step is often near the
    first one that is tried; once it is known to lie between two, the search goes halfway.
    """
    steps, at, stride = range(len(PRICES)), first, FIRST_STRIDE
    costs: dict[int, float] = {}
    sides: set[bool] = set()
    while steps:
        rising, falling = cost(at)
        costs[at] = max(rising, falling)
        higher = falling > rising
        sides.add(higher)
        steps = range(at + 1, steps.stop) if higher else range(steps.start, at)
        far, stride = stride if len(sides) == 1 else len(steps) // 2 + 1, 2 * stride
        ahead = steps if higher else steps[::-1]
        at = ahead[:far][-1] if steps else at
    best = min(costs, key=lambda step: costs[step])
    return best, costs[best]
