"""Holds: how often, and how far, options still work when a person lands near them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.explanations.context import Context
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import is_confident
from counterset.models.margin import Margin
from counterset.tables.table import Table

__all__ = ["Holds", "Room"]

#: The model is asked about 1000 steps on each side of a value at most: with more, the room ends
#: there.
MOST_STEPS = 1000


@dataclass(frozen=True)
class Room:
    """How far one value of an option may differ, and the option still works.

    Attributes
    ----------
    name : str
        The name of the feature.
    less, more : float
        How far below and above the option's value; 0 if not at all. No more than the margin's
        noise was looked at.
    """

    name: str
    less: float
    more: float


class Holds:
    """How often and how far the options of one input hold; the model is asked when first read.

    Parameters
    ----------
    context
        The model, the goal and the margin that were asked for.
    input
        The input, ``(d,)``.
    label
        Its label, ``(1,)``.
    matrix
        The options, ``(n, d)``.
    known
        The rates, if they are known from a file; NaN where they are not.
    """

    def __init__(
        self, context: Context, input: Vector, label: Labels, matrix: Matrix, known: Vector | None
    ) -> None:
        self._context, self._label, self._known = context, label, known
        self._starts, self._matrix = np.repeat(input[None, :], len(matrix), axis=0), matrix
        self._margin = context.margin or Margin()

    @property
    def in_file(self) -> bool:
        """Whether the rates belong in a file: a margin was asked for."""
        return self._context.margin is not None

    def rate(self, i: int) -> float | None:
        """Return for which share of the draws an option works; None if it is not known."""
        rates = self.rates
        return None if rates is None or np.isnan(rates[i]) else float(rates[i])

    @cached_property
    def rates(self) -> Vector | None:
        """The rate of each option; None without a model."""
        if self._known is not None or self._context.model is None:
            return self._known
        return self._margin.rates(self._table, self._starts, self._matrix, self._accepts)

    def rooms(self, i: int) -> tuple[Room, ...]:
        """Return how far the values of an option may differ, one alone."""
        return () if self._context.model is None else self._rooms[i]

    @cached_property
    def _rooms(self) -> list[tuple[Room, ...]]:
        """The rooms of all options, asked for in one call."""
        moved = self._margin.moved(self._table, self._starts, self._matrix)
        places, parts = [], [self._matrix[:0]]
        for i, at in np.argwhere(moved).tolist():
            for sign in (-1, 1):
                values = self._steps(i, at, sign)
                rows = np.repeat(self._matrix[[i]], len(values), axis=0)
                rows[:, at] = values
                places.append((i, at, values))
                parts.append(rows)
        rows = np.concatenate(parts)
        holds = self._accepts(rows, np.zeros(len(rows), dtype=np.intp))
        room = np.zeros(self._matrix.shape), np.zeros(self._matrix.shape)
        start = 0
        for side, (i, at, values) in enumerate(places):
            own = holds[start : start + len(values)]
            count = len(own) if own.all() else int((~own).argmax())
            if count:
                room[side % 2][i, at] = abs(values[count - 1] - self._matrix[i, at])
            start += len(values)
        less, more = room
        return [
            tuple(
                Room(self._table.names[at], float(less[i, at]), float(more[i, at]))
                for at in np.flatnonzero(less[i] + more[i])
            )
            for i in range(len(self._matrix))
        ]

    def _steps(self, i: int, at: int, sign: int) -> Vector:
        """Return the values beside that of an option to ask about, the nearest first."""
        feature, own = self._table.features[at], float(self._matrix[i, at])
        step, width = feature.finest_step or feature.step, float(self._widths[at])
        if not step or feature.values is not None:
            return np.empty(0)
        end = min(own, feature.low) if sign < 0 else max(own, feature.high)
        width = min(width, abs(end - own))
        count = min(MOST_STEPS, int(np.floor(width / step + 1e-9)))
        values = feature.hold(own + sign * step * np.arange(1.0, count + 1))
        stops = ~feature.is_known(values)
        return values[: int(stops.argmax())] if stops.any() else values

    @cached_property
    def _widths(self) -> Vector:
        return self._margin.widths(self._table)

    @property
    def _table(self) -> Table:
        return self._context.table

    def _accepts(self, rows: Matrix, _: Indices) -> Mask:
        """Return which rows reach the goal."""
        if not len(rows):
            return np.zeros(0, dtype=bool)
        context = self._context
        asks = context.probability is not None
        adapter = ModelAdapter(context.model_to_ask(), self._table, with_confidence=asks)
        answers = adapter.answers_once(rows)
        accepted = context.goal.accepts(answers.labels, np.repeat(self._label, len(rows)))
        return accepted & is_confident(answers, context.probability)
