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


def literal(values: list[float]) -> tuple[float, float]:
    """Take the extreme values away one by one, as the docstring says."""
    known = sorted(value for value in values if not np.isnan(value))
    if not known:
        return 0.0, 0.0
    others = len(known) - max(Counter(known).values())
    if others >= 10:
        for _ in range(max(1, others // 100)):
            known.remove(min(known))
            known.remove(max(known))
    return known[0], known[-1]


def range_of(values: list[float]) -> tuple[float, float]:
    return usual_range(np.array(values, dtype=np.float64))


@given(columns | concentrated)
def test_it_is_what_remains_after_taking_extremes_away(values: list[float]) -> None:
    assert range_of(values) == literal(values)


@given(columns | concentrated, st.integers(-60, 60), st.integers(-(10**9), 10**9))
def test_one_outlier_moves_an_end_to_the_next_value_at_most(
    some: list[float], start: int, outlier: int
) -> None:
    # Ten different values: with the outlier, ten at least are not the most common one.
    values = [*some, *range(start, start + 10)]
    low, high = range_of(values)
    new_low, new_high = range_of([*values, outlier])
    assert max([v for v in values if v < low], default=low) <= new_low
    assert new_low <= min([v for v in values if v > low])
    assert max([v for v in values if v < high]) <= new_high
    assert new_high <= min([v for v in values if v > high], default=high)


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
    others = [float(i) for i in range(1, 21)]
    assert range_of([0.0] * 2000 + others) == (0, 19)
    assert range_of([0.0] * 2000 + others + [1e12]) == (0, 20)


def test_a_handful_of_values_is_taken_as_it_is() -> None:
    assert range_of([3.0, 1.0, 2.0]) == (1, 3)
    assert range_of([5.0, 5.0]) == (5, 5)
    assert range_of([np.nan]) == (0, 0)
    assert range_of([]) == (0, 0)
