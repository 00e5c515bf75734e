"""One nearest neighbour: against samples, and against the border of two rows."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance
from counterset.exact.neighbours import read_neighbours


def test_two_rows_are_divided_by_their_perpendicular_bisector() -> None:
    model = KNeighborsClassifier(1).fit([[0.0, 0.0], [2.0, 0.0]], ["a", "b"])
    for distance in ("l1", "l2", "linf"):
        bounds = counterfactual_distance(model, [0.25, 0.5], distance)
        assert bounds.exact
        assert bounds.upper == pytest.approx(0.75, abs=1e-5)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    distance=st.sampled_from([L1(), L2(), LInf(), L0(), L2([1, 3]), L1([1, 3])]),
)
def test_no_sample_is_nearer_and_some_are_almost_as_near(seed: int, distance: Distance) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((20, 2))
    model = KNeighborsClassifier(1).fit(X, rng.integers(0, 3, 20))
    x, samples = rng.random(2), rng.random((20_000, 2))
    own = model.predict(x[None, :])[0]
    others = samples[model.predict(samples) != own]
    bounds = counterfactual_distance(model, x, distance, Box(0, 1))
    assert bounds.exact, bounds
    assert model.predict(bounds.witness[None, :])[0] != own
    nearest = distance(x, others).min()
    assert bounds.lower <= nearest
    if not isinstance(distance, L0):
        assert nearest <= bounds.upper + 0.1


def test_no_other_class_is_a_proof() -> None:
    alike = KNeighborsClassifier(1).fit([[0.0], [1.0]], [1, 1])
    assert counterfactual_distance(alike, [0.0]).none_exists
    model = KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1])
    assert counterfactual_distance(model, [0.1], "l1", Box(0, 0.4)).none_exists


def test_many_rows_of_the_own_class_are_added_as_they_are_crossed() -> None:
    # A wall of rows of the own class between the input and the other: its cell is far round it.
    wall = [[1.0, y] for y in np.linspace(-3, 3, 25)]
    model = KNeighborsClassifier(1).fit([[0.0, 0.0], *wall, [2.0, 0.0]], [0] * 26 + [1])
    for distance in ("l1", "l2", "linf"):
        bounds = counterfactual_distance(model, [0.0, 0.0], distance)
        assert bounds.exact
        assert bounds.upper == pytest.approx(1.5, abs=1e-4)


@settings(max_examples=25)
@example(seed=540, distance=L2())  # a hundred times nearer than the first ball is large
@given(seed=st.integers(0, 1000), distance=st.sampled_from([L1(), L2(), LInf()]))
def test_a_start_and_no_bounds_change_nothing_but_the_way(seed: int, distance: Distance) -> None:
    rng = np.random.default_rng(seed)
    X, x = rng.random((12, 2)), rng.random(2)
    model = KNeighborsClassifier(1).fit(X, rng.permutation([0, 1] * 6))
    free = counterfactual_distance(model, x, distance)
    assert free.exact
    started = counterfactual_distance(model, x, distance, start=free.witness)
    assert started.exact
    assert started.upper <= free.upper
    assert started.upper == pytest.approx(free.upper, abs=2e-5)
    assert started.lower == pytest.approx(free.lower, abs=2e-5)


def test_a_row_that_another_of_the_own_class_hides_is_no_counterfactual() -> None:
    model = KNeighborsClassifier(1).fit([[0.0], [1.0], [1.0]], [0, 0, 1])
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == [0, 0, 0]
    bounds = counterfactual_distance(model, [0.0], "l1")
    assert bounds.witness is None  # neither found, nor proved absent: both rows are as near
    assert not bounds.exact
    assert bounds.reason == "no nearer point was confirmed"


def test_out_of_time_gives_the_bounds_so_far() -> None:
    model = KNeighborsClassifier(1).fit([[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 1])
    hurried = counterfactual_distance(model, [0.25, 0.5], "l1", time_limit=1e-9)
    assert not hurried.exact
    assert hurried.lower <= 0.75 <= hurried.upper


def test_other_neighbours_are_not_read() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    assert read_neighbours(KNeighborsClassifier(1)) is None
    assert read_neighbours(KNeighborsClassifier(2).fit(X, y)) is None
    assert read_neighbours(KNeighborsClassifier(1, p=1).fit(X, y)) is None
    assert read_neighbours(KNeighborsClassifier(1).fit(csr_array(X), y)) is None
