"""ReLU networks: against linear models in disguise and every activation pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.oracles_exact import network_distance
from support.toys_exact import disguised, given_linear, problem_of, random_network

from counterset import InvalidInputError
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Box, ReluNetwork, counterfactual_distance
from counterset.exact import networks as networks_module
from counterset.exact import networks as solve_module
from counterset.exact.milp import Programme, Result
from counterset.exact.networks import Rounding, as_model, read_network, sum_and_gradient
from counterset.exact.preprocessing import Preprocessing

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


# A network as a programme: bounds in spite of rounding, whatever the scale of the weights ---------


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


# Reading ReLU networks: scikit-learn's, lists of layers, and torch's ------------------------------


DRAWS = np.random.default_rng(0)


def test_sklearn_networks_of_two_and_three_classes_also_after_a_scaler() -> None:
    X = DRAWS.random((80, 3))
    score = X @ [1.0, 2.0, -1.0]
    for y in (score > 1, np.digitize(score, [0.7, 1.3])):
        plain = MLPClassifier((6, 4), solver="lbfgs", random_state=0, max_iter=500).fit(X, y)
        scaled = make_pipeline(StandardScaler(), plain).fit(X, y)
        for model in (plain, scaled):
            before, last = Preprocessing.of(model)
            network = read_network(last)
            assert network is not None
            seen = before.columns_of(problem_of(model, X[0]), X)
            np.testing.assert_array_equal(network.predict(seen), model.predict(X))
        bounds = counterfactual_distance(scaled, X[0], "l1", Box(0, 1))
        assert bounds.exact
        assert scaled.predict([bounds.witness])[0] != scaled.predict(X[:1])[0]


def test_other_sklearn_networks_are_not_read() -> None:
    X = DRAWS.random((30, 2))
    y = X[:, 0] > 0.5
    settings_ = {"solver": "lbfgs", "max_iter": 200, "random_state": 0}
    assert read_network(MLPClassifier()) is None
    assert read_network(MLPClassifier((3,), activation="tanh", **settings_).fit(X, y)) is None
    several = np.stack([y, X[:, 1] > 0.5], axis=1)
    assert read_network(MLPClassifier((3,), **settings_).fit(X, several)) is None


def test_layers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least one layer"):
        ReluNetwork([])
    with pytest.raises(InvalidInputError, match="Layer 1 does not fit"):
        ReluNetwork([(np.ones((2, 3)), np.ones(3)), (np.ones((2, 2)), np.ones(2))])
    with pytest.raises(InvalidInputError, match="pairs of weights and biases, but layer 0 is 1"):
        counterfactual_distance([1, 2], [0.1, 0.2])
    with pytest.raises(InvalidInputError, match="not a finite number"):
        ReluNetwork([([[np.nan]], [0.0])])
    with pytest.raises(InvalidInputError, match=r"rows of 2 features, got shape \(1, 3\)"):
        counterfactual_distance(random_network(1), [0.1, 0.2, 0.3])
    with pytest.raises(InvalidInputError, match="2 outputs, but 3 labels"):
        ReluNetwork([(np.ones((2, 2)), np.ones(2))], labels=["a", "b", "c"])


def test_a_list_of_layers_is_a_model() -> None:
    network = random_network(1)
    x = np.array([0.25, 0.5])
    from_list = counterfactual_distance(list(network.layers), x, "linf", Box(-1, 1))
    assert from_list.upper == counterfactual_distance(network, x, "linf", Box(-1, 1)).upper


class Tensor:
    """As much of a torch tensor as is read; the real ones are in ``tests/frameworks``."""

    def __init__(self, values: np.ndarray, dtype: str) -> None:
        self.values, self.dtype = np.asarray(values), dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def double(self) -> np.ndarray:
        return self.values


class Linear:
    def __init__(
        self, weights: np.ndarray, bias: np.ndarray | None, kind: str = "torch.float64"
    ) -> None:
        self.weight = Tensor(np.asarray(weights).T, kind)
        self.bias = None if bias is None else Tensor(bias, kind)
        self.out_features = len(self.weight.values)


class ReLU:
    pass


class Identity:
    pass


class Softmax:
    def __init__(self, dim: int = 1) -> None:
        self.dim = dim


class Sequential(list[Any]):
    pass


for part in (Linear, ReLU, Identity, Softmax, Sequential):
    part.__module__ = "torch.nn.modules"


def test_torch_networks_are_read_by_their_parts() -> None:
    network = random_network(1)
    (w0, b0), (w1, b1) = network.layers
    nested = Sequential([Sequential([Linear(w0, b0), ReLU()]), Identity(), Linear(w1, b1)])
    for module in (nested, Sequential([*nested, Softmax()])):
        read = read_network(as_model(module))
        assert read is not None
        rows = DRAWS.normal(size=(20, 2))
        np.testing.assert_array_equal(read.scores(rows), network.scores(rows))
    assert read_network(as_model(Sequential([Linear(w0[:, :1], None)]))) is not None


def test_other_torch_networks_are_not_read() -> None:
    network = random_network(1)
    (w0, b0), (w1, b1) = network.layers

    class Tanh:
        pass

    for parts in (
        [ReLU()],
        [Linear(w0, b0), ReLU()],
        [Linear(w0, b0), Tanh(), Linear(w1, b1)],
        [Linear(w0, b0), Softmax(dim=0)],  # over the rows
        [Linear(w0[:, :1], b0[:1]), Softmax()],  # always 1
        [Linear(w0, b0, "torch.float8_e5m2")],  # its rounding is not known
        [Softmax()],
    ):
        assert read_network(as_model(Sequential(parts))) is None


def test_the_coarsest_layer_counts() -> None:
    (w0, b0), (w1, b1) = random_network(1).layers
    module = Sequential([Linear(w0, b0, "torch.float32"), ReLU(), Linear(w1, b1)])
    read = read_network(as_model(module))
    assert read is not None
    assert read.roundoff == np.finfo(np.float32).eps / 2


def test_a_torch_network_predicts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked:
        def __init__(self, module: Sequential) -> None:
            self.module = module

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.asarray(rows)[:, 0] - 0.5

    monkeypatch.setattr(networks_module, "TorchModule", Asked)
    (w0, b0), _ = random_network(1).layers
    single = as_model(Sequential([Linear(w0[:, :1], b0[:1])]))
    assert single.predict(np.array([[0.2, 0.0], [0.7, 0.0]])).tolist() == [0, 1]
    several = as_model(Sequential([Linear(w0, b0)]))
    assert several.predict(np.array([[0.75, 0.0]])).tolist() == [0.25]  # as the module predicts
