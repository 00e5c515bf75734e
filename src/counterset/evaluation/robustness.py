"""Check the robustness of an explainer on pairs of close inputs.

Such checks can refute a claim of robustness, and they can support it. They do not prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset import distances, metrics
from counterset._base.checks import check_positive
from counterset.distances import Distance, DistanceLike
from counterset.exact.definitions import Answer, is_strong
from counterset.exact.domains import Box, DomainLike
from counterset.exact.exhaustive import ExhaustiveExplainer
from counterset.exact.networks import as_model
from counterset.exact.query import DistanceQuery
from counterset.exceptions import InvalidInputError
from counterset.explanations.certificate import DistanceBounds
from counterset.tables.frames import row_at

__all__ = ["RobustnessEstimate", "WeakRobustness", "empirical_robustness", "weak_robustness"]

#: Counterfactuals within a distance of 1e-9 count as equal: they differ by rounding.
SAME_POINT = 1e-9


@dataclass(frozen=True)
class WeakRobustness:
    """Whether strong counterfactuals were kept (definition 4).

    Attributes
    ----------
    holds
        ``NO`` if a strong counterfactual was lost; ``UNKNOWN`` if the bounds leave open for one
        whether it is strong or was kept; else ``YES``.
    pairs
        The number of pairs that were close enough and of one class.
    kept
        The number of strong counterfactuals that were found again.
    lost
        For each strong counterfactual that was lost: the two inputs and the counterfactual.
    undecided
        The number of counterfactuals for which the bounds leave the question open.
    """

    holds: Answer
    pairs: int
    kept: int
    lost: Sequence[tuple[Any, Any, Any]]
    undecided: int


@dataclass(frozen=True)
class RobustnessEstimate:
    """An estimate of the k in (epsilon, k)-robustness, from pairs of inputs (definition 3).

    Attributes
    ----------
    k
        The largest ratio of set-distance (max) to input distance: no smaller k can hold.
    ratios
        The ratio of each pair that was close enough and of one class.
    worst
        The pair with the largest ratio; None if there was no pair.
    """

    k: float
    ratios: Sequence[float]
    worst: tuple[Any, Any] | None


def weak_robustness(
    explainer: Any,
    pairs: Iterable[tuple[Any, Any]],
    epsilon: float,
    *,
    model: Any = None,
    distance: DistanceLike | None = None,
    domain: DomainLike = None,
    time_limit: float = 60.0,
) -> WeakRobustness:
    """Check on pairs of inputs whether strong counterfactuals are kept within epsilon.

    Parameters
    ----------
    explainer : DiverseExplainer, ExhaustiveExplainer or callable
        An explainer of this library, or a function from a row to rows.
    pairs : iterable of pairs of rows
        Pairs of inputs. Those of two classes are left out, and so are those that are epsilon or
        more apart.
    epsilon : float
        The distance within which strong counterfactuals should be kept.
    model : object, default=None
        The model that is explained. None: the explainer's. A function needs one.
    distance : str, Distance or callable, default=None
        The distance. None: the explainer's, or L1 for a function.
    domain : Box, Grid, Points or array, default=None
        Where counterfactuals may lie. None: the explainer's; for a
        :class:`~counterset.DiverseExplainer` the range of its training data.
    time_limit : float, default=60.0
        Seconds for each counterfactual distance.

    Returns
    -------
    WeakRobustness
        Whether it holds, and the counterfactuals that were lost.

    See Also
    --------
    empirical_robustness : Measured on noisy copies.

    Examples
    --------
    An explainer that reports only the nearest point loses it after a small step:

    >>> import numpy as np
    >>> from counterset import ExhaustiveExplainer
    >>> points = np.array([[-1.0], [-0.01], [0.01], [1.0]])
    >>> def far_out(X):
    ...     return np.abs(X[:, 0]) >= 1
    >>> pair = [([-0.01], [0.01])]
    >>> nearest_only = ExhaustiveExplainer(far_out, epsilon=0.0, domain=points)
    >>> weak_robustness(nearest_only, pair, epsilon=0.05).holds
    <Answer.NO: 'no'>
    >>> exhaustive = ExhaustiveExplainer(far_out, epsilon=0.1, domain=points)
    >>> weak_robustness(exhaustive, pair, epsilon=0.05).holds
    <Answer.YES: 'yes'>
    """
    check_positive(epsilon, "epsilon")
    subject = _Subject(explainer, model, distance, domain, time_limit)
    counts = dict.fromkeys(Answer, 0)
    lost = []
    n_pairs = 0
    for first, second, _ in subject.close_pairs(pairs, epsilon):
        n_pairs += 1
        for c, strong in subject.strong_candidates(first):
            answer = subject.keeps(second, c)
            if strong is Answer.UNKNOWN and answer is Answer.NO:
                answer = Answer.UNKNOWN
            counts[answer] += 1
            if answer is Answer.NO:
                lost.append((first, second, c))
    holds = Answer.YES
    if lost:
        holds = Answer.NO
    elif counts[Answer.UNKNOWN]:
        holds = Answer.UNKNOWN
    return WeakRobustness(holds, n_pairs, counts[Answer.YES], tuple(lost), counts[Answer.UNKNOWN])


def empirical_robustness(
    explainer: Any,
    pairs: Iterable[tuple[Any, Any]],
    epsilon: float,
    *,
    model: Any = None,
    distance: DistanceLike | None = None,
) -> RobustnessEstimate:
    """Estimate the k of (epsilon, k)-robustness: the largest ratio over pairs of inputs.

    Parameters
    ----------
    explainer : DiverseExplainer, ExhaustiveExplainer or callable
        An explainer of this library, or a function from a row to rows.
    pairs : iterable of pairs of rows
        Pairs of inputs. Those of two classes are left out, and so are those that are epsilon or
        more apart.
    epsilon : float
        The distance within which pairs are compared.
    model : object, default=None
        The model that is explained. None: the explainer's. A function needs one.
    distance : str, Distance or callable, default=None
        The distance. None: the explainer's, or L1 for a function.

    Returns
    -------
    RobustnessEstimate
        The largest ratio of set-distance to input distance, and the pair that has it.

    See Also
    --------
    weak_robustness : A weaker definition, for pairs of inputs.

    Examples
    --------
    >>> import numpy as np
    >>> def nearest_end(x):
    ...     return np.array([[np.sign(x[0])]])
    >>> estimate = empirical_robustness(
    ...     nearest_end,
    ...     [([-0.1], [0.1]), ([0.1], [0.2])],
    ...     epsilon=0.5,
    ...     model=lambda X: np.abs(X[:, 0]) >= 1,
    ...     distance="l1",
    ... )
    >>> estimate.k
    10.0
    """
    check_positive(epsilon, "epsilon")
    subject = _Subject(explainer, model, distance, None, 1.0)
    ratios, kept = [], []
    for first, second, apart in subject.close_pairs(pairs, epsilon):
        between = metrics.set_distance(
            subject.explain(first), subject.explain(second), subject.distance, how="max"
        )
        ratios.append(between / apart)
        kept.append((first, second))
    if not ratios:
        return RobustnessEstimate(0.0, (), None)
    worst = int(np.argmax(ratios))
    return RobustnessEstimate(float(ratios[worst]), tuple(ratios), kept[worst])


class _Subject:
    """The explainer to check, and what it explains."""

    def __init__(
        self,
        explainer: Any,
        model: Any,
        distance: DistanceLike | None,
        domain: DomainLike,
        time_limit: float,
    ) -> None:
        self._explainer = explainer
        asked = getattr(explainer, "model", None) if model is None else model
        if asked is None:
            raise InvalidInputError(
                "The explainer does not hold the model that it explains. Pass model=... and "
                "distance=..."
            )
        self._model = as_model(asked)
        if distance is None:
            distance = getattr(explainer, "distance_", getattr(explainer, "distance", "l1"))
        self.distance: Distance = distances.get(distance)
        if domain is None:
            has_range = hasattr(explainer, "schema_")
            domain = explainer if has_range else getattr(explainer, "domain", None)
        self._domain, self._time_limit = domain, time_limit

    def close_pairs(
        self, pairs: Iterable[tuple[Any, Any]], epsilon: float
    ) -> Iterator[tuple[Any, Any, float]]:
        """Yield the pairs of one class that differ and are nearer than epsilon, with distances."""
        for first, second in _checked(pairs):
            apart = float(self.distance(_as_rows(first), _as_rows(second))[0, 0])
            if 0 < apart < epsilon and self._label(first) == self._label(second):
                yield first, second, apart

    def explain(self, x: Any) -> Any:
        """Return the counterfactuals of an input as rows."""
        explain: Callable[[Any], Any] = getattr(self._explainer, "explain", self._explainer)
        answer = explain(x)
        rows = getattr(answer, "counterfactuals", answer)
        if np.ndim(rows) != 2:
            raise InvalidInputError(
                f"The explainer must return rows, one per counterfactual, but it returned an "
                f"array of shape {np.shape(rows)}."
            )
        return rows

    def strong_candidates(self, x: Any) -> Iterator[tuple[Any, Answer]]:
        """Yield the members of an explanation that are strong, or may be.

        An exhaustive explanation in a continuous domain cannot be listed. Of it, only the optimum
        is checked.
        """
        bounds = self._bounds(x)
        if isinstance(self._explainer, ExhaustiveExplainer) and self._continuous():
            yield bounds.witness, is_strong(bounds.upper, bounds)
            return
        rows = self.explain(x)
        for i, length in enumerate(self.distance(_as_rows(x), rows)[0]):
            strong = is_strong(float(length), bounds)
            if strong is not Answer.NO:
                yield row_at(rows, i), strong

    def keeps(self, x: Any, c: Any) -> Answer:
        """Check whether a counterfactual is one that the explainer reports for an input."""
        if isinstance(self._explainer, ExhaustiveExplainer):
            return self._explainer.contains(x, c)
        found = self.distance(_as_rows(c), self.explain(x))
        return Answer.YES if found.min() <= SAME_POINT else Answer.NO

    def _continuous(self) -> bool:
        query = DistanceQuery.of(self._model, self.distance, self._domain)
        return isinstance(query.domain, Box)

    def _bounds(self, x: Any) -> DistanceBounds:
        query = DistanceQuery.of(
            self._model, self.distance, self._domain, time_limit=self._time_limit
        )
        return query.bounds(x)

    def _label(self, x: Any) -> Any:
        predict = getattr(self._model, "predict", self._model)
        return np.asarray(predict(_as_rows(x))).ravel()[0]


def _checked(pairs: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(pairs, Iterable):
        raise InvalidInputError(
            f"pairs must be a list of pairs of inputs, got {type(pairs).__name__}."
        )
    for position, pair in enumerate(pairs):
        inputs = tuple(pair) if isinstance(pair, Iterable) else ()
        if len(inputs) != 2 or any(np.ndim(x) == 0 for x in inputs):
            raise InvalidInputError(
                f"pairs must be a list of pairs of inputs, but at position {position} it holds "
                f"{pair!r}."
            )
        yield inputs[0], inputs[1]


def _as_rows(x: Any) -> Any:
    if isinstance(x, pd.Series):
        return x.to_frame().T.infer_objects()
    return x if np.ndim(x) == 2 else np.asarray(x)[None, :]
