"""The four steps of the paper over one batch of inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset.constraints.rules import Rules
from counterset.steps.acceptance import Acceptance
from counterset.steps.choosers import Chooser, MovedChooser, PoolChooser, pick_diverse
from counterset.steps.chosen import Chosen
from counterset.steps.line_search import Search
from counterset.steps.minimisation import minimise
from counterset.steps.selection import Selector
from counterset.steps.sparse_choice import pick_sparse
from counterset.tables.table import changed

__all__ = ["Found", "Pipeline", "paper_pipeline"]


@dataclass(frozen=True)
class Found:
    """What the pipeline found.

    Attributes
    ----------
    counterfactuals
        The counterfactuals of all inputs, nearest first, each once.
    n_chosen
        For each input, how many candidates step 3 chose.
    """

    counterfactuals: Chosen
    n_chosen: Counts


@dataclass(frozen=True)
class Pipeline:
    """Choose candidates (steps 1 to 3), then search towards the inputs (step 4).

    Attributes
    ----------
    chooser
        Takes steps 1 to 3.
    search
        Takes step 4; None reports the candidates as they were chosen.
    """

    chooser: Chooser
    search: Search | None

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.chooser.selector

    def run(self, acceptance: Acceptance) -> Found:
        """Find the counterfactuals of all inputs of a batch."""
        chosen = self.chooser.choose(acceptance)
        n_chosen = chosen.counts
        if self.search is not None:
            chosen = minimise(chosen, self.search, acceptance)
        order = np.lexsort((chosen.lengths, chosen.owners))
        repeats = _repeats(chosen.owners[order], chosen.lengths[order], chosen.rows[order])
        return Found(chosen.take(order[~repeats]), n_chosen)


def paper_pipeline(
    selector: Selector, search: Search | None, rules: Rules, *, sparsify: bool
) -> Pipeline:
    """Return the paper's pipeline, with constraints and few changes where those are asked for."""
    if not sparsify and not rules:
        return Pipeline(PoolChooser(selector), search)
    return Pipeline(MovedChooser(selector, pick_sparse if sparsify else pick_diverse), search)


def _repeats(owners: Indices, lengths: Vector, rows: Matrix) -> Mask:
    """Return which rows an input has already; rounding can lead two searches to one row."""
    repeats = np.zeros(len(owners), dtype=bool)
    # Equal rows are equally far, so they stand next to each other, or among others as far.
    gap = 1
    while (alike := (owners[gap:] == owners[:-gap]) & (lengths[gap:] == lengths[:-gap])).any():
        at = np.flatnonzero(alike)
        repeats[at[~changed(rows[at], rows[at + gap]).any(axis=1)] + gap] = True
        gap += 1
    return repeats
