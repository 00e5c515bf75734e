"""Noise models: which inputs count as nearly equal to a given one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset._base.checks import check_count, check_positive
from counterset.tables.table import Table

__all__ = ["GaussianNoise", "Noise", "NumericColumns"]

#: From copies, ``(n, d)``, and the position of each one's input, to whether the two have one class.
SameClass: TypeAlias = Callable[[Matrix, Indices], Mask]


@dataclass(frozen=True)
class NumericColumns:
    """The columns that noise applies to, with their training ranges.

    Attributes
    ----------
    positions
        The positions of the numeric columns.
    low, high
        The smallest and the largest training value of each.
    table
        The features of the training data.
    """

    positions: Indices
    low: Vector
    high: Vector
    table: Table

    @classmethod
    def of(cls, table: Table) -> NumericColumns:
        """Find the numeric columns of a table.

        Examples
        --------
        >>> table, _ = Table.learn([[0.0, 5.0], [1.0, 9.0], [0.5, 7.0]])
        >>> NumericColumns.of(table).high
        array([1., 9.])
        """
        numeric = [
            (i, feature.low, feature.high)
            for i, feature in enumerate(table.features)
            if feature.kind in ("continuous", "integer")
        ]
        positions, low, high = zip(*numeric, strict=True) if numeric else ((), (), ())
        return cls(
            np.array(positions, dtype=np.intp),
            np.array(low, dtype=np.float64),
            np.array(high, dtype=np.float64),
            table,
        )

    def confine(self, rows: Matrix) -> Matrix:
        """Clip rows to the training range, and round to what the columns' dtypes can hold."""
        confined = rows.copy()
        confined[:, self.positions] = np.clip(rows[:, self.positions], self.low, self.high)
        return self.table.hold(confined)


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
            How many copies of each.
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

    Whole numbers are rounded, categories stay as they are. A copy that is classified differently
    than its input is drawn again.

    Parameters
    ----------
    variance
        For a feature that spans [0, 1] over the training data; a wider span gets proportionally
        more noise. The default is that of the paper's experiments: 0.08 % of the span, a standard
        deviation of 0.028.
    attempts
        How often to draw before giving up on a copy of the same class.

    Examples
    --------
    >>> table, rows = Table.learn([[0.0, 0.5], [1.0, 100.5], [0.5, 50.5]])
    >>> copies, found = GaussianNoise().copies(
    ...     rows[2:], NumericColumns.of(table), 1, lambda copies, owners: copies[:, 0] > 0,
    ...     np.random.default_rng(0),
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
        """Draw noisy copies, see :class:`Noise`."""
        deviation = np.sqrt(self.variance) * (columns.high - columns.low)
        owners = np.repeat(np.arange(len(rows)), repeats)
        copies, found = rows[owners], np.zeros(len(owners), dtype=bool)
        for _ in range(self.attempts):
            open_ = np.flatnonzero(~found)
            if len(open_) == 0:
                break
            own = rows[owners[open_]]
            drawn = columns.table.without_special(own)
            numbers = random.standard_normal((len(open_), len(columns.positions)))
            drawn[:, columns.positions] += numbers * deviation
            confined = columns.confine(drawn)
            copies[open_] = np.where(np.isnan(confined), own, confined)
            found[open_] = same_class(copies[open_], owners[open_])
        shape = (len(rows), repeats)
        return copies.reshape(*shape, rows.shape[1]), found.reshape(shape)
