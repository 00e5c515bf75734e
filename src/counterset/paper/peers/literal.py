"""The paper read literally: Python loops, one row per call of the model, sorting by hand.

It is slow on purpose. The tests compare everything fast in the library with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Matrix
from counterset.distances import ROUNDING
from counterset.exceptions import InvalidInputError
from counterset.paper.peers.protocol import LIMIT
from counterset.paper.setups import Network
from counterset.strategies.diversity import AngleDiversity, DistanceDiversity
from counterset.strategies.line_search import LineSearch
from counterset.strategies.ranking import CandidatesWithin, NearestCandidates

__all__ = ["PAIR_DISTANCES", "LiteralMethod", "LiteralPaper"]

Row: TypeAlias = tuple[float, ...]
PairDistance: TypeAlias = Callable[[Row, Row], float]


@dataclass
class LiteralMethod:
    """The four steps of the paper, for numeric rows in a scaled space.

    ``ROUNDING`` appears where the paper compares with "at least" and "at most": a tie counts as a
    tie even if its two sides were rounded differently.

    Parameters
    ----------
    predict
        The model, for one row.
    rows
        The training rows.
    distance
        The distance between two scaled rows.
    offset, factor
        The scaling of each feature: ``(value - offset) * factor``.
    candidates, diversity, search, limit
        The parameters of steps 2, 3 and 4, and the most counterfactuals for one input.
    target
        The wanted class; None: any class but the input's own.

    Examples
    --------
    >>> rows = [(0.0,), (1.0,), (2.0,), (-3.0,)]
    >>> method = LiteralMethod(
    ...     lambda row: abs(row[0]) > 0.5, rows, PAIR_DISTANCES["l1"], (0.0,), (1.0,),
    ...     NearestCandidates(3), AngleDiversity(0.5), LineSearch(0.5), limit=5,
    ... )
    >>> method.explain((0.0,))
    [(-0.75,), (1.0,)]
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
        """Return the counterfactuals of one input, nearest first."""
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
        """Check whether a candidate differs enough from one that was kept."""
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
        """Run Algorithm 1; a bracket's length is its share of the segment's length."""
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


def l0(a: Row, b: Row) -> float:
    return float(sum(p != q for p, q in zip(a, b, strict=True)))


def l1(a: Row, b: Row) -> float:
    return float(np.abs(np.subtract(b, a)).sum())


def l2(a: Row, b: Row) -> float:
    difference = np.subtract(b, a)
    return float(np.sqrt(np.einsum("d,d->", difference, difference)))


def linf(a: Row, b: Row) -> float:
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


#: The distances between two rows, by name.
PAIR_DISTANCES: dict[str, PairDistance] = {"l0": l0, "l1": l1, "l2": l2, "linf": linf}


class LiteralPaper:
    """The literal method with the paper's final parameters, as a peer."""

    name = "literal"
    uses_norm = True

    def __init__(self, norm: int, alpha: int = 1000) -> None:
        self._distance = PAIR_DISTANCES[f"l{norm}"]
        self._alpha = alpha

    def fit(self, model: Network, X: Matrix) -> None:
        """Ask the model about every training row."""
        if not isinstance(X, np.ndarray):
            raise InvalidInputError("The literal reading takes arrays of scaled numbers only.")

        @cache
        def predict(row: Row) -> int:
            return int(model.predict(np.array([row]))[0])

        rows = [tuple(row) for row in X.tolist()]
        for row in rows:
            predict(row)
        n_features = X.shape[1]
        self._method = LiteralMethod(
            predict,
            rows,
            self._distance,
            # The rows are scaled already.
            (0.0,) * n_features,
            (1.0,) * n_features,
            NearestCandidates(self._alpha),
            AngleDiversity(0.5),
            LineSearch(0.1),
            LIMIT,
        )

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row."""
        return [
            np.array(self._method.explain(tuple(x))).reshape(-1, X.shape[1]) for x in X.tolist()
        ]
