"""Distances as weighted norms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toys_exact import CUBE, DISTANCES, flats, problem_of

from counterset import DiverseExplainer, InvalidInputError
from counterset.distances import L0, L1, CustomDistance, Distance, Gower
from counterset.exact import Box
from counterset.exact.norms import read_norm


@pytest.mark.parametrize("distance", [*DISTANCES, L0([1, 2, 3])], ids=repr)
def test_a_norm_measures_as_its_distance_does(distance: Distance) -> None:
    norm = read_norm(distance, 3)
    assert norm is not None
    np.testing.assert_allclose(norm.of(CUBE - CUBE[0]), distance(CUBE[0], CUBE)[0])


@pytest.mark.parametrize("kind", ["gower", "l0", "l1", "l2", "linf"])
def test_a_changed_category_has_its_own_cost(kind: str) -> None:
    frame, _ = flats(0)
    problem = problem_of(lambda rows: rows["rooms"] > 2, frame.iloc[[0]], kind, Box.of(frame))
    assert problem.norm is not None
    rows = problem.model.table.encode(frame)[0]
    np.testing.assert_allclose(problem.norm.of(rows - problem.x), problem.lengths(rows))


def test_the_scale_of_an_explainer_goes_into_the_weights() -> None:
    wide = CUBE * [1.0, 100.0, 0.01]
    explainer = DiverseExplainer.paper(lambda rows: rows[:, 0] > 0.5, distance="l2").fit(wide)
    norm = read_norm(explainer.distance_, 3)
    assert norm is not None
    np.testing.assert_allclose(norm.of(wide - wide[0]), explainer.distance_(wide[0], wide)[0])


@given(
    distance=st.sampled_from([*DISTANCES, L0([1, 2, 3]), L1([1, 0, 2])]),
    length=st.floats(0, 5),
    seed=st.integers(0, 50),
)
def test_no_feature_of_a_short_move_goes_past_the_reach(
    distance: Distance, length: float, seed: int
) -> None:
    norm = read_norm(distance, 3)
    assert norm is not None
    moves = np.random.default_rng(seed).normal(size=(200, 3)) * 3
    short = moves[norm.of(moves) <= length]
    assert (np.abs(short) <= norm.reach(length) * (1 + 1e-12)).all()


def test_other_distances_are_no_norms() -> None:
    assert read_norm(CustomDistance(lambda A, B: np.zeros((len(A), len(B)))), 3) is None
    assert read_norm(Gower(), 3) is None  # it needs the ranges of a table
    with pytest.raises(InvalidInputError, match="2 weights, but the input has 3"):
        read_norm(L1([1, 2]), 3)
    frame = pd.DataFrame({"a": [0.0, 4.0], "b": [0.0, 2.0]})
    problem = problem_of(lambda rows: rows["a"] > 2, frame.iloc[[0]], "gower", Box.of(frame))
    assert problem.norm is not None
    np.testing.assert_allclose(problem.norm.weights, [1 / 8, 1 / 4])
