"""Rows of numbers, and which features may change, as users pass them."""

from typing import Any

import numpy as np
import pytest
from support.toys_exact import LINEAR

from counterset import InvalidInputError
from counterset.exact import Box, counterfactual_distance, counterfactual_distances


@pytest.mark.parametrize(
    ("x", "match"),
    [
        ([np.nan, 0.2], "x is nan in feature 0"),
        ([0.1, np.inf], "x is inf in feature 1"),
        (["a", "b"], "not a number"),
        ("ab", "not a number"),
        ([[1, 2], [3]], "different lengths"),
        (None, r"one row of numbers, got shape \(\)"),
        ([], "one row of numbers"),
        (np.zeros((1, 1, 2)), r"got shape \(1, 1, 2\)"),
    ],
)
def test_inputs_that_are_no_row_of_numbers(x: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        counterfactual_distance(LINEAR, x)


@pytest.mark.parametrize(
    ("X", "match"),
    [([[np.nan, 1]], "X is nan"), ([0.1, 0.2], "one per input"), (np.empty((0, 2)), "no rows")],
)
def test_batches_that_are_no_rows_of_numbers(X: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        counterfactual_distances(LINEAR, X)


def test_may_change_takes_names_positions_and_masks() -> None:
    answers = {
        counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1, may_change=which)).upper
        for which in (["x1"], [1], [False, True])
    }
    assert len(answers) == 1
    with pytest.raises(InvalidInputError, match="unknown feature 'x7'"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Box(may_change=["x7"]))


def test_a_mask_that_is_too_short_is_not_taken_for_positions() -> None:
    # [True] used to be read as position 1.
    with pytest.raises(InvalidInputError, match="a mask of 1 features, but there are 2"):
        counterfactual_distance(LINEAR, [0.2, 0.2], domain=Box(0, 1, may_change=[True]))
    with pytest.raises(InvalidInputError, match=r"got the text 'x0'\. Put it in brackets"):
        counterfactual_distance(LINEAR, [0.2, 0.2], domain=Box(0, 1, may_change="x0"))
