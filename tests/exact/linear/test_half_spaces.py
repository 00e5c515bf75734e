"""Shortest moves into a half-space: against linear programmes and samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles_exact import half_space_distance

from counterset.exact.linear import HalfSpaces
from counterset.exact.norms import Norm

numbers = st.floats(-2, 2).map(lambda v: round(v, 2))


@given(
    gradient=st.lists(numbers, min_size=3, max_size=3),
    need=st.floats(0.01, 3),
    weights=st.lists(st.floats(0, 3).map(lambda v: round(v, 1)), min_size=3, max_size=3),
    kind=st.sampled_from(["l1", "linf"]),
)
def test_bounded_moves_solve_the_linear_programme(
    gradient: list[float], need: float, weights: list[float], kind: str
) -> None:
    x, low, high = np.array([0.2, 0.5, 0.9]), np.zeros(3), np.ones(3)
    norm = Norm(kind, np.array(weights))  # type: ignore[arg-type]
    g = np.array(gradient)
    moves = HalfSpaces.around(x[None, :], g, low, high, norm).moves(np.array([need]))
    length = float(norm.of(moves)[0])
    expected = half_space_distance(g, need, x, low, high, kind, norm.weights)
    if np.isnan(length):
        # In the corner of the box it depends on the last bit.
        assert expected == np.inf or abs(np.where(g > 0, g * (1 - x), -g * x).sum() - need) < 1e-6
    else:
        assert g @ moves[0] >= need - 1e-9
        assert ((x + moves[0] >= low - 1e-12) & (x + moves[0] <= high + 1e-12)).all()
        assert length == pytest.approx(expected, abs=1e-7)


@given(
    gradient=st.lists(numbers, min_size=3, max_size=3),
    need=st.floats(0.01, 2),
    seed=st.integers(0, 100),
)
def test_no_bounded_move_is_shorter_in_l2(gradient: list[float], need: float, seed: int) -> None:
    x, g = np.array([0.2, 0.5, 0.9]), np.array(gradient)
    norm = Norm("l2", np.array([1.0, 2.0, 0.5]))
    half_space = HalfSpaces.around(x[None, :], g, np.zeros(3), np.ones(3), norm)
    length = norm.of(half_space.moves(np.array([need])))[0]
    others = np.random.default_rng(seed).random((2000, 3)) - x
    others = others[others @ g >= need]
    if len(others):
        assert length <= norm.of(others).min() + 1e-12


def test_as_few_features_as_possible_move_in_l0() -> None:
    norm = Norm("l0", np.ones(3))
    x, gradient = np.zeros((2, 3)), np.array([1.0, -2.0, 0.5])
    spaces = HalfSpaces.around(x, gradient, np.full(3, -1.0), np.ones(3), norm)
    np.testing.assert_array_equal(
        spaces.moves(np.array([1.5, 2.5])), [[0.0, -0.75, 0.0], [0.5, -1.0, 0.0]]
    )
    assert np.isnan(spaces.moves(np.array([3.6, 0.0]))).all(axis=1).tolist() == [True, False]
    np.testing.assert_array_equal(
        spaces.of(np.array([1])).moves(np.array([2.5])), [[0.5, -1.0, 0.0]]
    )
