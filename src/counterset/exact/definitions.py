"""The paper's definitions, checked with bounds on the counterfactual distance.

With a lower and an upper bound on cfd(x), the answer is yes, no or unknown, never a guess.
"""

from __future__ import annotations

from enum import Enum

from counterset.distances import ROUNDING
from counterset.exceptions import UndecidedError
from counterset.explanations.certificate import DistanceBounds

__all__ = ["Answer", "is_approximate", "is_strong", "safety"]


class Answer(Enum):
    """Yes, no or unknown.

    A known answer can be used as a condition; an unknown one raises an error there.

    Examples
    --------
    >>> "kept" if Answer.YES else "lost"
    'kept'
    >>> bool(Answer.UNKNOWN)
    Traceback (most recent call last):
        ...
    counterset.exceptions.UndecidedError: The bounds are too far apart to tell. ...
    """

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        if self is Answer.UNKNOWN:
            raise UndecidedError(
                "The bounds are too far apart to tell. Compare with Answer.UNKNOWN, or raise "
                "time_limit for tighter bounds."
            )
        return self is Answer.YES


def is_strong(length: float, bounds: DistanceBounds) -> Answer:
    """Check whether a counterfactual at this distance is strong: d(x, c) = cfd(x) (definition 1).

    Exact bounds answer it up to their tolerance. On the boundary of a class cfd(x) may be 0, and
    then no counterfactual is strong, because none is at a distance of 0: the answer is unknown
    unless the lower bound is positive.

    Examples
    --------
    >>> bounds = DistanceBounds(1.0, 2.0, False, None, 0.0, "by hand")
    >>> is_strong(2.5, bounds), is_strong(1.5, bounds), is_strong(1.0, bounds)
    (<Answer.NO: 'no'>, <Answer.UNKNOWN: 'unknown'>, <Answer.YES: 'yes'>)
    """
    answer = is_approximate(length, bounds, 0.0)
    if answer is Answer.YES and bounds.lower <= 0 < length:
        return Answer.UNKNOWN if bounds.upper > 0 else Answer.NO
    return answer


def is_approximate(length: float, bounds: DistanceBounds, epsilon: float) -> Answer:
    """Check whether d(x, c) <= cfd(x) + epsilon for a counterfactual at this distance.

    These are the members of the exhaustive explanation (definitions 1 and 2).

    Examples
    --------
    >>> bounds = DistanceBounds(1.0, 2.0, False, None, 0.0, "by hand")
    >>> [is_approximate(d, bounds, 0.5).value for d in (1.5, 2.0, 2.6)]
    ['yes', 'unknown', 'no']
    """
    slack = _slack(bounds, length + epsilon)
    if length <= bounds.lower + epsilon + slack:
        return Answer.YES
    if length > bounds.upper + epsilon + slack:
        return Answer.NO
    return Answer.UNKNOWN


def safety(length: float, bounds: DistanceBounds, epsilon: float) -> tuple[float, float]:
    """Bound the delta of a counterfactual at this distance: cfd(x) + epsilon - d(x, c).

    A counterfactual with a delta of at least 0 is delta-safe (definition 5). Then it is also
    epsilon-approximate for every input of the same class within delta / 2 (proposition 2).

    Returns
    -------
    lower, upper
        Bounds on delta.

    Examples
    --------
    >>> bounds = DistanceBounds(1.0, 2.0, False, None, 0.0, "by hand")
    >>> safety(1.25, bounds, epsilon=0.5)
    (0.25, 1.25)
    """
    return bounds.lower + epsilon - length, bounds.upper + epsilon - length


def _slack(bounds: DistanceBounds, size: float) -> float:
    """Return the difference that counts as none: rounding, and the gap of exact bounds."""
    gap = bounds.upper - bounds.lower if bounds.exact else 0.0
    return gap + ROUNDING * abs(size)
