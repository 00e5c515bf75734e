"""Exact distances by brute force: every point, every cell, every activation pattern.

They are slow on purpose. The solvers are checked against them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from counterset.distances import Distance

Vector = NDArray[np.float64]
Predict = Callable[[Any], Any]


def nearest_other(predict: Predict, x: Vector, points: Vector, distance: Distance) -> float:
    """The distance of the nearest of these points that is classified differently."""
    own = predict(x[None, :])[0]
    lengths = [
        float(distance(x[None, :], point[None, :])[0, 0])
        for point in points
        if predict(point[None, :])[0] != own
    ]
    return min(lengths, default=np.inf)


def cell_points(
    x: Vector, thresholds: Sequence[Iterable[float]], low: float, high: float
) -> Vector:
    """One point for each cell between thresholds that are compared in single precision.

    It is the point of the cell that is nearest to x, found by bisection over doubles.
    """
    axes = []
    for value, own in zip(x, thresholds, strict=True):
        axis = {float(value)}
        for threshold in own:
            left = _last_left(threshold)
            right = np.nextafter(left, np.inf)
            axis |= {float(v) for v in (left, right) if low <= v <= high}
        axes.append(sorted(axis))
    return np.array(list(itertools.product(*axes)))


def _last_left(threshold: float) -> float:
    """The largest double that single precision puts at or below a threshold, by bisection."""
    spread = max(1e-3, abs(threshold) * 1e-3)
    below, above = threshold - spread, threshold + spread
    while np.nextafter(below, np.inf) < above:
        middle = (below + above) / 2
        if float(np.float32(middle)) <= threshold:
            below = middle
        else:
            above = middle
    return below


def mixed_distance(kind: str, a: Sequence[Any], b: Sequence[Any], spans: Sequence[float]) -> float:
    """The distance of two rows of numbers and texts: a changed text counts 1.

    ``spans`` are the ranges that Gower's distance divides numbers by.
    """
    parts = []
    for one, other, span in zip(a, b, spans, strict=True):
        if isinstance(one, str) or kind == "l0":
            parts.append(float(one != other))
        else:
            parts.append(abs(one - other) / (span if kind == "gower" else 1.0))
    if kind == "gower":
        return sum(parts) / len(parts)
    if kind == "l2":
        return float(sum(part**2 for part in parts) ** 0.5)
    return max(parts) if kind == "linf" else sum(parts)


def half_space_distance(
    gradient: Vector, need: float, x: Vector, low: Vector, high: Vector, kind: str, weights: Vector
) -> float:
    """The shortest move with ``gradient @ move >= need`` within a box, by a linear programme."""
    d = len(x)
    room = np.concatenate([high - x, x - low])
    if kind == "l1":
        result = linprog(
            np.concatenate([weights, weights]),
            A_ub=-np.concatenate([gradient, -gradient])[None, :],
            b_ub=[-need],
            bounds=[(0, r) for r in room],
        )
    else:  # linf
        rows = [np.append(-np.concatenate([gradient, -gradient]), 0.0)]
        for i in range(d):
            row = np.zeros(2 * d + 1)
            row[i] = row[d + i] = weights[i]
            row[-1] = -1.0
            rows.append(row)
        result = linprog(
            np.append(np.zeros(2 * d), 1.0),
            A_ub=np.array(rows),
            b_ub=np.append(-need, np.zeros(d)),
            bounds=[*((0, r) for r in room), (0, None)],
        )
    return float(result.fun) if result.status == 0 else np.inf


def network_distance(
    layers: Sequence[tuple[Vector, Vector]], x: Vector, low: Vector, high: Vector
) -> float:
    """The l1 distance to the other class of a network with one hidden layer, two classes.

    One linear programme for every pattern of units that are on.
    """
    (w0, b0), (w1, b1) = layers
    scores = np.maximum(x @ w0 + b0, 0) @ w1 + b1
    own = int(scores.argmax())
    lead, offset = w1[:, 1 - own] - w1[:, own], b1[1 - own] - b1[own]
    best = np.inf
    for pattern in itertools.product([0.0, 1.0], repeat=w0.shape[1]):
        on = np.array(pattern)
        gradient = w0 @ (on * lead)
        need = -(offset + b0 @ (on * lead) + gradient @ x)
        # A unit that is on has a positive input, one that is off a negative one.
        signs = 2 * on - 1
        rows = -(w0 * signs).T
        ends = signs * (x @ w0 + b0)
        result = linprog(
            np.ones(2 * len(x)),
            A_ub=np.vstack([np.hstack([rows, -rows]), -np.concatenate([gradient, -gradient])]),
            b_ub=np.append(ends, -need),
            bounds=[(0, r) for r in np.concatenate([high - x, x - low])],
        )
        if result.status == 0:
            best = min(best, float(result.fun))
    return best
