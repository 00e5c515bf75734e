"""A network as a programme: bounds in spite of rounding, whatever the scale of the weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.toys_exact import random_network

from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box, ReluNetwork, counterfactual_distance
from counterset.exact.networks import Rounding, sum_and_gradient


def test_single_precision_lowers_the_bound_by_what_it_may_hide() -> None:
    network = random_network(1)
    x = np.array([0.25, 0.5])
    double = counterfactual_distance(network, x, "l1", Box(-1, 1))
    single = counterfactual_distance(replace(network, roundoff=2.0**-24), x, "l1", Box(-1, 1))
    assert double.tolerance < 1.0001e-5
    assert single.exact
    assert single.tolerance > 1e-5
    assert double.lower - 1e-4 < single.lower < double.lower


def rounded(values: np.ndarray) -> np.ndarray:
    """The nearest values in single precision."""
    return values.astype(np.float32).astype(np.float64)


def network_in_single(network: ReluNetwork) -> Any:
    """The same network as single precision computes it."""

    def predict(rows: np.ndarray) -> np.ndarray:
        values = np.asarray(rows, dtype=np.float32)
        for i, (weights, bias) in enumerate(network.layers):
            values = values @ weights.astype(np.float32) + bias.astype(np.float32)
            if i < len(network.layers) - 1:
                values = np.maximum(values, 0)
        return np.asarray(values.argmax(axis=1))

    return predict


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), shift=st.sampled_from([0.0, 1e3]))
def test_no_flip_in_single_precision_is_nearer_than_the_bound(seed: int, shift: float) -> None:
    # Far from 0 single precision is coarse: the input is moved there, and the bias makes up for it.
    network = random_network(seed)
    (w0, b0), (w1, b1) = ([rounded(part) for part in layer] for layer in network.layers)
    b0 = rounded(b0 - shift * w0.sum(axis=0))
    moved = ReluNetwork([(w0, b0), (w1, b1)], roundoff=2.0**-24)
    x = np.random.default_rng(seed).uniform(-1, 1, 2) + shift
    box = Box(shift - 1, shift + 1)
    bounds = counterfactual_distance(moved, x, "l1", box)
    if bounds.none_exists:
        return
    predict = network_in_single(moved)
    own = moved.predict([x])[0]
    if predict(x[None, :])[0] != own:
        assert bounds.lower < 1e-2
        return
    if bounds.witness is None:  # what rounding alone might reach is neither found nor excluded
        return
    # Points around the witness, on both sides of the border.
    rng = np.random.default_rng(seed)
    near = bounds.witness + rng.normal(size=(3000, 2)) * 10.0 ** rng.uniform(-7, -2, (3000, 1))
    near = near[((near >= shift - 1) & (near <= shift + 1)).all(axis=1)]
    flipped = near[predict(near) != own]
    if len(flipped):
        assert bounds.lower <= np.abs(flipped - x).sum(axis=1).min()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    scales=st.lists(st.integers(-6, 6), min_size=4, max_size=4),
    size=st.sampled_from([1e-4, 1.0, 1e4]),
    distance=st.sampled_from([L1(), L2(), LInf()]),
)
def test_the_scale_of_units_and_features_does_not_matter(
    seed: int, scales: list[int], size: float, distance: Distance
) -> None:
    # relu(s z) / s = relu(z): the same network, with the solver's tolerance in other places.
    plain = random_network(seed)
    (w0, b0), (w1, b1) = plain.layers
    by = 10.0 ** np.array(scales)
    scaled = ReluNetwork([(w0 * by / size, b0 * by), (w1 / by[:, None], b1)])
    x = np.random.default_rng(seed).uniform(-1, 1, 2)
    expected = counterfactual_distance(plain, x, distance, Box(-1, 1))
    if expected.none_exists:
        assert counterfactual_distance(scaled, size * x, distance, Box(-size, size)).none_exists
        return
    bounds = counterfactual_distance(scaled, size * x, distance, Box(-size, size))
    assert bounds.exact, bounds
    assert bounds.lower <= size * expected.upper
    assert size * expected.lower <= bounds.upper
    assert bounds.upper == pytest.approx(size * expected.upper, rel=1e-5, abs=1e-5 * size)


def test_the_gradient_is_the_slope_of_the_lead() -> None:
    network = random_network(7, inputs=3, hidden=6, outputs=3)
    rng = np.random.default_rng(0)
    for x in rng.uniform(-1, 1, (10, 3)):
        lead, gradient = sum_and_gradient(network, x, np.array([-1.0, 0.0, 1.0]))
        scores = network.scores([x])[0]
        assert lead == pytest.approx(scores[2] - scores[0])
        step = 1e-7 * rng.normal(size=3)
        moved, _ = sum_and_gradient(network, x + step, np.array([-1.0, 0.0, 1.0]))
        assert moved - lead == pytest.approx(gradient @ step, abs=1e-13)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_rounding_in_single_precision_stays_within_its_bound(scale: float) -> None:
    rng = np.random.default_rng(0)
    weights, bias = (rounded(part) for part in random_network(3, hidden=30).layers[0])
    X = rng.uniform(-scale, scale, (500, 2))
    exact = X @ weights + bias
    computed = X.astype(np.float32) @ weights.astype(np.float32) + bias.astype(np.float32)
    before = Rounding.of_input(2.0**-24, np.full(2, scale))
    after = before.after(weights, bias, np.abs(exact).max(axis=0))
    errors = np.abs(computed - exact).max(axis=0)
    assert (errors > 0).all()
    assert (errors <= after.error).all()
