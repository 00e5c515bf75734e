"""counterfactual_distance: how near a counterfactual is, exactly where a solver reads the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Fixed, Rules
from counterset.distances import DistanceLike
from counterset.exact.domains import Box, DomainLike
from counterset.exact.linear import (
    BORDER_ONLY,
    Inputs,
    LinearModel,
    read_closed_form,
    solve_linear_many,
)
from counterset.exact.linear import METHOD as LINEAR_METHOD
from counterset.exact.norms import Norm, read_norm
from counterset.exact.problem import BATCH_ROWS, LOW_PRECISION, Clock
from counterset.exact.query import DistanceQuery, Method, integer_features
from counterset.explanations.certificate import DistanceBounds
from counterset.models.adapter import ModelAdapter
from counterset.tables.frames import Rows, row_at
from counterset.tables.table import Table

__all__ = ["ManyBounds", "counterfactual_distance", "counterfactual_distances"]


def counterfactual_distance(
    model: Any,
    x: Any,
    distance: DistanceLike = "l1",
    domain: DomainLike = None,
    *,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: Constraints | None = None,
    time_limit: float = 60.0,
    tolerance: float = 1e-5,
    start: Any = None,
    method: Method = "auto",
) -> DistanceBounds:
    """Bound the counterfactual distance of an input, exactly where the model can be read.

    cfd(x) is the infimum of the distances from x to the points of the domain that the model
    classifies differently (definition 1 of the paper). With a goal and constraints, it is the
    infimum over the points that reach the goal and keep the constraints.

    ===============================  ===========================================================
    model                            how
    ===============================  ===========================================================
    linear                           closed form; a mixed-integer programme (HiGHS) for whole
                                     numbers and categories
    ReLU network                     mixed-integer programme (HiGHS)
    decision tree                    its leaves
    tree ensemble                    constraint programme (OR-tools, the ``[exact]`` extra)
    one nearest neighbour            enumeration of its cells
    any, on a finite domain          enumeration, the nearest first
    any other                        search: an upper bound; the lower bound is 0
    ===============================  ===========================================================

    All but the nearest neighbour are also read after scalers and encoders in a pipeline.

    Parameters
    ----------
    model : object
        A fitted classifier or regression, a function from rows to labels, a list of pairs of
        weights and biases (a ReLU network), or a torch ``Sequential`` of ``Linear`` and ``ReLU``.
    x : row
        One row.
    distance : str, Distance or callable, default="l1"
        As for the explainer; its fitted ``distance_`` measures in its scaled space. By name,
        numbers are compared as they are and a changed category counts 1; ``"gower"`` scales
        numbers by their range in the domain's table. A feature can be weighed:
        ``distances.L1(weights=[1, 3])``.
    domain : Box, Grid, table of points or fitted explainer, default=None
        Where counterfactuals may lie. A fitted explainer stands for the range of the data it was
        fitted on; None: no bounds. Columns of categories need a domain that knows their values: an
        explainer, or ``Box.of(X)``.
    target : label or list of labels, default=None
        The wanted class or classes; None: any other than the input's.
    target_probability : float, default=None
        How probable the model must find the wanted class.
    interval : pair of float, default=None
        The wanted range of a regression's predictions.
    constraints : Constraints, default=None
        What may change. ``together`` looks values up in the rows of the domain.
    time_limit : float, default=60.0
        In seconds. When it is reached, the bounds found so far are returned.
    tolerance : float, default=1e-5
        How near the bounds must be to be called exact, relative to the distance. Bounds by HiGHS
        are good to 2e-6 of the distance.
    start : row or rows, default=None
        A known counterfactual, or several; a near one saves time.
    method : {"auto", "exact", "search"}, default="auto"
        ``"exact"``: raise an error rather than search; ``"search"``: search only.

    Returns
    -------
    bounds : DistanceBounds
        A lower and an upper bound, and a counterfactual at the upper bound.

    See Also
    --------
    counterset.exact.counterfactual_distances : The distances of many inputs.
    ExhaustiveExplainer : All counterfactuals nearly as close as the nearest.
    DiverseExplainer.certify : How safe the options of an explanation are.

    Notes
    -----
    The witness is checked: the model predicts what is wanted for it, and it keeps the constraints.
    A probability is read for two classes of logistic models (linear, boosted trees, networks) and
    for the averaged shares of forests. Where a solver cannot consider what is asked for, ``lower``
    is that of a weaker question, which is a lower bound all the same, and ``reason`` names it;
    ``method="exact"`` raises an error instead.

    If it is proved that there is no counterfactual, both bounds are infinite and ``exact`` is True.
    If none was found but none is excluded, only ``upper`` is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from counterset import Constraints
    >>> from counterset.exact import Box
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]])
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> bounds = counterfactual_distance(model, [0.0, 0.0], "l1", Box(0, 3))
    >>> bounds.exact, model.predict([bounds.witness]).tolist()
    (True, ['yes'])

    The same with a class, a probability and constraints:

    >>> asked = {"target": "yes", "target_probability": 0.8, "domain": Box(0, 3)}
    >>> kept = Constraints(relations=["x0 <= x1"])
    >>> bounds = counterfactual_distance(model, [0.0, 0.0], constraints=kept, **asked)
    >>> bounds.exact, bool(bounds.witness[0] <= bounds.witness[1])
    (True, True)
    >>> round(float(model.predict_proba([bounds.witness])[0, 1]), 3)
    0.8
    >>> kept = Constraints(immutable=["x0"], max_increase={"x1": 0.5})
    >>> counterfactual_distance(model, [0.0, 0.0], constraints=kept, **asked).lower
    inf
    """
    query = DistanceQuery.of(
        model,
        distance,
        domain,
        time_limit=time_limit,
        tolerance=tolerance,
        method=method,
        target=target,
        target_probability=target_probability,
        interval=interval,
        constraints=constraints,
    )
    return query.bounds(x, start)


@dataclass(frozen=True, eq=False, repr=False)
class ManyBounds(Sequence[DistanceBounds]):
    """The bounds of many inputs, in the order of the inputs.

    Attributes
    ----------
    lower, upper : array of float
        One entry per input, ``(n,)``, as in :class:`DistanceBounds`. Both bounds are infinite
        where it is proved that there is no counterfactual.
    exact : array of bool
        Whether the bounds of each input are exact, ``(n,)``.
    seconds : float
        How long it took for all of them.
    tolerance : float
        As in :class:`DistanceBounds`.

    Examples
    --------
    >>> model, points = (lambda rows: rows[:, 0] > 2), [[1.0], [4.0]]
    >>> bounds = counterfactual_distances(model, [[0.0], [3.0]], domain=points)
    >>> bounds.upper, bounds[0].witness
    (array([4., 2.]), array([4.]))
    """

    lower: Vector
    upper: Vector
    exact: Mask
    seconds: float
    tolerance: float
    _witnesses: Rows | Sequence[Any]
    _methods: Sequence[str]
    _reasons: Sequence[str]

    @property
    def witnesses(self) -> list[Any]:
        """A counterfactual for each input, or None."""
        return [self[i].witness for i in range(len(self))]

    def __len__(self) -> int:
        return len(self.lower)

    @overload
    def __getitem__(self, item: int) -> DistanceBounds: ...
    @overload
    def __getitem__(self, item: slice) -> list[DistanceBounds]: ...
    def __getitem__(self, item: int | slice) -> DistanceBounds | list[DistanceBounds]:
        if isinstance(item, slice):
            return [self[i] for i in range(len(self))[item]]
        i = range(len(self))[item]
        witness = row_at(self._witnesses, i)
        return DistanceBounds(
            lower=float(self.lower[i]),
            upper=float(self.upper[i]),
            exact=bool(self.exact[i]),
            witness=witness if np.isfinite(self.upper[i]) else None,
            seconds=self.seconds / len(self),
            method=self._methods[i % len(self._methods)],
            reason=self._reasons[i % len(self._reasons)] if not self.exact[i] else "",
            tolerance=self.tolerance,
        )

    def __iter__(self) -> Iterator[DistanceBounds]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"Counterfactual distances of {len(self)} inputs, {int(self.exact.sum())} exact, "
            f"median {np.median(self.upper):.6g} ({self.seconds:.2g} s)"
        )


def counterfactual_distances(
    model: Any,
    X: Any,
    distance: DistanceLike = "l1",
    domain: DomainLike = None,
    *,
    time_limit: float = 60.0,
    tolerance: float = 1e-5,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: Constraints | None = None,
) -> ManyBounds:
    """Bound the counterfactual distances of many inputs.

    Inputs of a linear model are solved at once, if any other class will do and features are free
    or immutable.

    Parameters
    ----------
    model, distance, domain, target, target_probability, interval, constraints, tolerance
        As for :func:`~counterset.counterfactual_distance`.
    X : rows
        The inputs.
    time_limit : float, default=60.0
        In seconds, for each input.

    Returns
    -------
    bounds : ManyBounds
        The bounds of each input, in their order.

    See Also
    --------
    counterset.counterfactual_distance : The distance of one input.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> model = RidgeClassifier().fit(X, [0, 0, 1, 1])
    >>> counterfactual_distances(model, X).upper.round(3)
    array([2., 1., 1., 2.])
    """
    query = DistanceQuery.of(
        model,
        distance,
        domain,
        time_limit=time_limit,
        tolerance=tolerance,
        target=target,
        target_probability=target_probability,
        interval=interval,
        constraints=constraints,
    )
    table, matrix = query.read(X)
    norm = read_norm(query.distance, matrix.shape[1])
    rules = None if query.rules_of is None else query.rules_of(table)
    plain = (target, target_probability, interval) == (None,) * 3 and _only_fix(rules)
    if norm is None or not isinstance(query.domain, Box) or not plain:
        return _one_by_one(query, table, matrix)
    linear = read_closed_form(query.model, table, norm, integer_features(table))
    if linear is None:
        return _one_by_one(query, table, matrix)
    return _at_once(query, linear, norm, table, matrix, *query.bounds_around(table, matrix, rules))


def _only_fix(rules: Rules | None) -> bool:
    """Whether rules do nothing but fix features: bounds say as much."""
    return rules is None or all(isinstance(rule, Fixed) for rule in rules.rules)


def _at_once(
    query: DistanceQuery,
    linear: LinearModel,
    norm: Norm,
    table: Table,
    matrix: Matrix,
    low: Matrix,
    high: Matrix,
) -> ManyBounds:
    """Bound the distances of all inputs by the closed form of a linear model."""
    clock = Clock.start(query.time_limit)
    model = ModelAdapter(query.model, table)
    lower, witnesses = np.empty(len(matrix)), np.empty_like(matrix)
    none_exists = np.zeros(len(matrix), dtype=bool)
    for start in range(0, len(matrix), BATCH_ROWS):  # so that a batch stays in the cache
        part = slice(start, start + BATCH_ROWS)
        labels = model.labels(matrix[part])
        lower[part], witnesses[part], none_exists[part] = solve_linear_many(
            linear, model, norm, Inputs(matrix[part], low[part], high[part], labels)
        )
    upper = query.distance.rowwise(matrix, witnesses[:, None, :])[:, 0]
    upper = np.where(np.isnan(witnesses).any(axis=1), np.inf, upper)
    lower = np.minimum(lower, upper)
    with np.errstate(invalid="ignore"):
        exact = upper - lower <= query.tolerance * upper
    exact &= np.isfinite(upper)
    exact |= none_exists  # where nothing was found, only that is exact
    rows = table.decode(witnesses)
    reasons = [""]
    if not exact.all():
        reasons = [LOW_PRECISION if found else BORDER_ONLY for found in np.isfinite(upper)]
    return ManyBounds(
        lower, upper, exact, clock.seconds, query.tolerance, rows, [LINEAR_METHOD], reasons
    )


def _one_by_one(query: DistanceQuery, table: Table, matrix: Matrix) -> ManyBounds:
    """Bound the distance of each input by itself."""
    clock = Clock.start(query.time_limit)
    found = [query.bounds_of_row(table, row) for row in matrix]
    return ManyBounds(
        np.array([bounds.lower for bounds in found]),
        np.array([bounds.upper for bounds in found]),
        np.array([bounds.exact for bounds in found], dtype=bool),
        clock.seconds,
        query.tolerance,
        [bounds.witness for bounds in found],
        [bounds.method for bounds in found],
        [bounds.reason for bounds in found],
    )
