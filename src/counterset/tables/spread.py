"""The usual range of a column: where its values lie, but for a few extreme ones."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Vector

__all__ = ["usual_range", "without_far_out"]

#: One value in 100 is left out at each end: the range from the 1st to the 99th percentile.
ONE_IN = 100

#: With fewer values than 10 beside the most common one, none is called an outlier: leaving one
#: out at each end would leave out more than a fifth of what is known.
ENOUGH_TO_TELL = 10

#: A value is far out if it is more than 10 times as far from the middle 80 % of the values as
#: these are wide: the tail of a normal or an exponential distribution never is. At most one value
#: in 100, and one more, is taken to be so at each end; where there are more, they are part of what
#: is usual.
FAR_OUT = 10.0


def usual_range(codes: Vector) -> tuple[float, float]:
    """Return the range of the known values without the extreme ones.

    Values that are far out are left out first, as if they were not there: one more of them changes
    nothing. Then one in 100 is left out at each end, and at least one, so that no single value can
    stretch the range.

    What is counted are the values beside the most common one: in a column that is 0 for 99 rows in
    100, the range is that of the other rows, together with 0. The two ends are values of the
    column, and they differ unless all values are equal.

    Parameters
    ----------
    codes
        The values of one column, ``(n,)``; NaN where one is missing.

    Returns
    -------
    low, high
        The usual range; the range of all values if fewer than 10 differ from the most common
        one; 0 and 0 if none is known.

    Examples
    --------
    >>> usual_range(np.arange(30.0))
    (1.0, 28.0)
    >>> usual_range(np.array([*range(30), 1e9]))
    (1.0, 28.0)
    >>> usual_range(np.array([0.0] * 999 + [1.0]))
    (0.0, 1.0)
    """
    known = np.sort(codes[~np.isnan(codes)])
    if not len(known):
        return 0.0, 0.0
    return _without(_near(known), ONE_IN)


def without_far_out(codes: Vector) -> tuple[float, float] | None:
    """Return the usual range without values that are far out, if these are too many to leave out.

    They stretch the usual range then, though they are few. None if there are no such values.

    Examples
    --------
    >>> without_far_out(np.array([*range(93), *range(7000, 7007)]))
    (1.0, 91.0)
    >>> without_far_out(np.arange(100.0)) is None
    True
    """
    ordered = np.sort(codes[~np.isnan(codes)]).astype(np.float64)
    below, above, most = _far_out(ordered)
    if max(below, above) <= most:
        return None
    return _without(ordered[below : len(ordered) - above], ONE_IN)


def _near(ordered: Vector) -> Vector:
    """Return sorted values without those that are far out."""
    below, above, most = _far_out(ordered)
    return ordered[min(below, most) : len(ordered) - min(above, most)]


def _far_out(ordered: Vector) -> tuple[int, int, int]:
    """Count the sorted values that are far out at each end, and how many may be left out."""
    others = _beside_the_most_common(ordered) if len(ordered) else 0
    if others < ENOUGH_TO_TELL:
        return 0, 0, 0
    low, high = _without(ordered, 10)
    reach = FAR_OUT * (high - low)
    below = int(np.searchsorted(ordered, low - reach, "left"))
    above = len(ordered) - int(np.searchsorted(ordered, high + reach, "right"))
    return below, above, others // ONE_IN + 1


def _without(ordered: Vector, one_in: int) -> tuple[float, float]:
    """Return the ends of sorted values without 1 / ``one_in`` of them, or one, at each end."""
    others = _beside_the_most_common(ordered)
    left_out = max(1, others // one_in) if others >= ENOUGH_TO_TELL else 0
    return float(ordered[left_out]), float(ordered[-1 - left_out])


def _beside_the_most_common(ordered: Vector) -> int:
    """Return how many of some sorted values differ from the most common one."""
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    return len(ordered) - int(np.diff(ends, prepend=-1).max())
