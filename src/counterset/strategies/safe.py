"""Safe options: one or two of a set that are likely to last, in place of the farthest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, count_before
from counterset._base.checks import check_count, check_list
from counterset.exceptions import InvalidInputError
from counterset.models.margin import Margin
from counterset.strategies.bars import Agreed, Lasting, Sure, has_probabilities
from counterset.strategies.batch import Bar, Chosen, QueryBatch
from counterset.strategies.candidates import without_rare
from counterset.strategies.diversity import Diversity, View
from counterset.strategies.selection import Selector

__all__ = ["Safe", "check_safe", "with_safe"]

#: An option is safe if the model finds it 75 % probable, or if 9 of 10 other models agree. With
#: 70 % fewer sets survive retraining; with 80 % options are farther, and a forest knows few.
LEAST_SURE, LEAST_AGREED = 0.75, 0.9
#: Without probabilities, an option is safe if it holds within 5 % of the usual ranges.
MARGIN = Margin(0.05)
#: A safe option is at most twice as far as the farthest of the others: what is out of reach helps
#: nobody.
FARTHEST = 2.0
#: The order in which options of an input are taken: those that stay, safe ones, and the rest.
STAGE_SAFE = 1


def check_safe(safe: Any, models: Any) -> None:
    """Check how many safe options are wanted, and which models must agree on them."""
    check_count(safe, "safe", least=0)
    if models is None:
        return
    check_list(models, "models", "fitted models")
    if not len(models):
        raise InvalidInputError("models is empty. Pass at least one fitted model, or leave it out.")
    if not safe:
        raise InvalidInputError(
            "models say which options are safe, and no safe option is asked for. Write "
            "safe=1, models=[...]."
        )


@dataclass(frozen=True)
class Safe:
    """How many options of a set are to be safe, and which models must agree on them.

    Attributes
    ----------
    count
        How many.
    models
        Models that must agree; None: the explained model must be sure, or its options must hold.
    """

    count: int = 0
    models: Sequence[Any] | None = None

    def bar(self, batch: QueryBatch) -> Bar:
        """Return what safe options of a batch must pass."""
        if self.models is not None:
            return Agreed.of(batch, tuple(self.models), LEAST_AGREED)
        if has_probabilities(batch):
            return Sure.of(batch, LEAST_SURE)
        return Lasting(MARGIN)


@dataclass(frozen=True)
class _Beside:
    """Safe options must differ from the others and from each other; those do so already.

    Attributes
    ----------
    inner
        When two options differ; None: whenever they are not equal.
    are_safe
        Which candidates are safe options that were found.
    """

    inner: Diversity | None
    are_safe: Mask

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        differ = np.ones(len(a), dtype=bool)
        which = np.flatnonzero(self.are_safe[a] | self.are_safe[b])
        if self.inner is not None and len(which):
            differ[which] = self.inner.differ(view.of(which), a[which], b[which])
        return differ


def with_safe(
    chosen: Chosen,
    batch: QueryBatch,
    selector: Selector,
    safe: Safe,
    search: Callable[[QueryBatch], Chosen],
) -> Chosen:
    """Put safe options in the place of the farthest, where too few are safe already.

    Parameters
    ----------
    chosen
        The options of each input, nearest first.
    selector
        Says how many options are wanted, and when two of them differ.
    search
        Returns options of inputs that pass the bar of a batch, nearest first.
    """
    if not safe.count or not len(chosen.owners):
        return chosen
    chosen = without_rare(chosen, batch)  # what is marked as safe must not move on later
    bar, n = safe.bar(batch), len(batch.inputs)
    chosen = replace(chosen, safe=bar.passes(batch, chosen.rows, chosen.owners))
    have = np.bincount(chosen.owners[chosen.safe], minlength=n)
    need = np.clip(min(safe.count, selector.most) - have, 0, None)
    short = np.flatnonzero((need > 0) & (chosen.counts > 0))
    if not len(short):
        return chosen
    part = batch.take(short).with_bar(bar)
    found = without_rare(search(part), part).among(short, n)
    farthest = np.zeros(n)
    np.maximum.at(farthest, chosen.owners, chosen.lengths)
    found = found.take(np.flatnonzero(found.lengths <= FARTHEST * farthest[found.owners]))
    found = replace(found, safe=np.ones(len(found.owners), dtype=bool))
    if chosen.from_list is not None:
        found = replace(found, from_list=np.zeros(len(found.owners), dtype=bool))
    stays = _stays(chosen, need, selector.most)
    parts = [chosen.take(np.flatnonzero(stays)), found, chosen.take(np.flatnonzero(~stays))]
    stage = np.repeat([0, STAGE_SAFE, 2], [len(part.owners) for part in parts])
    order = np.argsort(np.concatenate([part.owners for part in parts]), kind="stable")
    # Joining keeps the order of the parts for each input.
    both = Chosen.joined(parts, chosen.n_candidates, chosen.farthest)
    kept = _picked(both, stage[order], need, batch, selector)
    return replace(
        both.take(kept), stable_radius=chosen.stable_radius, list_radius=chosen.list_radius
    )


def _stays(chosen: Chosen, need: Counts, most: int) -> Mask:
    """Return which options stay in any case: safe ones, and the nearest of the others."""
    assert chosen.safe is not None, "the bar was asked"
    is_other = ~chosen.safe
    stays: Mask = chosen.safe | (
        count_before(chosen.owners, is_other)
        < (most - need - np.bincount(chosen.owners[chosen.safe], minlength=len(need)))[
            chosen.owners
        ]
    )
    return stays


def _picked(
    both: Chosen, stage: Indices, need: Counts, batch: QueryBatch, selector: Selector
) -> Indices:
    """Return which options make up each set, ascending.

    Parameters
    ----------
    both
        Of each input, the options that stay, then safe ones, then those that can make way.
    stage
        Which of the three each is: 0, 1 or 2.
    """
    moves = None if batch.directions is None else batch.moves(both.rows, both.owners)
    nearest = np.full(len(batch.inputs), np.inf)
    np.minimum.at(nearest, both.owners, both.lengths)
    view = selector.view(batch.embedded, both.embedded, nearest)

    def pick(inner: Diversity | None) -> Indices:
        diversity = _Beside(inner, stage == STAGE_SAFE)
        everything = replace(selector, diversity=diversity, most=len(stage))
        chosen = np.sort(everything.choose_from_own(view, both.owners, moves))
        owners, is_safe = both.owners[chosen], stage[chosen] == STAGE_SAFE
        chosen = chosen[~is_safe | (count_before(owners, is_safe) < need[owners])]
        owners = both.owners[chosen]
        fits: Indices = chosen[
            count_before(owners, np.ones(len(owners), dtype=bool)) < selector.most
        ]
        return fits

    picked = pick(selector.diversity)
    got = np.bincount(both.owners[picked[stage[picked] == STAGE_SAFE]], minlength=len(need))
    if selector.diversity is None or (got >= need).all():
        return picked
    # Where no safe option differs enough from the others, one that is not equal to them will do:
    # such as one of them that goes farther.
    lacking, others = got < need, pick(None)
    return np.sort(
        np.concatenate(
            [picked[~lacking[both.owners[picked]]], others[lacking[both.owners[others]]]]
        )
    )
