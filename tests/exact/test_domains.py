"""Boxes, grids and points: what they hold, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toys_exact import LINEAR, SQUARE

from counterset import Constraints, DiverseExplainer, InvalidInputError
from counterset.exact import Box, Grid, Points, counterfactual_distance, counterfactual_distances
from counterset.exact.domains import as_domain
from counterset.exceptions import DomainError, NotFittedError


def test_empty_domains() -> None:
    with pytest.raises(DomainError, match="low bound is above"):
        Box([0, 1], [1, 0])
    with pytest.raises(DomainError, match="no points"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=np.empty((0, 2)))
    with pytest.raises(DomainError, match="feature 1 has no values"):
        Grid([[0], []])
    with pytest.raises(DomainError, match="no features"):
        Grid([])


def test_domains_that_do_not_fit() -> None:
    with pytest.raises(InvalidInputError, match="bounds for 3 features"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Box([0, 0, 0], 1))
    with pytest.raises(InvalidInputError, match="as many low as high"):
        Box([0, 0, 0], [1, 1])
    with pytest.raises(InvalidInputError, match="one low and one high"):
        Box(np.nan, 1)
    with pytest.raises(InvalidInputError, match="has 1 features, but the input has 2"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Grid([[0, 1]]))
    with pytest.raises(InvalidInputError, match="not a finite number, in feature 0"):
        Grid([[np.inf]])
    with pytest.raises(InvalidInputError, match=r"a fitted explainer, got \{'low': 0\}"):
        as_domain({"low": 0})


def test_domains_that_are_no_numbers() -> None:
    for domain, match in (
        ("box", "got 'box'"),
        (3, "got 3"),
        ([["a", "b"]], "A set of points holds something that is not a number"),
        ([[0.1, np.nan]], "A set of points is nan in feature 1"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            counterfactual_distance(LINEAR, [0.5, 0.5], domain=domain)
    with pytest.raises(InvalidInputError, match="got low='a' and high='b'"):
        Box("a", "b")
    with pytest.raises(InvalidInputError, match=r"feature 0: \['a'\]"):
        Grid([["a"], [1]])
    for wrong in (3, "ab"):
        with pytest.raises(InvalidInputError, match="a list of values for each feature"):
            Grid(wrong)  # type: ignore[arg-type]


def test_the_domain_of_an_explainer_is_the_range_of_its_data() -> None:
    explainer = DiverseExplainer.paper(LINEAR)
    with pytest.raises(NotFittedError, match="no range"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=explainer)
    explainer.fit(SQUARE)
    box = as_domain(explainer)
    assert isinstance(box, Box)
    np.testing.assert_array_equal(box.high, SQUARE.max(axis=0))
    wider = box.holding([2.0, 0.5])
    np.testing.assert_array_equal(wider.high, [2.0, SQUARE[:, 1].max()])
    with pytest.raises(InvalidInputError, match="Box with a table"):
        Box(0, 1).holding([2.0])


def test_a_grid_and_points_hold_what_can_be_reached_from_the_input() -> None:
    grid, x, fixed = Grid([[0, 1], [0, 1]]), np.array([0.5, 0.0]), np.array([True, False])
    assert grid.holds(np.array([0.5, 1.0]), x, fixed)  # the input keeps its own value of a
    assert not grid.holds(np.array([1.0, 1.0]), x, fixed)
    assert not grid.holds(np.array([0.5, 0.5]), x, fixed)
    points = Points([[0.0, 1.0], [2.0, 3.0]])
    assert points.holds(np.array([2.0, 3.0]), x, fixed)
    assert not points.holds(np.array([2.0, 1.0]), x, fixed)


# Rows of numbers, and which features may change, as users pass them -------------------------------


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
