"""The usual range of a column: where its values lie, but for a few extreme ones."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Vector

__all__ = ["usual_range"]

#: One value in 100 is left out at each end: the range from the 1st to the 99th percentile.
ONE_IN = 100

#: With fewer values than 10 beside the most common one, none is called an outlier: leaving one
#: out at each end would leave out more than a fifth of what is known.
ENOUGH_TO_TELL = 10


def usual_range(codes: Vector) -> tuple[float, float]:
    """Return the range of the known values without the extreme ones.

    One in 100 values is left out at each end, and at least one, so that a single outlier of any
    size does not count. What is counted are the values beside the most common one: in a column
    that is 0 for 99 rows in 100, the range is that of the other rows, together with 0. The two
    ends are values of the column, and they differ unless all values are equal.

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
    >>> usual_range(np.array([*range(30), 1e9]))
    (1.0, 29.0)
    >>> usual_range(np.array([0.0] * 999 + [1.0]))
    (0.0, 1.0)
    """
    known = np.sort(codes[~np.isnan(codes)])
    if not len(known):
        return 0.0, 0.0
    others = len(known) - _longest_run(known)
    left_out = max(1, others // ONE_IN) if others >= ENOUGH_TO_TELL else 0
    return float(known[left_out]), float(known[-1 - left_out])


def _longest_run(ordered: Vector) -> int:
    """Return how often the most common of some sorted values occurs."""
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    return int(np.diff(ends, prepend=-1).max())
