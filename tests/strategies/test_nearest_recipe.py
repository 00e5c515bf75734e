"""Recipes: how they are told apart, and what applying them does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.strategies import recipes as recipe
from counterset.strategies.recipes import RUNGS, Recipes, first_of_equal, in_parts
from counterset.tables.table import Table

HOMES = ["own", "rent", "free"]


def table() -> Table:
    frame = pd.DataFrame({"age": [20.0, 60.0, 40.0], "home": HOMES, "debt": [0.0, 9.0, 5.0]})
    return Table.learn(frame)[0]


def test_equal_recipes_are_kept_once_with_the_row_they_were_first_learned_from() -> None:
    starts = np.array([[1.0, 2.0], [5.0, 2.0], [1.0, 2.0]])
    ends = np.array([[1.0, 7.0], [5.0, 7.0], [3.0, 7.0]])
    recipes = Recipes.distinct(starts, ends, np.array([4, 5, 6]))
    assert recipes.features.tolist() == [[False, True], [True, True]]
    assert recipes.values.tolist() == [[0.0, 7.0], [3.0, 7.0]]
    assert recipes.pool_index.tolist() == [4, 6]


def test_of_too_many_recipes_every_set_of_features_keeps_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recipe, "MOST", 3)
    starts = np.zeros((5, 2))
    ends = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    recipes = Recipes.distinct(starts, ends, np.arange(5))
    assert recipes.pool_index.tolist() == [0, 1, 4]


def test_a_recipe_sets_its_features_and_a_number_also_twice_as_far() -> None:
    recipes = Recipes(
        np.array([[True, False, False], [False, True, False]]),
        np.array([[30.0, 0.0, 0.0], [0.0, 2.0, 0.0]]),
        np.array([0, 1]),
    )
    rows, owners, which = recipes.apply(np.array([[40.0, 0.0, 1.0]]), table())
    assert rows.tolist() == [[30.0, 0.0, 1.0], [40.0, 2.0, 1.0], [20.0, 0.0, 1.0]]
    assert owners.tolist() == [0, 0, 0]
    assert which.tolist() == [0, 1, 0]


def test_nothing_is_set_beyond_the_training_range() -> None:
    recipes = Recipes(np.array([[True, False, False]]), np.array([[60.0, 0, 0]]), np.array([0]))
    rows, _, _ = recipes.apply(np.array([[30.0, 0.0, 1.0]]), table())
    assert rows[:, 0].tolist() == [60.0, 60.0]


def test_a_missing_number_is_filled_in_on_every_rung() -> None:
    recipes = Recipes(np.array([[True, False, False]]), np.array([[50.0, 0, 0]]), np.array([0]))
    rows, _, _ = recipes.apply(np.array([[np.nan, 0.0, 1.0]]), table())
    assert rows[:, 0].tolist() == [50.0, 50.0]


VALUES = st.sampled_from([20.0, 30.0, 40.0, 60.0])


@given(
    st.lists(st.tuples(VALUES, st.integers(0, 2), VALUES), min_size=1, max_size=4),
    st.lists(
        st.tuples(st.booleans(), st.booleans(), VALUES, st.integers(0, 2)), min_size=1, max_size=5
    ),
)
def test_applying_follows_the_literal_definition(
    people: list[tuple[float, int, float]], plans: list[tuple[bool, bool, float, int]]
) -> None:
    features = np.array([[a, h, False] for a, h, _, _ in plans])
    values = np.array([[age * a, float(home) * h, 0.0] for a, h, age, home in plans])
    x = np.array(people, dtype=float)
    rows, owners, which = Recipes(features, values, np.arange(len(plans))).apply(x, table())
    expected = set()
    for person, (age, home, debt) in enumerate(people):
        for number, (sets_age, sets_home, new_age, new_home) in enumerate(plans):
            for rung in RUNGS if sets_age else (1.0,):
                moved = min(max(age + rung * (new_age - age), 20.0), 60.0) if sets_age else age
                row = (moved, float(new_home if sets_home else home), debt)
                expected.add((person, number, row))
    found = [
        (int(owner), int(number), tuple(map(float, row)))
        for owner, number, row in zip(owners, which, rows, strict=True)
    ]
    assert set(found) == expected
    assert (np.diff(owners) >= 0).all()


def test_rows_with_the_same_missing_values_are_equal_and_zero_has_no_sign() -> None:
    rows = np.array([[np.nan, 0.0], [np.nan, -0.0], [1.0, 0.0], [np.nan, 0.0]])
    assert first_of_equal(rows).tolist() == [0, 2]
    assert first_of_equal(rows[:0]).tolist() == []


def test_the_trend_is_how_much_more_often_a_number_was_raised() -> None:
    starts = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 1.0], [3.0, 5.0, 1.0], [4.0, 5.0, 1.0]])
    ends = np.array([[2.0, 5.0, 1.0], [3.0, 5.0, 1.0], [4.0, 4.0, 1.0], [3.0, 5.0, 1.0]])
    recipes = Recipes.distinct(starts, ends, np.arange(4))
    assert recipes.trend is not None
    assert recipes.trend.tolist() == [0.5, -1.0, 0.0]
    part = recipes.take(np.array([0])).trend
    assert part is not None
    assert part.tolist() == recipes.trend.tolist()


def test_inputs_are_looked_at_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "NUMBERS_AT_ONCE", 2 * 36)
    assert [part.tolist() for part in in_parts(np.arange(5), 36)] == [[0, 1], [2, 3], [4]]
    assert len(list(in_parts(np.arange(5), 10**9))) == 5
    assert list(in_parts(np.arange(0), 36)) == []
