"""Step 2, the cut-offs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterset import CandidatesWithin, InvalidInputError, NearestCandidates, distances
from counterset.strategies.ranking import Ranking


def ranking() -> Ranking:
    """One input at 0, and candidates at 4, 5, 6, 5 and 10."""
    points = np.array([[4.0], [5.0], [6.0], [-5.0], [10.0]])
    return Ranking(np.zeros((1, 1)), points, np.arange(5), distances.get("l1"))


def kept(cutoff: NearestCandidates | CandidatesWithin) -> int:
    ranked = ranking()
    cutoff.cut(ranked)
    return int(ranked.count()[0])


@pytest.mark.parametrize(("alpha", "count"), [(1, 1), (2, 2), (4, 4), (5, 5), (1000, 5)])
def test_the_number_based_cut_off_keeps_alpha(alpha: int, count: int) -> None:
    assert kept(NearestCandidates(alpha)) == count


def test_a_tie_at_the_number_based_cut_off_goes_to_the_earlier_row() -> None:
    ranked = ranking()
    NearestCandidates(2).cut(ranked)
    ranked.drop_at(np.array([0]), np.array([0]))
    nearest, found = ranked.first(np.array([0]))
    assert found.all()
    assert nearest.tolist() == [1]


@pytest.mark.parametrize(
    ("epsilon", "count"), [(0, 1), (0.2, 1), (0.25, 3), (0.5, 4), (1.4, 4), (1.5, 5), (100, 5)]
)
def test_the_distance_based_cut_off_includes_its_limit(epsilon: float, count: int) -> None:
    assert kept(CandidatesWithin(epsilon)) == count


@pytest.mark.parametrize("alpha", [0, -1, 1.5, "many", None, True, np.nan])
def test_alpha_below_one_or_not_whole_is_refused(alpha: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"alpha must be a whole number of at least 1, got"):
        NearestCandidates(alpha)


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf, "0.25", None, True])
def test_a_negative_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon must be a number of at least 0, got"):
        CandidatesWithin(epsilon)


def test_numbers_of_numpy_are_numbers() -> None:
    assert NearestCandidates(np.int64(3)).alpha == 3  # type: ignore[arg-type]
    assert CandidatesWithin(np.float32(0.25)).epsilon == 0.25  # type: ignore[arg-type]


def test_the_cut_offs_are_frozen_values() -> None:
    assert NearestCandidates(3) == NearestCandidates(3)
    with pytest.raises(AttributeError):
        NearestCandidates(3).alpha = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        CandidatesWithin(0.5).epsilon = 1.0  # type: ignore[misc]
