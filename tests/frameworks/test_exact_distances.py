"""Exact distances of real torch networks: the same as of their weights, and confirmed by torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from counterset import DiverseExplainer, counterfactual_distance
from counterset.datasets import Dataset
from counterset.exact import Box, ReluNetwork
from counterset.exceptions import UnsupportedModelError

RNG = np.random.default_rng(0)
X = RNG.random((120, 3))
SCORE = X @ [1.0, 2.0, -1.0]


def sklearn_network(hidden: tuple[int, ...], rows: Any, y: Any) -> MLPClassifier:
    """Train as long as it takes few moments: it need not be a good one."""
    model = MLPClassifier(hidden, solver="lbfgs", random_state=0, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, y)


def as_torch(model: MLPClassifier, dtype: Any, *end: Any) -> Any:
    """Convert a network of scikit-learn to one of torch."""
    parts: list[Any] = []
    for weights, bias in zip(model.coefs_, model.intercepts_, strict=True):
        layer = torch.nn.Linear(*weights.shape, dtype=dtype)
        layer.weight.data = torch.tensor(weights.T, dtype=dtype)
        layer.bias.data = torch.tensor(bias, dtype=dtype)
        parts += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1], *end)


def torch_label(module: Any, row: Any) -> int:
    dtype = next(module.parameters()).dtype
    with torch.no_grad():
        scores = module(torch.tensor(np.asarray(row)[None, :], dtype=dtype))[0]
    return int(scores.argmax()) if len(scores) > 1 else int(scores[0] > 0)


@pytest.mark.parametrize("y", [SCORE > 1, np.digitize(SCORE, [0.7, 1.3])], ids=["two", "three"])
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_torch_sklearn_and_weight_matrices_agree(y: Any, distance: str, dtype: Any) -> None:
    model = sklearn_network((12, 6), X, y)
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    module = as_torch(model, dtype)
    for x in X[:4]:
        ours, sklearns, torchs = (
            counterfactual_distance(each, x, distance, Box(0, 1))
            for each in (ReluNetwork(layers), model, module)
        )
        assert ours.exact
        assert sklearns.exact
        assert torchs.exact
        assert sklearns.upper == pytest.approx(ours.upper, abs=1e-8)
        assert torchs.upper == pytest.approx(
            ours.upper, abs=1e-8 if dtype == torch.float64 else 1e-4
        )
        assert torchs.lower <= ours.upper
        assert torch_label(module, torchs.witness) != torch_label(module, x)
        assert torchs.tolerance >= ours.tolerance


@pytest.mark.parametrize("seed", range(6))
def test_the_witness_flips_torch_itself_however_coarse_its_arithmetic(seed: int) -> None:
    # Features near 1000 leave single precision about 4 digits after the point.
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with torch.no_grad():
        module[0].bias -= 1000 * module[0].weight.sum(axis=1)
    rng = np.random.default_rng(seed)
    box = Box(995, 1005)
    for x in rng.uniform(999, 1001, (5, 3)):
        own = torch_label(module, x)
        bounds = counterfactual_distance(module, x, "l1", box)
        if bounds.none_exists:
            anywhere = rng.uniform(995, 1005, (2000, 3))
            assert all(torch_label(module, row) == own for row in anywhere)
            continue
        if bounds.witness is None:
            continue
        assert torch_label(module, bounds.witness) != own
        # No point that torch flips is nearer than the bound, all around the witness.
        near = bounds.witness + rng.normal(size=(2000, 3)) * 10.0 ** rng.uniform(-5, -1, (2000, 1))
        near = near[((near >= 995) & (near <= 1005)).all(axis=1)]
        with torch.no_grad():
            labels = module(torch.tensor(near, dtype=torch.float32)).argmax(dim=1).numpy()
        flipped = near[labels != own]
        if len(flipped):
            assert bounds.lower <= np.abs(flipped - x).sum(axis=1).min()
        if bounds.exact:  # and it is said how exact
            assert bounds.upper - bounds.lower <= bounds.tolerance * max(1.0, bounds.upper)


def test_a_single_output_predicts_by_its_sign() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    with torch.no_grad():
        module[0].weight[:] = torch.tensor([[1.0, 1.0]])
        module[0].bias[:] = -1.0
    bounds = counterfactual_distance(module, [0.25, 0.25], "l1", Box(0, 1))
    assert bounds.exact
    assert bounds.upper == pytest.approx(0.5, abs=1e-5)
    assert torch_label(module, bounds.witness) == 1


def test_softmax_dropout_and_nesting_change_nothing() -> None:
    three = np.digitize(SCORE, [0.7, 1.3])
    model = sklearn_network((12,), X, three)
    plain = as_torch(model, torch.float64)
    dressed = torch.nn.Sequential(
        torch.nn.Sequential(plain[0], torch.nn.Dropout(0.5)),
        torch.nn.Identity(),
        plain[1:],
        torch.nn.Softmax(dim=1),
    )
    assert dressed.training  # dropout is left out although it is on
    first, second = (
        counterfactual_distance(module, X[0], "l1", Box(0, 1)) for module in (plain, dressed)
    )
    assert second.exact
    assert second.upper == pytest.approx(first.upper, abs=1e-8)
    assert dressed.training


def test_other_torch_networks_are_searched_or_refused() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    with pytest.raises(UnsupportedModelError, match="Sequential of Linear and ReLU"):
        counterfactual_distance(module, X[0], "l1", Box(0, 1), method="exact")
    searched = counterfactual_distance(module, X[0], "l1", Box(-50, 50))
    assert searched.lower == 0
    assert not searched.exact


def test_an_explanation_of_a_torch_network_is_certified(diabetes: Dataset) -> None:
    rows = diabetes.X
    scaled = (rows - rows.min()) / (rows.max() - rows.min())
    module = as_torch(sklearn_network((8,), scaled, diabetes.y), torch.float32)
    # Its one output is a score; as a network of two outputs it answers with classes.
    with torch.no_grad():
        last = torch.nn.Linear(8, 2)
        last.weight[:] = torch.cat([torch.zeros_like(module[2].weight), module[2].weight])
        last.bias[:] = torch.cat([torch.zeros_like(module[2].bias), module[2].bias])
    module = torch.nn.Sequential(module[0], module[1], last)
    explainer = DiverseExplainer.paper(module, max_counterfactuals=2).fit(scaled)
    certified = explainer.certify(explainer.explain(scaled.iloc[0]), epsilon=0.5)
    assert certified.certificate is not None
    assert certified.certificate.distance_bounds is not None
    assert certified.certificate.distance_bounds.exact
