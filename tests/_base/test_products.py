"""Squared distances from one matrix product."""

from __future__ import annotations

import numpy as np
import pytest

from counterset._base.arrays import squared_lengths


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6])
def test_the_bound_holds_far_from_the_origin_where_digits_are_lost(offset: float) -> None:
    random = np.random.default_rng(0)
    A, B = random.random((20, 6)) + offset, random.random((30, 6)) + offset
    squared, errors = squared_lengths(A, B)
    exact = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    assert (np.abs(squared - exact) <= errors[:, None]).all()
    assert (errors < 1e-10 * max(1, offset**2)).all()


def test_no_rows_are_no_distances() -> None:
    squared, errors = squared_lengths(np.ones((2, 3)), np.empty((0, 3)))
    assert (squared.shape, errors.shape) == ((2, 0), (2,))
