"""Rules: constraints on the columns of a matrix.

A rule tells for which candidates ``c`` of inputs ``x`` it holds, row by row, and moves candidates
to where it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.tables.features.feature import Grid
from counterset.tables.table import changed

__all__ = [
    "Allowed",
    "Condition",
    "Fixed",
    "Forbidden",
    "InRange",
    "MovesAtMost",
    "NothingLost",
    "OneWay",
    "Rule",
    "Rules",
    "Together",
]


class Rule(Protocol):
    """One constraint; ``x`` and ``c`` have shape ``(n, n_features)``."""

    @property
    def text(self) -> str:
        """How a message names the rule: in the words of the user's ``Constraints(...)``."""
        ...

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move candidates to where the rule holds, if it can; may write to ``c``."""
        ...

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        """Return for which candidates the rule holds."""
        ...


@dataclass(frozen=True)
class NothingLost:
    """A known value becomes neither missing nor special: nobody can follow such advice."""

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
class InRange:
    """A feature lies in a range; it may stay missing, but not become missing.

    Attributes
    ----------
    low, high
        The range.
    first, last
        The smallest and the largest value in it that counterfactuals take.
    """

    at: int
    low: float
    high: float
    first: float
    last: float
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        new = np.where(np.isnan(new), own, new)
        new = np.where(new < self.low, self.first, np.where(new > self.high, self.last, new))
        c[:, self.at] = new
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.at], c[:, self.at]
        return (new >= self.low) & (new <= self.high) | np.isnan(own) & np.isnan(new)


@dataclass(frozen=True)
class MovesAtMost:
    """A feature moves at most ``down`` below and ``up`` above the input's own value.

    Attributes
    ----------
    dtype
        The floats that the feature's column holds.
    grid
        The values that counterfactuals take.
    """

    at: int
    down: float
    up: float
    text: str
    dtype: np.dtype[Any]
    grid: Grid

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        low, high = self.ends(own)
        first, last = self.grid.ends(low, high)
        # Where no value of the grid lies between the input's own and the end, it stays.
        near = np.where(np.isnan(new), own, new)
        near = np.where(near < low, np.minimum(first, own), near)
        near = np.where(near > high, np.maximum(last, own), near)
        c[:, self.at] = np.where(np.isnan(own), new, near)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.at], c[:, self.at]
        low, high = self.ends(own)
        return (new >= low) & (new <= high) | np.isnan(own)

    def ends(self, own: Vector) -> tuple[Vector, Vector]:
        """Return the least and the most that inputs of these values may move to."""
        return _moved(own, -self.down, self.dtype), _moved(own, self.up, self.dtype)


@dataclass(frozen=True)
class Allowed:
    """A feature takes one of the allowed values; it may stay missing, but not become missing."""

    at: int
    codes: Vector
    is_category: bool
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        own, new = x[:, self.at], c[:, self.at]
        # Values without an order have no nearest one: take the first that the user listed.
        gaps = np.abs(new[:, None] - self.codes)
        nearest = np.zeros(len(c), dtype=np.intp)
        if not self.is_category:
            nearest = np.where(np.isnan(gaps), np.inf, gaps).argmin(axis=1)
        fallback = np.where(self._has(own) | np.isnan(own), own, self.codes[nearest])
        c[:, self.at] = np.where(self._has(new), new, fallback)
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        return self._has(c[:, self.at]) | np.isnan(x[:, self.at]) & np.isnan(c[:, self.at])

    def _has(self, values: Vector) -> Mask:
        return np.isin(values, self.codes)


@dataclass(frozen=True)
class Forbidden:
    """A feature does not change from one value to another; what is missing may be filled in.

    Attributes
    ----------
    pairs
        The codes of both values, ``(n, 2)``; NaN: any other value.
    """

    at: int
    pairs: Matrix
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        c[:, self.at] = np.where(self.holds(x, c), c[:, self.at], x[:, self.at])
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        own, new = x[:, self.at], c[:, self.at]
        before, after = self.pairs.T
        from_ = (own[:, None] == before) | np.isnan(before)
        to = (new[:, None] == after) | np.isnan(after)
        forbidden = (from_ & to).any(axis=1) & changed(own, new) & ~np.isnan(own)
        return np.asarray(~forbidden)


@dataclass(frozen=True)
class Together:
    """Features keep the input's values, or take values that occur together in a training row."""

    members: Indices
    known: pd.MultiIndex
    text: str

    @classmethod
    def learn(cls, members: Indices, matrix: Matrix, text: str) -> Together:
        """Learn from the training rows which values occur together."""
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


@dataclass(frozen=True)
class Condition:
    """If one thing holds, another must: candidates keep all rules of at least one case.

    Attributes
    ----------
    cases
        The other thing holds, or the one does not.
    moves
        The rules by which candidates are moved to a case, in the order to try them.
    members
        The positions of its features.
    """

    cases: tuple[tuple[Rule, ...], ...]
    moves: tuple[tuple[Rule, ...], ...]
    members: Indices
    text: str

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Go back to the input's own values, where they keep the condition."""
        back = np.flatnonzero(~self.holds(x, c) & self.holds(x, x))
        at = np.ix_(back, self.members)
        c[at] = x[at]
        return c

    def holds(self, x: Matrix, c: Matrix) -> Mask:
        holds = np.zeros(len(c), dtype=bool)
        for case in self.cases:
            left = np.flatnonzero(~holds)
            own, new = x[left], c[left]
            holds[left] = np.all([rule.holds(own, new) for rule in case], axis=0)
        return holds


@dataclass(frozen=True)
class Rules:
    """All constraints of a call, as rules in the order in which they are applied.

    Attributes
    ----------
    without_special
        Takes a matrix and returns NaN in place of special codes, which rules take for missing;
        None if there are none.
    """

    rules: tuple[Rule, ...]
    n_features: int
    without_special: Callable[[Matrix], Matrix] | None = None

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The rules in full, to tell them from others."""
        return tuple(map(repr, self.rules))

    @cached_property
    def moves_gaps_only(self) -> bool:
        """Whether the rules move and refuse no candidates but those with a missing value."""
        return all(isinstance(rule, NothingLost) for rule in self.rules)

    @property
    def fixed(self) -> Mask:
        """Which features never change."""
        fixed = np.zeros(self.n_features, dtype=bool)
        fixed[[rule.at for rule in self.rules if isinstance(rule, Fixed)]] = True
        return fixed

    @cached_property
    def units(self) -> list[Indices]:
        """The positions of the features that change together, for each group or single feature."""
        grouped = {int(i) for group in self.groups for i in group}
        alone = (np.array([i]) for i in range(self.n_features) if i not in grouped)
        return [*self.groups, *alone]

    @cached_property
    def unit_of(self) -> Indices:
        """The position in ``units`` of each feature."""
        unit_of = np.empty(self.n_features, dtype=np.intp)
        for number, unit in enumerate(self.units):
            unit_of[unit] = number
        return unit_of

    @cached_property
    def groups(self) -> list[Indices]:
        """The positions of the features that change together, for each declared group."""
        return [rule.members for rule in self.rules if isinstance(rule, Together)]

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The rules that are conditions."""
        return tuple(rule for rule in self.rules if isinstance(rule, Condition))

    @cached_property
    def without_conditions(self) -> Rules:
        """The other rules."""
        others = (rule for rule in self.rules if not isinstance(rule, Condition))
        return replace(self, rules=tuple(others))

    def project(self, x: Matrix, c: Matrix) -> Matrix:
        """Move candidates to where the constraints of their inputs hold, row by row."""
        if not self.conditions:
            return self._moved(x, c)
        kept = others = self.without_conditions
        moved = others._moved(x, c)
        for condition in self.conditions:
            kept = replace(kept, rules=(*kept.rules, condition))
            broken = np.flatnonzero(~condition.holds(self._known(x), self._known(moved)))
            for move in (*condition.moves, (condition,)):
                if not len(broken):
                    break
                # The other rules come last: a move that they undo does not count.
                rules = replace(self, rules=(*move, *others.rules))
                tried = rules._moved(x[broken], moved[broken])
                holds = kept.hold(x[broken], tried)
                moved[broken[holds]] = tried[holds]
                broken = broken[~holds]
        return moved

    def _moved(self, x: Matrix, c: Matrix) -> Matrix:
        """Move candidates by one rule after the other."""
        own, moved = self._known(x), self._known(c).copy()
        for rule in self.rules:
            if isinstance(rule, Together):  # which code occurs with what, it must see
                moved = self._known(rule.project(x, self._with_codes(x, moved)))
            else:
                moved = rule.project(own, moved)
        return self._with_codes(x, moved)

    def hold(self, x: Matrix, c: Matrix) -> Mask:
        """Return which candidates keep all constraints of their inputs."""
        own, new = self._known(x), self._known(c)
        hold = np.ones(len(c), dtype=bool)
        for rule in self.rules:
            hold &= rule.holds(x, c) if isinstance(rule, Together) else rule.holds(own, new)
        if self.without_special is not None:  # one special code does not become another
            hold &= ~(np.isnan(new) & changed(x, c)).any(axis=1)
        return hold

    def _with_codes(self, x: Matrix, moved: Matrix) -> Matrix:
        """Return candidates with the input's own codes, which rules took for missing."""
        return moved if self.without_special is None else np.where(np.isnan(moved), x, moved)

    def _known(self, matrix: Matrix) -> Matrix:
        return matrix if self.without_special is None else self.without_special(matrix)

    def first(self, count: int) -> Rules:
        """Return the first few rules, to find out which one leaves no candidate."""
        return replace(self, rules=self.rules[:count])


def _moved(own: Vector, by: float, dtype: np.dtype[Any]) -> Vector:
    """Return ``own + by`` in a dtype of floats, rounded towards ``own``."""
    sign = np.sign(by)
    with np.errstate(invalid="ignore", over="ignore"):  # an infinite amount is no bound
        end = own + by
        moved = end - own
        # What rounding added, exactly (Knuth, TwoSum): 0.1 + 0.2 is more than 0.2 above 0.1.
        added = (moved - by) + ((end - moved) - own)
        end = np.where(sign * added > 0, np.nextafter(end, own), end)
        held = end.astype(dtype)
        held = np.where(sign * (held - end) > 0, np.nextafter(held, own.astype(dtype)), held)
    return held.astype(np.float64)


def _combinations(values: Matrix) -> pd.MultiIndex:
    # Equal missing values must compare as equal: the largest float stands for them, which is no
    # code.
    known = np.where(np.isnan(values), np.finfo(np.float64).max, values)
    return pd.MultiIndex.from_arrays(list(known.T))
