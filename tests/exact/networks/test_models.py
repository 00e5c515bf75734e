"""Reading ReLU networks: scikit-learn's, lists of layers, and torch's."""

from typing import Any

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.toys_exact import problem_of, random_network

from counterset import InvalidInputError
from counterset.exact import Box, ReluNetwork, counterfactual_distance
from counterset.exact import networks as networks_module
from counterset.exact.networks import as_model, read_network
from counterset.exact.preprocessing import Preprocessing

RNG = np.random.default_rng(0)


def test_sklearn_networks_of_two_and_three_classes_also_after_a_scaler() -> None:
    X = RNG.random((80, 3))
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
    X = RNG.random((30, 2))
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

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
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
        rows = RNG.normal(size=(20, 2))
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
