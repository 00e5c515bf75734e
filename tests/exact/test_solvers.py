"""Which solver takes which model, and what none takes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from support.toys_exact import CUBE, CURVED, LINEAR, SQUARE, TWO, flats

from counterset import InvalidInputError
from counterset.distances import L0, L1, CustomDistance
from counterset.exact import Box, counterfactual_distance
from counterset.exceptions import UnsupportedDistanceError, UnsupportedModelError


def test_exact_or_nothing() -> None:
    with pytest.raises(UnsupportedModelError, match="SVC"):
        counterfactual_distance(CURVED, [0.5, 0.5], method="exact")
    searched = counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1), method="search")
    exact = counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1), method="exact")
    assert exact.upper <= searched.upper + 1e-12


def test_a_distance_that_no_solver_takes() -> None:
    odd = CustomDistance(lambda A, B: np.zeros((len(A), len(B))))
    forest = RandomForestClassifier(3, random_state=0).fit(SQUARE, SQUARE.sum(axis=1) > 1)
    with pytest.raises(UnsupportedDistanceError, match="tree ensemble"):
        counterfactual_distance(forest, [0.2, 0.2], odd)
    with pytest.raises(InvalidInputError, match="3 weights, but the input has 2"):
        counterfactual_distance(LINEAR, [0.2, 0.2], L1([1, 2, 3]))


def test_weighted_counts_and_whole_numbers_are_solved_by_a_programme() -> None:
    model = LogisticRegression().fit(CUBE, TWO)
    x = CUBE[np.argmin(TWO)]
    weighted = counterfactual_distance(model, x, L0([1, 5, 5]), Box(0, 1))
    assert weighted.exact
    assert weighted.upper in (1.0, 5.0, 6.0, 10.0, 11.0)

    frame = pd.DataFrame({"a": [0, 3, 9, 4], "b": [0.0, 1.0, 2.0, 9.0]})
    model = LogisticRegression().fit(frame, [0, 0, 1, 1])
    bounds = counterfactual_distance(model, frame.iloc[[0]], "l1", Box(0, 9))
    assert bounds.exact
    assert float(bounds.witness["a"]).is_integer()
    assert model.predict(frame.iloc[[0]])[0] != model.predict(bounds.witness.to_frame().T)[0]


def test_a_nearest_neighbour_takes_numbers_only() -> None:
    frame, y = flats(7)
    coded = frame[["rooms", "floor"]].assign(owner=frame["owner"] == "private")
    model = KNeighborsClassifier(1).fit(coded, y)
    with pytest.raises(UnsupportedDistanceError, match=r"nearest neighbour.*owner"):
        counterfactual_distance(model, coded.iloc[[0]], "l1", Box.of(coded))
    points = counterfactual_distance(model, coded.iloc[[0]], "gower", coded)
    assert points.exact
