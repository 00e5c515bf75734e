"""The pool of candidates."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import distances
from counterset.strategies.training import CandidatePool
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table


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


@pytest.mark.parametrize("which", list(itertools.product([False, True], repeat=4)))
def test_the_rows_of_some_classes_are_those_with_their_codes(which: tuple[bool, ...]) -> None:
    pool = pool_of(np.array([2, 0, 3, 0, 1, 3, 3]))
    assert pool.of_classes(np.array(which)).tolist() == np.array(which)[pool.codes].tolist()
