"""Types of arguments. What they refuse, argparse tells in one line, before anything runs."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable

__all__ = ["positive_number", "whole_number"]


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a type of argument: a whole number in a range, both ends included.

    Examples
    --------
    >>> whole_number(1, 20)("7")
    7
    """
    span = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise ArgumentTypeError(f"must be a whole number {span}, got {text!r}")
        return value

    return read


def positive_number(text: str) -> float:
    """Read a finite number above 0.

    Examples
    --------
    >>> positive_number("0.5")
    0.5
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value
