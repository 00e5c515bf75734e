"""The candidates, and step 2 of the paper: cut the list of the ordered ones off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from counterset._base.arrays import Codes, Matrix
from counterset._base.checks import check_at_least, check_count
from counterset.steps.ranking import Ranking
from counterset.tables.space import Points, TableDistance

__all__ = ["CandidatePool", "CandidatesWithin", "Cutoff", "NearestCandidates"]


class Cutoff(Protocol):
    """Step 2: which of the ordered candidates are close enough."""

    def cut(self, ranking: Ranking) -> None:
        """Drop the candidates that are too far."""
        ...


@dataclass(frozen=True)
class NearestCandidates:
    """Keep the nearest candidates, a fixed number of them (the paper's number-based selection).

    Parameters
    ----------
    alpha
        How many.
    """

    alpha: int = 1000

    def __post_init__(self) -> None:
        check_count(self.alpha, "alpha")

    def cut(self, ranking: Ranking) -> None:
        """Drop all but the nearest ``alpha`` candidates."""
        ranking.keep_nearest(self.alpha)


@dataclass(frozen=True)
class CandidatesWithin:
    """Keep the candidates at most ``(1 + epsilon)`` times as far as the nearest one.

    The paper's distance-based selection: it keeps more where the data is dense.

    Parameters
    ----------
    epsilon
        0.25 keeps those at most 25 % more distant than the nearest.
    """

    epsilon: float = 0.25

    def __post_init__(self) -> None:
        check_at_least(self.epsilon, 0, "epsilon")

    def cut(self, ranking: Ranking) -> None:
        """Drop the candidates beyond ``(1 + epsilon) * m``, m being the nearest's distance."""
        ranking.keep_within(1 + self.epsilon)


@dataclass(frozen=True)
class CandidatePool:
    """The training rows, sorted by predicted class: each class is a slice, nothing is copied.

    Attributes
    ----------
    matrix
        The rows in the model's own units.
    rows
        The position of each row in the training data.
    codes
        The code of the class of each row, ascending.
    distance
        How rows are compared.
    """

    matrix: Matrix
    rows: Codes
    codes: Codes
    distance: TableDistance

    @classmethod
    def build(cls, matrix: Matrix, codes: Codes, distance: TableDistance) -> CandidatePool:
        """Sort the training rows by the code of their predicted class."""
        rows = np.argsort(codes, kind="stable")
        return cls(matrix[rows], rows, codes[rows], distance)

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def points(self) -> Points:
        """The rows as points of the space."""
        return self.distance.points(self.matrix)

    def __getstate__(self) -> dict[str, object]:
        # The points follow from the rows: a pickle need not hold them.
        return {name: value for name, value in self.__dict__.items() if name != "points"}
