"""Shapley values, against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles_reasons import all_orders, shapley_by_enumeration

from counterset.explanations.shapley import antithetic_orders, ask_once, shapley_values


def random_worth(seed: int, d: int) -> Any:
    """Return a function with interactions of all features."""
    random = np.random.default_rng(seed)
    slope, hidden = random.normal(size=(d, 4)), random.normal(size=4)
    return lambda rows: np.tanh(rows @ slope).prod(axis=1) + np.sin(rows @ slope) @ hidden


def test_two_features_by_hand() -> None:
    # The worth is a + 2ab. From b = (0, 0) to x = (1, 1), a first adds 1 and then b adds 2; b first
    # adds 0 and then a adds 3. So a is worth (1 + 3) / 2 and b (2 + 0) / 2.
    def worth(rows: Any) -> Any:
        return rows[:, 0] + 2 * rows[:, 0] * rows[:, 1]

    found = shapley_values(worth, np.ones((1, 2)), np.zeros((1, 2)), np.array([[0, 1], [1, 0]]))
    assert found.tolist() == [[[1.0, 2.0], [3.0, 0.0]]]
    assert found.mean(axis=1).tolist() == [[2.0, 1.0]]


@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 6),
    people=st.integers(1, 3),
    coarse=st.booleans(),
)
def test_with_all_orders_they_are_those_of_all_coalitions(
    seed: int, d: int, people: int, coarse: bool
) -> None:
    random = np.random.default_rng(seed)
    x, background = random.normal(size=d), random.normal(size=(people, d))
    if coarse:  # many equal values, and rows that are asked about once
        x, background = np.round(x), np.round(background)
    worth = random_worth(seed, d)
    # Order p is compared with row p % people: each order stands there once for each of them.
    orders = np.repeat(all_orders(d), people, axis=0)
    found = shapley_values(worth, x[None, :], background, orders)[0].mean(axis=0)
    exact = shapley_by_enumeration(lambda row: worth(row[None, :])[0], x, background)
    np.testing.assert_allclose(found, exact, atol=1e-10)


@given(seed=st.integers(0, 10_000), d=st.integers(1, 12), people=st.integers(1, 5))
def test_they_sum_to_the_difference_from_the_background(seed: int, d: int, people: int) -> None:
    random = np.random.default_rng(seed)
    inputs, background = random.normal(size=(3, d)), random.normal(size=(people, d))
    worth = random_worth(seed, d)
    orders = antithetic_orders(2 * people, d, seed)
    both = [shapley_values(worth, inputs, background, orders[:, way]) for way in (0, 1)]
    for found in both:
        total = worth(inputs) - worth(background).mean()
        np.testing.assert_allclose(found.mean(axis=1).sum(axis=1), total, atol=1e-9)


@given(seed=st.integers(0, 10_000), d=st.integers(1, 8))
def test_a_feature_that_is_not_used_or_equal_has_0(seed: int, d: int) -> None:
    random = np.random.default_rng(seed)
    x, background = random.normal(size=(1, d + 2)), random.normal(size=(4, d + 2))
    background[:, d] = x[0, d]
    used, worth = [*range(d), d], random_worth(seed, d + 1)
    orders = antithetic_orders(4, d + 2, seed)[:, 0]
    found = shapley_values(lambda rows: worth(rows[:, used]), x, background, orders)
    np.testing.assert_allclose(found[..., d:], 0, atol=1e-10)


def test_an_order_and_its_reverse_are_exact_for_two_features() -> None:
    random, worth = np.random.default_rng(3), random_worth(3, 2)
    x, background = random.normal(size=(1, 2)), random.normal(size=(5, 2))
    orders = antithetic_orders(5, 2, 3)
    there, back = (shapley_values(worth, x, background, orders[:, way]) for way in (0, 1))
    exact = shapley_by_enumeration(lambda row: worth(row[None, :])[0], x[0], background)
    assert (there + back)[0].mean(axis=0) / 2 == pytest.approx(exact)


def test_orders_are_permutations_the_same_each_time_and_the_first_stay_the_same() -> None:
    orders = antithetic_orders(7, 5, seed=9)
    assert orders.shape == (7, 2, 5)
    assert (np.sort(orders, axis=2) == np.arange(5)).all()
    assert (orders[:, 0] == orders[:, 1, ::-1]).all()
    assert (antithetic_orders(7, 5, seed=9) == orders).all()
    assert (antithetic_orders(9, 5, seed=9)[:7] == orders).all()


def test_all_rows_are_asked_about_once_in_one_call() -> None:
    asked: list[int] = []

    def worth(rows: Any) -> Any:
        asked.append(len(rows))
        return rows.sum(axis=1)

    rows = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [-0.0, 2.0]])
    assert ask_once(worth, rows)[[1, 3]].tolist() == [2.0, 2.0]
    assert asked == [2]
    orders = antithetic_orders(4, 3, 1)[:, 0]
    shapley_values(worth, np.ones((2, 3)), np.zeros((4, 3)), orders)
    assert len(asked) == 2
    assert asked[1] <= 2**3, "both inputs are alike, and so are the people"
