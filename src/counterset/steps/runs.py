"""Runs: the pipeline over each group of inputs, put together in the order of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterset._base.arrays import Indices, Vector
from counterset._base.lazy import Lazy
from counterset.steps.acceptance import Acceptance
from counterset.steps.chosen import Chosen
from counterset.steps.pipeline import Found
from counterset.steps.selection import Selector

__all__ = ["Run", "join"]


@dataclass(frozen=True)
class Run:
    """What was found for a group of inputs that have the same requirements.

    Attributes
    ----------
    members
        The positions of its inputs among all, ascending.
    acceptance
        What judged rows on behalf of them.
    selector
        What candidates there were.
    found
        What was found; its inputs are counted among the members.
    """

    members: Indices
    acceptance: Acceptance
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
