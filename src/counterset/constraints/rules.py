"""Single constraints on the columns of a matrix.

Each rule can say where it holds, row by row, and move a candidate ``c`` of an input ``x`` to
where it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from counterset._base.arrays import Codes, Mask, Matrix
from counterset.tables.table import changed

__all__ = ["Allowed", "Fixed", "NothingLost", "OneWay", "Rule", "Together", "Within", "WithinReach"]


class Rule(Protocol):
    """One constraint."""

    @property
    def text(self) -> str:
        """How to name the rule to its author."""
        ...

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move candidates to where the rule holds, as far as it can; may change ``c``."""
        ...

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        """Say for which rows the rule holds."""
        ...


@dataclass(frozen=True)
class NothingLost:
    """A known value does not become missing: nobody can be advised to lose one."""

    text: str = "known values stay known"

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        return np.where(np.isnan(c), x, c)

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        return np.asarray(~(np.isnan(c) & ~np.isnan(x)).any(axis=1))


@dataclass(frozen=True)
class Fixed:
    """A feature stays as it is."""

    at: int
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        c[:, self.at] = x[:, self.at]
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        return ~changed(x[:, self.at], c[:, self.at])


@dataclass(frozen=True)
class OneWay:
    """A feature may only rise (sign 1) or only fall (sign -1); what is missing may be filled in."""

    at: int
    sign: int
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        c[:, self.at] = np.where(self.holds(x, c), c[:, self.at], x[:, self.at])
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        return np.isnan(x[:, self.at]) | (self.sign * (c[:, self.at] - x[:, self.at]) >= 0)


@dataclass(frozen=True)
class Within:
    """A feature lies in a range; it may stay missing, but not become so."""

    at: int
    low: float
    high: float
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        c[:, self.at] = np.clip(np.where(np.isnan(new), own, new), self.low, self.high)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.at], c[:, self.at]
        return (new >= self.low) & (new <= self.high) | np.isnan(own) & np.isnan(new)


@dataclass(frozen=True)
class WithinReach:
    """A feature moves at most so far down and so far up from the input's own value."""

    at: int
    down: float
    up: float
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        near = np.clip(np.where(np.isnan(new), own, new), own - self.down, own + self.up)
        c[:, self.at] = np.where(np.isnan(own), new, near)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.at], c[:, self.at]
        near = (new >= own - self.down) & (new <= own + self.up)
        return near | np.isnan(own)


@dataclass(frozen=True)
class Allowed:
    """A feature takes only certain values; it may stay missing, but not become so."""

    at: int
    codes: Matrix
    is_category: bool
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        # Values without an order have no nearest one: the first that was named serves.
        gaps = np.abs(new[:, None] - self.codes)
        nearest = np.zeros(len(c), dtype=np.intp)
        if not self.is_category:
            nearest = np.where(np.isnan(gaps), np.inf, gaps).argmin(axis=1)
        fallback = np.where(self._has(own) | np.isnan(own), own, self.codes[nearest])
        c[:, self.at] = np.where(self._has(new), new, fallback)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        return self._has(c[:, self.at]) | np.isnan(x[:, self.at]) & np.isnan(c[:, self.at])

    def _has(self, values: Matrix) -> Mask:
        return np.isin(values, self.codes)


@dataclass(frozen=True)
class Together:
    """Features keep the input's values, or take values that occur together in a training row."""

    members: Codes
    known: pd.MultiIndex
    text: str

    @classmethod
    def learn(cls, members: Codes, matrix: Matrix, text: str) -> Together:
        """Note which values occur together."""
        return cls(members, _combinations(matrix[:, members]).unique(), text)

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        c[:, self.members] = np.where(
            self.holds(x, c)[:, None], c[:, self.members], x[:, self.members]
        )
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.members], c[:, self.members]
        kept = ~changed(own, new).any(axis=1)
        return kept | (self.known.get_indexer(_combinations(new)) >= 0)


def _combinations(values: Matrix) -> pd.MultiIndex:
    # A missing value is a value here; no code is that large.
    known = np.where(np.isnan(values), np.finfo(np.float64).max, values)
    return pd.MultiIndex.from_arrays(list(known.T))
