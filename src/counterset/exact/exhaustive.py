"""ExhaustiveExplainer: all counterfactuals within epsilon of the nearest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from counterset._base.arrays import Labels, Matrix, Vector, to_python
from counterset._base.checks import check_at_least, check_count
from counterset._base.lazy import Lazy
from counterset.constraints.constraints import Constraints
from counterset.distances import DistanceLike
from counterset.exact.constraints import is_shared
from counterset.exact.definitions import Answer, is_approximate, is_strong, safety
from counterset.exact.domains import Box, DomainLike, Grid, Points, number_rows
from counterset.exact.finite import Reach, nearest_first
from counterset.exact.problem import Problem
from counterset.exact.query import DistanceQuery
from counterset.exceptions import (
    InvalidInputError,
    ModelError,
    NoCounterfactualExistsError,
    OutOfTimeError,
    TooManyCounterfactualsError,
)
from counterset.explanations.certificate import Certificate, DistanceBounds
from counterset.explanations.context import Context, as_written, settings_of
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import make_explanations
from counterset.models.goals import AnyOther
from counterset.tables.frames import is_frame

__all__ = ["ExhaustiveExplainer"]

#: Counterfactuals, their distances and their labels.
_Batch: TypeAlias = tuple[Matrix, Vector, Labels]


class ExhaustiveExplainer(BaseEstimator):
    """Report every counterfactual within epsilon of the nearest (the paper's E_exh).

    It is weakly epsilon/2-robust: a strong counterfactual of one input is reported for every
    input of the same class that is nearer than epsilon/2 (proposition 1). ``contains`` tells
    whether a given counterfactual belongs to the explanation, on any domain where the
    counterfactual distance can be bounded. ``explain`` lists all of them, on finite domains.

    Parameters
    ----------
    model : object
        As for :func:`~counterset.counterfactual_distance`.
    epsilon : float
        How much farther than the nearest a counterfactual may be.
    distance : str, Distance or callable, default="l1"
        As for :func:`~counterset.counterfactual_distance`.
    domain : Box, Grid, table of points or fitted explainer, default=None
        As for :func:`~counterset.counterfactual_distance`.
    max_counterfactuals : int, default=100_000
        ``explain`` raises an error if there are more.
    constraints : Constraints, default=None
        What may change: ``immutable``, ``ranges``, ``allowed``, ``relations`` and ``conditions``.
        Other constraints depend on the input's own values, so that nothing could be proved about
        other inputs.
    time_limit : float, default=60.0
        In seconds, for each counterfactual distance, and for each ``explain``.

    See Also
    --------
    DiverseExplainer : A small set, for any model.
    counterfactual_distance : The distance of the nearest counterfactual.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [2.0], [2.2], [5.0]])
    >>> explainer = ExhaustiveExplainer(lambda X: X[:, 0] >= 2, 0.5, domain=points)
    >>> explainer.explain([1.0]).values.ravel()
    array([2. , 2.2])
    >>> explainer.contains([1.0], [5.0]).value, round(explainer.safety([1.0], [2.2]), 3)
    ('no', 0.3)
    """

    def __init__(
        self,
        model: Any,
        epsilon: float,
        distance: DistanceLike = "l1",
        domain: DomainLike = None,
        *,
        max_counterfactuals: int = 100_000,
        constraints: Constraints | None = None,
        time_limit: float = 60.0,
    ) -> None:
        self.model = model
        self.epsilon = epsilon
        self.distance = distance
        self.domain = domain
        self.max_counterfactuals = max_counterfactuals
        self.constraints = constraints
        self.time_limit = time_limit

    def counterfactual_distance(self, x: Any) -> DistanceBounds:
        """Bound the counterfactual distance of an input."""
        query = self._query()
        return query.bounds_of(self._problem_of(query, x), None)

    def contains(self, x: Any, c: Any) -> Answer:
        """Check whether c is an epsilon-approximate counterfactual of x: yes, no or unknown."""
        member = self._member(x, c)
        if member is None:
            return Answer.NO
        return is_approximate(*member, self.epsilon)

    def is_strong(self, x: Any, c: Any) -> Answer:
        """Check whether c is a strong counterfactual of x: none is nearer."""
        member = self._member(x, c)
        return Answer.NO if member is None else is_strong(*member)

    def safety(self, x: Any, c: Any) -> float:
        """Return the delta of a counterfactual: a proved lower bound, exact if the distance is.

        It is negative where c is not certain to belong to the explanation.
        """
        member = self._member(x, c)
        if member is None:
            raise InvalidInputError(
                "c is no counterfactual of x: the model classifies it like x, or it lies outside "
                "the domain. Pass a point of the domain that is classified differently."
            )
        return safety(*member, self.epsilon)[0]

    def explain(self, x: Any) -> Explanation:
        """List every epsilon-approximate counterfactual of x, on a finite domain.

        A grid is built from the nearest combination on, and never farther than epsilon past the
        nearest counterfactual. So the model is called once for each step of epsilon at least: a
        small epsilon takes many calls.

        Raises
        ------
        TooManyCounterfactualsError, OutOfTimeError
            If ``max_counterfactuals`` or ``time_limit`` is reached first; ``count`` is the number
            of counterfactuals found until then.
        """
        query = self._query()
        if isinstance(query.domain, Box):
            raise InvalidInputError(
                "A Box holds infinitely many counterfactuals, so they cannot be listed. Give a "
                "finite domain=, a Grid or a table of points; or call contains(x, c)."
            )
        problem = self._problem_of(query, x)
        parts = list(self._within(problem, query.domain))
        rows, lengths, labels = (np.concatenate(kind) for kind in zip(*parts, strict=True))
        if (rows == problem.x).all(axis=1).any():
            raise ModelError(
                "The model classified the input in two ways, so it was its own counterfactual. "
                "Pass a model whose prediction depends on the row alone: no randomness, no state."
            )
        nearest = float(lengths[0])
        table = problem.model.table
        bounds = DistanceBounds(
            nearest, nearest, True, rows[0], problem.clock.seconds, "enumeration"
        )
        deltas = np.array([safety(length, bounds, self.epsilon)[0] for length in lengths])
        explanations = make_explanations(
            table,
            problem.x[None, :],
            np.array([problem.label]),
            pd.RangeIndex(1),
            owners=np.zeros(len(rows), dtype=np.intp),
            rows=rows,
            row_labels=labels,
            distances=lengths,
            context=self._context(problem),
        )
        certificate = Certificate(self.epsilon, bounds, deltas, constrained=bool(problem.rules))
        return explanations[0].with_certificate(certificate)

    def _context(self, problem: Problem) -> Context:
        """Return how an explanation is made."""
        parameters = {name: each for name, each in vars(self).items() if name != "model"}
        return Context(
            model=self.model,
            table=problem.model.table,
            distance=None,
            classes=None,
            goal=AnyOther(),
            probability=None,
            constraints=as_written(self.constraints or Constraints()),
            costs={},
            settings=Lazy(lambda: settings_of(parameters)),
            training=None,
            background=None,
            explainer=type(self).__name__,
        )

    def _within(self, problem: Problem, domain: Points | Grid) -> Iterator[_Batch]:
        """Yield the counterfactuals within epsilon of the nearest, the nearest first."""
        reach, count, seen = Reach(self.epsilon), 0, 0
        for rows, lengths in nearest_first(problem, domain, reach):
            if lengths[0] > reach.end:
                return
            if problem.clock.over:
                raise OutOfTimeError(
                    f"{self.time_limit:g} seconds were not enough to list all counterfactuals "
                    f"within {self.epsilon:g} of the nearest: {seen} points of the domain were "
                    f"classified, {count} counterfactuals were found so far. Raise time_limit, "
                    f"lower epsilon, or take a coarser domain.",
                    count,
                )
            labels = problem.model.labels(rows)
            seen += len(rows)
            flips = (labels != problem.label) & problem.keeps(rows)
            if np.isinf(reach.end) and flips.any():
                reach.found(float(lengths[np.argmax(flips)]))
            keep = flips & (lengths <= reach.end)
            count += int(keep.sum())
            if count > self.max_counterfactuals:
                raise TooManyCounterfactualsError(
                    f"More than {self.max_counterfactuals} counterfactuals lie within "
                    f"{self.epsilon:g} of the nearest; {count} were found so far. Lower epsilon, "
                    f"take a coarser domain, or raise max_counterfactuals.",
                    count,
                )
            yield rows[keep], lengths[keep], labels[keep]
        if np.isinf(reach.end):
            within = " within the constraints" if problem.rules else ""
            raise NoCounterfactualExistsError(
                f"The model classifies the whole domain{within} as {to_python(problem.label)!r}, "
                f"like the input, so there is no counterfactual. Widen the domain, or let more "
                f"features change."
            )

    def _query(self) -> DistanceQuery:
        check_at_least(self.epsilon, 0, "epsilon")
        check_count(self.max_counterfactuals, "max_counterfactuals")
        return DistanceQuery.of(
            self.model,
            self.distance,
            self.domain,
            time_limit=self.time_limit,
            constraints=self.constraints,
        )

    def _problem_of(self, query: DistanceQuery, x: Any) -> Problem:
        """Return the problem of one input, after checking its constraints."""
        problem = query.problem_of(x)
        own = [rule.text for rule in getattr(problem.rules, "rules", ()) if not is_shared(rule)]
        if own:
            raise InvalidInputError(
                f"ExhaustiveExplainer takes constraints that are the same for all inputs, but "
                f"{own[0]} depends on the input's own value. Use immutable, ranges, allowed, "
                f"relations or conditions, or explain with DiverseExplainer."
            )
        return problem

    def _member(self, x: Any, c: Any) -> tuple[float, DistanceBounds] | None:
        """Return the distance of c and the bounds of x; None if c is no counterfactual of x."""
        query = self._query()
        problem = self._problem_of(query, x)
        row = problem.model.table.encode_one(_row(c))[0][0]
        if not query.holds(problem, row) or not problem.confirms(row):
            return None
        length = float(problem.lengths(row[None, :])[0])
        # c itself is a counterfactual: the solver need not search farther.
        return length, query.bounds(x, start=problem.model.table.decode(row[None, :]))


def _row(c: Any) -> Any:
    if isinstance(c, pd.Series | pd.DataFrame) or is_frame(c):
        return c
    return number_rows(c, "c")
