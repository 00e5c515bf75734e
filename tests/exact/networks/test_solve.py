"""ReLU networks: against linear models in disguise and every activation pattern."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.oracles_exact import network_distance
from support.toys_exact import disguised, given_linear, random_network

from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance
from counterset.exact import networks as solve_module
from counterset.exact.milp import Programme, Result

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("box", [Box(), Box(0, 1)], ids=["no bounds", "bounds"])
@pytest.mark.parametrize("distance", [L1(), L2(), LInf(), L1([1, 3, 0.5]), L2([1, 3, 0.5])])
def test_a_linear_model_in_disguise_has_the_distance_of_the_linear_model(
    distance: Distance, box: Box
) -> None:
    X = RNG.random((60, 3))
    model = LogisticRegression(C=10).fit(X, X @ [1.0, 2.0, -1.0] > 1)
    network = disguised(model.coef_[0], model.intercept_[0])
    for x in X[:3]:
        expected = counterfactual_distance(model, x, distance, box)
        bounds = counterfactual_distance(network, x, distance, box)
        assert bounds.exact
        assert bounds.upper == pytest.approx(expected.upper, abs=1e-5)
        assert bounds.lower <= expected.upper


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_every_activation_pattern_agrees(seed: int) -> None:
    network = random_network(seed)
    x = np.random.default_rng(seed + 1).uniform(-1, 1, 2)
    low, high = -np.ones(2), np.ones(2)
    expected = network_distance(network.layers, x, low, high)
    if np.isinf(expected):
        assert counterfactual_distance(network, x, "l1", Box(-1, 1)).none_exists
        return
    bounds = counterfactual_distance(network, x, "l1", Box(-1, 1))
    assert bounds.exact
    assert bounds.lower <= expected + 1e-9
    assert bounds.upper == pytest.approx(expected, abs=2e-5)
    assert network.predict([bounds.witness]) != network.predict([x])


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    distance=st.sampled_from([L1(), L2(), LInf(), L0(), L2([1, 0]), LInf([1, 0]), L0([1, 2])]),
    outputs=st.integers(2, 3),
)
def test_no_sample_is_nearer_than_the_lower_bound(
    seed: int, distance: Distance, outputs: int
) -> None:
    network = random_network(seed, outputs=outputs)
    rng = np.random.default_rng(seed)
    x, samples = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, (5000, 2))
    own = network.predict([x])[0]
    others = samples[network.predict(samples) != own]
    bounds = counterfactual_distance(network, x, distance, Box(-1, 1))
    if bounds.none_exists:
        assert len(others) == 0
        return
    assert bounds.exact, bounds
    assert network.predict([bounds.witness])[0] != own
    if len(others):
        assert bounds.lower <= distance(x, others).min() + 1e-12


@pytest.mark.parametrize("distance", [L1(), L2(), LInf()])
def test_the_lower_bound_holds_if_the_solver_is_off_by_its_tolerance(
    distance: Distance, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Programme.minimise

    def too_sure(self: Programme, seconds: float, like: Any = None) -> Result:
        result = honest(self, seconds, like)
        return replace(result, bound=result.bound + 1e-6)

    monkeypatch.setattr(Programme, "minimise", too_sure)
    X = RNG.random((60, 3))
    model = LogisticRegression(C=10).fit(X, X @ [1.0, 2.0, -1.0] > 1)
    network = disguised(model.coef_[0], model.intercept_[0])
    for x in X[:5]:
        expected = counterfactual_distance(model, x, distance, Box(0, 1))
        bounds = counterfactual_distance(network, x, distance, Box(0, 1))
        assert bounds.exact
        assert bounds.lower <= expected.lower


@pytest.mark.parametrize("distance", [L1(), L2(), LInf()])
def test_a_first_ball_that_is_much_too_large_does_not_blur_the_bound(
    distance: Distance, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a ball of about 100, the solver's tolerance is a tenth of this distance in l2.
    monkeypatch.setattr(solve_module, "FIRST_RADIUS", 400.0)
    network = disguised(np.array([1.0, 0.5]), -1.0)
    x = np.array([0.5, 0.4])
    expected = counterfactual_distance(given_linear([1.0, 0.5], -1.0), x, distance, Box(-500, 500))
    bounds = counterfactual_distance(network, x, distance, Box(-500, 500))
    assert bounds.exact
    assert bounds.upper == pytest.approx(expected.upper, rel=1e-5)
    assert expected.upper * (1 - 1e-5) <= bounds.lower <= expected.upper


def test_out_of_time_gives_the_bounds_so_far() -> None:
    network = random_network(3, inputs=8, hidden=20)
    x = RNG.uniform(-1, 1, 8)
    exact = counterfactual_distance(network, x, "l1", Box(-1, 1))
    hurried = counterfactual_distance(network, x, "l1", Box(-1, 1), time_limit=1e-9)
    assert not hurried.exact
    assert hurried.reason == "the time limit was reached"
    assert hurried.lower <= exact.upper
    assert hurried.upper >= exact.lower
    assert "<= cfd <=" in repr(hurried)
    assert "cfd = " in repr(exact)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    distance=st.sampled_from([L1(), L2(), LInf(), L1([1, 3, 0.5]), L2([1, 3, 0.5])]),
    margin=st.sampled_from([1e-5, 1e-3, 0.1, 1.0]),
)
def test_the_lower_bound_of_a_linear_model_in_disguise_holds_without_any_tolerance(
    seed: int, distance: Distance, margin: float
) -> None:
    rng = np.random.default_rng(seed)
    coefficients, x = rng.normal(size=3), rng.uniform(-1, 1, 3)
    intercept = float(-coefficients @ x - margin)
    # The true distance is the margin over the dual norm.
    weights = np.ones(3) if distance.weights is None else np.asarray(distance.weights)  # type: ignore[attr-defined]
    sizes = np.abs(coefficients)
    dual = {
        "L1": (sizes / weights).max(),
        "L2": np.sqrt((sizes**2 / weights).sum()),
        "LInf": (sizes / weights).sum(),
    }[type(distance).__name__]
    bounds = counterfactual_distance(disguised(coefficients, intercept), x, distance)
    assert bounds.exact
    assert bounds.lower <= margin / dual * (1 + 1e-12)
    assert bounds.lower >= margin / dual * (1 - 1e-5)  # and it is tight, however near the border
