"""The list of a region: what its options ask for, whoever tries them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from counterset import Schema
from counterset.strategies.recipes import Recipes
from counterset.strategies.shared import RUNGS, OptionList
from counterset.tables.table import Table

HOMES = ["free", "own", "rent"]
#: The rung on which a recipe is as it was learned.
WHOLE = RUNGS.index(1.0)


def table() -> Table:
    ages, debts = np.linspace(20, 60, 41), np.linspace(0, 40, 41)
    homes = [HOMES[i % 3] for i in range(41)]
    return Table.learn(pd.DataFrame({"age": ages, "home": homes, "debt": debts}))[0]


def one(features: list[bool], values: list[float]) -> Recipes:
    return Recipes(np.array([features]), np.array([values]), np.array([3]))


def test_a_number_above_the_median_is_asked_for_at_least_one_below_at_most() -> None:
    start = np.array([40.0, np.nan, 20.0])
    options = OptionList(one([True, False, True], [50.0, 0.0, 10.0]), start)
    rows = options.apply(np.array([[30.0, 1.0, 30.0], [55.0, 1.0, 5.0]]), table())
    assert rows[:, WHOLE].tolist() == [[50.0, 1.0, 10.0], [55.0, 1.0, 5.0]]


def test_a_category_is_set_and_so_is_what_is_missing() -> None:
    start = np.array([40.0, 1.0, 20.0])
    options = OptionList(one([True, True, False], [30.0, 2.0, 0.0]), start)
    rows = options.apply(np.array([[np.nan, 0.0, 7.0]]), table())
    assert rows[:, WHOLE].tolist() == [[30.0, 2.0, 7.0]]


def test_a_special_code_is_no_number_to_keep() -> None:
    frame = pd.DataFrame({"months": [-9.0, *np.arange(30.0)]})
    coded, _ = Table.learn(frame, Schema(special={"months": [-9]}))
    options = OptionList(one([True], [5.0]), np.array([12.0]))
    assert options.apply(np.array([[-9.0]]), coded)[:, WHOLE].tolist() == [[5.0]]


def test_a_recipe_is_tried_on_every_rung_from_the_median_within_the_usual_range() -> None:
    start, x = np.array([40.0, np.nan, 20.0]), np.array([[20.0, 1.0, 3.0]])
    rows = OptionList(one([True, True, False], [48.0, 2.0, 0.0]), start).apply(x, table())[0]
    assert rows[:, 0].tolist() == [40.0 + 8 * rung for rung in RUNGS]
    assert (rows[:, 1:] == [2.0, 3.0]).all()
    beyond = OptionList(one([True, False, False], [59.0, 0.0, 0.0]), start).apply(x, table())
    assert beyond[..., 0].max() == table().features[0].usual[1]


def test_a_recipe_that_sets_no_number_is_the_same_on_every_rung() -> None:
    options = OptionList(one([False, True, False], [0.0, 2.0, 0.0]), np.zeros(3))
    rows = options.apply(np.array([[30.0, 1.0, 9.0]]), table())[0]
    assert rows.tolist() == [[30.0, 2.0, 9.0]] * len(RUNGS)


@given(
    st.lists(st.tuples(st.floats(20, 60), st.integers(0, 2)), min_size=1, max_size=4),
    st.floats(20, 60),
    st.floats(20, 60),
)
def test_who_has_what_an_option_asks_for_keeps_it(
    people: list[tuple[float, int]], start: float, value: float
) -> None:
    options = OptionList(one([True, False, False], [value, 0, 0]), np.array([start, 0.0, 0.0]))
    x = np.array([[age, home, 1.0] for age, home in people])
    for (age, _), rungs in zip(people, options.apply(x, table()), strict=True):
        has_it = age >= value if value >= start else age <= value
        assert rungs[WHOLE, 0] == (age if has_it else value)
