"""Explain held-out rows, and noisy copies of them, by the paper's selection and with anchors.

That is how it is known, before an input comes, how close, how diverse and how steady its
explanation will be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from counterset import metrics
from counterset._base.arrays import Codes, Counts, Mask, Matrix
from counterset.anchors.anchors import Anchors
from counterset.anchors.catalogue import AcceptanceOf, Catalogue
from counterset.anchors.chooser import anchored, closed_in, settings_of
from counterset.anchors.workshop import SEED, Plan, Workshop
from counterset.noise import GaussianNoise, NumericColumns
from counterset.steps.acceptance import Acceptance
from counterset.steps.pipeline import Pipeline

__all__ = ["Trials", "Workshops"]

#: k-distance at most, and k-diversity at least, in units of the paper's selection's: with some room
#: below 1.1 and above 0.9. More room with a search: training rows lie deeper in their class
#: than other inputs, from which the paper's search has a shorter way to go.
MOST_DISTANCE, MOST_DISTANCE_SEARCHED, LEAST_DIVERSITY = 1.08, 1.06, 0.94
#: Set-distance, max and mean, at most, in units of the paper's selection's.
MOST_CHANGE = (0.5, 0.6)
#: Held out: a fifth of the rows of each class, up to 300 rows; up to 5 times, if that makes no more
#: than 500 rows in all.
HELD_OUT_SHARE, MOST_HELD_OUT = 0.2, 300
MOST_TRIALS, MOST_IN_ALL = 5, 500
#: Of a class of fewer than 5 rows none are held out.
LEAST_ROWS = 5
#: 8 noisy copies of each held-out row are drawn. If the model gives at least 60 % of them the row's
#: class, the row counts, with up to 2 of them.
COPIES, LEAST_ALIKE, MOST_COPIES = 8, 0.6, 2
SMALLEST = float(np.finfo(float).tiny)


class Workshops:
    """The workshops of all classes, for some rows of the pool."""

    def __init__(self, pipeline: Pipeline, acceptance_of: AcceptanceOf, rows: Codes) -> None:
        self.pipeline, self.acceptance_of = pipeline, acceptance_of
        codes = pipeline.selector.pool.codes[rows]
        self.classes = [rows[codes == code] for code in np.unique(codes)]
        self._made: dict[bool, list[Workshop]] = {}

    def anchors(self, plan: Plan) -> Anchors:
        """Make the anchors that a plan has in mind."""
        if plan.closed_in not in self._made:
            paper = self.pipeline
            search = closed_in(paper.search) if plan.closed_in else None
            how = replace(paper, search=search)
            self._made[plan.closed_in] = [
                Workshop(Catalogue(how, self.acceptance_of), members, settings_of(paper))
                for members in self.classes
            ]
        return Anchors.joined([each.anchors(plan) for each in self._made[plan.closed_in]])


class _Trial:
    """Held-out rows and noisy copies of them, explained by the paper and by plans.

    Parameters
    ----------
    pipeline
        The paper's method.
    acceptance_of
        Makes the acceptance of rows.
    held_out
        Rows of the pool.
    """

    def __init__(self, pipeline: Pipeline, acceptance_of: AcceptanceOf, held_out: Codes) -> None:
        self.pipeline = pipeline
        pool = pipeline.selector.pool
        others = np.setdiff1d(np.arange(len(pool.codes)), held_out)
        self.workshops = Workshops(pipeline, acceptance_of, others)
        rows = acceptance_of(pool.matrix[held_out])

        def same_class(copies: Matrix, owners: Codes) -> Mask:
            return np.asarray(acceptance_of(copies).input_labels == rows.input_labels[owners])

        copies, found = GaussianNoise(attempts=1).copies(
            rows.inputs,
            NumericColumns.of(pool.distance.table),
            COPIES,
            same_class,
            np.random.default_rng(SEED),
        )
        # A row on an island of its own is one that the model has learnt by heart.
        typical = np.flatnonzero(found.mean(axis=1) >= LEAST_ALIKE)
        typical = typical if len(typical) else np.arange(len(found))
        self.rows = acceptance_of(rows.inputs[typical])
        first = found[typical] & (found[typical].cumsum(axis=1) <= MOST_COPIES)
        self.owners = np.nonzero(first)[0]
        self.copies = acceptance_of(copies[typical][first]) if first.any() else None
        # Of the last plan: the pipeline, the number of anchors of each class, and the sets.
        self._explained: dict[Plan | None, tuple[Pipeline, Counts, list[Matrix]]] = {}

    def cost(self, plan: Plan | None) -> list[Matrix]:
        """Return the k-distances and the k-diversities of the held-out rows' sets.

        Of the paper's selection, if there is no plan.
        """
        measure = self.pipeline.selector.pool.distance.in_space
        _, _, sets = self._explain_rows(plan)
        pairs = zip(self.rows.embedded.coordinates, sets, strict=True)
        distances = [metrics.k_distance(x, own, measure) for x, own in pairs if len(own)]
        return [
            np.array(distances),
            np.array([metrics.k_diversity(own, measure) for own in sets if len(own)]),
        ]

    def change(self, plan: Plan | None) -> list[Matrix]:
        """Return the set-distances, max and mean, of the held-out rows from their copies."""
        measure = self.pipeline.selector.pool.distance.in_space
        pipeline, _, sets = self._explain_rows(plan)
        others = [] if self.copies is None else _explain(pipeline, self.copies)
        pairs = [
            (sets[i], other)
            for i, other in zip(self.owners, others, strict=True)
            if len(sets[i]) and len(other)
        ]
        return [
            np.array([metrics.set_distance(*pair, measure, how) for pair in pairs])
            for how in ("max", "mean")
        ]

    def has(self, plan: Plan) -> bool:
        """Return whether some class has as many anchors as the plan has in mind."""
        _, counts, _ = self._explain_rows(plan)
        return plan.count in counts

    def _explain_rows(self, plan: Plan | None) -> tuple[Pipeline, Counts, list[Matrix]]:
        """Return the method that a plan comes to, and the sets of the held-out rows."""
        if plan not in self._explained:
            pipeline, counts = self.pipeline, np.empty(0, dtype=np.intp)
            if plan is not None:
                anchors = self.workshops.anchors(plan)
                pipeline = anchored(pipeline, anchors, sets_are_kept=True)
                counts = np.bincount(anchors.codes)
            self._explained = {plan: (pipeline, counts, _explain(pipeline, self.rows))}
        return self._explained[plan]


class Trials:
    """What several trials say together; there must be one at least."""

    @classmethod
    def hold_out(cls, pipeline: Pipeline, acceptance_of: AcceptanceOf) -> Self | None:
        """Hold rows out, and let the paper's selection explain them; None if there are too few."""
        splits = _splits(pipeline.selector.pool.codes)
        return (
            cls([_Trial(pipeline, acceptance_of, held_out) for held_out in splits])
            if splits
            else None
        )

    def __init__(self, trials: list[_Trial]) -> None:
        self._trials = trials
        self._paper_cost, self._paper_change = self._cost(None), self._change(None)
        searched = trials[0].pipeline.search is not None
        self._most_distance = MOST_DISTANCE_SEARCHED if searched else MOST_DISTANCE

    def cost(self, plan: Plan) -> tuple[float, float]:
        """Return how far off, and how much alike, the sets of a plan are: up to 1, not too much."""
        (away, apart), (paper_away, paper_apart) = self._cost(plan), self._paper_cost
        return (
            _beyond(away, self._most_distance * paper_away),
            _beyond(LEAST_DIVERSITY * paper_apart, apart),
        )

    def change(self, plan: Plan) -> float:
        """Return how much the sets of a plan change: up to 1, not too much."""
        limits = np.array(MOST_CHANGE) * self._paper_change
        return max(map(_beyond, self._change(plan), limits))

    def has(self, plan: Plan) -> bool:
        """Return whether there are as many anchors as the plan has in mind."""
        return all(trial.has(plan) for trial in self._trials)

    def _cost(self, plan: Plan | None) -> Matrix:
        return _means([trial.cost(plan) for trial in self._trials])

    def _change(self, plan: Plan | None) -> Matrix:
        return _means([trial.change(plan) for trial in self._trials])


def _splits(codes: Codes) -> list[Codes]:
    """Hold out rows of each class; of few rows, others again, for figures to mean something.

    Returns
    -------
    splits
        The rows that are held out in each trial.
    """
    random = np.random.default_rng(SEED)
    share = min(HELD_OUT_SHARE, MOST_HELD_OUT / len(codes))
    times = min(MOST_TRIALS, MOST_IN_ALL // round(max(1, share * len(codes))))
    splits: list[list[Codes]] = [[] for _ in range(times)]
    for code in np.unique(codes):
        shuffled = random.permutation(np.flatnonzero(codes == code))
        size = max(1, int(share * len(shuffled)))
        for split in splits if len(shuffled) >= LEAST_ROWS else []:
            held_out, shuffled = shuffled[:size], shuffled[size:]
            split.append(held_out)
    return [np.sort(np.concatenate(split)) for split in splits if split]


def _means(figures: list[list[Matrix]]) -> Matrix:
    """Return the mean of each figure over the rows of all trials; 0 if there are none."""
    together = [np.concatenate(parts) for parts in zip(*figures, strict=True)]
    return np.array([values.mean() if len(values) else 0.0 for values in together])


def _beyond(figure: float, limit: float) -> float:
    """Return how many times over a limit a figure is."""
    return float(figure / max(limit, SMALLEST)) if figure else 0.0


def _explain(pipeline: Pipeline, acceptance: Acceptance) -> list[Matrix]:
    """Return the set of each input, as points of the space."""
    found = pipeline.run(acceptance).counterfactuals
    ends = np.searchsorted(found.owners, np.arange(1, len(acceptance.inputs)))
    return np.split(found.embedded.coordinates, ends)
