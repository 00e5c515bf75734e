"""certify: attach to an explanation what exact distances prove about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from counterset._base.arrays import Vector
from counterset._base.checks import check_at_least
from counterset.distances import Distance
from counterset.exact.definitions import safety
from counterset.exact.domains import Box, DomainLike
from counterset.exact.option_radii import option_radii
from counterset.exact.query import DistanceQuery
from counterset.exceptions import InvalidInputError, UnsupportedDistanceError
from counterset.models.goals import InInterval
from counterset.results.certificate import Certificate
from counterset.results.context import Context
from counterset.results.explanation import Explanation

__all__ = ["certify", "check_explanation"]


def certify(
    explanation: Explanation,
    epsilon: float | None,
    options: bool,
    explainer: Any,
    domain: DomainLike,
    time_limit: float,
) -> Explanation:
    """Return the explanation with a certificate, see ``DiverseExplainer.certify``.

    Parameters
    ----------
    epsilon
        Prove the safety of each counterfactual for this epsilon; None: do not.
    options
        Whether to prove how far the input may move before an option stops working.
    explainer
        The fitted explainer that made the explanation: its model, its distance and its data.
    domain
        Where counterfactuals may lie; None: the range of the data, widened to hold the input.
    """
    check_explanation(explanation)
    if epsilon is None and not options:
        raise InvalidInputError(
            "certify was not asked to prove anything. Pass epsilon=..., how much worse than the "
            "optimum an option may be, or options=True, or both."
        )
    start = None
    if domain is None:
        # The counterfactuals lie in that range, so that the solver can start from them.
        domain, start = Box.of(explainer).holding(explanation.input), explanation.counterfactuals
    distance = explainer.distance_
    query = DistanceQuery.of(explainer.model, distance, domain, time_limit=time_limit)
    certificate = explanation.certificate or Certificate()
    if epsilon is not None:
        check_at_least(epsilon, 0, "epsilon")
        _check_metric(distance)
    if options:
        _check_classes(explanation.context)
    problem = query.problem_of(explanation.input)
    rows = problem.model.table.encode(explanation.counterfactuals)[0]
    _check_own(explanation, problem.lengths(rows))
    if epsilon is not None:
        bounds = query.bounds(explanation.input, start)
        proved = np.array([safety(d, bounds, epsilon)[0] for d in explanation.distances])
        # A counterfactual outside the domain is not one that the definitions are about.
        proved[[not query.holds(problem, row) for row in rows]] = -np.inf
        certificate = replace(certificate, epsilon=epsilon, distance_bounds=bounds, safety=proved)
    if options:
        radii = option_radii(query, problem, rows, certificate.from_list)
        certificate = replace(certificate, option_radii=radii)
    return explanation.with_certificate(certificate)


def _check_metric(distance: Distance) -> None:
    if not (distance.symmetric and distance.triangle_inequality):
        raise UnsupportedDistanceError(
            f"A certificate needs a distance that is symmetric and has the triangle inequality "
            f"(proposition 2), which {distance!r} does not claim. Choose l0, l1, l2 or linf, or a "
            f"CustomDistance with is_symmetric=True and has_triangle_inequality=True."
        )


def _check_classes(context: Context) -> None:
    """Raise an error if more was asked for than a class: solvers read nothing else."""
    asked = None
    if isinstance(context.goal, InInterval):
        asked = "interval="
    elif context.probability is not None:
        asked = "target_probability="
    if asked:
        raise InvalidInputError(
            f"options=True proves which class an option leads to, but this explanation was made "
            f"with {asked}, which asks for more. Certify an explanation that was made without it."
        )


def check_explanation(explanation: object) -> None:
    """Check that a value is one explanation."""
    if not isinstance(explanation, Explanation):
        raise InvalidInputError(
            f"certify takes one explanation, as explain gives it, got "
            f"{type(explanation).__name__}. Of several, certify each."
        )


def _check_own(explanation: Explanation, lengths: Vector) -> None:
    """Raise an error if the explanation's distances are not this explainer's."""
    if not np.allclose(lengths, explanation.distances, rtol=1e-6, atol=0.0):
        raise InvalidInputError(
            "The explanation was made by another explainer: its distances are not this one's. Call "
            "certify on the explainer that made it."
        )
