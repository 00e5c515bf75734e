"""Linear relations: reading, checking, moving back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import InvalidInputError
from counterset.constraints.relations import parse_relations
from counterset.tables.table import Table

FRAME = pd.DataFrame({"a": [0.0, 9.0], "b": [0.0, 9.0], "n-1": [0, 9], "word": ["x", "y"]})
TABLE, _ = Table.learn(FRAME)


@pytest.mark.parametrize(
    ("text", "weights", "constant"),
    [
        ("a <= b", [1, -1, 0], 0),
        ("a >= b", [-1, 1, 0], 0),
        ("2 * a - b / 4 < 3", [2, -0.25, 0], -3),
        ("-(a + 1) == +b * 2", [-1, -2, 0], -1),
        ("`n-1` <= a - 16", [-1, 0, 1], 16),
        ("3 * (a - 2 * b) > 1 - a", [-4, 6, 0], 1),
    ],
)
def test_a_relation_is_read_as_weights(text: str, weights: list[float], constant: float) -> None:
    (relation,) = parse_relations(text, TABLE)
    assert relation.weights.tolist() == [*weights, 0]
    assert relation.constant == constant
    assert relation.text == f"relation {text!r}"


def test_a_chain_is_several_relations() -> None:
    low, high = parse_relations("0 <= a < b", TABLE)
    assert (low.strict, high.strict) == (False, True)
    rows = np.array([[1.0, 1, 0, 0], [1, 2, 0, 0]])
    assert low.holds(rows, rows).tolist() == [True, True]
    assert high.holds(rows, rows).tolist() == [False, True]


@pytest.mark.parametrize(
    "text",
    ["a", "a <=", "a != b", "a * b <= 1", "a ** 2 <= 1", "a / 0 <= 1", "f(a) <= 1", "a <= True"],
)
def test_what_is_not_a_linear_comparison_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="Cannot read the relation"):
        parse_relations(text, TABLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zip <= 1", "no feature 'zip'"),
        ("word <= 1", "Relations are between numbers"),
        ("a - a <= 1", "depends on no feature"),
        ("1 <= 2", "depends on no feature"),
    ],
)
def test_a_relation_needs_numbers(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_relations(text, TABLE)


def test_a_missing_value_breaks_no_relation() -> None:
    (relation,) = parse_relations("a <= b", TABLE)
    rows = np.array([[9.0, np.nan, 0, 0]])
    assert relation.holds(rows, rows).all()


def test_a_missing_value_of_the_input_does_not_spread() -> None:
    # It used to make the other features of the relation missing too.
    (relation,) = parse_relations("a + b + `n-1` == 2", TABLE)
    x, c = np.array([[np.nan, 1.0, 3, 0]]), np.array([[5.0, 6.0, 7, 1]])
    np.testing.assert_array_equal(relation.project(x, c), [[np.nan, 1, 3, 1]])


def test_a_candidate_on_the_edge_of_a_strict_relation_is_moved_off_it() -> None:
    (relation,) = parse_relations("a < b", TABLE)
    x, c = np.array([[0.0, 5.0, 0, 0]]), np.array([[5.0, 5.0, 0, 0]])
    assert not relation.holds(x, c)
    assert relation.holds(x, relation.project(x, c)).all()


numbers = st.floats(-9, 9, width=32)


@given(
    st.sampled_from(["a <= b", "a < b + 1", "2 * a >= b - 3", "a + b <= 4"]),
    st.tuples(numbers, numbers),
    st.tuples(numbers, numbers),
)
def test_floats_are_moved_back_just_until_the_relation_holds(
    text: str, own: tuple[float, float], new: tuple[float, float]
) -> None:
    (relation,) = parse_relations(text, TABLE)
    x, c = np.array([[*own, 0.0, 0.0]]), np.array([[*new, 0.0, 0.0]])
    moved = relation.project(x, c.copy())
    if relation.holds(x, c) or not relation.holds(x, x):
        np.testing.assert_array_equal(moved, c)
    else:
        gap = abs((relation.weights @ moved[0]) + relation.constant)
        assert gap <= 1e-6  # on the edge
        between = (moved - x) * (c - moved)
        assert (between >= -1e-9).all()


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_whole_numbers_are_rounded_towards_the_input(own: int, new: int) -> None:
    (relation,) = parse_relations("2 * `n-1` <= 5", TABLE)
    x, c = np.array([[0.0, 0.0, own, 0.0]]), np.array([[0.0, 0.0, new, 0.0]])
    moved = relation.project(x, c.copy())[0, 2]
    expected = 2 if 2 * own <= 5 < 2 * new else new
    assert moved == expected
