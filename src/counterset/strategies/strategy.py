"""What an explainer asks of a strategy, and what all strategies share.

A :class:`Strategy` says how options are chosen. In ``fit`` it learns from the training rows and
returns a :class:`Finder`, which finds the options of every batch of inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset._base.lazy import Lazy
from counterset.strategies.batch import REFUSED, Chosen, QueryBatch, Requirements
from counterset.strategies.candidates import pick_diverse, without_rare
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.selection import Selector
from counterset.strategies.training import TrainingData
from counterset.tables.table import changed

__all__ = ["Advance", "Finder", "Found", "Run", "Strategy", "join", "search_further", "verified"]

#: Called after each part of what ``fit`` learns, with the number of all parts.
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Found:
    """What a finder found for a batch of inputs.

    Attributes
    ----------
    counterfactuals
        The counterfactuals of all inputs, each once, nearest first but for those against the
        direction that usually helps: they come last.
    n_chosen
        For each input, how many candidates were chosen, before step 4 and the last check.
    n_contradicted
        How many of the rows that were found the model classified otherwise when asked again.
    sparse
        Whether only changes that are needed were looked for.
    cut_short
        For which inputs the model was asked about as many rows as it may be; None: for none.
    withheld
        Whether some options were left out because they equal a training row that few people share.
    """

    counterfactuals: Chosen
    n_chosen: Counts
    n_contradicted: int
    sparse: bool = False
    cut_short: Mask | None = None
    withheld: bool = False


@runtime_checkable
class Finder(Protocol):
    """What a strategy learned in ``fit``: it finds the options of inputs."""

    def prepare(self, requirements: Requirements) -> None:
        """Learn now what inputs with these requirements need; ``find`` learns it otherwise."""
        ...

    def find(self, batch: QueryBatch) -> Found:
        """Find options for every input of a batch.

        What an input gets does not depend on the other inputs. Return what ``verified``
        returns, so that the model has confirmed each option.
        """
        ...

    def numbers_held(self, batch: QueryBatch) -> int:
        """Return about how many numbers are held for one input while its options are found."""
        ...


@runtime_checkable
class Strategy(Protocol):
    """How options are chosen. Its parameters are fixed when it is made.

    See :class:`~counterset.Nearest`, :class:`~counterset.Shared` and :class:`~counterset.Paper`.
    """

    def learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        requirements: Requirements,
        advance: Advance,
    ) -> Finder:
        """Learn from the training rows.

        Parameters
        ----------
        training
            The training rows, and what the model predicts for them.
        recipes
            What training rows had to change. Strategies of one explainer share it.
        requirements
            What is asked for unless a call says otherwise: the explainer's own constraints and
            ``max_counterfactuals``, and any other class.
        advance
            To be called when a part of the work is done, for a progress bar.
        """
        ...


def verified(chosen: Chosen, batch: QueryBatch, n_chosen: Counts, *, sparse: bool = False) -> Found:
    """Sort options by distance, drop repeats, and ask the model once more about each.

    Options that equal a training row that few people share are moved on or left out. Options
    against the direction that usually helps come after the others.

    Parameters
    ----------
    n_chosen
        For each input, how many candidates were chosen.
    sparse
        Whether only changes that are needed were looked for.
    """
    chosen = without_rare(chosen, batch)
    order = np.lexsort((chosen.lengths, chosen.owners))
    repeats = _repeats(chosen.owners[order], chosen.lengths[order], chosen.rows[order])
    chosen = chosen.take(order[~repeats])
    if batch.directions is not None:
        unusual = batch.unusual(chosen.rows, chosen.owners)
        chosen = replace(chosen, unusual=unusual)
        chosen = chosen.take(np.lexsort((unusual.any(axis=1), chosen.owners)))
    chosen, n_contradicted = _confirmed(chosen, batch)
    cut_short = None if batch.quota is None else batch.quota.cut_short
    return Found(chosen, n_chosen, n_contradicted, sparse, cut_short, bool(batch.withheld))


def search_further(
    chosen: Chosen,
    batch: QueryBatch,
    selector: Selector,
    *searches: Callable[[QueryBatch], Chosen],
) -> Chosen:
    """Look further for inputs that have nothing, in one search after the other."""
    for search in searches:
        empty = np.flatnonzero(chosen.counts == 0)
        if not len(empty):
            break
        part = batch.take(empty)
        found = pick_diverse(selector, search(part).nearest_first(part), part)
        chosen = chosen.with_others(found.among(empty, len(batch.inputs)))
    return chosen


def _confirmed(chosen: Chosen, batch: QueryBatch) -> tuple[Chosen, int]:
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
        These inputs.
    found
        What was found; its inputs are counted among the members.
    """

    members: Indices
    batch: QueryBatch
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
    withheld = any(run.found.withheld for run in runs)
    return Found(joined, n_chosen, contradicted, sparse, cut_short, withheld)


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
