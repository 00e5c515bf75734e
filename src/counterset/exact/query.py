"""DistanceQuery: a model, a distance and a domain, checked and ready for any input.

For each input it makes the :class:`~counterset.exact.problem.Problem`, chooses the solver, and
turns the solver's result into bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset import distances
from counterset._base.arrays import Mask, Matrix, Vector, to_python
from counterset._base.checks import check_positive
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.distances import Distance, DistanceLike, Gower
from counterset.exact.constraints import Feasible
from counterset.exact.domains import (
    Box,
    Domain,
    DomainLike,
    Points,
    as_domain,
    number_rows,
)
from counterset.exact.finite import solve_finite
from counterset.exact.networks import ReluNetwork, as_model
from counterset.exact.norms import read_norm
from counterset.exact.problem import Clock, Problem, SolverResult
from counterset.exact.sampling import solve_by_sampling
from counterset.exact.solvers import solve
from counterset.exceptions import (
    DomainError,
    InvalidInputError,
    ModelError,
    NoCounterfactualError,
    UnsupportedDistanceError,
    UnsupportedModelError,
)
from counterset.explanations.certificate import DistanceBounds
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import (
    AnyOther,
    Classes,
    Goal,
    InInterval,
    OneOf,
    check_probability,
    is_reached,
    read_goal,
    why_out_of_reach,
)
from counterset.tables.frames import is_frame, row_at
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["DistanceQuery", "Method", "integer_features"]

Method: TypeAlias = Literal["auto", "exact", "search"]
ANY_OTHER = AnyOther()


@dataclass(frozen=True, eq=False)
class DistanceQuery:
    """How far the nearest counterfactual is, for whichever input.

    Attributes
    ----------
    model, distance, domain, time_limit, tolerance, method
        As for :func:`~counterset.counterfactual_distance`.
    goal, probability
        Which labels are acceptable, and how probable the model must find them, or None.
    rules_of
        Returns the constraints for the columns of a table; None if there are none.
    plausible
        Returns which rows are plausible; None if all are.
    missed
        Whether to look for a row that does not reach the goal, from an input that does.
    """

    model: Any
    distance: Distance
    domain: Domain
    time_limit: float
    tolerance: float
    method: Method
    goal: Goal = ANY_OTHER
    probability: float | None = None
    rules_of: Callable[[Table], Rules] | None = None
    plausible: Callable[[Matrix], Mask] | None = None
    missed: bool = False

    @classmethod
    def of(
        cls,
        model: Any,
        distance: DistanceLike = "l1",
        domain: DomainLike = None,
        *,
        time_limit: float = 60.0,
        tolerance: float = 1e-5,
        method: Method = "auto",
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: Constraints | None = None,
    ) -> DistanceQuery:
        """Check the arguments of :func:`~counterset.counterfactual_distance`."""
        check_positive(time_limit, "time_limit")
        check_positive(tolerance, "tolerance")
        if method not in ("auto", "exact", "search"):
            raise InvalidInputError(f"method must be 'auto', 'exact' or 'search', got {method!r}.")
        check_probability(target_probability)
        if not isinstance(constraints, Constraints | None):
            raise InvalidInputError(
                f"constraints must be Constraints, got {constraints!r}. Write "
                f"constraints=Constraints(immutable=['age'])."
            )
        model, domain = as_model(model), as_domain(domain)
        return cls(
            model,
            distances.get(distance),
            domain,
            time_limit,
            tolerance,
            method,
            _read_goal(model, target, interval),
            target_probability,
            None if constraints is None else _compiled(constraints, domain),
        )

    def bounds(self, x: Any, start: Any = None) -> DistanceBounds:
        """Bound the distance of one input; ``start`` are known counterfactuals."""
        problem = self.problem_of(x)
        known = None if start is None else self._check_start(problem, start)
        return self.bounds_of(problem, known)

    def bounds_of_row(self, table: Table, row: Vector) -> DistanceBounds:
        """Bound the distance of one input, given as a row of a table."""
        return self.bounds_of(self.problem_of_row(table, row), None)

    def bounds_of(self, problem: Problem, known: Vector | None) -> DistanceBounds:
        """Bound the distance of one problem; ``known`` is a counterfactual, or None."""
        result = self._solve(problem, known)
        witnesses = [row for row in (result.witness, known) if row is not None]
        lengths = problem.lengths(np.array(witnesses).reshape(-1, len(problem.x)))
        nearest = witnesses[int(lengths.argmin())] if witnesses else None
        ignored = (*problem.ignored, *result.ignored)
        result = replace(result, witness=nearest, ignored=ignored)
        # Of rows that miss the goal, what is ignored would make the lower bound too large.
        if (self.method == "exact" or self.missed) and result.ignored:
            raise UnsupportedModelError(
                f"No exact method considers {' and '.join(result.ignored)} for this model. Leave "
                f"it out, or pass method='auto' for a lower bound without it."
            )
        return self._to_bounds(problem, result)

    def problem_of(self, x: Any) -> Problem:
        """Return the problem of one input."""
        if isinstance(x, pd.Series):
            x = x.to_frame().T.infer_objects()
        elif not (isinstance(x, pd.DataFrame) or is_frame(x)):
            x = number_rows(x, "x")
        table, matrix = self.read(x)
        if len(matrix) != 1:
            raise InvalidInputError(
                f"counterfactual_distance takes one row, got {len(matrix)}. Use "
                f"counterfactual_distances for several."
            )
        return self.problem_of_row(table, matrix[0])

    def problem_of_row(self, table: Table, row: Vector) -> Problem:
        """Return the problem of one input, given as a row of a table."""
        _check_known(table, row)
        model = ModelAdapter(self.model, table, with_confidence=self.probability is not None)
        distance = _between_rows(self.distance, table, row)
        rules = None if self.rules_of is None else self.rules_of(table)
        low, high = (bound[0] for bound in self.bounds_around(table, row[None, :], rules))
        for i, feature in enumerate(table.features):
            if feature.values is not None:  # positions among the values that the data has
                low[i] = max(low[i], min(feature.low, row[i]))
                high[i] = min(high[i], max(feature.high, row[i]))
        integer = integer_features(table)
        return Problem(
            x=row,
            label=self._label(model, row),
            model=model,
            distance=distance,
            norm=read_norm(distance, len(row)),
            feasible=Feasible.of(rules, table, row, low, high, integer),
            integer=integer,
            clock=Clock.start(self.time_limit),
            goal=self.goal,
            probability=self.probability,
            rules=rules,
            plausible=self.plausible,
            missed=self.missed,
        )

    def _label(self, model: ModelAdapter, row: Vector) -> Any:
        """Return what the model predicts for the input, after checking that it is not wanted."""
        answers = model.answers(row[None, :])
        if isinstance(self.goal, InInterval) and answers.labels.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"An interval needs a model that predicts numbers, but it predicts "
                f"{to_python(answers.labels[0])!r}. Pass a target class instead."
            )
        if not hasattr(self.model, "classes_") and isinstance(self.goal, AnyOther):
            read_goal(Classes(answers.labels), None, None)  # a regression needs an interval
        if is_reached(self.goal, answers, self.probability)[0] != self.missed:
            raise InvalidInputError(
                f"The model already predicts what you want for the input, "
                f"{to_python(answers.labels[0])!r}, so there is no distance to it. Leave the input "
                f"out, or ask for something else."
            )
        return answers.labels[0]

    def read(self, X: Any) -> tuple[Table, Matrix]:
        """Return the columns that the model takes, and the inputs as rows of them."""
        table_given = isinstance(X, pd.DataFrame) or is_frame(X)
        rows = X if table_given else number_rows(X, "X", single=False)
        if len(rows) == 0:
            raise InvalidInputError("X has no rows. Pass at least one.")
        table = self.domain.table
        if table is None and isinstance(self.distance, TableDistance):
            # Its table knows the categories; numbers are read as they come.
            table = None if _is_numeric(self.distance.table) else self.distance.table
        if table is None:
            return Table.learn(rows, Schema(step=0))
        return table, table.encode(rows)[0]

    def bounds_around(
        self, table: Table, matrix: Matrix, rules: Rules | None
    ) -> tuple[Matrix, Matrix]:
        """Return the lower and upper bounds around each input, both ``(n, d)``.

        Both are the input's own value where a feature is fixed.
        """
        if not isinstance(self.domain, Box):
            if self.domain.n_features != matrix.shape[1]:
                raise InvalidInputError(
                    f"The domain has {self.domain.n_features} features, but the input has "
                    f"{matrix.shape[1]}. Pass a domain with the input's features."
                )
            return np.full(matrix.shape, -np.inf), np.full(matrix.shape, np.inf)
        low, high = self.domain.bounds(matrix.shape[1])
        outside = np.argwhere((matrix < low) | (matrix > high))
        if len(outside):
            row, i = outside[0]
            raise DomainError(
                f"The input lies outside the domain: feature {table.names[i]!r} is "
                f"{matrix[row, i]:g}, not between {low[i]:g} and {high[i]:g}. Widen the domain, "
                f"or leave the input out."
            )
        fixed = np.zeros(matrix.shape[1], dtype=bool) if rules is None else rules.fixed
        return np.where(fixed, matrix, low), np.where(fixed, matrix, high)

    def holds(self, problem: Problem, row: Vector) -> bool:
        """Return whether a row is a point of the domain that can be reached from the input."""
        if not problem.keeps(row[None, :])[0]:
            return False
        if isinstance(self.domain, Box):
            return bool(((row >= problem.low) & (row <= problem.high)).all())
        return self.domain.holds(row, problem.x, problem.fixed)

    def nearest_known(self, problem: Problem, rows: Matrix) -> Vector | None:
        """Return the nearest of these rows that is a counterfactual in the domain, or None."""
        inside = np.array([self.holds(problem, row) for row in rows], dtype=bool)
        return problem.nearest_flip(rows[inside])

    def _check_start(self, problem: Problem, start: Any) -> Vector:
        """Return the nearest of the known counterfactuals."""
        table = problem.model.table
        known = self.nearest_known(problem, table.encode_any(start))
        if known is None:
            raise InvalidInputError(
                "start is no counterfactual: it lies outside the domain, breaks a constraint, or "
                "the model does not predict what is wanted for it. Pass a row that is one, or "
                "None."
            )
        return known

    def _solve(self, problem: Problem, start: Vector | None) -> SolverResult:
        feature = problem.feasible.empty
        if feature is not None:
            name = problem.model.table.names[feature]
            method = f"the constraints leave no value for {name!r}"
            return SolverResult(np.inf, None, method, none_exists=True)
        labels = np.asarray(getattr(self.model, "classes_", ()))
        by_label = not self.missed or self.probability is None
        if by_label and labels.ndim == 1 and len(labels) and not problem.wants(labels).any():
            return SolverResult(np.inf, None, "the model knows one class only", none_exists=True)
        if not isinstance(self.domain, Box):
            return solve_finite(problem, self.domain)
        if self.method == "search":
            return solve_by_sampling(problem, start)
        return solve(self.model, problem, start, fallback=self.method == "auto")

    def _to_bounds(self, problem: Problem, result: SolverResult) -> DistanceBounds:
        upper, witness = np.inf, None
        if result.witness is not None:
            _check_deterministic(problem, result.witness)
            upper = float(problem.lengths(result.witness[None, :])[0])
            witness = row_at(problem.model.table.decode(result.witness[None, :]), 0)
        lower = min(result.lower, upper)
        # No closer than the model's own rounding lets the distance be known.
        blur = result.blur / upper if upper > 0 else 0.0
        tolerance = self.tolerance + blur
        exact = result.none_exists if witness is None else upper - lower <= tolerance * upper
        return DistanceBounds(
            lower=lower,
            upper=upper,
            exact=exact,
            witness=witness,
            seconds=problem.clock.seconds,
            method=result.method,
            reason="" if exact else _reason(result),
            tolerance=tolerance,
        )


def _reason(result: SolverResult) -> str:
    """Return why bounds are not exact."""
    if not result.ignored:
        return result.reason
    return f"the lower bound does not consider {' and '.join(result.ignored)}"


def _read_goal(model: Any, target: Any, interval: tuple[float, float] | None) -> Goal:
    """Return what the user wants of a model; its classes are checked where they are known."""
    known = model.labels if isinstance(model, ReluNetwork) else getattr(model, "classes_", None)
    if known is None or np.ndim(known) != 1:
        if target is None and interval is None:
            return AnyOther()  # of a regression: refused when its prediction is seen
        several = isinstance(target, Iterable) and not isinstance(target, str | bytes)
        known = list(target) if several else [0.0 if target is None else target]
    classes = Classes(np.asarray(known))
    goal = read_goal(classes, target, interval)
    if isinstance(goal, OneOf) and (missing := why_out_of_reach(goal, classes)) is not None:
        raise NoCounterfactualError(missing)
    return goal


def _compiled(constraints: Constraints, domain: Domain) -> Callable[[Table], Rules]:
    """Return a function that compiles constraints for the columns of a table."""
    rows = domain.matrix if isinstance(domain, Points) else getattr(domain, "rows", None)
    if constraints.together and rows is None:
        raise InvalidInputError(
            "together= takes values that occur together in a row, but this domain has no rows. "
            "Pass domain=Box.of(X), a fitted explainer or a table of points."
        )

    def compile_for(table: Table) -> Rules:
        return constraints.compile(
            table, np.empty((0, len(table.features))) if rows is None else rows
        )

    return compile_for


def integer_features(table: Table) -> Mask:
    """Return which features take whole numbers only: counts, and positions among values."""
    return np.array([feature.kind != "continuous" for feature in table.features])


def _is_numeric(table: Table) -> bool:
    return all(feature.values is None for feature in table.features)


def _between_rows(distance: Distance, table: Table, row: Vector) -> Distance:
    """Return the distance between rows of a table: a changed category counts 1.

    Gower's distance scales numbers to [0, 1] by the ranges of the table.
    """
    gower = isinstance(distance, Gower)
    if isinstance(distance, TableDistance) or (_is_numeric(table) and not gower):
        return distance
    scale = "range" if gower else None
    return TableDistance(table, Space.learn(row[None, :], table, scale), distance)


def _check_deterministic(problem: Problem, witness: Vector) -> None:
    """Ask the model once more about the input and the witness, each alone."""
    same = np.array_equal(witness, problem.x)
    reached = problem.reaches(problem.x[None, :])[0]
    if same or reached or not problem.confirms(witness):
        raise ModelError(
            "The model classified the same row in two ways, so its counterfactuals have no "
            "distance. Pass a model whose prediction depends on the row alone: no randomness, no "
            "state."
        )


def _check_known(table: Table, row: Vector) -> None:
    """Refuse what no exact method takes: times, codes between numbers, and missing values."""
    times = [feature.name for feature in table.features if feature.is_time]
    if times:
        raise UnsupportedDistanceError(
            f"Exact distances are between numbers and categories, but {times[:5]} are times. Pass "
            f"the model as a function of encoded numbers."
        )
    coded = [
        feature.name
        for feature in table.features
        if any(feature.low <= code <= feature.high for code in feature.special)
    ]
    if coded:
        raise UnsupportedDistanceError(
            f"The special codes of {coded[:5]} lie between their numbers, where an exact distance "
            f"would take them for numbers. Give the model codes outside of the numbers' range."
        )
    missing = [
        feature.name
        for feature, code in zip(table.features, row, strict=True)
        if not feature.is_known(np.array([code]))[0]
    ]
    if missing:
        raise UnsupportedDistanceError(
            f"The input has no value for {missing[:5]}, and exact distances are from known values. "
            f"Fill them in, or explain the input with DiverseExplainer."
        )
