"""Callers: which line of the user's own code led to a warning."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

__all__ = ["warn_caller"]

#: Files below this folder are the library's own.
PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of the library that is nearest, however deep the call is.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("look here", UserWarning)
    >>> str(caught[0].message)
    'look here'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
