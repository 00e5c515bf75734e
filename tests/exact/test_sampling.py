"""Search by sampling: an upper bound for any model."""

import numpy as np
import pytest
from support.toys_exact import CURVED

from counterset.exact import Box, counterfactual_distance


def test_any_other_model_gets_an_upper_bound_and_is_told_so() -> None:
    for domain in (Box(0, 1), None):
        bounds = counterfactual_distance(CURVED, [0.5, 0.5], "l2", domain)
        assert bounds.lower == 0
        assert 0.1 < bounds.upper < 0.45
        assert not bounds.exact
        assert bounds.method == "search"
        assert "only an upper bound" in bounds.reason
        assert CURVED.predict([bounds.witness])[0] != CURVED.predict([[0.5, 0.5]])[0]


def test_search_is_the_same_every_time() -> None:
    first, second = (counterfactual_distance(CURVED, [0.5, 0.5], "l1", Box(0, 1)) for _ in "ab")
    assert first.upper == second.upper
    np.testing.assert_array_equal(first.witness, second.witness)


def test_search_that_finds_nothing_is_no_proof() -> None:
    bounds = counterfactual_distance(lambda rows: np.zeros(len(rows)), [0.5], "l1", Box(0, 1))
    assert (bounds.lower, bounds.upper, bounds.witness) == (0, np.inf, None)
    assert "found no counterfactual" in bounds.reason
    hurried = counterfactual_distance(
        lambda rows: rows[:, 0] > 0.9, [0.5], "l1", Box(0, 1), time_limit=1e-9
    )
    assert hurried.upper <= 0.5


def test_what_a_search_finds_flips_the_model_alone_too() -> None:
    # A stand-in for sums that are rounded differently in a batch: its border is nearer there.
    def batched(rows: np.ndarray) -> np.ndarray:
        border = 0.7 if len(rows) > 1 else 0.7001
        return np.asarray(rows[:, 0] > border)

    bounds = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1))
    assert bounds.witness is not None
    assert batched(bounds.witness[None, :])[0]
    started = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1), start=[0.70011, 0.5])
    assert started.witness is not None
    assert batched(started.witness[None, :])[0]


def test_search_takes_a_start_and_walks_back_from_it() -> None:
    def corner(rows: np.ndarray) -> np.ndarray:
        return np.asarray((np.abs(rows - 0.9999) < 1e-5).all(axis=1))

    bounds = counterfactual_distance(
        corner, [0.5, 0.5], "l1", Box(0, 1), start=[[0.9999, 0.9999], [0.99991, 0.9999]]
    )
    assert bounds.upper == pytest.approx(2 * 0.4999, abs=1e-4)
