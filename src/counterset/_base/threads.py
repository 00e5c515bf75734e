"""Share work between the cores of this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import joblib
import numpy as np

from counterset._base.arrays import Matrix

__all__ = ["core_count", "share_rows"]

#: From 5 million differences on, about 2 ms of work, threads cost less than they save.
PAYS_TO_SHARE = 5_000_000


@cache
def core_count() -> int:
    """Return how many cores this process may use."""
    return int(joblib.cpu_count())


def share_rows(function: Callable[[Matrix, Matrix], Matrix], A: Matrix, B: Matrix) -> Matrix:
    """Compute ``function(A, B)``, a number for each row of both; if large, a part in each core.

    The function must release Python's lock, as scipy's ``cdist`` does, for threads to help.

    Examples
    --------
    >>> share_rows(lambda A, B: A @ B.T, np.eye(2), np.ones((1, 2)))
    array([[1.],
           [1.]])
    """
    cores = core_count()
    if A.size * len(B) < PAYS_TO_SHARE or cores == 1:
        return function(A, B)
    with ThreadPoolExecutor(cores) as threads:
        if len(A) < cores:
            parts = threads.map(lambda part: function(A, part), np.array_split(B, cores))
            return np.concatenate(list(parts), axis=1)
        parts = threads.map(lambda part: function(part, B), np.array_split(A, cores))
        return np.concatenate(list(parts))
