"""Nearby: what people almost like this one are offered."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset.evaluation.steadiness import compare_with_copies
from counterset.noise import GaussianNoise
from counterset.serve.cards import Cards
from counterset.serve.case_requests import (
    NearbyRequest,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
    row_of,
)
from counterset.serve.served import Served
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["ask_nearby"]

#: 20 people almost like this one: enough to see what is rare, and few enough to be drawn.
PEOPLE = 20


def ask_nearby(request: NearbyRequest, served: Served) -> dict[str, Any]:
    """Return which of the ways people almost like this one are offered too.

    Returns
    -------
    dict
        ``people``: how many copies of the same class were found; ``kept``: for each way, by which
        of them it is kept; ``differ``: the mean distance between their sets and this one, None if
        there is none; ``differences``: by how much these people differ from this one, in words.
    """
    explainer = explainer_of(request, served, anchored=request.anchored)
    row = row_of(codes_of(request.values, served.table), served)
    (explanation,) = explainer.explain_many(
        row,
        constraints=constraints_of(request.limits, served),
        if_none="ignore",
        **goal_of(request, served),
    )
    if not len(explanation):
        nothing = {"people": 0, "kept": [], "ways": [], "differ": None, "moved": None}
        return nothing | {"differences": ""}
    compared = compare_with_copies(
        explainer,
        explanation,
        repeats=PEOPLE,
        random_state=request.seed,
        noise=GaussianNoise(variance=request.noise**2),
    )
    return {
        "people": len(compared),
        "kept": compared.kept_by.astype(int).tolist(),
        "ways": Cards(explanation, served).ways(),
        "differ": _mean(compared.set_distances),
        "moved": _mean(compared.distances),
        "differences": Writer(Templates.read(None)).differences(compared.differences, served.table),
    }


def _mean(numbers: Any) -> float | None:
    known = np.asarray(numbers)[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else None
