"""The usual range of a column, against a literal version and its own promises."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.tables.spread import usual_range

#: Whole numbers, so that shifting and scaling them is exact.
columns = st.lists(st.integers(-50, 50), min_size=1, max_size=400)
#: Columns in which one value is common, and the others are spread widely.
concentrated = st.builds(
    lambda common, others: [0] * common + others,
    st.integers(100, 2000),
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
)


def others(values: list[float]) -> int:
    """Count the values beside the most common one."""
    return len(values) - max(Counter(values).values())


def literal(values: list[float]) -> tuple[float, float]:
    """Take the extreme values away one by one, as the docstring says."""
    known = sorted(value for value in values if not np.isnan(value))
    if not known:
        return 0.0, 0.0
    if others(known) >= 10:
        tenth, most = max(1, others(known) // 10), others(known) // 100 + 1
        low, high = known[tenth], known[-1 - tenth]
        far = 10 * (high - low)
        for _ in range(most):
            if known[-1] > high + far:
                known.pop()
        for _ in range(most):
            if known[0] < low - far:
                known.pop(0)
    if others(known) >= 10:
        for _ in range(max(1, others(known) // 100)):
            known.remove(min(known))
            known.remove(max(known))
    return known[0], known[-1]


def range_of(values: list[float]) -> tuple[float, float]:
    return usual_range(np.array(values, dtype=np.float64))


@given(columns | concentrated)
def test_it_is_what_remains_after_taking_extremes_away(values: list[float]) -> None:
    assert range_of(values) == literal(values)


@given(columns, st.integers(-60, 60), st.sampled_from([-1, 1]), st.integers(10**4, 10**9))
def test_one_more_value_that_is_far_out_changes_nothing(
    some: list[float], start: int, sign: int, size: int
) -> None:
    # Twenty different values from -60 to 80: what the outlier adds is far out, and alone there.
    values = [*some, *range(start, start + 20)]
    assert range_of([*values, sign * size]) == range_of(values)


@given(columns | concentrated, st.integers(-60, 60), st.integers(-(10**9), 10**9))
def test_no_value_of_any_size_moves_the_ends_far_into_the_column_or_out_of_it(
    some: list[float], start: int, outlier: int
) -> None:
    # Ten different values: with the outlier, ten at least are not the most common one.
    values = sorted([*some, *range(start, start + 10)])
    low, high = range_of([*values, outlier])
    assert values[0] <= low < high <= values[-1]
    inside = 2 * (others(values) // 100 + 1) + 1
    assert low <= values[inside]
    assert high >= values[-1 - inside]


@given(columns | concentrated, st.randoms(use_true_random=False), st.integers(0, 30))
def test_order_and_missing_values_do_not_count(
    values: list[float], random: Random, missing: int
) -> None:
    shuffled = [*values, *[np.nan] * missing]
    random.shuffle(shuffled)
    assert range_of(shuffled) == range_of(values)


@given(columns | concentrated, st.integers(-1000, 1000), st.integers(1, 1000))
def test_it_follows_a_shift_and_a_positive_scale(
    values: list[float], shift: int, scale: int
) -> None:
    low, high = range_of(values)
    assert range_of([scale * value + shift for value in values]) == (
        scale * low + shift,
        scale * high + shift,
    )


@given(columns | concentrated)
def test_the_ends_are_values_and_differ_unless_all_are_equal(values: list[float]) -> None:
    low, high = range_of(values)
    assert low in values
    assert high in values
    assert low < high or len(set(values)) == 1


@pytest.mark.parametrize("ones", [1, 9, 10, 500, 990, 999])
def test_zeros_and_ones_span_both(ones: int) -> None:
    assert range_of([1.0] * ones + [0.0] * (1000 - ones)) == (0, 1)


def test_a_thousand_values_keep_the_1st_to_the_99th_percentile() -> None:
    assert range_of([float(i) for i in range(1001)]) == (10, 990)


def test_a_column_of_nearly_all_zeros_keeps_the_spread_of_the_others() -> None:
    rare = [float(i) for i in range(1, 21)]
    assert range_of([0.0] * 2000 + rare) == (0, 19)
    assert range_of([0.0] * 2000 + rare + [1e12]) == (0, 19)


def test_values_far_out_are_left_out_unless_there_are_many() -> None:
    values = [float(i) for i in range(200)]
    for count in (1, 2, 3):
        assert range_of(values + [1e6] * count) == range_of(values) == (1, 198)
    assert range_of(values + [1e6] * 20) == (2, 1e6)
    assert range_of([-1e300, *values, 1e300]) == (1, 198)
    assert range_of([-1e308, 1e308] * 50) == (-1e308, 1e308)


def test_a_second_group_of_values_is_no_exception() -> None:
    # Shares that are 1 up to their rounding, and 0 for one row in 30.
    shares = 1 - 1e-9 * np.arange(2900) / 2900
    assert range_of([*shares, *[0.0] * 100]) == (0, shares[29])


def test_a_handful_of_values_is_taken_as_it_is() -> None:
    assert range_of([3.0, 1.0, 2.0]) == (1, 3)
    assert range_of([5.0, 5.0]) == (5, 5)
    assert range_of([np.nan]) == (0, 0)
    assert range_of([]) == (0, 0)
