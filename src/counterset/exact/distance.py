"""counterfactual_distance: how near another class is, exactly where a solver reads the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset import distances
from counterset._base.arrays import Mask, Matrix, to_python
from counterset._base.checks import check_positive
from counterset.distances import Distance, DistanceLike, Gower
from counterset.exact.domains import (
    Box,
    Domain,
    DomainLike,
    as_domain,
    changeable_mask,
    number_rows,
)
from counterset.exact.finite import solve_finite
from counterset.exact.networks.models import as_model
from counterset.exact.norms import read_norm
from counterset.exact.problem import Answer, Clock, Problem
from counterset.exact.sampling import solve_by_search
from counterset.exact.solvers import solve
from counterset.exceptions import (
    DomainError,
    InvalidInputError,
    ModelError,
    NoCounterfactualExistsError,
    UnsupportedDistanceError,
)
from counterset.models.adapter import ModelAdapter
from counterset.results.bounds import DistanceBounds
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["Method", "Question", "counterfactual_distance", "table_integers"]

Method: TypeAlias = Literal["auto", "exact", "search"]


def counterfactual_distance(
    model: Any,
    x: Any,
    distance: DistanceLike = "l1",
    domain: DomainLike = None,
    *,
    time_limit: float = 60.0,
    tolerance: float = 1e-5,
    start: Any = None,
    method: Method = "auto",
) -> DistanceBounds:
    """Bound the counterfactual distance of an input, exactly where the model can be read.

    cfd(x) is the infimum of the distances from x to the points of the domain that the model
    decides otherwise (definition 1 of the paper).

    ===============================  ===========================================================
    model                            how
    ===============================  ===========================================================
    linear, also after a scaler      closed form; a mixed-integer programme for whole numbers
    ReLU network                     mixed-integer programme (HiGHS)
    decision tree                    its leaves; also after scalers and encoders
    tree ensemble                    constraint programme (OR-tools, the ``[exact]`` extra); also
                                     after scalers and encoders
    one nearest neighbour            enumeration of its cells
    any, on a finite domain          enumeration, the nearest first
    any other                        search: an upper bound; the lower bound is 0
    ===============================  ===========================================================

    Parameters
    ----------
    model
        A fitted classifier, a function from rows to labels, a list of pairs of weights and biases
        (a ReLU network), or a torch ``Sequential`` of ``Linear`` and ``ReLU``.
    x
        One row.
    distance
        As for the explainer; its fitted ``distance_`` takes the distance in its scaled space.
        By name, numbers are compared as they are and a changed category counts 1; ``"gower"``
        scales numbers by their range in the domain's table.
    domain
        A :class:`Box` or :class:`Grid`, a table of points, a fitted explainer (the range of the
        data it was fitted on), or None: no bounds. Columns of categories need a domain that knows
        their values: an explainer, or ``Box.of(X)``.
    time_limit
        In seconds; when they are up, the bounds found so far are given.
    tolerance
        How near the bounds must be to be called exact, relative to the distance where that is
        above 1. Bounds by HiGHS are good to 2e-6 of the distance.
    start
        A counterfactual that is known already, as a row, or several; a near one saves time.
    method
        ``"exact"``: raise rather than search; ``"search"``: search only.

    Raises
    ------
    NoCounterfactualExistsError
        If it is proved that the model decides the whole domain alike. If none was merely found in
        time, ``upper`` is infinite and ``witness`` is None.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]])
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> bounds = counterfactual_distance(model, [0.0, 0.0], "l1", Box(0, 3))
    >>> bounds.exact, model.predict([bounds.witness])[0]
    (True, np.str_('yes'))
    """
    question = Question.ask(
        model, distance, domain, time_limit=time_limit, tolerance=tolerance, method=method
    )
    return question.bounds(x, start)


@dataclass(frozen=True, eq=False)
class Question:
    """How far it is to another class, for whichever input: a model, a distance and a domain."""

    model: Any
    distance: Distance
    domain: Domain
    time_limit: float
    tolerance: float
    method: Method

    @classmethod
    def ask(
        cls,
        model: Any,
        distance: DistanceLike = "l1",
        domain: DomainLike = None,
        *,
        time_limit: float = 60.0,
        tolerance: float = 1e-5,
        method: Method = "auto",
    ) -> Question:
        """Check what is asked."""
        check_positive(time_limit, "time_limit")
        check_positive(tolerance, "tolerance")
        if method not in ("auto", "exact", "search"):
            raise InvalidInputError(f"method must be 'auto', 'exact' or 'search', got {method!r}.")
        return cls(
            as_model(model),
            distances.get(distance),
            as_domain(domain),
            time_limit,
            tolerance,
            method,
        )

    def bounds(self, x: Any, start: Any = None) -> DistanceBounds:
        """Bound the distance of one input."""
        return self._answer(self.problem_of(x), start)

    def problem_of(self, x: Any) -> Problem:
        """Put the question for one input."""
        if isinstance(x, pd.Series):
            x = x.to_frame().T.infer_objects()
        elif not isinstance(x, pd.DataFrame):
            x = number_rows(x, "x")
        table, matrix = self.read(x)
        if len(matrix) != 1:
            raise InvalidInputError(
                f"A counterfactual distance is of one row, got {len(matrix)}. Use "
                f"counterfactual_distances for several."
            )
        return self.problem(table, matrix[0])

    def bounds_of(self, table: Table, row: Matrix) -> DistanceBounds:
        """Bound the distance of one input, given as a row of a table."""
        return self._answer(self.problem(table, row), None)

    def holds(self, problem: Problem, row: Matrix) -> bool:
        """Say whether a point belongs to the domain, as seen from an input."""
        if isinstance(self.domain, Box):
            return bool(((row >= problem.low) & (row <= problem.high)).all())
        return self.domain.holds(row, problem.x, problem.model.table.names)

    def _answer(self, problem: Problem, start: Any) -> DistanceBounds:
        known = None if start is None else self._check_start(problem, start)
        answer = self._solve(problem, known)
        if answer.none_exists:
            raise NoCounterfactualExistsError(
                f"The model decides the whole domain {to_python(problem.label)!r}, like the input "
                f"({answer.method}), so there is no counterfactual. Widen the domain, or let more "
                f"features change."
            )
        return self._bounds(problem, answer)

    def problem(self, table: Table, row: Matrix) -> Problem:
        """Put the question for one input."""
        _check_known(table, row)
        model = ModelAdapter(self.model, table)
        distance = _between_rows(self.distance, table, row)
        low, high = (bound[0] for bound in self.limits(table, row[None, :]))
        for i, feature in enumerate(table.features):
            if feature.values is not None:  # positions among the values that the data has
                low[i] = max(low[i], min(feature.low, row[i]))
                high[i] = min(high[i], max(feature.high, row[i]))
        integer = table_integers(table)
        return Problem(
            x=row,
            label=model.labels(row[None, :])[0],
            model=model,
            distance=distance,
            norm=read_norm(distance, len(row)),
            low=np.where(integer, np.ceil(low), low),
            high=np.where(integer, np.floor(high), high),
            integer=integer,
            clock=Clock.start(self.time_limit),
        )

    def read(self, X: Any) -> tuple[Table, Matrix]:
        """Give the columns to ask the model in, and the inputs as rows of them."""
        rows = X if isinstance(X, pd.DataFrame) else number_rows(X, "X", single=False)
        if len(rows) == 0:
            raise InvalidInputError("X has no rows. Pass at least one.")
        table = self.domain.table
        if table is None and isinstance(self.distance, TableDistance):
            # Its table knows the categories; numbers are read as they come.
            table = None if _is_numeric(self.distance.table) else self.distance.table
        if table is None:
            return Table.learn(rows)
        return table, table.encode(rows)[0]

    def limits(self, table: Table, matrix: Matrix) -> tuple[Matrix, Matrix]:
        """Give the bounds of each input; both are its own value where it may not change."""
        if not isinstance(self.domain, Box):
            if self.domain.n_features != matrix.shape[1]:
                raise InvalidInputError(
                    f"The domain has {self.domain.n_features} features, but the input has "
                    f"{matrix.shape[1]}."
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
        mask = changeable_mask(self.domain.may_change, table.names)
        return np.where(mask, low, matrix), np.where(mask, high, matrix)

    def _check_start(self, problem: Problem, start: Any) -> Matrix:
        table = problem.model.table
        one = np.ndim(start) == 1
        matrix = (table.encode_one(start) if one else table.encode(start))[0]
        known = problem.nearest_flip(matrix)
        if known is None:
            raise InvalidInputError(
                "start is no counterfactual: it lies outside the domain, or the model decides it "
                "like the input. Pass a row of the domain that is decided otherwise, or None."
            )
        return known

    def _solve(self, problem: Problem, start: Matrix | None) -> Answer:
        if len(getattr(self.model, "classes_", ())) == 1:
            return Answer(np.inf, None, "the model knows one class only", none_exists=True)
        if not isinstance(self.domain, Box):
            return solve_finite(problem, self.domain)
        if self.method == "search":
            return solve_by_search(problem, start)
        return solve(self.model, problem, start, fallback=self.method == "auto")

    def _bounds(self, problem: Problem, answer: Answer) -> DistanceBounds:
        upper, witness = np.inf, None
        if answer.witness is not None:
            _check_steady(problem, answer.witness)
            upper = float(problem.lengths(answer.witness[None, :])[0])
            rows = problem.model.table.decode(answer.witness[None, :])
            witness = rows.iloc[0] if isinstance(rows, pd.DataFrame) else rows[0]
        lower = min(answer.lower, upper)
        # No closer than the model's own rounding lets the distance be known.
        tolerance = self.tolerance + answer.blur / max(1.0, upper)
        exact = witness is not None and upper - lower <= tolerance * max(1.0, upper)
        return DistanceBounds(
            lower=lower,
            upper=upper,
            exact=exact,
            witness=witness,
            seconds=problem.clock.seconds,
            method=answer.method,
            reason="" if exact else answer.reason,
            tolerance=tolerance,
        )


def table_integers(table: Table) -> Mask:
    """Give which features take whole numbers only: counts, and positions among values."""
    return np.array([feature.kind != "continuous" for feature in table.features])


def _is_numeric(table: Table) -> bool:
    return all(feature.values is None for feature in table.features)


def _between_rows(distance: Distance, table: Table, row: Matrix) -> Distance:
    """Give the distance between rows of a table: a changed category counts 1.

    Gower's distance scales numbers to [0, 1] by the ranges of the table.
    """
    gower = isinstance(distance, Gower)
    if isinstance(distance, TableDistance) or (_is_numeric(table) and not gower):
        return distance
    scale = "range" if gower else None
    return TableDistance(table, Space.learn(row[None, :], table, scale), distance)


def _check_steady(problem: Problem, witness: Matrix) -> None:
    """Ask the model once more about the input and the witness, each alone."""
    same = np.array_equal(witness, problem.x)
    if same or problem.confirms(problem.x) or not problem.confirms(witness):
        raise ModelError(
            "The model decided the same row in two ways, so its counterfactuals have no distance. "
            "Pass a model whose answer depends on the row alone: no randomness, no state."
        )


def _check_known(table: Table, row: Matrix) -> None:
    """Refuse what no exact method takes: times, and values that the input misses."""
    times = [feature.name for feature in table.features if feature.is_time]
    if times:
        raise UnsupportedDistanceError(
            f"Exact distances are between numbers and categories, but {times[:5]} are times. Give "
            f"the model as a function of encoded numbers."
        )
    missing = [table.names[i] for i in np.flatnonzero(np.isnan(row))]
    if missing:
        raise UnsupportedDistanceError(
            f"The input misses {missing[:5]}, and exact distances are from known values. Fill "
            f"them in, or explain the input with DiverseExplainer."
        )
