"""Find the anchors of each class: how many, and how their sets are to be chosen.

Few sets make large regions, and explanations that stay the same for long; but the larger a region
is, the farther its inputs are from what was chosen for all of them. So some training rows are held
out, sets are put together for the others, in growing numbers, and the held-out rows are explained
with them. What counts is by how much a plan exceeds the limit that it keeps worst.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from counterset.anchor_trials import Trials, Workshops
from counterset.anchors import Anchors
from counterset.catalogue import Ask
from counterset.pipeline import Pipeline
from counterset.progress import Progress
from counterset.workshop import PRICES, Plan

__all__ = ["find_anchors"]

#: The power to which being too far away, or too much alike, counts against changing too much: as
#: far away as the paper's selection is about as good as changing half as much as is allowed.
CLOSENESS_POWER = 6
#: With more anchors, or with stand-ins, the price is looked for so many steps from the last one.
NEAR = 7
#: Twice as many anchors leave at least this share of the distance.
DOUBLING_LEAVES = 0.95
#: The numbers of anchors that are tried.
COUNTS = [2**i for i in range(2, 11)]
#: The margins of stand-ins that are tried, with as many sets as are best without, and up to so many
#: times fewer.
MARGINS, FEWER = [0.2, 0.05], 4
#: Not with a kind of answers that is so many times worse than another.
HOPELESS = 1.5


def find_anchors(
    count: int | Literal["auto"], pipeline: Pipeline, ask: Ask, *, progress: bool = False
) -> Anchors:
    """Find the anchors of all classes, and choose their sets.

    Parameters
    ----------
    count
        How many for each class, or ``"auto"``.
    pipeline
        The paper's method, without anchors.
    ask
        Makes the questions of rows.
    progress
        Show a progress bar on the error stream.
    """
    rows = np.arange(len(pipeline.selector.pool.codes))
    counts = COUNTS if count == "auto" else [count]
    # Whether options are closed in on, and whether they are given as they are.
    kinds = [(False, False), (True, False), (True, True)]
    if pipeline.search is None:
        kinds = [(False, True)]
    with Progress(len(kinds) * len(counts) + 1, "anchors", shown=progress) as bar:
        plan = _find_plan(counts, kinds, pipeline, ask, bar)
        anchors = Workshops(pipeline, ask, rows).anchors(plan)
        bar.advance()
    return anchors


def _find_plan(
    counts: list[int], kinds: list[tuple[bool, bool]], pipeline: Pipeline, ask: Ask, bar: Progress
) -> Plan:
    """Find the plan that keeps all limits best."""
    trials = Trials.hold_out(pipeline, ask)
    if trials is None:
        bar.advance(len(kinds) * len(counts))
        return Plan(counts[-1], *kinds[0])
    search = _Search(counts, trials, bar)
    plans = [search.find_count(Plan(counts[0], *kind)) for kind in kinds]
    # A stand-in adds to what can change: not with a given number of sets, or without need.
    if search.best > 1 and len(counts) > 1:
        bar.advance(0, "anchors and stand-ins")
        for plan in plans:
            if search.found[plan] <= HOPELESS * search.best:
                search.find_margin(plan)
    return min(search.found, key=lambda plan: search.found[plan])


class _Search:
    """Looks for the best plan.

    Attributes
    ----------
    found
        The plans that were tried, and by how much they exceed the limit that they keep worst.
    """

    def __init__(self, counts: list[int], trials: Trials, bar: Progress) -> None:
        self.counts, self.trials, self.bar = counts, trials, bar
        self.found: dict[Plan, float] = {}

    @property
    def best(self) -> float:
        return min(self.found.values(), default=np.inf)

    def find_count(self, plan: Plan) -> Plan:
        """Try growing numbers of anchors, and give the plan with the best."""
        best = self.best
        tried: list[Plan] = []
        for i, count in enumerate(self.counts):
            plan, cost, change = self._try(replace(plan, count=count), NEAR if tried else None)
            tried.append(plan)
            self.bar.advance()
            # More anchors cost less, but change more.
            doublings = len(self.counts) - 1 - i
            least_cost = cost * DOUBLING_LEAVES ** (CLOSENESS_POWER * doublings)
            if cost <= change or least_cost > best or not self.trials.has(plan):
                self.bar.advance(doublings)
                break
        return min(tried, key=lambda plan: self.found[plan])

    def find_margin(self, plan: Plan) -> None:
        """Try stand-ins, with fewer anchors and with smaller margins as long as that helps."""
        for margin in MARGINS:
            best, of_more = self.best, np.inf
            fewer = [count for count in self.counts if plan.count / FEWER <= count <= plan.count]
            for count in reversed(fewer):
                tried, _, _ = self._try(replace(plan, count=count, margin=margin), NEAR)
                if self.found[tried] >= of_more:
                    break
                of_more = self.found[tried]
            if self.best >= best:
                break

    def _try(self, plan: Plan, within: int | None) -> tuple[Plan, float, float]:
        """Find the price at which sets are neither too far away nor too much alike.

        Parameters
        ----------
        within
            Look only so many steps up and down from the plan's price; None: at all prices.

        Returns
        -------
        plan
            With that price.
        cost, change
            How bad it is that sets are too far or too much alike, and that they change.
        """
        steps = range(len(PRICES))
        if within is not None:
            steps = steps[max(0, plan.step - within) : plan.step + within + 1]
        costs: dict[Plan, float] = {}
        while steps:
            middle = len(steps) // 2
            plan = replace(plan, step=steps[middle])
            too_far, too_alike = self.trials.cost(plan)
            costs[plan] = max(too_far, too_alike)
            steps = steps[middle + 1 :] if too_alike > too_far else steps[:middle]
        plan = min(costs, key=lambda plan: costs[plan])
        cost, change = costs[plan] ** CLOSENESS_POWER, self.trials.change(plan)
        self.found[plan] = max(cost, change)
        return plan, cost, change
