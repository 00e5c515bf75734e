"""Margin: an option holds when a person lands near it rather than on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from counterset._base.arrays import Counts, Indices, Mask, Matrix, Vector
from counterset._base.checks import check_between, check_count, check_positive
from counterset.exceptions import InvalidInputError
from counterset.tables.table import Table, changed

__all__ = ["Accepts", "Margin", "MarginLike", "read_margin"]

#: Returns which rows reach the goal, given the option that each belongs to.
Accepts: TypeAlias = Callable[[Matrix, Indices], Mask]

#: The draws are the same for all options.
SEED = 0
#: Of an option, the draws that fall shortest are asked about first: just enough to refuse it if
#: all of them fail, then 20, then all.
SECOND_ROUND = 20
#: Draws of some options are made at a time: 4 million numbers, 32 MB.
NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Margin:
    """How far from an option a person may land, and how often it must still work there.

    Each number, time and ordinal that an option changes is moved at random, evenly up to ``noise``
    of its usual range in both directions. An option holds if ``hold`` of the draws still lead to
    what was asked for. The draws are fixed: the same for every option, batch and process. They
    stay within the training range, and on values that the column can hold; they need not keep the
    constraints, which say what is proposed and not where a person lands. An option that changes
    nothing of the kind has nothing to land beside: it holds.

    Parameters
    ----------
    noise : float, default=0.05
        A share of the usual range of each feature.
    hold : float, default=0.95
        The least share of the draws that must hold.
    draws : int, default=100
        How many there are. The model is asked about all of them for each row that could be an
        option.

    See Also
    --------
    survival : How many options still work for other models.

    Examples
    --------
    The model approves from 0.5 on. An option of 0.51 is not enough if people land up to 0.05 away:

    >>> from counterset import DiverseExplainer, Margin
    >>> X = np.linspace(0, 1, 101)[:, None]
    >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] >= 0.5, max_counterfactuals=1).fit(X)
    >>> explainer.explain([0.2]).options[0].sentence
    'Raise x0 from 0.2 to 0.5'
    >>> option = explainer.explain([0.2], margin=Margin(noise=0.05, hold=1.0)).options[0]
    >>> option.sentence, option.hold_rate
    ('Raise x0 from 0.2 to 0.549', 1.0)
    """

    noise: float = 0.05
    hold: float = 0.95
    draws: int = 100

    def __post_init__(self) -> None:
        check_positive(self.noise, "noise")
        check_between(self.noise, 0, 1, "noise")
        check_positive(self.hold, "hold")
        check_between(self.hold, 0, 1, "hold")
        check_count(self.draws, "draws")

    @property
    def most_failures(self) -> int:
        """How many draws may fail."""
        return self.draws - math.ceil(self.hold * self.draws - 1e-9)

    def __str__(self) -> str:
        usual = Margin(self.noise)
        return f"margin={self.noise:g}" if self == usual else f"margin={self!r}"

    def widths(self, table: Table) -> Vector:
        """Return how far each feature is moved at most, ``(d,)``.

        That is 0 for those without an order, and where it would be rounded to nothing.
        """
        usual = np.array([feature.usual for feature in table.features])
        widths = self.noise * (usual[:, 1] - usual[:, 0]) * table.ordered
        units = np.array([feature.resolution for feature in table.features])
        moves: Vector = np.where(widths > units / 2, widths, 0.0)
        return moves

    def moved(self, table: Table, starts: Matrix, rows: Matrix) -> Mask:
        """Return which features of options are moved: ordered ones that change, and are known.

        Parameters
        ----------
        starts, rows
            The inputs and their options, ``(n, d)``.
        """
        known = ~np.isnan(table.without_special(rows))
        moved: Mask = changed(starts, rows) & known & (self.widths(table) > 0)
        return moved

    def holds(self, table: Table, starts: Matrix, rows: Matrix, accepts: Accepts) -> Mask:
        """Return which options hold, and ask as little as that takes.

        Parameters
        ----------
        starts, rows
            The inputs and their options, ``(n, d)``.
        accepts
            Returns which rows reach the goal.
        """
        moved = self.moved(table, starts, rows)
        failed = np.zeros(len(rows), dtype=np.intp)
        open_, begin = np.flatnonzero(moved.any(axis=1)), 0
        for end in sorted({self.most_failures + 1, min(SECOND_ROUND, self.draws), self.draws}):
            if end <= begin:
                continue
            for some in self._in_parts(open_, rows.shape[1]):
                draws = self._order(table, moved[some])[:, begin:end]
                failed[some] += self._failures(table, starts, rows, some, draws, accepts)
            open_, begin = open_[failed[open_] <= self.most_failures], end
        return np.asarray(failed <= self.most_failures)

    def rates(self, table: Table, starts: Matrix, rows: Matrix, accepts: Accepts) -> Vector:
        """Return for which share of the draws each option works; parameters as for ``holds``."""
        failed = np.zeros(len(rows), dtype=np.intp)
        open_ = np.flatnonzero(self.moved(table, starts, rows).any(axis=1))
        for some in self._in_parts(open_, rows.shape[1]):
            draws = np.tile(np.arange(self.draws), (len(some), 1))
            failed[some] = self._failures(table, starts, rows, some, draws, accepts)
        return 1 - failed / self.draws

    def landings(self, table: Table, starts: Matrix, rows: Matrix, draws: Indices) -> Matrix:
        """Return where people land beside options, ``(n * k, d)``.

        Parameters
        ----------
        starts, rows
            The inputs and their options, ``(n, d)``.
        draws
            The numbers of the draws to make for each, ``(n, k)``.
        """
        low, high = np.array([(feature.low, feature.high) for feature in table.features]).T
        # A positive draw falls short of the option, a negative one goes beyond it.
        short = np.where(starts > rows, 1.0, -1.0) * self.widths(table)
        short = np.where(self.moved(table, starts, rows), short, 0.0)
        there = rows[:, None, :]
        landed = there + short[:, None, :] * _draws(self.draws, rows.shape[1])[draws]
        landed = np.clip(landed, np.fmin(low, there), np.fmax(high, there))
        options = np.repeat(rows, draws.shape[1], axis=0)
        landed = table.hold(landed.reshape(options.shape), options)
        # A number may not land on a code that is no number.
        return np.where(np.isnan(table.without_special(landed)), options, landed)

    def _failures(
        self,
        table: Table,
        starts: Matrix,
        rows: Matrix,
        some: Indices,
        draws: Indices,
        accepts: Accepts,
    ) -> Counts:
        """Return for how many of some draws the goal is missed."""
        landed = self.landings(table, starts[some], rows[some], draws)
        kept = accepts(landed, np.repeat(some, draws.shape[1]))
        failures: Counts = (~kept).reshape(draws.shape).sum(axis=1)
        return failures

    def _order(self, table: Table, moved: Mask) -> Indices:
        """Return the draws of each option, those first that fall shortest of it."""
        draws = _draws(self.draws, moved.shape[1])
        return np.argsort(-(moved.astype(np.float64) @ draws.T), axis=1, kind="stable")

    def _in_parts(self, which: Indices, features: int) -> Iterator[Indices]:
        at_once = max(1, NUMBERS_AT_ONCE // (self.draws * features))
        for start in range(0, len(which), at_once):
            yield which[start : start + at_once]


@lru_cache(maxsize=16)
def _draws(count: int, features: int) -> Matrix:
    """Return the draws, ``(count, features)``, from -1 to 1: of each feature spread evenly."""
    random = np.random.default_rng(SEED)
    middles = (2 * np.arange(count) + 1) / count - 1
    draws = np.array([random.permutation(middles) for _ in range(features)]).T
    draws.setflags(write=False)
    return draws


#: What users pass: a margin, or its noise; 0 and None: none.
MarginLike: TypeAlias = Margin | float | None


def read_margin(margin: Any) -> Margin | None:
    """Return the margin that a user passed.

    Examples
    --------
    >>> read_margin(0.05), read_margin(0), read_margin(None)
    (Margin(noise=0.05, hold=0.95, draws=100), None, None)
    """
    if margin is None or isinstance(margin, Margin):
        return margin
    try:
        check_between(margin, 0, 1, "margin")
    except InvalidInputError:
        raise InvalidInputError(
            f"margin must be Margin(...), a share of the usual range from 0 to 1, or None, got "
            f"{margin!r}."
        ) from None
    return Margin(float(margin)) if margin else None
