"""The mixed algorithm read literally, for one input: Python loops over raw values.

Rows are tuples of raw values: a number, an ordinal's rank, a category's value, None if missing.
Slow on purpose. The fast path must give exactly the same sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterset import AngleDiversity, DistanceDiversity, LineSearch, NearestCandidates
from counterset.distances import ROUNDING

Row = tuple[Any, ...]


@dataclass(frozen=True)
class RawFeature:
    """A feature: how it behaves, its training range, and where a missing number lies."""

    is_category: bool = False
    is_whole: bool = False
    low: float = 0.0
    high: float = 1.0
    median: float = 0.0
    seen: tuple[float, ...] = ()  # of an ordinal

    def scaled(self, value: Any) -> float:
        value = self.median if value is None else value
        spread = self.high - self.low if self.high > self.low else 1.0
        return float((value - self.low) * (1 / spread))

    def difference(self, a: Any, b: Any) -> float:
        """Return the part of the feature in the distance: scaled, or 1 for a changed category."""
        if self.is_category:
            return float(a != b)
        lost = float((a is None) != (b is None))
        return abs(self.scaled(b) - self.scaled(a)) + lost

    def rounded(self, value: Any) -> Any:
        if value is None or self.is_category:
            return value
        if self.seen:
            return min(self.seen, key=lambda code: (abs(code - value), code))
        return float(round(value)) if self.is_whole else value


@dataclass(frozen=True)
class RawRule:
    """A constraint: what it does to a candidate, and whether it holds."""

    project: Callable[[Row, Row], Row]
    holds: Callable[[Row, Row], bool]


@dataclass
class MixedOracle:
    """The four steps for mixed rows, with the l1 distance of the scaled space (times ``share``).

    ``share`` is 1 for l1, and 1 / number of features for Gower.
    """

    predict: Callable[[Row], Any]
    rows: Sequence[Row]
    features: Sequence[RawFeature]
    candidates: NearestCandidates
    diversity: AngleDiversity | DistanceDiversity | None
    search: LineSearch | None
    limit: int
    share: float = 1.0
    rules: list[RawRule] = field(default_factory=list)
    fixed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        # A known value does not become missing, whatever else is asked for.
        nothing_lost = RawRule(
            lambda x, c: tuple(p if q is None else q for p, q in zip(x, c, strict=True)),
            lambda x, c: all(q is not None or p is None for p, q in zip(x, c, strict=True)),
        )
        self.rules = [nothing_lost, *self.rules]

    def d(self, a: Row, b: Row, ignored: tuple[int, ...] = ()) -> float:
        parts = zip(self.features, a, b, strict=True)
        kept = [f.difference(p, q) for i, (f, p, q) in enumerate(parts) if i not in ignored]
        # Rounded, so that ties are ties whatever order the parts are added in.
        return round(math.fsum(kept) * self.share, 9)

    def is_acceptable(self, x: Row, c: Row) -> bool:
        keeps = all(rule.holds(x, c) for rule in self.rules)
        return c != x and keeps and self.predict(c) != self.predict(x)

    def explain(self, x: Row) -> list[Row]:
        label = self.predict(x)
        # Steps 1 and 2: rows of another class, by their distance in what can change.
        s1 = [
            (self.d(x, row, self.fixed), i)
            for i, row in enumerate(self.rows)
            if self.predict(row) != label and self.differs(x, row)
        ]
        s2 = sorted(s1)[: self.candidates.alpha]
        # Each is moved onto the constraints, rule by rule, and kept if it is still acceptable.
        moved = []
        for _, i in s2:
            row = self.rows[i]
            for rule in self.rules:
                row = rule.project(x, row)
            pairs = zip(self.features, x, row, strict=True)
            row = tuple(q if q == p else f.rounded(q) for f, p, q in pairs)
            if self.is_acceptable(x, row):
                moved.append((self.d(x, row), i, row))
        moved.sort(key=lambda item: item[:2])
        # Step 3.
        nearest = moved[0][0] if moved else 0.0
        kept: list[Row] = []
        for _, _, row in moved:
            if len(kept) < self.limit and all(self.differ(x, row, k, nearest) for k in kept):
                kept.append(row)
        # Step 4.
        found = sorted((self.line_search(x, row) for row in kept), key=lambda row: self.d(x, row))
        return list(dict.fromkeys(found))

    def differs(self, x: Row, row: Row) -> bool:
        return any(
            p != q for i, (p, q) in enumerate(zip(x, row, strict=True)) if i not in self.fixed
        )

    def direction(self, x: Row, c: Row) -> dict[Any, float]:
        """Return the scaled difference of each number, and a vector of length 1 for each switch."""
        found: dict[Any, float] = {}
        for i, (feature, p, q) in enumerate(zip(self.features, x, c, strict=True)):
            if feature.is_category:
                if p != q:
                    found[i, p], found[i, q] = -math.sqrt(0.5), math.sqrt(0.5)
                continue
            found[i] = feature.scaled(q) - feature.scaled(p)
            found[i, "missing"] = float(q is None) - float(p is None)
        return found

    def differ(self, x: Row, candidate: Row, kept: Row, nearest: float) -> bool:
        if candidate == kept:
            return False
        if self.diversity is None:
            return True
        if isinstance(self.diversity, DistanceDiversity):
            return self.d(kept, candidate) >= (1 + self.diversity.beta) * nearest - 1e-9
        u, v = self.direction(x, candidate), self.direction(x, kept)
        product = math.fsum(u[key] * v[key] for key in u.keys() & v.keys())
        cosine = product / (math.hypot(*u.values()) * math.hypot(*v.values()))
        return 1 - cosine >= self.diversity.beta - ROUNDING

    def line_search(self, x: Row, c: Row) -> Row:
        """Algorithm 1 on the share of the way; switches happen at even shares, cheapest first."""
        if self.search is None:
            return c
        pairs = list(zip(self.features, x, c, strict=True))
        switches = [
            i
            for i, (f, p, q) in enumerate(pairs)
            if p != q and (f.is_category or (p is None) != (q is None))
        ]
        switches.sort(key=lambda i: (round(self.features[i].difference(x[i], c[i]), 9), i))
        at = {i: (rank + 1) / (len(switches) + 1) for rank, i in enumerate(switches)}

        def row(points: Sequence[Any]) -> Row:
            made = []
            for i, (f, p, q) in enumerate(pairs):
                if i in at:
                    made.append(q if points[i] >= at[i] else p)
                else:
                    made.append(p if points[i] == p else f.rounded(points[i]))
            return tuple(made)

        near: list[Any] = [0.0 if i in at else p for i, p in enumerate(x)]
        far: list[Any] = [1.0 if i in at else q for i, q in enumerate(c)]
        length = self.d(x, c)
        while length > self.search.gamma:
            middle = [
                p if isinstance(p, str) or p is None else (p + q) / 2
                for p, q in zip(near, far, strict=True)
            ]
            if self.is_acceptable(x, row(middle)):
                far = middle
            else:
                near = middle
            length /= 2
        return row(far)
