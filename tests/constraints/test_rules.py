"""Rules: where they hold, and where they move a candidate, alone and all together."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.constraints.rules import (
    Allowed,
    Fixed,
    InRange,
    MovesAtMost,
    NothingLost,
    OneWay,
    Rule,
    Rules,
    Together,
)
from counterset.tables.features.feature import Grid

NAN = np.nan
KNOWN = np.array([[1.0, 2.0], [3.0, NAN]])


def at(rule: Rule, x: Any, c: Any) -> tuple[Any, bool, bool]:
    """Return the candidate after projection, and whether the rule held before and after."""
    x, c = np.atleast_2d(np.array(x, dtype=float)), np.atleast_2d(np.array(c, dtype=float))
    before = bool(rule.holds(x, c)[0])
    moved = rule.project(x, c.copy())
    return moved[0].tolist(), before, bool(rule.holds(x, moved)[0])


ALLOWED = Allowed(0, np.array([2.0, 5.0]), False, "")
CATEGORY = Allowed(0, np.array([2.0, 0.0]), True, "")
RANGE = InRange(0, 0, 10, 0, 10, "")
REACH = MovesAtMost(0, 2, 3, "", np.dtype(float), Grid(0.0))


@pytest.mark.parametrize(
    ("rule", "x", "c", "moved", "held"),
    [
        (Fixed(0, ""), 1, 2, 1, False),
        (Fixed(0, ""), NAN, 2, NAN, False),
        (Fixed(0, ""), NAN, NAN, NAN, True),
        (OneWay(0, 1, ""), 1, 2, 2, True),
        (OneWay(0, 1, ""), 1, 0, 1, False),
        (OneWay(0, -1, ""), 1, 2, 1, False),
        (OneWay(0, 1, ""), NAN, 2, 2, True),
        (OneWay(0, 1, ""), 1, NAN, 1, False),
        (RANGE, 20, 12, 10, False),
        (RANGE, 5, NAN, 5, False),
        (RANGE, NAN, NAN, NAN, True),
        (RANGE, NAN, -3, 0, False),
        (REACH, 5, 9, 8, False),
        (REACH, 5, 1, 3, False),
        (REACH, 5, 6, 6, True),
        (REACH, 5, NAN, 5, False),
        (REACH, NAN, 99, 99, True),
        (ALLOWED, 5, 4, 5, False),
        (ALLOWED, 9, 3, 2, False),
        (ALLOWED, 9, 5, 5, True),
        (ALLOWED, NAN, 3, NAN, False),
        (CATEGORY, 1, 3, 2, False),
        (CATEGORY, 0, 3, 0, False),
    ],
)
def test_a_rule_moves_a_candidate_to_where_it_holds(
    rule: Rule, x: float, c: float, moved: float, held: bool
) -> None:
    end, before, after = at(rule, x, c)
    np.testing.assert_array_equal(end, [moved])
    assert before == held
    assert after


@pytest.mark.parametrize(
    ("c", "moved", "held"),
    [
        ([1, 2], [1, 2], True),
        ([3, NAN], [3, NAN], True),
        ([9, 9], [9, 9], True),
        ([1, 9], [9, 9], False),
        ([3, 2], [9, 9], False),
    ],
)
def test_together_takes_combinations_of_the_training_data_or_none(
    c: list[float], moved: list[float], held: bool
) -> None:
    rule = Together.learn(np.array([0, 1]), KNOWN, "")
    end, before, after = at(rule, [9, 9], c)
    np.testing.assert_array_equal(end, moved)
    assert before == held
    assert after


def test_a_known_value_does_not_become_missing() -> None:
    end, before, after = at(NothingLost(), [1, NAN], [NAN, NAN])
    np.testing.assert_array_equal(end, [1, NAN])
    assert (before, after) == (False, True)


def test_a_missing_value_may_be_filled_in_or_stay_missing() -> None:
    for x, c in ([[NAN, 1], [2, 1]], [[NAN, 1], [NAN, 2]], [[1, 1], [2, 2]]):
        end, before, after = at(NothingLost(), x, c)
        np.testing.assert_array_equal(end, c)
        assert (before, after) == (True, True)


amounts = st.floats(0, 1, width=32)


@given(
    st.sampled_from([1e-12, 1.0, 1e12]),
    st.floats(-1, 1),
    st.floats(-1, 1),
    st.tuples(amounts, amounts),
    st.sampled_from(["float64", "float32"]),
)
def test_a_feature_moves_no_farther_than_allowed_in_exact_numbers(
    unit: float, own: float, new: float, most: tuple[float, float], dtype: str
) -> None:
    # 0.1 + 0.2 is rounded up, so that a value could rise by more than 0.2 from 0.1.
    down, up = most[0] * unit, most[1] * unit
    rule = MovesAtMost(0, down, up, "", np.dtype(dtype), Grid(0.0))
    x, c = (np.array([[value * unit]]).astype(dtype).astype(float) for value in (own, new))
    moved = rule.project(x, c.copy())
    assert rule.holds(x, moved).all()
    assert moved == moved.astype(dtype)
    rise = Fraction(moved.item()) - Fraction(x.item())
    assert -Fraction(down) <= rise <= Fraction(up)
    asked = Fraction(c.item()) - Fraction(x.item())
    if -Fraction(down) <= asked <= Fraction(up):
        assert moved == c
    else:  # the next number is too far
        farther = np.nextafter(moved.astype(dtype), c.astype(dtype)).item()
        assert not -Fraction(down) <= Fraction(farther) - Fraction(x.item()) <= Fraction(up)


ALL = Rules(
    (
        Together(np.array([1, 2]), Together.learn(np.array([0, 1]), KNOWN, "").known, ""),
        Fixed(0, ""),
    ),
    4,
)


def test_features_that_change_together_are_one_unit() -> None:
    assert ALL.fixed.tolist() == [True, False, False, False]
    assert [unit.tolist() for unit in ALL.units] == [[1, 2], [0], [3]]
    assert ALL.unit_of.tolist() == [1, 0, 0, 2]
    assert [group.tolist() for group in ALL.groups] == [[1, 2]]


def test_rules_are_applied_one_after_the_other() -> None:
    x, c = np.array([[0.0, 9.0, 9.0, 0.0]]), np.array([[5.0, 1.0, 7.0, 5.0]])
    assert not ALL.hold(x, c).any()
    moved = ALL.project(x, c)
    assert moved.tolist() == [[0, 9, 9, 5]]
    assert ALL.hold(x, moved).all()
    assert c.tolist() == [[5, 1, 7, 5]]
    assert ALL.first(1).project(x, c).tolist() == [[5, 9, 9, 5]]


def test_no_rules_allow_everything() -> None:
    none = Rules((), 4)
    assert not none
    assert ALL
    assert none.hold(np.zeros((2, 4)), np.ones((2, 4))).all()
