"""The four steps of the paper over one batch of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset._base.lazy import Lazy
from counterset.constraints.rules import Rules
from counterset.strategies.admissible import search_admissible
from counterset.strategies.batch import REFUSED, Chosen, QueryBatch
from counterset.strategies.choosers import Chooser, MovedChooser, PoolChooser, pick_diverse
from counterset.strategies.diversity import Diversity
from counterset.strategies.line_search import Search, minimise
from counterset.strategies.ranking import Cutoff
from counterset.strategies.selection import Selector
from counterset.strategies.sparsity import pick_sparse, undo
from counterset.strategies.training import TrainingData
from counterset.tables.table import changed

__all__ = ["Found", "Pipeline", "Run", "join", "paper_pipeline"]


@dataclass(frozen=True)
class Found:
    """What the pipeline found.

    Attributes
    ----------
    counterfactuals
        The counterfactuals of all inputs, nearest first, each once.
    n_chosen
        For each input, how many candidates step 3 chose.
    n_contradicted
        How many of the rows that were found the model classified otherwise when asked again.
    sparse
        Whether only changes that are needed were looked for.
    cut_short
        For which inputs the model was asked about as many rows as it may be; None: for none.
    """

    counterfactuals: Chosen
    n_chosen: Counts
    n_contradicted: int
    sparse: bool = False
    cut_short: Mask | None = None


@dataclass(frozen=True)
class Pipeline:
    """Choose candidates (steps 1 to 3), then search towards the inputs (step 4).

    Attributes
    ----------
    chooser
        Takes steps 1 to 3.
    search
        Takes step 4; None reports the candidates as they were chosen.
    sparsify
        Whether to undo, after the search, the changes that are no longer needed: where the boundary
        is jagged, what a candidate needed is not always what its last point needs.
    moved
        Chooses further candidates for inputs that have nothing; None: as in the paper, nobody looks
        further.
    """

    chooser: Chooser
    search: Search | None
    sparsify: bool = False
    moved: MovedChooser | None = None

    @property
    def selector(self) -> Selector:
        """What candidates there are, and how they are cut off and compared."""
        return self.chooser.selector

    def run(self, batch: QueryBatch) -> Found:
        """Find the counterfactuals of all inputs of a batch."""
        chosen = self._with_more(self.chooser.choose(batch), batch)
        n_chosen = chosen.counts
        if self.search is not None and not chosen.settled.all():
            chosen = minimise(chosen, self.search, batch)
            chosen = undo(chosen, batch) if self.sparsify else chosen
        order = np.lexsort((chosen.lengths, chosen.owners))
        repeats = _repeats(chosen.owners[order], chosen.lengths[order], chosen.rows[order])
        chosen, n_contradicted = _verified(chosen.take(order[~repeats]), batch)
        cut_short = None if batch.limit is None else batch.limit.cut_short
        return Found(chosen, n_chosen, n_contradicted, self.sparsify, cut_short)

    def _with_more(self, chosen: Chosen, batch: QueryBatch) -> Chosen:
        """Look further for inputs that have nothing: beyond the cut, then among other rows."""
        searches = [] if self.moved is None else [self.moved.choose_beyond_the_cut]
        if self.moved is not None and self.search is not None:
            searches.append(partial(search_admissible, self.selector))
        for search in searches:
            nothing = np.flatnonzero(chosen.counts == 0)
            if not len(nothing):
                break
            part = batch.take(nothing)
            found = self._settled(search(part), part)
            found = pick_diverse(self.selector, found.nearest_first(), part)
            chosen = chosen.with_others(found.among(nothing, len(batch.inputs)))
        return chosen

    def _settled(self, found: Chosen, batch: QueryBatch) -> Chosen:
        """Take step 4 before options are compared, if they are to change few features."""
        if not self.sparsify or self.search is None:
            return found
        found = undo(minimise(undo(found, batch), self.search, batch), batch)
        return replace(found, settled=np.ones(len(found.owners), dtype=bool))


class PipelineSettings(Protocol):
    """The parameters of an explainer that make up its pipeline."""

    candidates: Cutoff
    diversity: Diversity | None
    search: Search | None
    max_counterfactuals: int
    sparsify: bool


def _verified(chosen: Chosen, batch: QueryBatch) -> tuple[Chosen, int]:
    """Ask the model once more about what was found, as it will be returned.

    A model may round the same row differently in another batch, and so contradict itself where two
    classes are nearly tied. Then each row is asked about alone, and kept if it is accepted there.
    """
    if not len(chosen.rows):
        return chosen, 0
    codes = batch.ask(chosen.rows, chosen.owners, again=True)
    n_contradicted = int(np.count_nonzero(codes == REFUSED))
    if not n_contradicted:
        return replace(chosen, codes=codes), 0
    ones = np.arange(len(codes))[:, None]
    codes = np.concatenate([batch.ask(chosen.rows[i], chosen.owners[i], again=True) for i in ones])
    kept = np.flatnonzero(codes != REFUSED)
    return replace(chosen, codes=codes).take(kept), n_contradicted


def paper_pipeline(
    settings: PipelineSettings, training: TrainingData, usable: Mask | None, rules: Rules
) -> Pipeline:
    """Return the paper's pipeline, with constraints and few changes where those are asked for.

    Parameters
    ----------
    settings
        The explainer.
    usable
        Which rows of the pool can be candidates; None: all.
    """
    search, sparsify = settings.search, settings.sparsify
    selector = Selector(
        training.pool,
        usable,
        settings.candidates,
        settings.diversity,
        settings.max_counterfactuals,
        find_farthest=search is not None and search.needs_farthest,
    )
    if not sparsify and not rules:
        return Pipeline(PoolChooser(selector), search)
    chooser = MovedChooser(selector, pick_sparse if sparsify else pick_diverse)
    return Pipeline(chooser, search, sparsify, chooser)


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


@dataclass(frozen=True)
class Run:
    """What was found for a group of inputs that have the same requirements.

    Attributes
    ----------
    members
        The positions of its inputs among all, ascending.
    batch
        What judged rows on behalf of them.
    selector
        What candidates there were.
    found
        What was found; its inputs are counted among the members.
    """

    members: Indices
    batch: QueryBatch
    selector: Selector
    found: Found


def join(runs: Sequence[Run]) -> Found:
    """Return what was found for all inputs, in their order."""
    if len(runs) == 1:
        return runs[0].found
    count = sum(len(run.members) for run in runs)
    n_candidates, n_chosen = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    farthest = np.zeros(count)
    for run in runs:
        chosen = run.found.counterfactuals
        n_candidates[run.members] = chosen.n_candidates
        n_chosen[run.members] = run.found.n_chosen
        farthest[run.members] = chosen.farthest
    parts = [
        replace(run.found.counterfactuals, owners=run.members[run.found.counterfactuals.owners])
        for run in runs
    ]
    joined = replace(
        Chosen.joined(parts, n_candidates, farthest),
        stable_radius=_joined_radii([part.stable_radius for part in parts], runs, count),
        list_radius=_joined_radii([part.list_radius for part in parts], runs, count),
    )
    contradicted = sum(run.found.n_contradicted for run in runs)
    sparse, cut_short = any(run.found.sparse for run in runs), np.zeros(count, dtype=bool)
    for run in runs:
        if run.found.cut_short is not None:
            cut_short[run.members] = run.found.cut_short
    return Found(joined, n_chosen, contradicted, sparse, cut_short)


def _joined_radii(
    parts: Sequence[Lazy[Vector] | None], runs: Sequence[Run], count: int
) -> Lazy[Vector] | None:
    """Return the radius of each input, NaN where none is proved."""

    def join_radii() -> Vector:
        radii = np.full(count, np.nan)
        for run, part in zip(runs, parts, strict=True):
            if part is not None:
                radii[run.members] = part.value
        return radii

    return None if all(part is None for part in parts) else Lazy(join_radii)
