"""No bound is above the truth, far from 0 and in small units.

The truth is computed in rationals from the very floats that the model has. Models round near their
borders, so they are also asked about the floats there: none that flips is nearer than ``lower``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.oracles_exact import cell_points, nearest_other
from support.toys_exact import disguised, given_linear, given_scaler, thresholds, tree_data

from counterset import DiverseExplainer, ExhaustiveExplainer, InvalidInputError
from counterset.distances import L1
from counterset.exact import (
    Box,
    DistanceBounds,
    ReluNetwork,
    counterfactual_distance,
    counterfactual_distances,
)
from counterset.exact.definitions import Answer, is_strong

#: An offset, and the size of the differences there: from Unix seconds to a millionth of the offset.
FAR = [
    (0.0, 1.0),
    (0.0, 1e-10),
    (1e6, 0.01),
    (1.7e9, 60.0),
    (-1e9, 10.0),
    (1e12, 1e6),
    (1e12, 1.0),
]


def exactly(values: Any) -> Any:
    """The same numbers as rationals."""
    return np.vectorize(Fraction)(np.asarray(values, dtype=float))


def nearest_flip(model: Any, x: np.ndarray, points: np.ndarray) -> Fraction | None:
    """The l1 distance of the nearest of these points that the model classifies differently."""
    own = model.predict(x[None, :])[0]
    flipped = points[model.predict(points) != own]
    lengths = [(sum(abs(exactly(point) - exactly(x))), i) for i, point in enumerate(flipped)]
    for length, i in sorted(lengths):
        if model.predict(flipped[i : i + 1])[0] != own:  # also alone, not in a batch only
            return Fraction(length)
    return None


def around(value: Fraction | float) -> np.ndarray:
    """The 41 floats around a number."""
    found = [float(value)]
    for _ in range(20):
        found = [np.nextafter(found[0], -np.inf), *found, np.nextafter(found[-1], np.inf)]
    return np.array(found)


def check(bounds: DistanceBounds, *truths: Fraction | None) -> None:
    for truth in truths:
        if truth is not None:
            # A distance is itself a rounded sum.
            assert Fraction(bounds.lower) <= truth * (1 + Fraction(1, 10**14)), (bounds, truth)


# One nearest neighbour ----------------------------------------------------------------------------


def test_neighbours_a_billion_from_zero() -> None:
    # The squares of rows cancelled: 10.99998 was said to be proved, but 9 is right.
    X = 1e9 + np.array([[16.0], [27], [20], [8], [42], [34]])
    model = KNeighborsClassifier(1).fit(X, [0, 1, 1, 0, 0, 1])
    bounds = counterfactual_distance(model, X[1], "l1", Box.of(X))
    assert model.predict([[1e9 + 17.991]])[0] == 0
    assert bounds.exact
    assert bounds.lower <= 9 <= bounds.upper
    assert bounds.upper == pytest.approx(9, rel=1e-5)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
@pytest.mark.parametrize(("offset", "size"), FAR)
def test_no_neighbour_is_nearer_than_proved(offset: float, size: float, algorithm: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        X = offset + size * rng.permutation(50)[:6, None] * 1.0
        y = rng.permutation([0, 0, 0, 1, 1, 1])
        model = KNeighborsClassifier(1, algorithm=algorithm).fit(X, y)
        order = np.argsort(X[:, 0])
        rows, labels = exactly(X[order, 0]), y[order]
        borders = [(rows[i] + rows[i + 1]) / 2 for i in range(5) if labels[i] != labels[i + 1]]
        near = np.concatenate([around(border) for border in borders])[:, None]
        for x in X[:2]:
            bounds = counterfactual_distance(model, x, "l1", Box.of(X))
            if model.predict(x[None, :])[0] == y[(x == X).all(axis=1)][0]:
                check(bounds, min(abs(border - Fraction(x[0])) for border in borders))
            check(bounds, nearest_flip(model, x, near))
            # Brute force cannot tell rows apart that far from 0, nor floats points in the end.
            if algorithm != "brute" and abs(offset) <= 1e10 * size:
                assert bounds.exact


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
@pytest.mark.parametrize(("offset", "size"), FAR)
def test_no_neighbour_of_two_features_is_nearer_than_proved(
    offset: float, size: float, algorithm: str
) -> None:
    rng = np.random.default_rng(1)
    X = offset + size * rng.integers(0, 40, (5, 2))
    model = KNeighborsClassifier(1, algorithm=algorithm).fit(X, [0, 1, 0, 1, 0])
    for distance in ("l1", "l2", "linf"):
        bounds = counterfactual_distance(model, X[0], distance, Box.of(X))
        if bounds.witness is None:  # rounding hides one class
            assert bounds.lower == 0
            continue
        near = bounds.witness + (X[0] - bounds.witness) * rng.uniform(-1e-6, 1, (300, 1))
        near = near + size * rng.normal(size=(300, 2)) * 10.0 ** rng.uniform(-12, 1, (300, 1))
        near = np.clip(near, X.min(axis=0), X.max(axis=0))
        flipped = near[model.predict(near) != model.predict(X[:1])[0]]
        order = {"l1": 1, "l2": 2, "linf": np.inf}[distance]
        lengths = np.linalg.norm(flipped - X[0], ord=order, axis=1)
        assert bounds.lower <= lengths.min(initial=np.inf) * (1 + 1e-14)


# Linear models and networks -----------------------------------------------------------------------


def linear_truth(
    weights: np.ndarray, bias: float, x: np.ndarray, mean: float = 0.0
) -> tuple[Fraction, int, Fraction]:
    """The l1 distance to the border, the feature to move, and its value on the border."""
    exact, at = exactly(weights), exactly(x)
    lead = (exact * (at - Fraction(mean))).sum() + Fraction(bias)
    best = int(np.argmax(np.abs(weights)))
    return abs(lead / exact[best]), best, at[best] - lead / exact[best]


def in_many_forms(weights: np.ndarray, bias: float, offset: float) -> dict[str, tuple[Any, float]]:
    """A linear model in several forms, each with the bias that it really has."""
    shift = 2.0 ** np.ceil(np.log2(abs(bias) * 16 + 1))  # of a unit that is always on
    on = bias + shift
    centred = bias + float(weights.sum() * offset)
    scaler = given_scaler(offset, 1.0, len(weights))
    return {
        "alone": (given_linear(weights, bias), bias),
        "scaled": (make_pipeline(scaler, given_linear(weights, centred)), centred),
        "network": (disguised(weights, bias), bias),
        "always on": (ReluNetwork([(weights[:, None], [on]), ([[1.0]], [-shift])]), on - shift),
    }


@pytest.mark.parametrize(("offset", "size"), FAR)
def test_no_point_across_a_plane_is_nearer_than_proved(offset: float, size: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(3):
        weights = rng.uniform(0.5, 2, 3) * rng.choice([-1, 1], 3)
        x = offset + size * rng.uniform(-9, 9, 3)
        border = x + size * rng.uniform(0.5, 5, 3) * np.sign(weights)
        for form, (model, bias) in in_many_forms(weights, -float(weights @ border), offset).items():
            mean = offset if form == "scaled" else 0.0
            truth, best, end = linear_truth(weights, bias, x, mean)
            near = np.tile(x, (41, 1))
            near[:, best] = around(end)
            for domain in (None, Box(x - 100 * size, x + 100 * size)):
                bounds = counterfactual_distance(model, x, "l1", domain)
                check(bounds, truth, nearest_flip(model, x, near))
                assert bounds.witness is not None, form
                if abs(offset) <= 1e7 * size:
                    assert bounds.exact, (form, bounds)


@pytest.mark.parametrize(("offset", "size"), FAR)
def test_no_whole_number_is_nearer_than_proved(offset: float, size: float) -> None:
    # Far from 0 the solver could not tell one whole number from the next.
    rng = np.random.default_rng(3)
    size = max(size, 1.0)
    for _ in range(3):
        x = np.array([np.rint(offset), np.rint(offset + 3 * size)])
        weights = rng.uniform(0.5, 2, 2)
        bias = -float(weights @ (x + size * rng.uniform(1, 9, 2)))
        model = ReluNetwork([(weights[:, None], [bias])])
        _, best, end = linear_truth(weights, bias, x)
        near = np.tile(x, (9, 1))
        near[:, best] = np.rint(float(end)) + np.arange(-4, 5)
        frame = pd.DataFrame([x], columns=["a", "b"]).astype(np.int64)
        bounds = counterfactual_distance(model, frame, "l1", Box(x - 20 * size, x + 20 * size))
        check(bounds, nearest_flip(model, x, near))
        assert bounds.witness is not None
        assert bounds.lower > 0 or abs(offset) > 1e7 * size


def test_whole_numbers_of_billions_hold_against_samples() -> None:
    # The solver was wrong about whole numbers that large, and proved far more than is true.
    for seed in range(25):
        rng = np.random.default_rng(seed)
        Z = rng.random((60, 2))
        frame = pd.DataFrame({"a": np.rint(1e12 * (1 + Z[:, 0])).astype(np.int64), "b": Z[:, 1]})
        model = make_pipeline(StandardScaler(), LogisticRegression(C=10))
        model.fit(frame, Z[:, 0] + Z[:, 1] ** 2 > 0.8)
        x, scale = frame.iloc[[0]], L1([1e-12, 1.0])
        bounds = counterfactual_distance(model, x, scale, Box.of(frame))
        points = frame.sample(3000, replace=True, random_state=seed).reset_index(drop=True)
        points["a"] = rng.integers(frame["a"].min(), frame["a"].max(), 3000)
        points.loc[:1000, "b"] = x["b"].iloc[0]
        points.loc[1001:2000, "a"] = x["a"].iloc[0]
        flipped = points[model.predict(points) != model.predict(x)[0]]
        lengths = scale(x.to_numpy(float), flipped.to_numpy(float))[0]
        assert bounds.exact
        assert bounds.lower <= lengths.min()


def test_weights_that_nearly_cancel_round_more_the_farther_one_goes() -> None:
    # Where the classes' weights are alike and large, rounding alone flips the model at a distance.
    model = given_linear([[1e15, 2.0], [1e15, 1.0], [0.0, 0.0]], [0.0, 3.0, -1e30])
    x, rng = np.array([0.0, 0.0]), np.random.default_rng(0)
    bounds = counterfactual_distance(model, x, "linf", Box(-4, 4))
    points = rng.uniform(-3, 3, (20_000, 2))
    flipped = points[model.predict(points) != model.predict([x])[0]]
    assert bounds.lower <= np.abs(flipped).max(axis=1).min()


def test_a_batch_of_unix_seconds_is_known_to_a_few_floats() -> None:
    rng = np.random.default_rng(4)
    X = 1.7e9 + 60 * rng.random((50, 2))
    scaler = given_scaler(1.7e9, 60.0, 2)
    model = make_pipeline(scaler, given_linear([1.0, 2.0], -1.4))
    many = counterfactual_distances(model, X, "l1")
    assert (many.upper - many.lower < 20 * np.spacing(1.7e9)).all()
    for x, bounds in zip(X, many, strict=True):
        scaled = (exactly(x) - Fraction(1.7e9)) / 60
        truth = abs(scaled[0] + 2 * scaled[1] - Fraction(1.4)) * 30
        assert Fraction(bounds.lower) <= truth


@pytest.mark.parametrize(("offset", "size"), FAR[1:])
def test_networks_far_from_zero_hold_against_samples(offset: float, size: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        w0, w1 = rng.normal(size=(2, 5)) / size, rng.normal(size=(5, 2))
        b0 = rng.normal(size=5) - offset * w0.sum(axis=0)
        model = ReluNetwork([(w0, b0), (w1, 0.3 * rng.normal(size=2))])
        x = offset + size * rng.uniform(-1, 1, 2)
        box = Box(offset - size, offset + size)
        points = rng.uniform(offset - size, offset + size, (4000, 2))
        flipped = points[model.predict(points) != model.predict(x[None, :])[0]]
        bounds = counterfactual_distance(model, x, "l1", box)
        if bounds.none_exists:
            assert len(flipped) == 0
            continue
        nearest = np.abs(flipped - x).sum(axis=1).min(initial=np.inf)
        assert bounds.lower <= nearest * (1 + 1e-14)
        if abs(offset) <= 1e4 * size:
            assert bounds.exact, bounds


# Trees --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("offset", "size"), FAR)
def test_trees_are_exact_wherever_they_are(offset: float, size: float) -> None:
    X, y = tree_data(0)
    X = offset + size * X
    low, high = float(X.min()), float(X.max())
    for model in (
        DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y),
        RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y),
    ):
        for x in X[:2]:
            points = cell_points(x, thresholds(model), low, high)
            expected = nearest_other(model.predict, x, points, L1())
            bounds = counterfactual_distance(model, x, "l1", Box(low, high))
            if bounds.none_exists:
                assert np.isinf(expected)
                continue
            assert bounds.exact
            assert bounds.upper == pytest.approx(expected, rel=1e-12)
            assert bounds.lower <= expected * (1 + 1e-14)


# Small units --------------------------------------------------------------------------------------


def test_a_gap_as_large_as_the_distance_is_not_exact() -> None:
    # Whatever was nearer than 1e-5 was called exact, though nothing was proved about it.
    bounds = counterfactual_distance(
        lambda rows: rows[:, 0] > 3e-10, [1e-10], "l1", Box(0, 1e-9), method="search"
    )
    assert bounds.lower == 0.0
    assert 0 < bounds.upper < 1e-9
    assert not bounds.exact


def test_what_is_ten_times_farther_is_not_as_near_in_small_units() -> None:
    bounds = DistanceBounds(1e-14, 1e-14, True, None, 0.0, "by hand")
    assert is_strong(1e-13, bounds) is Answer.NO
    assert is_strong(1e-14, bounds) is Answer.YES


def test_the_exhaustive_explainer_keeps_to_epsilon_in_small_units() -> None:
    points = np.arange(12.0)[:, None] * 1e-14
    explainer = ExhaustiveExplainer(lambda rows: rows[:, 0] > 4.5e-14, 2e-14, domain=points)
    found = explainer.explain(points[0])
    assert found.distances.max() == pytest.approx(7e-14)


def test_an_explanation_of_another_explainer_is_refused_in_small_units() -> None:
    X = np.random.default_rng(0).random((60, 2)) * 1e-12
    model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(X, X.sum(axis=1) > 1e-12)
    first, second = (
        DiverseExplainer.paper(model, distance=distance, scale=None, max_counterfactuals=1).fit(X)
        for distance in ("l1", "linf")
    )
    explanation = first.explain(X[0])
    assert first.certify(explanation, epsilon=1e-12).certificate is not None
    with pytest.raises(InvalidInputError, match="another explainer"):
        second.certify(explanation, epsilon=1e-12)
