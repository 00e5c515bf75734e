"""ReLU networks: against linear models in disguise and every activation pattern."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_exact import network_distance
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from counterset import (
    Box,
    DomainError,
    InvalidInputError,
    NoCounterfactualExistsError,
)
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import ReluNetwork, counterfactual_distance
from counterset.exact.networks import as_model, read_network

RNG = np.random.default_rng(0)


def random_network(seed: int, inputs: int = 2, hidden: int = 4, outputs: int = 2) -> ReluNetwork:
    rng = np.random.default_rng(seed)
    return ReluNetwork(
        [
            (rng.normal(size=(inputs, hidden)), rng.normal(size=hidden)),
            (rng.normal(size=(hidden, outputs)), 0.3 * rng.normal(size=outputs)),
        ]
    )


def disguised(coefficients: np.ndarray, intercept: float) -> ReluNetwork:
    """A linear model as a network: relu(s) - relu(-s) = s."""
    weights = np.stack([coefficients, -coefficients], axis=1)
    bias = np.array([intercept, -intercept])
    return ReluNetwork([(weights, bias), (np.array([[1.0], [-1.0]]), np.zeros(1))])


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
        with pytest.raises(NoCounterfactualExistsError):
            counterfactual_distance(network, x, "l1", Box(-1, 1))
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
    try:
        bounds = counterfactual_distance(network, x, distance, Box(-1, 1))
    except NoCounterfactualExistsError:
        assert len(others) == 0
        return
    assert bounds.exact, bounds
    assert network.predict([bounds.witness])[0] != own
    if len(others):
        assert bounds.lower <= distance(x, others).min() + 1e-12


def test_sklearn_networks_of_two_and_three_classes_also_after_a_scaler() -> None:
    X = RNG.random((80, 3))
    score = X @ [1.0, 2.0, -1.0]
    for y in (score > 1, np.digitize(score, [0.7, 1.3])):
        plain = MLPClassifier((6, 4), solver="lbfgs", random_state=0, max_iter=500).fit(X, y)
        scaled = make_pipeline(StandardScaler(), plain).fit(X, y)
        for model in (plain, scaled):
            network = read_network(model)
            assert network is not None
            np.testing.assert_array_equal(network.predict(X), model.predict(X))
        bounds = counterfactual_distance(scaled, X[0], "l1", Box(0, 1))
        assert bounds.exact
        assert scaled.predict([bounds.witness])[0] != scaled.predict(X[:1])[0]


def test_other_sklearn_networks_are_not_read() -> None:
    X = RNG.random((30, 2))
    y = X[:, 0] > 0.5
    settings_ = {"solver": "lbfgs", "max_iter": 200, "random_state": 0}
    assert read_network(MLPClassifier()) is None
    assert read_network(MLPClassifier((3,), activation="tanh", **settings_).fit(X, y)) is None
    several = np.stack([y, X[:, 1] > 0.5], axis=1)
    assert read_network(MLPClassifier((3,), **settings_).fit(X, several)) is None


def test_whole_numbers_stay_whole() -> None:
    network = disguised(np.array([1.0, 0.3]), -2.05)
    frame = pd.DataFrame({"count": [0, 5], "size": [0.0, 1.0]})
    bounds = counterfactual_distance(network, frame.iloc[[0]], "l1", Box.of(frame))
    assert bounds.exact
    # 3 counts, or 2 counts and a sixth of the size
    assert bounds.witness["count"] == 2
    assert bounds.upper == pytest.approx(2 + 0.05 / 0.3, abs=1e-4)


def test_out_of_time_gives_the_bounds_so_far() -> None:
    network = random_network(3, inputs=8, hidden=20)
    x = RNG.uniform(-1, 1, 8)
    exact = counterfactual_distance(network, x, "l1", Box(-1, 1))
    hurried = counterfactual_distance(network, x, "l1", Box(-1, 1), time_limit=1e-9)
    assert not hurried.exact
    assert hurried.reason == "the time was up"
    assert hurried.lower <= exact.upper
    assert hurried.upper >= exact.lower
    assert "<= cfd <=" in repr(hurried)
    assert "cfd = " in repr(exact)


def test_a_known_counterfactual_is_a_start() -> None:
    network = random_network(5)
    x = np.array([0.5, 0.5])
    free = counterfactual_distance(network, x, "l1", Box(-1, 1))
    started = counterfactual_distance(network, x, "l1", Box(-1, 1), start=free.witness)
    assert started.upper <= free.upper
    with pytest.raises(InvalidInputError, match="start is no counterfactual"):
        counterfactual_distance(network, x, "l1", Box(-1, 1), start=x)


def test_a_feature_that_moves_freely_needs_bounds() -> None:
    network = random_network(5)
    with pytest.raises(DomainError, match="without end at no cost"):
        counterfactual_distance(network, [0.5, 0.5], L1([1, 0]))


def test_layers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least one layer"):
        ReluNetwork([])
    with pytest.raises(InvalidInputError, match="Layer 1 does not fit"):
        ReluNetwork([(np.ones((2, 3)), np.ones(3)), (np.ones((2, 2)), np.ones(2))])
    with pytest.raises(InvalidInputError, match="2 outputs, but 3 labels"):
        ReluNetwork([(np.ones((2, 2)), np.ones(2))], labels=["a", "b", "c"])


class Parameter:
    """As much of a torch parameter as is read."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> "Parameter":
        return self

    def cpu(self) -> "Parameter":
        return self

    def numpy(self) -> np.ndarray:
        return self.values

    def new_tensor(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values, dtype=np.float32)


class Linear:
    def __init__(self, weights: np.ndarray, bias: np.ndarray | None) -> None:
        self.weight = Parameter(np.asarray(weights).T)
        self.bias = None if bias is None else Parameter(bias)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        shift = 0 if self.bias is None else self.bias.values
        return np.asarray(rows @ self.weight.values.T + shift)


class ReLU:
    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(rows, 0))


class Softmax:
    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True))


class Sequential(list[Linear | ReLU | Softmax]):
    """As much of a torch network as is read."""

    def parameters(self) -> list[Parameter]:
        return [part.weight for part in self if isinstance(part, Linear)]

    def __call__(self, rows: np.ndarray) -> Parameter:
        for part in self:
            rows = part(rows)
        return Parameter(rows)


def test_torch_networks_are_read_by_their_parts() -> None:
    network = random_network(1)
    (w0, b0), (w1, b1) = network.layers
    module = Sequential([Linear(w0, b0), ReLU(), Linear(w1, b1), Softmax()])
    x = np.array([0.25, 0.5])
    bounds = counterfactual_distance(module, x, "l1", Box(-1, 1))
    expected = counterfactual_distance(network, x, "l1", Box(-1, 1))
    assert bounds.exact
    assert bounds.upper == pytest.approx(expected.upper, abs=1e-4)
    model = as_model(module)
    assert model.predict([bounds.witness])[0] != model.predict([x])[0]

    single = as_model(Sequential([Linear(w0[:, :1], None)]))
    assert read_network(single) is not None
    assert set(single.predict(RNG.normal(size=(20, 2)))) == {0, 1}
    assert read_network(as_model(Sequential([ReLU()]))) is None
    assert read_network(as_model(Sequential([Linear(w0, b0), ReLU()]))) is None


def test_a_list_of_layers_is_a_model() -> None:
    network = random_network(1)
    x = np.array([0.25, 0.5])
    from_list = counterfactual_distance(list(network.layers), x, "linf", Box(-1, 1))
    assert from_list.upper == counterfactual_distance(network, x, "linf", Box(-1, 1)).upper
