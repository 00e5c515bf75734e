"""Say why there are fewer counterfactuals than were asked for, or none."""

from __future__ import annotations

import numpy as np

from counterset.steps.acceptance import Questions
from counterset.steps.pipeline import Candidates, Pipeline

__all__ = ["why_fewer", "why_nothing"]


def why_fewer(found: Candidates, wanted: int) -> str | None:
    """Name the steps that left some inputs with too few counterfactuals, if any were left so."""
    counts = found.counts
    short = (counts < wanted) & (counts > 0)
    if not short.any():
        return None
    few_candidates = short & (found.n_candidates < wanted)
    few_different = short & ~few_candidates & (found.n_chosen < wanted)
    reasons = (
        (
            few_candidates,
            "step 2 left too few acceptable candidates: raise alpha or epsilon, fit on more rows, "
            "or loosen the constraints",
        ),
        (
            few_different,
            "step 3 found too few that differ enough: lower beta, or raise alpha or epsilon",
        ),
        (
            short & ~few_candidates & ~few_different,
            "step 4 led several candidates to the same point",
        ),
    )
    told = "; ".join(f"{int(who.sum())} because {reason}" for who, reason in reasons if who.any())
    return (
        f"{int(short.sum())} of {len(counts)} inputs have fewer than {wanted} counterfactuals "
        f"(the fewest: {int(counts[short].min())}): {told}."
    )


def why_nothing(pipeline: Pipeline, questions: Questions, position: int) -> str:
    """Find out what ruled out every candidate of one input."""
    one = np.array([position])
    pool = pipeline.selector.pool
    acceptable = next(
        mask for members, mask in pipeline.acceptable(questions) if position in members
    )
    places = np.flatnonzero(acceptable)
    if not len(places):
        return (
            "no training row is both acceptable to the model and plausible or probable enough. "
            "Loosen the plausibility or the probability, or fit on more rows."
        )
    owners = np.repeat(one, len(places))
    rules, x = questions.wishes.rules, questions.inputs[owners]
    before = len(places)
    for count in range(1, len(rules.rules) + 1):
        some = rules.first(count)
        rows = pool.distance.table.snap(some.project(x, pool.matrix[places]), x)
        left = some.hold(x, rows) & (questions.decides_otherwise(rows, owners))
        if not left.any():
            return (
                f"the constraint '{rules.rules[count - 1].text}' rules out the last {before} of "
                f"{len(places)} candidates. Loosen it, or fit on more rows."
            )
        before = int(left.sum())
    return (
        f"{before} of {len(places)} candidates keep the constraints, but none of those is among "
        f"the nearest that were looked at, or plausible. Raise alpha or epsilon, or loosen the "
        f"plausibility."
        if rules
        else "every candidate is equal to the input: the model gives one row two labels. Pass a "
        "model that answers the same row always alike."
    )
