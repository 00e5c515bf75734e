"""Step 2 of the paper: cut the list of ordered candidates off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from counterset._base.checks import check_at_least, check_count
from counterset.steps.ranking import Ranking

__all__ = ["CandidatesWithin", "Cutoff", "NearestCandidates"]


@runtime_checkable
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
