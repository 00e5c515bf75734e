"""Ranges in place of points: between which values an option may choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Counts, Mask, Matrix, Vector

__all__ = ["Range", "Span", "Spans"]


@dataclass(frozen=True)
class Range:
    """The values of one feature that an option may choose from.

    The ranges of an option hold together: whichever value is chosen from each of them, the row
    reaches the goal and keeps the constraints. What the option does not change stays as it is, and
    categories have the option's value.

    Attributes
    ----------
    name : str
        The name of the feature.
    label : str
        What people call it.
    low, high : object
        The least and the greatest value, in the units of the data. None where everything on that
        side works.
    text : str
        The range as the English sentences write it, such as "at most 3,900 DM".
    proved : bool
        Whether it holds for every point: by a solver that reads the model, or since the model was
        asked about all points. If not, it holds for the points that were checked.
    checked : int
        At how many points the model was asked about the ranges of this option; 0 where a solver
        proved them.
    """

    name: str
    label: str
    low: Any
    high: Any
    text: str
    proved: bool
    checked: int


@dataclass(frozen=True, eq=False)
class Span:
    """The ranges of one option as codes.

    Attributes
    ----------
    low, high
        The ends for each feature, ``(d,)``: both are the option's code where there is no range,
        and infinite where everything on that side works.
    proved, checked
        As in :class:`Range`.
    """

    low: Vector
    high: Vector
    proved: bool
    checked: int

    @property
    def is_point(self) -> bool:
        """Whether the option has no choice anywhere."""
        return bool((self._wide == 0).all())

    @property
    def _wide(self) -> Mask:
        return np.asarray(self.high > self.low)

    def is_wide(self, at: int) -> bool:
        """Return whether a feature has more than one value to choose from."""
        return bool(self._wide[at])


@dataclass(frozen=True, eq=False)
class Spans:
    """The ranges of all options of an explanation as codes.

    Attributes
    ----------
    low, high
        Of shape ``(n, d)``, as in :class:`Span`.
    proved, checked
        Of shape ``(n,)``.

    Examples
    --------
    >>> spans = Spans.of([Span(np.array([1.0, 5.0]), np.array([3.0, 5.0]), True, 0)])
    >>> spans.at(0).is_wide(0), spans.at(0).is_wide(1)
    (True, False)
    """

    low: Matrix
    high: Matrix
    proved: Mask
    checked: Counts

    @classmethod
    def of(cls, spans: list[Span]) -> Spans:
        """Return the ranges of the options of an explanation; there is one at least."""
        return cls(
            np.array([span.low for span in spans]),
            np.array([span.high for span in spans]),
            np.array([span.proved for span in spans], dtype=bool),
            np.array([span.checked for span in spans], dtype=np.intp),
        )

    def at(self, i: int) -> Span:
        """Return the ranges of one option."""
        return Span(self.low[i], self.high[i], bool(self.proved[i]), int(self.checked[i]))

    def first(self, count: int) -> Spans:
        """Return the ranges of the first few options."""
        return Spans(self.low[:count], self.high[:count], self.proved[:count], self.checked[:count])
