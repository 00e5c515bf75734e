"""The reverse question: how far a row that misses the goal is, from one that reaches it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from support.toys_exact import SQUARE

from counterset.exact import Box
from counterset.exact.query import DistanceQuery
from counterset.exceptions import InvalidInputError, UnsupportedModelError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TWO = SQUARE.sum(axis=1) > 1
THREE = np.digitize(SQUARE.sum(axis=1), [0.8, 1.2])
GRID = np.stack(np.meshgrid(*[np.linspace(0, 1, 61)] * 2), axis=-1).reshape(-1, 2)
CLASSIFIERS: list[Any] = [
    LogisticRegression(C=30),
    MLPClassifier((5,), max_iter=300, random_state=1),
    RandomForestClassifier(7, max_depth=3, random_state=0),
    KNeighborsClassifier(1),
]


def nearest_on_the_grid(x: Any, misses: Any) -> float:
    """The literal distance to the nearest point of a grid that misses the goal."""
    return float(np.abs(GRID[misses] - x).sum(axis=1).min(initial=np.inf))


def check(query: DistanceQuery, x: Any, misses: Any) -> None:
    bounds = query.bounds(x)
    found = nearest_on_the_grid(x, misses)
    assert bounds.lower <= found
    if bounds.witness is not None:
        assert bounds.upper <= found + 2 / 60 + 1e-9


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("probability", [None, 0.6])
def test_a_class_and_its_probability_are_missed_as_on_a_grid(
    model: Any, labels: Any, probability: float | None
) -> None:
    model.fit(SQUARE, labels)
    wanted = model.classes_[-1]
    asked = DistanceQuery.of(model, "l1", Box(0, 1), target=wanted, target_probability=probability)
    query = replace(asked, missed=True)
    shares = model.predict_proba(GRID)[:, -1]
    reached = (model.predict(GRID) == wanted) & (shares >= (probability or 0))
    if probability and labels is THREE and isinstance(model, LogisticRegression | MLPClassifier):
        with pytest.raises(UnsupportedModelError, match="target_probability"):
            query.bounds(GRID[reached][0])
        return
    for x in GRID[reached][:: max(1, reached.sum() // 4)]:
        check(query, x, ~reached)
    with pytest.raises(InvalidInputError, match="already predicts"):
        query.bounds(GRID[~reached][0])


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), GradientBoostingRegressor(n_estimators=8, random_state=0)],
    ids=lambda each: type(each).__name__,
)
def test_an_interval_is_missed_on_both_sides(model: Any) -> None:
    model.fit(SQUARE, SQUARE.sum(axis=1))
    query = replace(DistanceQuery.of(model, "l1", Box(0, 1), interval=(0.7, 1.3)), missed=True)
    predicted = model.predict(GRID)
    reached = (predicted >= 0.7) & (predicted <= 1.3)
    for x in GRID[reached][:: reached.sum() // 6]:
        check(query, x, ~reached)


def test_where_nothing_misses_the_goal_that_is_proved() -> None:
    for model in CLASSIFIERS:
        model.fit(SQUARE, TWO)
        asked = DistanceQuery.of(model, "l1", Box([0.9, 0.9], 1), target=True)
        assert replace(asked, missed=True).bounds([0.95, 0.95]).none_exists


def test_a_probability_that_is_not_read_is_never_left_out() -> None:
    # Left out of a search for rows that miss it, a probability would make the bound too large.
    model = SGDClassifier(loss="modified_huber", random_state=0).fit(SQUARE, TWO)
    asked = DistanceQuery.of(
        model, "l1", Box([0.9, 0.9], 1), target=True, target_probability=0.9, method="exact"
    )
    with pytest.raises(UnsupportedModelError):
        replace(asked, missed=True).bounds([0.95, 0.95])
