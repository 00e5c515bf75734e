"""Rows of numbers, as users pass them."""

from typing import Any

import numpy as np
import pytest
from support.toys_exact import LINEAR

from counterset import Constraints, InvalidInputError
from counterset.exact import Box, Grid, counterfactual_distance, counterfactual_distances


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


@pytest.mark.parametrize("make", [Box, Grid, Box.of], ids=["Box", "Grid", "Box.of"])
def test_may_change_is_refused_with_the_line_to_write(make: Any) -> None:
    # Which features keep their values is a constraint, here as everywhere.
    with pytest.raises(InvalidInputError, match=r"constraints=Constraints\(immutable=\['age'\]\)"):
        make([[0.0], [1.0]], may_change=["x0"])


def test_an_immutable_feature_that_is_unknown_is_named() -> None:
    with pytest.raises(InvalidInputError, match="There is no feature 'x7'"):
        counterfactual_distance(LINEAR, [0.5, 0.5], constraints=Constraints(immutable=["x7"]))
