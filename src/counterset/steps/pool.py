"""The candidates: the training rows, sorted by the class that the model predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterset._base.arrays import Codes, Indices, Mask, Matrix, Vector
from counterset._base.memo import Memo
from counterset.steps.nearest import NearestSearch
from counterset.tables.space import Embedded, TableDistance

__all__ = ["CandidatePool", "Candidates"]

#: The same lots are drawn each time.
SEED = 0
#: The last 8 parts are kept: each class, or all but one class, is one.
MOST_PARTS = 8


@dataclass(frozen=True)
class Candidates:
    """Some rows of the pool.

    Attributes
    ----------
    positions
        Where they stand in the pool, ascending.
    training_index
        Where they stand in the training data.
    embedded
        The rows as points of the space.
    search
        Finds the nearest among them, if they follow each other in the pool.
    """

    positions: Indices
    training_index: Indices
    embedded: Embedded
    search: NearestSearch | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, which: Indices) -> Candidates:
        """Return some of them."""
        embedded = self.embedded.take(which)
        return Candidates(self.positions[which], self.training_index[which], embedded)


@dataclass(frozen=True)
class CandidatePool:
    """The training rows, sorted by predicted class, so that each class is a slice.

    Attributes
    ----------
    matrix
        The rows in the model's own units.
    training_index
        The position of each row in the training data.
    codes
        The code of the class of each row, ascending.
    distance
        How rows are compared.
    """

    matrix: Matrix
    training_index: Indices
    codes: Codes
    distance: TableDistance

    @classmethod
    def build(cls, matrix: Matrix, codes: Codes, distance: TableDistance) -> CandidatePool:
        """Sort the training rows by the code of their predicted class."""
        order = np.argsort(codes, kind="stable")
        return cls(matrix[order], order, codes[order], distance)

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def embedded(self) -> Embedded:
        """The rows as points of the space."""
        return self.distance.embed(self.matrix)

    def part(self, start: int, stop: int) -> Candidates:
        """Return rows that follow each other, such as those of a class.

        They are kept, so that what is computed of them is computed once.
        """
        return self._parts.get((start, stop), lambda: self._part(start, stop))

    def _part(self, start: int, stop: int) -> Candidates:
        embedded = self.embedded.take(slice(start, stop))
        points = embedded.coordinates
        squared = embedded.squared if embedded.directions is points else None
        search = NearestSearch(points, self.distance.in_space, squared)
        return Candidates(np.arange(start, stop), self.training_index[start:stop], embedded, search)

    @cached_property
    def _parts(self) -> Memo[Candidates]:
        return Memo(MOST_PARTS)

    def of_classes(self, which: Mask) -> Mask:
        """Return which rows are of some classes, given as a mask over the codes."""
        rows = np.zeros(len(self), dtype=bool)
        # Where classes that are meant follow each other, so do their rows.
        runs = np.flatnonzero(np.diff(which, prepend=False, append=False)).reshape(-1, 2)
        for start, stop in self._ends[runs]:
            rows[start:stop] = True
        return rows

    @cached_property
    def _ends(self) -> Indices:
        """Where the rows of each class begin; the last is where all end."""
        ends: Indices = np.searchsorted(self.codes, np.arange(self.codes[-1] + 2))
        return ends

    @cached_property
    def has_gaps(self) -> Mask:
        """Which rows have a missing value, or a special code, which counts as one."""
        missing = np.isnan(self.distance.table.without_special(self.matrix))
        return np.asarray(missing.any(axis=1))

    @cached_property
    def lots(self) -> Vector:
        """A random number from 0 to 1 for each row, to draw lots.

        It depends on the row's position in the training data alone, so that one more training row
        changes none of the others.
        """
        generator = np.random.default_rng(SEED)
        return generator.random(len(self))[self.training_index]

    def __getstate__(self) -> dict[str, object]:
        # The points follow from the rows: a pickle need not hold them.
        left_out = ("embedded", "_parts")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}
