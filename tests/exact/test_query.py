"""What a query refuses, before or after a solver runs."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from support.toys_exact import LINEAR, SQUARE, random_network

from counterset import InvalidInputError
from counterset.exact import Box, Grid, counterfactual_distance
from counterset.exceptions import DomainError, ModelError, UnsupportedDistanceError


def test_parameters_are_checked() -> None:
    for bad, match in (
        ({"time_limit": 0}, "time_limit"),
        ({"tolerance": -1}, "tolerance"),
        ({"method": "guess"}, "method must be"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            counterfactual_distance(LINEAR, [0.5, 0.5], **bad)
    with pytest.raises(InvalidInputError, match="takes one row, got 2"):
        counterfactual_distance(LINEAR, SQUARE[:2])
    with pytest.raises(InvalidInputError, match="has a predict method"):
        counterfactual_distance("model", [0.5, 0.5])


def test_inputs_outside_the_domain() -> None:
    with pytest.raises(DomainError, match=r"'x1' is 2, not between 0 and 1"):
        counterfactual_distance(LINEAR, [0.5, 2], domain=Box(0, 1))


@pytest.mark.parametrize(
    ("domain", "every"), [(Box(0, 1), 1), (Grid([[0, 0.5, 1], [0, 0.5, 1]]), 2)]
)
def test_a_model_that_changes_its_mind_is_found_out(domain: Any, every: int) -> None:
    calls = []

    def fickle(rows: Any) -> np.ndarray:
        calls.append(len(rows))
        return np.full(len(rows), len(calls) // every % 2)

    with pytest.raises(ModelError, match="the same row in two ways"):
        counterfactual_distance(fickle, [0.2, 0.2], "l1", domain)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3),
        KNeighborsClassifier(1),
        MLPClassifier((2,), solver="lbfgs"),
        DecisionTreeClassifier(),
        DummyClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_of_one_class_has_no_counterfactuals(model: Any) -> None:
    model.fit(SQUARE, np.ones(len(SQUARE)))
    bounds = counterfactual_distance(model, [0.2, 0.2], "l1", Box(0, 1))
    assert bounds.none_exists
    assert "one class only" in bounds.method


def test_a_known_counterfactual_is_a_start() -> None:
    network = random_network(5)
    x = np.array([0.5, 0.5])
    free = counterfactual_distance(network, x, "l1", Box(-1, 1))
    started = counterfactual_distance(network, x, "l1", Box(-1, 1), start=free.witness)
    assert started.upper <= free.upper
    with pytest.raises(InvalidInputError, match="start is no counterfactual"):
        counterfactual_distance(network, x, "l1", Box(-1, 1), start=x)


def test_times_and_missing_inputs_are_refused() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=4), "n": [1.0, 2, 3, np.nan]})
    numbers = frame[["n"]]
    model = DecisionTreeClassifier().fit(numbers, [0, 0, 1, 1])
    with pytest.raises(UnsupportedDistanceError, match=r"no value for \['n'\]"):
        counterfactual_distance(model, numbers.iloc[[3]], "l1", Box.of(numbers))
    assert counterfactual_distance(model, numbers.iloc[[0]], "l1", Box.of(numbers)).exact
    with pytest.raises(UnsupportedDistanceError, match="times"):
        counterfactual_distance(lambda X: X["n"] > 2, frame.iloc[[0]], "l1", Box.of(frame))


def test_a_start_outside_a_finite_domain_is_refused() -> None:
    # It would be nearer than any point of the domain.
    with pytest.raises(InvalidInputError, match="start is no counterfactual"):
        counterfactual_distance(LINEAR, [0.2, 0.2], domain=[[0.9, 0.9]], start=[[0.7, 0.7]])
