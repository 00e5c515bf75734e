"""Single constraints: where they hold, and where they move a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterset.constraints.rules import Allowed, Fixed, OneWay, Rule, Together, Within, WithinReach

NAN = np.nan
KNOWN = np.array([[1.0, 2.0], [3.0, NAN]])


def at(rule: Rule, x: Any, c: Any) -> tuple[Any, bool, bool]:
    """Give the candidate after projection, and whether the rule held before and after."""
    x, c = np.atleast_2d(np.array(x, dtype=float)), np.atleast_2d(np.array(c, dtype=float))
    before = bool(rule.holds(x, c)[0])
    moved = rule.project(x, c.copy())
    return moved[0].tolist(), before, bool(rule.holds(x, moved)[0])


ALLOWED = Allowed(0, np.array([2.0, 5.0]), False, "")
CATEGORY = Allowed(0, np.array([2.0, 0.0]), True, "")
WITHIN, REACH = Within(0, 0, 10, ""), WithinReach(0, 2, 3, "")


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
        (WITHIN, 20, 12, 10, False),
        (WITHIN, 5, NAN, 5, False),
        (WITHIN, NAN, NAN, NAN, True),
        (WITHIN, NAN, -3, 0, False),
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
