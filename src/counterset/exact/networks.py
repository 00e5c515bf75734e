"""Reading ReLU networks: scikit-learn's, a list of layers, or a torch Sequential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier

from counterset.arrays import Labels, Matrix
from counterset.exact.linear_models import LinearModel, read_scalers
from counterset.exceptions import InvalidInputError

__all__ = ["ReluNetwork", "TorchModel", "as_model", "read_network"]


@dataclass(frozen=True, eq=False)
class ReluNetwork:
    """Dense layers with ReLU between them; the highest of the last layer's outputs decides.

    Parameters
    ----------
    layers
        Pairs of weights, ``(inputs, outputs)``, and biases, ``(outputs,)``. A single last output
        decides by its sign.
    labels
        The classes; 0, 1, ... where not given.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [1.0]], [-1.0])])
    >>> network.predict([[0.2, 0.3], [0.8, 0.9]])
    array([0, 1])
    """

    layers: Sequence[tuple[Any, Any]]
    labels: Any = None

    def __post_init__(self) -> None:
        layers = [
            (np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64))
            for weights, bias in self.layers
        ]
        if not layers:
            raise InvalidInputError("A network has at least one layer, got none.")
        for i, (weights, bias) in enumerate(layers):
            expected = layers[i - 1][0].shape[-1] if i else weights.shape[0]
            if weights.ndim != 2 or bias.shape != weights.shape[1:] or len(weights) != expected:
                raise InvalidInputError(
                    f"Layer {i} does not fit: weights of shape {weights.shape} and biases of "
                    f"shape {bias.shape} after {expected} outputs. Give weights as "
                    f"(inputs, outputs) and one bias per output."
                )
        weights, bias = layers[-1]
        if weights.shape[1] == 1:  # one output: its sign decides between two classes
            layers[-1] = np.hstack([np.zeros_like(weights), weights]), np.append(0.0, bias)
        n_classes = layers[-1][0].shape[1]
        labels = np.arange(n_classes) if self.labels is None else np.asarray(self.labels)
        if labels.shape != (n_classes,):
            raise InvalidInputError(
                f"The network has {n_classes} outputs, but {len(labels)} labels were given."
            )
        object.__setattr__(self, "layers", tuple(layers))
        object.__setattr__(self, "labels", labels)

    def scores(self, X: Any) -> Matrix:
        """Give the outputs of the last layer."""
        rows: Matrix = np.asarray(X, dtype=np.float64)
        for weights, bias in self.layers[:-1]:
            rows = np.maximum(rows @ weights + bias, 0.0)
        weights, bias = self.layers[-1]
        return np.asarray(rows @ weights + bias)

    def predict(self, X: Any) -> Labels:
        """Give the class of each row."""
        winners: Labels = self.labels[self.scores(X).argmax(axis=1)]
        return winners

    @classmethod
    def of_linear(cls, model: LinearModel) -> ReluNetwork:
        """Give a linear model as a network without hidden layers."""
        return cls([(model.weights, model.bias)], model.labels)


@dataclass(frozen=True, eq=False)
class TorchModel:
    """A torch network that answers with its highest output, in its own precision."""

    module: Any

    def predict(self, X: Any) -> Labels:
        """Give the class of each row."""
        like = next(iter(self.module.parameters()))
        outputs = self.module(like.new_tensor(np.asarray(X))).detach().cpu().numpy()
        if outputs.shape[1] == 1:
            return np.asarray(outputs[:, 0] > 0, dtype=np.intp)
        return np.asarray(outputs.argmax(axis=1))


def as_model(model: Any) -> Any:
    """Give what can be asked for labels: lists of layers and torch networks are wrapped."""
    if _is_torch(model):
        return TorchModel(model)
    return ReluNetwork(model) if isinstance(model, list | tuple) else model


def read_network(model: Any) -> ReluNetwork | None:
    """Read a model as a ReLU network; None where it is not one."""
    if isinstance(model, ReluNetwork):
        return model
    if isinstance(model, TorchModel):
        layers = _read_torch(model.module)
        return None if layers is None else ReluNetwork(layers)
    scaling, last = read_scalers(model)
    if not isinstance(last, MLPClassifier) or not hasattr(last, "coefs_"):
        return None
    hidden = len(last.coefs_) > 1
    if (hidden and last.activation != "relu") or last.classes_ is None:
        return None
    layers = list(zip(last.coefs_, last.intercepts_, strict=True))
    if last.out_activation_ == "logistic" and layers[-1][0].shape[1] != 1:
        return None  # several labels a row
    if scaling is not None:
        layers[0] = scaling.fold_into(*layers[0])
    return ReluNetwork(layers, last.classes_)


def _is_torch(model: Any) -> bool:
    # By name, so that torch need not be installed, nor imported to find out.
    return type(model).__name__ == "Sequential" and hasattr(model, "parameters")


def _read_torch(module: Any) -> list[tuple[Matrix, Matrix]] | None:
    """Read Linear, ReLU, Linear, ...; a Softmax at the end changes no decision."""
    layers: list[tuple[Matrix, Matrix]] = []
    parts = [part for part in module if type(part).__name__ not in ("Identity", "Dropout")]
    if parts and type(parts[-1]).__name__ in ("Softmax", "LogSoftmax"):
        parts = parts[:-1]
    for i, part in enumerate(parts):
        if type(part).__name__ != ("Linear" if i % 2 == 0 else "ReLU"):
            return None
        if i % 2 == 0:
            weights = part.weight.detach().cpu().numpy().astype(np.float64).T
            bias = np.zeros(weights.shape[1])
            if part.bias is not None:
                bias = part.bias.detach().cpu().numpy().astype(np.float64)
            layers.append((weights, bias))
    return layers if len(parts) % 2 == 1 else None
