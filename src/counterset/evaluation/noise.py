"""Noise models: which inputs count as nearly equal to a given one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset._base.checks import check_count, check_positive
from counterset.tables.space import Space
from counterset.tables.table import Table

__all__ = ["GaussianNoise", "Noise", "NumericColumns"]

#: From copies, ``(n, d)``, and the position of each one's input, to whether the two have one class.
SameClass: TypeAlias = Callable[[Matrix, Indices], Mask]


@dataclass(frozen=True)
class NumericColumns:
    """The columns that noise applies to, and how far apart their values are.

    Attributes
    ----------
    positions
        The positions of the numeric columns.
    low, high
        The smallest and the largest training value of each.
    unit
        The difference of each that counts as 1 in the distance: its usual range by default.
    table
        The features of the training data.
    """

    positions: Indices
    low: Vector
    high: Vector
    unit: Vector
    table: Table

    @classmethod
    def of(cls, table: Table, space: Space) -> NumericColumns:
        """Find the numeric columns of a table, and their units in a space.

        Examples
        --------
        >>> table, rows = Table.learn([[0.0, 5.0], [1.0, 9.0], [0.5, 7.0]])
        >>> NumericColumns.of(table, Space.learn(rows, table, "range")).unit
        array([1., 4.])
        """
        positions = np.array(
            [i for i, f in enumerate(table.features) if f.kind in ("continuous", "integer")],
            dtype=np.intp,
        )
        low, high = (
            np.array([getattr(table.features[i], end) for i in positions], dtype=np.float64)
            for end in ("low", "high")
        )
        return cls(positions, low, high, space.unit[positions], table)

    def confine(self, rows: Matrix, inputs: Matrix) -> Matrix:
        """Clip copies of inputs to the training range, and round to what the dtypes can hold.

        An input that lies outside the training range may stay there.
        """
        own = inputs[:, self.positions]
        low, high = np.fmin(self.low, own), np.fmax(self.high, own)
        confined = rows.copy()
        confined[:, self.positions] = np.clip(rows[:, self.positions], low, high)
        return self.table.hold(confined)

    def differences(self, inputs: Matrix, copies: Matrix) -> dict[str, float]:
        """Return how much copies differ from their inputs on average, by the feature's name."""
        apart = np.abs(copies - inputs)[:, self.positions]
        known = ~np.isnan(apart)
        means = np.where(known, apart, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return {
            self.table.names[i]: float(mean) for i, mean in zip(self.positions, means, strict=True)
        }


class Noise(Protocol):
    """Draws inputs that are nearly equal to given ones, and have the same class."""

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: np.random.Generator,
    ) -> tuple[Stack, Mask]:
        """Draw noisy copies.

        Parameters
        ----------
        rows
            The inputs, ``(n, d)``, in the model's own units.
        columns
            The columns that may be changed, and how far.
        repeats
            The number of copies of each.
        same_class
            Which copies have the class of their input.
        random
            The only source of randomness.

        Returns
        -------
        copies, found
            Shapes ``(n, repeats, d)`` and ``(n, repeats)``; a copy is used only where found.
        """
        ...


@dataclass(frozen=True)
class GaussianNoise:
    """Add an independent normal number to each numeric feature, within the training range.

    The noise is in units of the explainer's own scale: with the default, a share of the usual range
    of each feature; with the paper's, a share of its whole range. Whole numbers are rounded,
    categories stay as they are. A copy of another class than its input is drawn again.

    Parameters
    ----------
    variance : float, default=0.0008
        For a feature whose unit is 1; a wider unit gets proportionally more noise. The default is
        that of the paper's experiments: 0.08 % of the unit, a standard deviation of 0.028.
    attempts : int, default=100
        How often a copy is drawn at most. After that there is no copy of the same class.

    Examples
    --------
    >>> table, rows = Table.learn([[0.0, 0.5], [1.0, 100.5], [0.5, 50.5]])
    >>> copies, found = GaussianNoise().copies(
    ...     rows[2:], NumericColumns.of(table, Space.learn(rows, table, "range")), 1,
    ...     lambda copies, owners: copies[:, 0] > 0, np.random.default_rng(0),
    ... )
    >>> copies.round(3), found
    (array([[[ 0.504, 50.126]]]), array([[ True]]))
    """

    variance: float = 0.0008
    attempts: int = 100

    def __post_init__(self) -> None:
        check_positive(self.variance, "variance")
        check_count(self.attempts, "attempts")

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: np.random.Generator,
    ) -> tuple[Stack, Mask]:
        """Draw noisy copies, and say which have the class of their input."""
        deviation = np.sqrt(self.variance) * columns.unit
        owners = np.repeat(np.arange(len(rows)), repeats)
        copies, found = rows[owners], np.zeros(len(owners), dtype=bool)
        for _ in range(self.attempts):
            open_ = np.flatnonzero(~found)
            if len(open_) == 0:
                break
            own = rows[owners[open_]]
            drawn = columns.table.without_special(own).copy()
            numbers = random.standard_normal((len(open_), len(columns.positions)))
            drawn[:, columns.positions] += numbers * deviation
            confined = columns.confine(drawn, own)
            copies[open_] = np.where(np.isnan(confined), own, confined)
            found[open_] = same_class(copies[open_], owners[open_])
        shape = (len(rows), repeats)
        return copies.reshape(*shape, rows.shape[1]), found.reshape(shape)
