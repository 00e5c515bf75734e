"""Step 2, the cut-offs, and the pool of candidates."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import CandidatesWithin, InvalidInputError, NearestCandidates, distances
from counterset.steps.pool import CandidatePool
from counterset.steps.ranking import Ranking
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table


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


def pool_of(codes: NDArray[np.intp]) -> CandidatePool:
    matrix = np.column_stack([np.arange(len(codes), dtype=float), codes])
    table, _ = Table.learn(matrix)
    space = Space.learn(matrix, table, [2.0, 1.0])
    return CandidatePool.build(matrix, codes, TableDistance(table, space, distances.get("l1")))


@given(hnp.arrays(np.intp, st.integers(1, 30), elements=st.integers(0, 3)))
def test_the_pool_is_sorted_by_class_then_by_training_row(codes: NDArray[np.intp]) -> None:
    pool = pool_of(codes)
    assert len(pool) == len(codes)
    assert pool.codes.tolist() == sorted(codes.tolist())
    assert (codes[pool.training_index] == pool.codes).all()
    assert (pool.matrix[:, 0] == pool.training_index).all()
    for code in range(4):
        assert (
            pool.training_index[pool.codes == code].tolist()
            == np.flatnonzero(codes == code).tolist()
        )


def test_the_points_are_the_scaled_rows() -> None:
    pool = pool_of(np.array([1, 0, 1]))
    assert pool.training_index.tolist() == [1, 0, 2]
    assert pool.embedded.coordinates.tolist() == [[2.0, 0.0], [0.0, 1.0], [4.0, 1.0]]


def test_a_pickle_holds_the_rows_and_not_the_points() -> None:
    pool = pool_of(np.arange(5000) % 2)
    pool.distance.embed(pool.matrix[:1])  # what the space is like is worked out now, and kept
    before = len(pickle.dumps(pool))
    coordinates = pool.embedded.coordinates
    assert len(pickle.dumps(pool)) == before
    again = pickle.loads(pickle.dumps(pool))
    np.testing.assert_array_equal(again.embedded.coordinates, coordinates)
    np.testing.assert_array_equal(again.training_index, pool.training_index)
