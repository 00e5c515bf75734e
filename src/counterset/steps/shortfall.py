"""Why there are fewer counterfactuals than were asked for, or none, in words for users."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, to_python
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InconsistentModelWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.steps.acceptance import Acceptance
from counterset.steps.pipeline import Found
from counterset.steps.runs import Run
from counterset.steps.selection import Selector

__all__ = ["reasons", "report_reached", "report_shortfall", "why_fewer", "why_nothing"]


def report_reached(reached: Mask, labels: Labels, if_none: str, stacklevel: int) -> None:
    """Raise or warn if inputs have what the user wants already."""
    there = np.flatnonzero(reached)
    if not len(there) or if_none == "ignore":
        return
    message = (
        f"The model already predicts what you want for {len(there)} of {len(labels)} inputs (first "
        f"at position {there[0]}: {to_python(labels[there[0]])!r}), so there is nothing to explain."
    )
    if if_none == "raise":
        raise InvalidInputError(
            f"{message} Leave them out, or pass skip=True or if_none='warn' to explain_many."
        )
    warnings.warn(
        f"{message} Their explanations are empty.",
        FewerCounterfactualsWarning,
        stacklevel=stacklevel + 1,
    )


def report_shortfall(
    runs: Sequence[Run], found: Found, positions: Indices, if_none: str, stacklevel: int
) -> None:
    """Raise or warn if an input has no counterfactual; warn if it has fewer than asked for.

    With ``if_none="ignore"``, nothing is said of either.

    Parameters
    ----------
    runs, found
        What was found for each group of inputs, and for all of them.
    positions
        Where the inputs stand in the table that the user passed.
    """
    counts = found.counterfactuals.counts
    if found.n_contradicted:
        warnings.warn(
            f"The model classified {found.n_contradicted} rows otherwise when it was asked again, "
            f"in another batch: near its decision boundary, its labels depend on the batch. So it "
            f"was asked about each counterfactual alone, and those that hold are returned.",
            InconsistentModelWarning,
            stacklevel=stacklevel + 1,
        )
    if if_none == "ignore":
        return
    if not counts.all():
        nothing = np.flatnonzero(counts == 0)
        reason = _reason(runs, int(nothing[0]))
        message = (
            f"No counterfactual for {len(nothing)} of {len(counts)} inputs (first at position "
            f"{positions[nothing[0]]}): {reason}"
        )
        if if_none == "raise":
            raise NoCounterfactualError(message)
        warnings.warn(message, FewerCounterfactualsWarning, stacklevel=stacklevel + 1)
    shortfall = why_fewer(found, runs[0].selector)
    if shortfall:
        warnings.warn(shortfall, FewerCounterfactualsWarning, stacklevel=stacklevel + 1)


def reasons(runs: Sequence[Run], found: Found, positions: Indices) -> dict[int, str]:
    """Return why inputs have no counterfactual, by where they stand in the user's table."""
    nothing = np.flatnonzero(found.counterfactuals.counts == 0)
    return {int(positions[each]): _reason(runs, int(each)) for each in nothing}


def _reason(runs: Sequence[Run], position: int) -> str:
    run = next(run for run in runs if position in run.members)
    member = int(np.searchsorted(run.members, position))
    return why_nothing(run.selector, run.acceptance, member)


def why_fewer(found: Found, selector: Selector) -> str | None:
    """Return why some inputs have too few counterfactuals; None if none have."""
    wanted, counts = selector.limit, found.counterfactuals.counts
    short = (counts < wanted) & (counts > 0)
    if not short.any():
        return None
    few_ways = short & found.sparse & (found.n_chosen < wanted)
    few_candidates = short & ~few_ways & (found.counterfactuals.n_candidates < wanted)
    few_different = short & ~few_ways & ~few_candidates & (found.n_chosen < wanted)
    reasons = (
        (
            few_ways,
            f"no more ways were found: nothing else that the constraints allow leads to what is "
            f"wanted and differs enough from these (diversity={selector.diversity!r}); let more "
            f"features change, or ask for fewer or less different ways",
        ),
        (
            few_candidates,
            f"candidates={selector.cutoff!r} left fewer than {wanted} acceptable training rows to "
            f"choose from; keep more candidates, fit on more rows, or loosen the constraints",
        ),
        (
            few_different,
            f"too few candidates differ enough for diversity={selector.diversity!r}; ask for less "
            f"diversity, or keep more candidates than candidates={selector.cutoff!r}",
        ),
        (
            short & ~few_ways & ~few_candidates & ~few_different,
            "the model did not confirm all of them"
            if found.n_contradicted
            else "the search moved several candidates to the same point",
        ),
    )
    told = "; ".join(f"{int(who.sum())} because {reason}" for who, reason in reasons if who.any())
    return (
        f"{int(short.sum())} of {len(counts)} inputs have fewer than {wanted} counterfactuals "
        f"(the fewest: {int(counts[short].min())}): {told}."
    )


def why_nothing(selector: Selector, acceptance: Acceptance, position: int) -> str:
    """Find out what ruled out every candidate of one input."""
    pool = selector.pool
    eligible = next(mask for members, mask in selector.eligible(acceptance) if position in members)
    pool_index = np.flatnonzero(eligible)
    if not len(pool_index):
        return (
            "no training row of an acceptable class is plausible and probable enough. Loosen "
            "plausibility= or target_probability=, or fit on more rows."
        )
    owners = np.repeat(np.array([position]), len(pool_index))
    rules, x = acceptance.requirements.rules, acceptance.inputs[owners]
    before = len(pool_index)
    for count in range(1, len(rules.rules) + 1):
        some = rules.first(count)
        rows = pool.distance.table.hold(some.project(x, pool.matrix[pool_index]), x)
        left = some.hold(x, rows) & acceptance.meets_goal(rows, owners)
        if not left.any():
            return (
                f"the constraint '{rules.rules[count - 1].text}' rules out the last {before} of "
                f"{len(pool_index)} candidates{_what_may_change(acceptance)}. Loosen it, or fit on "
                f"more rows."
            )
        before = int(left.sum())
    if not rules:
        return (
            "every candidate is equal to the input, so the model gives one row two labels. Pass a "
            "model that gives the same row the same label always."
        )
    return (
        f"{before} of {len(pool_index)} candidates keep the constraints, but none of those is "
        f"plausible and among the candidates={selector.cutoff!r} that were looked at. Keep more "
        f"candidates, or loosen plausibility=."
    )


def _what_may_change(acceptance: Acceptance) -> str:
    """Return which features may change, if that is less than half of them."""
    fixed, names = acceptance.requirements.rules.fixed, acceptance.distance.table.names
    free = [repr(name) for name, stays in zip(names, fixed, strict=True) if not stays]
    if 2 * len(free) >= len(names):
        return ""
    if not free:
        return "; no feature may change"
    return f"; of {len(names)} features only {' and '.join(free)} may change"
