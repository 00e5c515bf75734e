"""Checks of parameters: what passes, and what the error says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset._base import checks


@pytest.mark.parametrize("value", [1, 7, np.int64(3)])
def test_a_count_is_a_whole_number_of_at_least_1(value: Any) -> None:
    checks.check_count(value, "alpha")


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", None, np.nan])
def test_what_is_no_count_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^alpha must be a whole number .*, got "):
        checks.check_count(value, "alpha")


@pytest.mark.parametrize("value", [-0.1, np.inf, np.nan, True, "1", None])
def test_numbers_out_of_range_or_not_finite_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^a must be a number of at least 0, got "):
        checks.check_at_least(value, 0, "a")
    with pytest.raises(InvalidInputError, match=r"^a must be a number above 0, got "):
        checks.check_positive(value, "a")
    with pytest.raises(InvalidInputError, match=r"^a must be between 0 and 1, got "):
        checks.check_between(value, 0, 1, "a")


def test_the_ends_of_a_range_belong_to_it_but_for_above_0() -> None:
    checks.check_at_least(0, 0, "a")
    checks.check_between(0, 0, 1, "a")
    checks.check_between(np.float32(1), 0, 1, "a")
    with pytest.raises(InvalidInputError):
        checks.check_positive(0, "a")


def test_lists_arrays_and_sets_are_lists_and_a_text_is_none() -> None:
    lists: list[Any] = [["age"], ("age",), {"age"}, np.array(["age"]), pd.Index(["age"])]
    for value in lists:
        checks.check_list(value, "names")
    with pytest.raises(InvalidInputError, match=r"names takes a list .* 'age'. Put it in brackets"):
        checks.check_list("age", "names")
    others: list[Any] = [None, 5, {"age": 1}, iter(["age"]), np.array("age"), np.eye(2)]
    for value in others:
        with pytest.raises(InvalidInputError, match=r"^names takes a list of columns, got "):
            checks.check_list(value, "names", "columns")


def test_a_mapping_is_told_what_it_leads_to() -> None:
    checks.check_mapping({}, "ranges", "values")
    with pytest.raises(InvalidInputError, match=r"ranges takes a mapping from names to values.*\["):
        checks.check_mapping(["age"], "ranges", "values")


def test_what_is_no_number_becomes_one_that_every_check_refuses() -> None:
    assert checks.numbers([1, 2]).tolist() == [1.0, 2.0]
    assert np.isnan(checks.numbers(["a"])).all()


def test_weights_are_a_copy_that_cannot_be_written_to() -> None:
    mine = np.array([1.0, 0.0])
    read = checks.read_weights(mine)
    mine[0] = 5
    assert read.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        read[0] = 5


def test_one_row_is_read_as_a_table_of_one() -> None:
    first, second = checks.read_pair([1, 2], [[3, 4], [5, 6]])
    assert (first.shape, second.shape) == ((1, 2), (2, 2))


def test_distances_are_checked() -> None:
    assert checks.read_distances([[0, 1]], (1, 2)).tolist() == [[0.0, 1.0]]
    with pytest.raises(InvalidInputError, match=r"expected shape \(1, 2\), got \(2,\)"):
        checks.read_distances([0, 1], (1, 2))
