"""Certificates: what exact distances prove about an explanation.

``certify`` proves how far each counterfactual is from the optimum, for the input and for its
neighbours (proposition 2), and how far an input may move before an option stops working.

An option sets some features and keeps the others. An input that differs by ``r`` and makes the same
change gets a row that differs from the option's row by at most ``r``, in the kept features only. So
the option works for all inputs nearer than the exact distance from its row to another class, with
the set features fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset._base.checks import check_at_least
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import NothingLost
from counterset.exact.constraints import is_shared
from counterset.exact.definitions import safety
from counterset.exact.domains import Box, DomainLike, range_of_rows
from counterset.exact.problem import Clock, Problem
from counterset.exact.query import DistanceQuery
from counterset.exceptions import InvalidInputError, UnsupportedDistanceError
from counterset.explanations.certificate import Certificate
from counterset.explanations.context import Context
from counterset.explanations.explanation import Explanation
from counterset.models.goals import AnyOther, InInterval
from counterset.strategies.training import TrainingData
from counterset.tables.space import TableDistance
from counterset.tables.table import changed

__all__ = ["certify", "check_explanation", "check_own", "option_radii", "plausible_rows"]

#: A radius is smaller by a billionth than what is proved: more than rounding adds to distances.
MARGIN = 1e-9
#: When the time is up, an option still gets a thousandth of a second: what needs no solver is
#: proved.
SHORTEST = 1e-3


def option_radii(
    query: DistanceQuery, problem: Problem, rows: Matrix, from_list: Mask | None
) -> Vector:
    """Return for each option a distance within which it is proved to work for others, ``(k,)``.

    Infinite where it works for all inputs of the domain; 0 where nothing is proved.

    Parameters
    ----------
    query, problem
        The model, the distance and the domain; and the input.
    rows
        The rows of the options.
    from_list
        Which options come from a list: who has more than such an option asks for keeps it. None:
        none.
    """
    if not isinstance(query.domain, Box):
        raise InvalidInputError(
            f"options=True needs a Box as domain, got {type(query.domain).__name__}: whether an "
            f"option works for others is proved for all inputs between two bounds. Pass a Box, or "
            f"leave domain= out for the range of the training data."
        )
    listed = np.zeros(len(rows), dtype=bool) if from_list is None else from_list
    clock, radii = Clock.start(query.time_limit), np.zeros(len(rows))
    for i, row in enumerate(rows):
        share = max(clock.left / (len(rows) - i), SHORTEST)
        option = _Option(replace(query, time_limit=share), problem, row)
        radii[i] = option.radius_of_list() if listed[i] else option.radius()
    return radii * (1 - MARGIN)


class _Option:
    """One option of an input: its row, and the query to bound how far it is from another class."""

    def __init__(self, query: DistanceQuery, problem: Problem, row: Vector) -> None:
        self.query, self.problem, self.row = query, problem, row
        table = problem.model.table
        assert isinstance(query.domain, Box), "checked by option_radii"
        self.box = query.domain
        self.low, self.high = self.box.bounds(len(row))
        self.set = changed(problem.x, row)
        self.free = ~self.set
        numbers = np.array([not feature.is_category for feature in table.features])
        self.set_numbers = self.set & numbers

    def radius(self) -> float:
        """Return how far inputs may be that set the same features to the same values."""
        return self._distance(self.free, self.low, self.high)

    def radius_of_list(self) -> float:
        """Return how far inputs may be that have at least what the option asks for afterwards."""
        held = self.radius()
        step = self._shortest_step()
        if held <= step:
            return held
        # From this step on, an input may be beyond what is asked for: then it keeps what it has.
        rises = self.row > self.problem.x
        low = np.where(self.set_numbers & rises, self.row, self.low)
        high = np.where(self.set_numbers & ~rises, self.row, self.high)
        beyond = self._distance(self.free | self.set_numbers, low, high)
        return min(held, max(step, beyond))

    def _shortest_step(self) -> float:
        """Return how far an input must be at least to be beyond a number that the option sets."""
        steps = np.tile(self.problem.x, (len(self.row), 1))
        np.fill_diagonal(steps, self.row)
        lengths = self.problem.lengths(steps)[self.set_numbers]
        return float(lengths.min(initial=np.inf))

    def _distance(self, free: Mask, low: Vector, high: Vector) -> float:
        """Return how far it is at least to another class, if these features move."""
        if not free.any():
            return np.inf
        low = np.where(free, np.fmin(low, self.row), self.row)
        high = np.where(free, np.fmax(high, self.row), self.row)
        query = replace(self.query, domain=replace(self.box, low=low, high=high))
        return query.bounds_of_row(self.problem.model.table, self.row).lower


def certify(
    explanation: Explanation,
    epsilon: float | None,
    options: bool,
    training: TrainingData,
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
    training
        What the explainer learned in ``fit``: its model, its distance and its data.
    domain
        Where counterfactuals may lie; None: the range of the data, widened to hold the input and
        the options.
    """
    check_explanation(explanation, "certify")
    found = len(explanation) > 0
    if found and epsilon is None and not options:
        raise InvalidInputError(
            "certify was not asked to prove anything. Pass epsilon=..., how much worse than the "
            "optimum an option may be, or options=True, or both."
        )
    if explanation.status == "already_reached":
        raise InvalidInputError(
            "The input of this explanation has what is wanted already, so there is nothing to "
            "prove. Certify the explanation of another input."
        )
    if epsilon is not None:
        check_at_least(epsilon, 0, "epsilon")
        _check_metric(training.distance)
    if options:
        _check_classes(explanation.context)
    if domain is None:
        domain = _range_of_data(explanation, training)
    asked = _Asked(explanation, training, domain, time_limit)
    certificate = explanation.certificate or Certificate()
    if epsilon is not None or not found:
        certificate = asked.bounded(certificate, epsilon)
    if options:
        radii = asked.option_radii(certificate.from_list)
        certificate = replace(certificate, option_radii=radii)
    return explanation.with_certificate(certificate)


def _range_of_data(explanation: Explanation, training: TrainingData) -> Box:
    """Return the range of the training data, widened to hold the input and the options."""
    box = range_of_rows(training.table, training.pool.matrix).holding(explanation.input)
    if not len(explanation):
        return box
    options = training.table.encode(explanation.counterfactuals)[0]
    rows = np.vstack([*box.bounds(options.shape[1]), options])
    return replace(box, low=np.nanmin(rows, axis=0), high=np.nanmax(rows, axis=0))


class _Asked:
    """What an explanation was asked for, as a query for exact distances."""

    def __init__(
        self,
        explanation: Explanation,
        training: TrainingData,
        domain: DomainLike,
        time_limit: float,
    ) -> None:
        self._explanation, context = explanation, explanation.context
        given = context.constraints
        rules = training.rules(Constraints(**given) if given else None)
        self._plain = DistanceQuery.of(
            training.model, training.distance, domain, time_limit=time_limit
        )
        self._query = replace(
            self._plain,
            goal=context.goal,
            probability=context.probability,
            rules_of=lambda table: rules,
            plausible=plausible_rows(training),
        )
        self._shared = replace(rules, rules=tuple(filter(is_shared, rules.rules)))
        self._is_all_shared = len(self._shared.rules) == len(rules.rules)
        self._constrained = (
            not isinstance(context.goal, AnyOther)
            or context.probability is not None
            or any(not isinstance(rule, NothingLost) for rule in rules.rules)
        )
        self._problem = self._query.problem_of(explanation.input)
        table = self._problem.model.table
        self._rows = np.empty((0, len(table.features)))
        if len(explanation):
            self._rows = table.encode(explanation.counterfactuals)[0]
        check_own(explanation, self._problem.lengths(self._rows), "certify")

    def bounded(self, certificate: Certificate, epsilon: float | None) -> Certificate:
        """Return the certificate with the bounds on the distance, and the safety of each option."""
        known = self._query.nearest_known(self._problem, self._rows)
        bounds = self._query.bounds_of(self._problem, known)
        certificate = replace(certificate, distance_bounds=bounds, constrained=self._constrained)
        if epsilon is None:
            return certificate
        least = bounds
        if not self._is_all_shared and len(self._rows):
            # Others are kept by their own values where this input is kept by its own.
            shared = replace(self._query, rules_of=lambda table: self._shared)
            least = shared.bounds_of(shared.problem_of(self._explanation.input), known)
        proved = np.array([safety(d, least, epsilon)[0] for d in self._explanation.distances])
        # A counterfactual outside the domain is not one that the definitions are about.
        proved[[not self._query.holds(self._problem, row) for row in self._rows]] = -np.inf
        return replace(certificate, epsilon=epsilon, safety=proved)

    def option_radii(self, from_list: Mask | None) -> Vector:
        """Return how far the input may move before each option stops working."""
        problem = self._plain.problem_of(self._explanation.input)
        return option_radii(self._plain, problem, self._rows, from_list)


def plausible_rows(training: TrainingData) -> Callable[[Matrix], Mask] | None:
    """Return a function that tells which rows are plausible; None if nothing is asked."""
    support, distance = training.support, training.distance
    if support is None:
        return None
    return lambda rows: support.has(distance.embed(rows).coordinates)


def _check_metric(distance: TableDistance) -> None:
    if not (distance.symmetric and distance.triangle_inequality):
        raise UnsupportedDistanceError(
            f"A certificate needs a distance that is symmetric and has the triangle inequality "
            f"(proposition 2), which {distance.inner!r} does not claim. Choose l0, l1, l2 or linf, "
            f"or a CustomDistance with is_symmetric=True and has_triangle_inequality=True."
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


def check_explanation(explanation: object, method: str) -> None:
    """Check that a value is one explanation."""
    if not isinstance(explanation, Explanation):
        raise InvalidInputError(
            f"{method} takes one explanation, as explain returns it, got "
            f"{type(explanation).__name__}. Pass several one by one."
        )


def check_own(explanation: Explanation, lengths: Vector, method: str) -> None:
    """Raise an error if the explanation's distances are not this explainer's."""
    if not np.allclose(lengths, explanation.distances, rtol=1e-6, atol=0.0):
        raise InvalidInputError(
            f"The explanation was made by another explainer: its distances are not this one's. "
            f"Call {method} on the explainer that made it."
        )
