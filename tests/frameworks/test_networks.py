"""torch and keras."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import torch

from counterset import DiverseExplainer, InvalidInputError
from counterset.datasets import Dataset
from counterset.exceptions import ModelError
from frameworks.judging import check_looks_like, explain_and_judge


def trained(X: Any, y: Any, outputs: int = 2) -> Any:
    """Train a small network, and leave it in training mode, as people do."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.BatchNorm1d(X.shape[1]),
        torch.nn.Linear(X.shape[1], 16),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.3),
        torch.nn.Linear(16, outputs),
    )
    rows, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(np.asarray(y))
    step = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(60):
        step.zero_grad()
        if outputs == 1:
            loss = torch.nn.functional.mse_loss(net(rows)[:, 0], labels.float())
        else:
            loss = torch.nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        step.step()
    return net


def scores(net: Any, rows: Any, dtype: Any = torch.float32) -> Any:
    """Ask a network itself, with its dropout off."""
    modes = [part.training for part in net.modules()]
    net.eval()
    with torch.no_grad():
        answer = net(torch.tensor(np.asarray(rows), dtype=dtype)).numpy()
    for part, mode in zip(net.modules(), modes, strict=True):
        part.training = mode
    return answer


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_torch_module(diabetes: Dataset, dtype: Any) -> None:
    X = diabetes.X.to_numpy()
    net = trained(X, diabetes.y).to(dtype)
    explain_and_judge(net, X, lambda rows: scores(net, rows, dtype).argmax(axis=1))
    assert all(part.training for part in net.modules())


def test_a_torch_module_on_a_frame(diabetes: Dataset) -> None:
    net = trained(diabetes.X.to_numpy(), diabetes.y)
    explain_and_judge(net, diabetes.X, lambda rows: scores(net, rows).argmax(axis=1))


def test_a_frozen_part_of_a_torch_module_stays_frozen(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    net = trained(X, diabetes.y)
    net[0].eval()
    statistics = net[0].running_mean.clone()
    DiverseExplainer.paper(net).fit(X)
    assert net.training
    assert not net[0].training
    assert torch.equal(net[0].running_mean, statistics)


def test_a_torch_module_of_one_output_is_explained_by_an_interval(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    net = trained(X, diabetes.y, outputs=1)
    explainer = DiverseExplainer.paper(net, max_counterfactuals=2).fit(X)
    high = X[scores(net, X)[:, 0] > 0.6][:4]
    with pytest.raises(InvalidInputError, match="predicts numbers, not classes"):
        explainer.explain_many(high)
    for each in explainer.explain_many(high, interval=(0, 0.4)):
        numbers = scores(net, each.counterfactuals)[:, 0]
        assert ((numbers >= 0) & (numbers <= 0.4)).all()
        check_looks_like(each.counterfactuals, X)


def test_a_torch_module_in_half_precision_is_read(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    net = trained(X, diabetes.y).to(torch.bfloat16)
    assert set(DiverseExplainer.paper(net).fit(X).classes_) == {0, 1}


def test_a_torch_module_of_several_answers_is_refused(diabetes: Dataset) -> None:
    class Two(torch.nn.Module):
        def forward(self, rows: Any) -> Any:
            return rows, rows

    with pytest.raises(ModelError, match="returned a tuple, where one tensor"):
        DiverseExplainer.paper(Two()).fit(diabetes.X)


def test_a_torch_module_on_text_is_refused_with_the_columns(credit: Dataset) -> None:
    net = torch.nn.Linear(20, 2)
    with pytest.raises(ModelError, match=r"columns \['checking_status'.*encodes the rows"):
        DiverseExplainer.paper(net).fit(credit.X)


def keras_model(X: Any, y: Any, units: int, activation: str | None, loss: str) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.layers.Input((X.shape[1],)),
            keras.layers.Normalization(mean=X.mean(axis=0), variance=X.var(axis=0)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(units, activation=activation),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss)
    model.fit(X, np.asarray(y), epochs=4, verbose=0)
    return model


def test_a_keras_model_of_several_scores(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    loss = "sparse_categorical_crossentropy"
    model = keras_model(X, diabetes.y, 2, "softmax", loss)
    explain_and_judge(model, X, lambda rows: model.predict(rows, verbose=0).argmax(axis=1))


def test_a_keras_model_of_a_single_sigmoid(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    model = keras_model(X, diabetes.y, 1, "sigmoid", "binary_crossentropy")
    explain_and_judge(model, X, lambda rows: (model.predict(rows, verbose=0)[:, 0] > 0.5) * 1)


def test_a_keras_regression_is_explained_by_an_interval(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy()
    model = keras_model(X, diabetes.X["Glucose"] / 100, 1, None, "mse")
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2).fit(X)
    low = X[model.predict(X, verbose=0)[:, 0] < 1.0][:3]
    for each in explainer.explain_many(low, interval=(1.2, 1.4)):
        numbers = model.predict(each.counterfactuals, verbose=0)[:, 0]
        assert ((numbers >= 1.2) & (numbers <= 1.4)).all()
