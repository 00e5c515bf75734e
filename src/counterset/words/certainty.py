"""How far options are, how steady they are, and what is proved, checked or only measured."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from counterset._base.arrays import Vector
from counterset.exceptions import InvalidInputError
from counterset.results.certificate import Certificate, rounded_down, rounded_up
from counterset.results.explanation import Explanation
from counterset.results.steadiness import Steadiness
from counterset.tables.table import Table
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates
from counterset.words.values import Writer, percent

__all__ = ["how_far", "how_sure", "measured"]

#: The distances and scales in which 1 is one feature moved across its usual range.
DISTANCES = re.compile(r"l1|l2|linf|(L1|L2|LInf)\((weights=None)?\)")
SCALES = ("robust", "range")
#: What ``evaluate`` returns, as far as it is told.
MEASURED = ("input_distance", "set_distance_mean", "k_distance")


def how_far(explanation: Explanation, templates: Templates) -> list[str]:
    """Return how far the nearest option is, in words, if the distance has words."""
    if not len(explanation):
        return []
    settings, sentences = explanation.context.settings.value, []
    usual = DISTANCES.fullmatch(str(settings.get("distance"))) and settings.get("scale") in SCALES
    if usual and not explanation.context.costs:
        nearest = float(explanation.distances[0])
        if nearest < 1.05:  # from here on, two digits say more than 1 times
            sentences.append(templates("far.share", share=percent(nearest, templates)))
        else:
            sentences.append(templates("far.times", times=rounded(nearest, 2)))
    if explanation.context.costs:
        sentences.append(templates("far.costs"))
    return sentences


def how_sure(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str]:
    """Return what is checked and what is proved, a sentence each."""
    if not len(explanation):
        return _none(explanation, templates, outcomes)
    if outcomes.differ or explanation.context.probability is not None:
        asked = templates("sure.asked_goal", wanted=outcomes.aim())
    else:
        classified = outcomes.classified(explanation.labels[0])
        asked = templates("sure.asked_class", classified=classified)
    certificate = explanation.certificate or Certificate()
    return [
        asked,
        _nearest(explanation, certificate, templates),
        *_safe(certificate, templates),
        *_works(certificate, templates),
        *_same(certificate, templates),
        *_listed(certificate, templates),
    ]


def _none(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> list[str]:
    """Return whether it is proved that an explanation has no options because there are none."""
    bounds = None if explanation.certificate is None else explanation.certificate.distance_bounds
    if bounds is None:
        return []
    if bounds.none_exists:
        return [templates("sure.none_exists", wanted=outcomes.aim())]
    if math.isinf(bounds.upper):
        return [templates("sure.none_unproved")]
    return [templates("sure.none_but_one", distance=rounded_up(bounds.upper))]


def _nearest(explanation: Explanation, certificate: Certificate, templates: Templates) -> str:
    bounds = certificate.distance_bounds
    if bounds is not None and not bounds.was_read:
        return templates("sure.unread")
    if bounds is not None and bounds.lower > 0:
        return templates("sure.nearest", distance=rounded_down(bounds.lower))
    return templates("sure.not_nearest")


def _safe(certificate: Certificate, templates: Templates) -> list[str]:
    """Return within what radius each option stays one; ways of equal radius together."""
    if certificate.radii is None or certificate.epsilon is None or certificate.nothing_proved:
        return []
    told = []
    for radius, ranks in _by_radius(certificate.radii).items():
        if radius > 0:
            ways = _ways(ranks, ("sure.safe_one", "sure.safe_many"), templates)
            epsilon, within = f"{certificate.epsilon:g}", rounded_down(radius)
            name = "sure.safe_same" if certificate.constrained else "sure.safe"
            told.append(templates(name, ways=ways, epsilon=epsilon, radius=within))
    return told


def _works(certificate: Certificate, templates: Templates) -> list[str]:
    """Return how near others must be for whom each way works; ways of equal radius together."""
    if certificate.option_radii is None:
        return []
    told = []
    for radius, ranks in _by_radius(certificate.option_radii).items():
        ways = _ways(ranks, ("sure.works_one", "sure.works_many"), templates)
        if math.isinf(radius):
            told.append(templates("sure.works_all", ways=ways))
        elif radius > 0:
            told.append(templates("sure.works", ways=ways, radius=rounded_down(radius)))
        else:
            told.append(templates("sure.works_unproved", ways=ways))
    return told


def _by_radius(radii: Vector) -> dict[float, list[str]]:
    """Return the ranks of the ways of each radius, rounded down."""
    ranks: dict[float, list[str]] = {}
    for rank, radius in enumerate(radii.tolist(), start=1):
        told = float(rounded_down(radius)) if 0 < radius < math.inf else radius
        ranks.setdefault(told, []).append(str(rank))
    return ranks


def _ways(ranks: list[str], names: tuple[str, str], templates: Templates) -> str:
    """Return "way 1 works" or "ways 1 and 2 work", by the templates for one and for many."""
    one, many = names
    if len(ranks) == 1:
        return templates(one, rank=ranks[0])
    return templates(many, ranks=templates.join(ranks))


def _same(certificate: Certificate, templates: Templates) -> list[str]:
    radius = certificate.stable_radius
    if radius is None or not radius > 0:
        return []
    if math.isinf(radius):
        return [templates("sure.same_all")]
    return [templates("sure.same_within", radius=rounded_down(radius))]


def _listed(certificate: Certificate, templates: Templates) -> list[str]:
    """Return what is certain about the list that the options come from."""
    told, radius, alone = [], certificate.list_radius, certificate.alone
    if radius is not None and math.isinf(radius):
        told.append(templates("sure.list_all"))
    elif radius is not None and radius > 0:
        told.append(templates("sure.list_within", radius=rounded_down(radius)))
    if len(alone) == 1:
        told.append(templates("sure.alone_one", rank=alone[0]))
    elif alone:
        told.append(templates("sure.alone_many", ranks=templates.join(list(map(str, alone)))))
    return told


def measured(
    stability: pd.DataFrame | Steadiness | None, templates: Templates, ways: int, table: Table
) -> list[str]:
    """Return what was measured on noisy copies of the input; nothing if nothing was.

    Parameters
    ----------
    stability
        What ``evaluate`` or ``steadiness`` returned for this input.
    ways
        How many ways the explanation has.
    table
        The features, to say how different the copies are.
    """
    if stability is None:
        return []
    if isinstance(stability, Steadiness):
        if len(stability.kept) != ways:
            raise InvalidInputError(
                f"stability was measured on {len(stability.kept)} ways, but this explanation has "
                f"{ways}. Pass what steadiness returns for this explanation."
            )
        return [*_kept(stability, templates), *_slightly(stability.differences, table, templates)]
    columns = getattr(stability, "columns", ())
    if any(name not in columns for name in MEASURED) or not len(stability):
        raise InvalidInputError(
            f"stability takes what steadiness returns, or the table that evaluate returns, for "
            f"this input, with the columns {', '.join(MEASURED)}, got {type(stability).__name__}."
        )
    near, differ, far = (rounded(np.nanmean(stability[name]), 2) for name in MEASURED)
    count = len(stability)
    return [
        templates("sure.measured", count=count, near=near, differ=differ, far=far),
        *_slightly(stability.attrs.get("differences", {}), table, templates),
    ]


def _slightly(differences: Mapping[str, float], table: Table, templates: Templates) -> list[str]:
    """Return how different slightly different inputs are, in the units of the reader."""
    text = Writer(templates).differences(differences, table)
    return [templates("sure.slightly", differences=text)] if text else []


def _kept(steadiness: Steadiness, templates: Templates) -> list[str]:
    """Return for how many copies each way is found again; ways of equal numbers together."""
    if not steadiness.copies:
        return [templates("sure.kept_unknown")]
    ranks: dict[int, list[str]] = {}
    for rank, kept in enumerate(steadiness.kept.tolist(), start=1):
        ranks.setdefault(kept, []).append(str(rank))
    found = [
        templates(
            "sure.kept_one" if len(which) == 1 else "sure.kept_many",
            ranks=templates.join(which),
            kept=kept,
            copies=steadiness.copies,
        )
        for kept, which in ranks.items()
    ]
    told = templates(
        "sure.kept",
        near=rounded(steadiness.moved, 2),
        ways=templates("list.comma").join(found),
        same=steadiness.same,
        copies=steadiness.copies,
    )
    return [told, templates("sure.kept_means")]
