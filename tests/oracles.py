"""The paper read literally: Python loops, one model call per probe, sorting by hand.

Slow on purpose. Everything fast in the library is checked against this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    DistanceDiversity,
    LineSearch,
    NearestCandidates,
)
from counterset.distances import ROUNDING
from counterset.steps.diversity import View
from counterset.tables.space import Embedded

Row = tuple[float, ...]
PairDistance = Callable[[Row, Row], float]


@dataclass
class Oracle:
    """The four steps, for numeric rows in a scaled space.

    ``distance`` compares two scaled rows. ``ROUNDING`` appears where the paper compares with
    "at least" and "at most": a tie counts as a tie even if its two sides were rounded apart.
    """

    predict: Callable[[Row], Any]
    rows: Sequence[Row]
    distance: PairDistance
    offset: Row
    factor: Row
    candidates: NearestCandidates | CandidatesWithin
    diversity: AngleDiversity | DistanceDiversity | None
    search: LineSearch | None
    limit: int
    target: Any = None

    def scaled(self, row: Row) -> Row:
        return tuple((v - o) * f for v, o, f in zip(row, self.offset, self.factor, strict=True))

    def d(self, a: Row, b: Row) -> float:
        return self.distance(self.scaled(a), self.scaled(b))

    def accepts(self, label: Any, input_label: Any) -> bool:
        return bool(label != input_label) if self.target is None else bool(label == self.target)

    def explain(self, x: Row) -> list[Row]:
        label = self.predict(x)
        # Step 1: the set S_1 of counterfactual examples, ordered by distance, then by position.
        s1 = [
            (self.d(x, row), i, row)
            for i, row in enumerate(self.rows)
            if self.accepts(self.predict(row), label) and row != x
        ]
        s1.sort(key=lambda item: item[:2])
        if not s1:
            return []
        m = s1[0][0]
        # Step 2.
        if isinstance(self.candidates, NearestCandidates):
            s2 = s1[: self.candidates.alpha]
        else:
            s2 = [c for c in s1 if c[0] <= (1 + self.candidates.epsilon) * m * (1 + ROUNDING)]
        # Step 3.
        s3: list[tuple[float, int, Row]] = []
        for candidate in s2:
            if len(s3) == self.limit:
                break
            if all(self.differ(x, candidate[2], kept[2], m) for kept in s3):
                s3.append(candidate)
        # Step 4.
        farthest = self.search is not None and self.search.halvings == "farthest"
        far = [
            self.binary_search(x, row, s2[-1][0] if farthest else length, label)
            for length, _, row in s3
        ]
        ordered = sorted(far, key=lambda row: self.d(x, row))
        return list(dict.fromkeys(ordered))

    def differ(self, x: Row, candidate: Row, kept: Row, m: float) -> bool:
        if candidate == kept:
            return False
        if self.diversity is None:
            return True
        if isinstance(self.diversity, DistanceDiversity):
            return self.d(kept, candidate) >= (1 + self.diversity.beta) * m * (1 - ROUNDING)
        origin = self.scaled(x)
        u = [a - b for a, b in zip(self.scaled(candidate), origin, strict=True)]
        v = [a - b for a, b in zip(self.scaled(kept), origin, strict=True)]
        cosine = sum(a * b for a, b in zip(u, v, strict=True)) / (math.hypot(*u) * math.hypot(*v))
        if self.diversity.absolute:
            return abs(cosine) <= self.diversity.beta + ROUNDING
        return 1 - cosine >= self.diversity.beta - ROUNDING

    def binary_search(self, x: Row, c: Row, length: float, label: Any) -> Row:
        """Algorithm 1; a bracket's length is its share of the segment's length."""
        if self.search is None:
            return c
        while length > self.search.gamma:
            middle = tuple((a + b) / 2 for a, b in zip(x, c, strict=True))
            if self.accepts(self.predict(middle), label):
                c = middle
            else:
                x = middle
            length /= 2
        return c


def l1(a: Row, b: Row) -> float:
    return float(np.abs(np.subtract(b, a)).sum())


def l2(a: Row, b: Row) -> float:
    difference = np.subtract(b, a)
    return float(np.sqrt(np.einsum("d,d->", difference, difference)))


def linf(a: Row, b: Row) -> float:
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


def l0(a: Row, b: Row) -> float:
    return float(sum(p != q for p, q in zip(a, b, strict=True)))


PAIR_DISTANCES: dict[str, PairDistance] = {"l0": l0, "l1": l1, "l2": l2, "linf": linf}


def swap_literally(
    anchor: Any,
    region: Any,
    options: Any,
    chosen: list[int],
    price: float,
    distance: Any,
    diversity: Any,
) -> list[int]:
    """Swap one option for another, the best swap each time, until none makes the set better."""

    def value(numbers: list[int]) -> float:
        here = options[numbers]
        closeness = distance.pairwise(region, here).mean()
        between = distance.pairwise(here, here)[np.triu_indices(len(here), k=1)]
        return float(closeness - price * (between.mean() if len(between) else 0.0))

    def differ(a: int, b: int) -> bool:
        if (options[a] == options[b]).all():
            return False
        if diversity is None:
            return True
        nearest = distance.pairwise(anchor[None], options).min(keepdims=True)[0]
        view = View(
            Embedded(anchor[None], anchor[None]), Embedded(options, options), nearest, distance
        )
        return bool(diversity.differ(view, np.array([a]), np.array([b]))[0])

    while True:
        best, best_value = chosen, value(chosen) - 1e-9
        for i in range(len(chosen)):
            rest = chosen[:i] + chosen[i + 1 :]
            for option in range(len(options)):
                tried = [*chosen[:i], option, *chosen[i + 1 :]]
                if all(differ(option, other) for other in rest) and value(tried) < best_value:
                    best, best_value = tried, value(tried)
        if best is chosen:
            return chosen
        chosen = best
