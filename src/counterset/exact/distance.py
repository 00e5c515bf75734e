"""counterfactual_distance: how near a counterfactual is, exactly where a solver reads the model."""

from __future__ import annotations

from typing import Any

from counterset.constraints.constraints import Constraints
from counterset.distances import DistanceLike
from counterset.exact.domains import DomainLike
from counterset.exact.query import DistanceQuery, Method
from counterset.results.bounds import DistanceBounds

__all__ = ["counterfactual_distance"]


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
    model
        A fitted classifier or regression, a function from rows to labels, a list of pairs of
        weights and biases (a ReLU network), or a torch ``Sequential`` of ``Linear`` and ``ReLU``.
    x
        One row.
    distance
        As for the explainer; its fitted ``distance_`` measures in its scaled space. By name,
        numbers are compared as they are and a changed category counts 1; ``"gower"`` scales
        numbers by their range in the domain's table.
    domain
        A :class:`Box` or :class:`Grid`, a table of points, a fitted explainer (the range of the
        data it was fitted on), or None: no bounds. Columns of categories need a domain that knows
        their values: an explainer, or ``Box.of(X)``.
    target, target_probability, interval
        What is wanted, as in ``explain``: a class or several, how probable the model must find it,
        or the range of a regression's predictions.
    constraints
        What may change. ``together`` looks values up in the rows of the domain.
    time_limit
        In seconds. When it is reached, the bounds found so far are returned.
    tolerance
        How near the bounds must be to be called exact, relative to the distance. Bounds by HiGHS
        are good to 2e-6 of the distance.
    start
        A known counterfactual, as a row, or several; a near one saves time.
    method
        ``"exact"``: raise an error rather than search; ``"search"``: search only.

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
    >>> from counterset import Box, Constraints
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
