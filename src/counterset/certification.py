"""Attaching to an explanation what exact distances prove about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from counterset.certificate import Certificate
from counterset.checks import check_at_least
from counterset.definitions import safety
from counterset.distances import Distance
from counterset.exact import counterfactual_distance
from counterset.exact.domains import DomainLike
from counterset.exceptions import UnsupportedDistanceError
from counterset.explanation import Explanation

__all__ = ["certify"]


def certify(
    explanation: Explanation,
    epsilon: float,
    *,
    model: Any,
    distance: Distance,
    domain: DomainLike,
    start: Any,
    time_limit: float,
) -> Explanation:
    """Give the explanation with a certificate that holds the safety of each counterfactual.

    ``start`` are counterfactuals within the domain that the solver may start from, or None.
    """
    check_at_least(epsilon, 0, "epsilon")
    if not (distance.symmetric and distance.triangle_inequality):
        raise UnsupportedDistanceError(
            f"A certificate rests on symmetry and the triangle inequality (proposition 2), which "
            f"{distance!r} does not claim. Choose l0, l1, l2 or linf, or a CustomDistance that "
            f"says so."
        )
    bounds = counterfactual_distance(
        model,
        explanation.input,
        distance,
        domain,
        time_limit=time_limit,
        start=start,
    )
    proved = np.array([safety(d, bounds, epsilon)[0] for d in explanation.distances])
    held = explanation.certificate or Certificate()
    certificate = replace(held, epsilon=epsilon, distance_bounds=bounds, safety=proved)
    return replace(explanation, certificate=certificate)
