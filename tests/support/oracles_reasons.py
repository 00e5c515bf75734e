"""Literal, slow versions of Shapley values and of reasons."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import combinations, permutations
from math import factorial
from typing import Any

import numpy as np

__all__ = ["all_orders", "helps_alone", "literal_reasons", "shapley_by_enumeration"]

Worth = Callable[[Any], float]


def mixed(x: Any, b: Any, own: Any) -> Any:
    """Return b with the values of x at some positions."""
    row = b.copy()
    row[list(own)] = x[list(own)]
    return row


def shapley_by_enumeration(worth: Worth, x: Any, background: Any) -> Any:
    """Go through all coalitions, and weigh what each feature adds to them."""
    d = len(x)
    values = np.zeros(d)
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for coalition in combinations(others, size):
                added = [
                    worth(mixed(x, b, (*coalition, j))) - worth(mixed(x, b, coalition))
                    for b in background
                ]
                values[j] += weight * np.mean(added)
    return values


def helps_alone(worth: Worth, x: Any, background: Any, j: int) -> float:
    """Return how much it helps on average to replace one value."""
    return float(np.mean([worth(mixed(b, x, [j])) for b in background]) - worth(x))


def literal_reasons(worth: Worth, x: Any, background: Any, *, is_label: bool) -> list[int]:
    """Return the positions of the reasons of numbers, in the words of the guide."""
    least = -1e-9 if is_label else 1e-9
    against = -shapley_by_enumeration(worth, x, background)
    counts = [j for j in range(len(x)) if against[j] > 1e-12]
    # The lower median is one of the values.
    typical = np.sort(background, axis=0)[(len(background) - 1) // 2]
    quarters = [statistics.quantiles(column, n=4, method="inclusive") for column in background.T]
    widths = [third - first for first, _, third in quarters]
    unusual = [
        j
        for j in counts
        if abs(x[j] - typical[j]) > 0.2 * widths[j]
        and worth(mixed(typical, x, [j])) - worth(x) > least
    ]
    counts = unusual or counts
    alone = {j: helps_alone(worth, x, background, j) for j in counts}
    named = [j for j in counts if alone[j] > 1e-12]
    named = named or [j for j in counts if alone[j] > -1e-12]
    most = max((against[j] for j in named), default=0.0)
    named = [j for j in named if against[j] >= 0.1 * most]
    return sorted(named, key=lambda j: (-round(against[j], 9), j))


def all_orders(d: int) -> Any:
    """Return every order of d features."""
    return np.array(list(permutations(range(d))), dtype=np.intp)
