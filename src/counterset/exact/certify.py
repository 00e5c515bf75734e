"""Attaching to an explanation what exact distances prove about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from counterset._base.arrays import Matrix
from counterset._base.checks import check_at_least
from counterset.distances import Distance
from counterset.exact.definitions import safety
from counterset.exact.distance import Question
from counterset.exact.domains import DomainLike
from counterset.exceptions import InvalidInputError, UnsupportedDistanceError
from counterset.results.certificate import Certificate
from counterset.results.explanation import Explanation

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
    question = Question.ask(model, distance, domain, time_limit=time_limit)
    if not (distance.symmetric and distance.triangle_inequality):
        raise UnsupportedDistanceError(
            f"A certificate rests on symmetry and the triangle inequality (proposition 2), which "
            f"{distance!r} does not claim. Choose l0, l1, l2 or linf, or a CustomDistance that "
            f"says so."
        )
    problem = question.problem_of(explanation.input)
    rows = problem.model.table.encode(explanation.counterfactuals)[0]
    _check_own(explanation, problem.lengths(rows))
    bounds = question.bounds(explanation.input, start)
    proved = np.array([safety(d, bounds, epsilon)[0] for d in explanation.distances])
    # What lies outside the domain is no option there, however near.
    proved[[not question.holds(problem, row) for row in rows]] = -np.inf
    held = explanation.certificate or Certificate()
    certificate = replace(held, epsilon=epsilon, distance_bounds=bounds, safety=proved)
    return explanation.with_certificate(certificate)


def _check_own(explanation: Explanation, lengths: Matrix) -> None:
    """Refuse an explanation whose distances are not this explainer's."""
    if not np.allclose(lengths, explanation.distances, rtol=1e-6, atol=1e-9):
        raise InvalidInputError(
            "The explanation is by another explainer: its distances are not this one's. Have it "
            "certified by the explainer that made it."
        )
