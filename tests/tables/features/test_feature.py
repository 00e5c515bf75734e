"""What features of every kind share: missing values, and how they are shown."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.one_feature import learn

from counterset import InvalidInputError
from counterset._base.arrays import Vector
from counterset.tables.features.feature import Grid, learn_grid, range_of

KINDS: dict[str, Any] = {
    "number": [1.0, 2.0],
    "time": pd.to_datetime(["2020-01-01", "2020-02-01"]),
    "category": ["x", "y"],
    "ordinal": pd.Categorical(["x", "y"], ["x", "y"], ordered=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_is_refused_where_the_training_data_has_none(kind: str) -> None:
    known = pd.DataFrame({"a": KINDS[kind]})
    gap = known.reindex([0, 7])
    with pytest.raises(InvalidInputError, match=r"^X misses a value in feature 'a', row 1"):
        learn(known["a"]).encode(gap, "X")
    assert np.isnan(learn(gap["a"]).encode(gap, "X")).tolist() == [False, True]


def test_a_missing_value_is_called_missing() -> None:
    assert learn([1.0, np.nan]).describe(np.nan) == "missing"
    assert (
        str(learn([1.5, np.nan], step=0))
        == "continuous   1.5 to 1.5, usually 1.5 to 1.5, may be missing"
    )


def test_single_precision_is_respected_in_values_that_users_write() -> None:
    assert learn(np.array([0.5, 1], dtype="float32")).code_of(0.1) == np.float64(np.float32(0.1))


def test_an_amount_is_cut_to_what_the_column_can_hold() -> None:
    assert learn([1, 5]).amount_of(2.5) == 2
    assert learn([1.0, 5.5]).amount_of(2.54) == 2.54
    assert learn([100, 500]).amount_of(2.5) == 2
    assert learn(KINDS["ordinal"]).amount_of("1.5") == 1
    day = pd.Timedelta("1D") / pd.Timedelta("1us")
    assert learn(KINDS["time"]).amount_of("36h") == day


@pytest.mark.parametrize("wrong", [-1, np.nan, "much", [1]])
def test_an_amount_is_a_number_of_at_least_0(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="'a' may move must be a number of at least 0"):
        learn([1, 5]).amount_of(wrong)


def test_the_range_of_codes_leaves_missing_ones_out() -> None:
    assert range_of(np.array([3.0, np.nan, -1.0])) == (-1, 3)
    assert range_of(np.array([np.nan])) == (0, 0)


# The step in which people speak of a number -------------------------------------------------------


STEPS = st.sampled_from([0.001, 0.05, 0.1, 0.25, 0.3, 1.0, 2.5, 5.0, 100.0, 1e6])
NUMBERS = st.floats(-1e9, 1e9)


def in_decimals(number: float, step: float, rounding: Any) -> float:
    """The literal version: the multiple of the step, computed with decimal digits."""
    each = Decimal(repr(step))
    return float((Decimal(number) / each).to_integral_value(rounding) * each)


@given(NUMBERS, STEPS)
def test_a_value_is_the_float_of_its_decimal_notation(number: float, step: float) -> None:
    snapped = float(Grid(step).snap(np.array([number]))[0])
    neighbours = {in_decimals(number, step, how) for how in (ROUND_FLOOR, ROUND_CEILING)}
    assert snapped in neighbours
    assert abs(snapped - number) <= step / 2 * (1 + 1e-6)
    assert Grid(step).snap(np.array([snapped]))[0] == snapped


@given(NUMBERS, NUMBERS, STEPS)
def test_ends_are_the_outermost_values_inside(low: float, high: float, step: float) -> None:
    assume(low <= high)
    first, last = (float(end[0]) for end in Grid(step).ends(np.array([low]), np.array([high])))
    # A value may be its own end though its float is not exactly its decimal notation.
    assert first >= low
    assert last <= high
    assert first in {in_decimals(low, step, how) for how in (ROUND_FLOOR, ROUND_CEILING)}
    assert last in {in_decimals(high, step, how) for how in (ROUND_FLOOR, ROUND_CEILING)}


def test_infinite_ends_stay_infinite() -> None:
    ends = Grid(5.0).ends(np.array([-np.inf]), np.array([np.inf]))
    assert [float(end[0]) for end in ends] == [-np.inf, np.inf]


def test_a_missing_value_stays_missing_and_no_value_is_a_negative_zero() -> None:
    snapped = Grid(0.1).snap(np.array([np.nan, -0.01]))
    assert np.isnan(snapped[0])
    assert str(snapped[1]) == "0.0"


def test_without_a_step_every_number_is_a_value() -> None:
    numbers = np.array([0.123456, -1e300])
    assert Grid(0.0).snap(numbers) is numbers
    assert Grid(0.0).ends(numbers, numbers) == (numbers, numbers)


RANDOM = np.random.default_rng(0)
COLUMNS: dict[str, tuple[Any, float]] = {
    "ages": (RANDOM.integers(18, 90, 300), 1),
    "amounts to a hundred": (RANDOM.integers(2, 300, 300) * 100, 100),
    "amounts to the last unit": (RANDOM.integers(250, 18_000, 300), 100),
    "prices with two digits": (np.round(RANDOM.uniform(1, 9, 300), 2), 0.01),
    "many digits": (RANDOM.normal(0, 1, 300), 0.01),
    "many digits, far from 0": (RANDOM.normal(1e6, 1, 300), 0.01),
    "shares": (RANDOM.random(300), 0.001),
    "tiny": (RANDOM.random(300) * 1e-9, 1e-12),
    "large": (RANDOM.random(300) * 1e12, 1e9),
    "mostly 0": (np.append(np.zeros(290), [7688, 15024, 3103, 5178, 2174, 14084] * 2), 100),
    "one number": ([70] * 5, 10),
    "only 0": ([0] * 5, 1),
    "nothing known": ([np.nan] * 5, 1),
    "some missing": ([np.nan, 20, 30, 50], 10),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_learned_step_is_how_people_speak_of_it(name: str) -> None:
    column, step = COLUMNS[name]
    assert learn_grid(np.array(column, dtype=np.float64)) == Grid(step)


def test_a_few_odd_entries_and_one_outlier_change_nothing() -> None:
    amounts: Vector = np.array(RANDOM.integers(20, 90, 300) * 100, dtype=np.float64)
    odd = np.append(amounts, [1234.5, 777.77, 1e9])
    assert learn_grid(odd) == learn_grid(amounts) == Grid(100)


def test_what_the_values_are_multiples_of_can_be_passed_over() -> None:
    assert learn_grid(np.arange(1.0, 10.0)) == Grid(1)
    assert learn_grid(np.arange(1.0, 10.0), significant_only=True) == Grid(0.01)


def test_steps_beyond_the_powers_of_ten_that_floats_hold_are_not_learned() -> None:
    assert learn_grid(RANDOM.random(50) * 1e-30) == Grid(0)
    assert learn_grid(RANDOM.random(50) * 1e300) == Grid(0)


# Small values of a column of many sizes --------------------------------------------------------


def step_at(number: float, grid: Grid) -> float:
    """The literal version: two significant digits, within the finest and the coarsest step."""
    if not number:
        return grid.finest
    digits = Decimal(repr(abs(number))).adjusted() - 1
    return min(grid.step, max(grid.finest, float(f"1e{digits}")))


LADDERS = st.sampled_from([Grid(10.0, 0.01), Grid(1.0, 0.001), Grid(100.0, 10.0), Grid(1e6, 1e-6)])


@given(NUMBERS | st.floats(-1, 1) | st.integers(-200, 200).map(float), LADDERS)
def test_a_value_has_two_digits_of_its_own(number: float, grid: Grid) -> None:
    snapped = float(grid.snap(np.array([number]))[0])
    step = step_at(number, grid)
    assert snapped in {in_decimals(number, step, how) for how in (ROUND_FLOOR, ROUND_CEILING)}
    assert abs(snapped - number) <= step / 2 * (1 + 1e-6)
    assert grid.snap(np.array([snapped]))[0] == snapped


@given(st.floats(-2000, 2000), st.floats(-2000, 2000), LADDERS)
def test_ends_are_values_inside(low: float, high: float, grid: Grid) -> None:
    assume(low <= high)
    first, last = (float(end[0]) for end in grid.ends(np.array([low]), np.array([high])))
    assert first >= low
    assert last <= high
    assert first - low <= step_at(low, grid)
    assert high - last <= step_at(high, grid)
    assert grid.snap(np.array([first, last])).tolist() == [first, last]


MANY_SIZES: dict[str, tuple[Any, Grid]] = {
    "ratios, of which one in five is an amount": (
        np.append(RANDOM.random(800), RANDOM.uniform(100, 3000, 200)),
        Grid(10, 0.01),
    ),
    "ratios with two digits, and amounts": (
        np.append(np.round(RANDOM.random(800), 2), RANDOM.integers(100, 3000, 200)),
        Grid(10, 0.01),
    ),
    "ratios, of which half are amounts": (
        np.append(RANDOM.uniform(0.2, 1, 500), RANDOM.uniform(100, 3000, 500)),
        Grid(10, 0.01),
    ),
    "incomes with a long tail": (np.exp(RANDOM.normal(8.5, 0.8, 1000)), Grid(100)),
    "counts with a long tail": (np.rint(np.exp(RANDOM.normal(3, 1.5, 1000))) + 1, Grid(1)),
}


@pytest.mark.parametrize("name", MANY_SIZES)
def test_ratios_and_amounts_can_live_in_one_column(name: str) -> None:
    column, grid = MANY_SIZES[name]
    assert learn_grid(np.array(column, dtype=np.float64)) == grid
