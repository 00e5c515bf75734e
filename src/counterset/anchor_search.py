"""Find the anchors of each class: how many, and how their sets are to be chosen.

Few sets make large regions, and explanations that stay the same for long; but the larger a region
is, the farther its inputs are from what was chosen for all of them. So for each class some training
rows are held out, sets are put together for the others, in growing numbers, and the held-out rows
and noisy copies of them are explained both ways. The first number will do that costs them little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from counterset import metrics
from counterset.anchors import Anchors
from counterset.arrays import Codes, Mask, Matrix
from counterset.catalogue import Ask, Catalogue
from counterset.noise import GaussianNoise, NumericColumns
from counterset.pipeline import CLOSING_IN, Pipeline, settings_of
from counterset.questions import Questions
from counterset.workshop import PRICES, SEED, Plan, Workshop

__all__ = ["find_anchors"]

#: k-distance at most, and k-diversity at least, so many times the paper's selection's.
MOST_DISTANCE, LEAST_DIVERSITY = 1.06, 0.97
#: Set-distance, max and mean, at most so many times the paper's selection's.
MOST_CHANGE = (0.5, 0.6)
#: Where not all can be had, the power to which being too far away counts against changing too
#: much: to be 10 % too far is as bad as to change 60 % too much.
CLOSENESS_POWER = 5
#: Twice as many anchors leave at least this share of the distance.
DOUBLING_LEAVES = 0.95
#: The numbers of anchors that are tried.
COUNTS = [2**i for i in range(2, 11)]
#: Held out of each class: this share of its rows, up to so many; of a small class so many times.
HELD_OUT_SHARE, MOST_HELD_OUT, MOST_TRIALS = 0.2, 100, 2
#: Noisy copies of each held-out row.
COPIES = 2
#: Of a class of fewer rows none are held out; it has a middling price of diversity.
LEAST_ROWS = 5
SMALLEST = float(np.finfo(float).tiny)


def find_anchors(count: int | Literal["auto"], pipeline: Pipeline, ask: Ask) -> Anchors:
    """Find the anchors of all classes, and choose their sets.

    Parameters
    ----------
    count
        How many for each class, or ``"auto"``.
    pipeline
        The paper's method, without anchors.
    ask
        Makes the questions of rows.
    """
    parts = []
    for code in range(len(pipeline.classes)):
        members = np.flatnonzero(pipeline.selector.pool.codes == code)
        class_ = _Class(members, pipeline, ask)
        plan = class_.find_plan(COUNTS if count == "auto" else [count])
        parts.append(class_.anchors(plan))
    return Anchors.joined(parts)


class _Trial:
    """Held-out rows of a class and noisy copies of them, explained by the paper and by plans.

    Parameters
    ----------
    pipeline
        The paper's method.
    ask
        Makes the questions of rows.
    held_out, others
        Rows of the pool.
    """

    def __init__(self, pipeline: Pipeline, ask: Ask, held_out: Codes, others: Codes) -> None:
        self.pipeline = pipeline
        self.workshops = {
            closed_in: Workshop(catalogue, others, settings_of(pipeline))
            for closed_in, catalogue in _catalogues(pipeline, ask).items()
        }
        pool = pipeline.selector.pool
        self.rows = ask(pool.matrix[held_out])
        labels = self.rows.input_labels

        def same_class(copies: Matrix, owners: Codes) -> Mask:
            return np.asarray(ask(copies).input_labels == labels[owners])

        copies, found = GaussianNoise().copies(
            self.rows.inputs,
            NumericColumns.of(pool.distance.table),
            COPIES,
            same_class,
            np.random.default_rng(SEED),
        )
        self.owners = np.nonzero(found)[0]
        self.copies = ask(copies[found]) if found.any() else None
        self._explained: dict[Plan, tuple[Pipeline, list[Matrix]]] = {}  # the last plan's
        sets = _explain(pipeline, self.rows)
        self.paper_cost, self.paper_change = self._cost(sets), self._change(pipeline, sets)

    def cost(self, plan: Plan) -> Matrix:
        """Say how far off, and how much alike, the sets of a plan are: up to 1, not too much."""
        _, sets = self._explain_rows(plan)
        (away, apart), (paper_away, paper_apart) = self._cost(sets), self.paper_cost
        return np.array(
            [
                _beyond(away, MOST_DISTANCE * paper_away),
                _beyond(LEAST_DIVERSITY * paper_apart, apart),
            ]
        )

    def change(self, plan: Plan) -> Matrix:
        """Say how much the sets of a plan change, max and mean: up to 1, not too much."""
        limits = np.array(MOST_CHANGE) * self.paper_change
        pairs = zip(self._change(*self._explain_rows(plan)), limits, strict=True)
        return np.array([_beyond(change, limit) for change, limit in pairs])

    def has(self, plan: Plan) -> bool:
        """Say whether there are as many anchors as the plan has in mind."""
        pipeline, _ = self._explain_rows(plan)
        return pipeline.anchors is not None and len(pipeline.anchors) == plan.count

    def _explain_rows(self, plan: Plan) -> tuple[Pipeline, list[Matrix]]:
        """Give the method that a plan comes to, and the sets of the held-out rows."""
        if plan not in self._explained:
            anchors = self.workshops[plan.closed_in].anchors(plan)
            pipeline = replace(self.pipeline, anchors=anchors, sets_are_kept=True, finer=CLOSING_IN)
            self._explained = {plan: (pipeline, _explain(pipeline, self.rows))}
        return self._explained[plan]

    def _cost(self, sets: list[Matrix]) -> Matrix:
        """Give the mean k-distance and k-diversity of the held-out rows' sets."""
        measure = self.pipeline.selector.pool.distance.in_space
        pairs = zip(self.rows.points.places, sets, strict=True)
        distances = [metrics.k_distance(x, own, measure) for x, own in pairs if len(own)]
        diversities = [metrics.k_diversity(own, measure) for own in sets if len(own)]
        return np.array([np.mean(distances or [0.0]), np.mean(diversities or [0.0])])

    def _change(self, pipeline: Pipeline, sets: list[Matrix]) -> Matrix:
        """Give the mean set-distances, max and mean, of the held-out rows from their copies."""
        measure = self.pipeline.selector.pool.distance.in_space
        others = [] if self.copies is None else _explain(pipeline, self.copies)
        changes = [
            [metrics.set_distance(sets[i], other, measure, how) for how in ("max", "mean")]
            for i, other in zip(self.owners, others, strict=True)
            if len(sets[i]) and len(other)
        ]
        return _mean(changes or [[0.0, 0.0]])


class _Class:
    """One class of inputs, while its anchors are being found."""

    def __init__(self, members: Codes, pipeline: Pipeline, ask: Ask) -> None:
        self.members, self.pipeline, self.ask = members, pipeline, ask

    @property
    def kinds(self) -> list[tuple[bool, bool]]:
        """Whether options are closed in on, and whether they are given as they are."""
        if self.pipeline.search is None:
            return [(False, True)]
        return [(False, False), (True, False), (True, True)]

    def find_plan(self, counts: list[int]) -> Plan:
        """Find the first number of anchors, and the price of diversity, that will do."""
        if len(self.members) < LEAST_ROWS:
            return Plan(counts[-1], *self.kinds[0])
        trials = [_Trial(self.pipeline, self.ask, *split) for split in self._splits()]
        found: dict[Plan, tuple[float, float]] = {}
        for kind in self.kinds:
            steps = range(len(PRICES))
            best, _ = min(found.values(), default=(np.inf, 0.0))
            for i, count in enumerate(counts):
                plan, cost = _find_price(Plan(count, *kind), steps, trials)
                cost **= CLOSENESS_POWER
                change = float(_mean([trial.change(plan) for trial in trials]).max())
                # Those that keep all limits are equally good; of these, the steadiest.
                found[plan] = max(1.0, cost, change), change
                # More anchors cost less, but change more.
                doublings = len(counts) - 1 - i
                least_cost = cost * DOUBLING_LEAVES ** (CLOSENESS_POWER * doublings)
                if cost <= max(1.0, change) or least_cost > best:
                    break
                if not all(trial.has(plan) for trial in trials):
                    break
                steps = range(max(0, plan.step - 3), min(plan.step + 4, len(PRICES)))
        return min(found, key=lambda plan: found[plan])

    def anchors(self, plan: Plan) -> Anchors:
        """Make the anchors that a plan has in mind."""
        catalogue = _catalogues(self.pipeline, self.ask)[plan.closed_in]
        return Workshop(catalogue, self.members, settings_of(self.pipeline)).anchors(plan)

    def _splits(self) -> list[tuple[Codes, Codes]]:
        """Hold out some rows; of a small class, others again, for the figures to mean something."""
        random = np.random.default_rng(SEED)
        shuffled = random.permutation(self.members)
        size = min(MOST_HELD_OUT, max(1, int(HELD_OUT_SHARE * len(shuffled))))
        times = min(MOST_TRIALS, MOST_HELD_OUT // size)
        return [
            (np.sort(held_out), np.setdiff1d(shuffled, held_out))
            for held_out in (shuffled[i * size : (i + 1) * size] for i in range(times))
        ]


def _find_price(plan: Plan, steps: range, trials: list[_Trial]) -> tuple[Plan, float]:
    """Find the lowest price, among some, at which sets are diverse enough, and what that costs."""
    tried: dict[Plan, tuple[float, float]] = {}
    while steps:
        middle = len(steps) // 2
        plan = replace(plan, step=steps[middle])
        too_far, too_alike = _mean([trial.cost(plan) for trial in trials])
        tried[plan] = max(1.0, too_alike), max(too_far, too_alike)
        steps = steps[middle + 1 :] if too_alike > 1 else steps[:middle]
    best = min(tried, key=lambda plan: tried[plan])
    return best, tried[best][1]


def _mean(figures: list[Any]) -> Matrix:
    mean: Matrix = np.mean(figures, axis=0)
    return mean


def _beyond(figure: float, limit: float) -> float:
    """Say how many times over a limit a figure is."""
    return float(figure / max(limit, SMALLEST)) if figure else 0.0


def _catalogues(pipeline: Pipeline, ask: Ask) -> dict[bool, Catalogue]:
    """Make catalogues of rows of the pool, and of options on which the search has closed in."""
    catalogues = {False: Catalogue(replace(pipeline, search=None), ask)}
    if pipeline.search is not None:
        catalogues[True] = Catalogue(replace(pipeline, finer=CLOSING_IN), ask)
    return catalogues


def _explain(pipeline: Pipeline, questions: Questions) -> list[Matrix]:
    """Give the set of each input, as points of the space."""
    found, distance = pipeline.run(questions), pipeline.selector.pool.distance
    ends = np.searchsorted(found.owners, np.arange(1, len(questions.inputs)))
    return np.split(distance.embed(found.rows), ends)
