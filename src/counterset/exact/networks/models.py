"""Reading ReLU networks: scikit-learn's, a list of layers, or a torch Sequential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from counterset._base.arrays import Labels, Matrix, Vector
from counterset._base.checks import numbers
from counterset.exact.problem import DOUBLE_ROUNDOFF
from counterset.exceptions import InvalidInputError
from counterset.models.frameworks import TorchModule

__all__ = ["ReluNetwork", "TorchModel", "as_model", "read_network"]

#: The relative rounding of torch's dtypes: half of the last bit.
TORCH_ROUNDOFF = {
    "torch.float64": DOUBLE_ROUNDOFF,
    "torch.float32": 2.0**-24,
    "torch.float16": 2.0**-11,
    "torch.bfloat16": 2.0**-8,
}


@dataclass(frozen=True, eq=False)
class ReluNetwork:
    """Dense layers with ReLU between them; the class with the highest output is predicted.

    Parameters
    ----------
    layers
        Pairs of weights, ``(inputs, outputs)``, and biases, ``(outputs,)``. With a single last
        output, a positive value is the second class.
    labels
        The classes; 0, 1, ... by default.
    roundoff
        The relative rounding of the model's own arithmetic: that of double precision by default.

    Examples
    --------
    >>> network = ReluNetwork([([[1.0], [1.0]], [-1.0])])
    >>> network.predict([[0.2, 0.3], [0.8, 0.9]])
    array([0, 1])
    """

    layers: Sequence[tuple[Any, Any]]
    labels: Any = None
    roundoff: float = DOUBLE_ROUNDOFF

    def __post_init__(self) -> None:
        layers = [_read_layer(i, layer) for i, layer in enumerate(self.layers)]
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
        if weights.shape[1] == 1:  # one output: its sign tells two classes apart
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
        """Return the outputs of the last layer, ``(n, classes)``."""
        rows: Matrix = np.asarray(X, dtype=np.float64)
        n_inputs = len(self.layers[0][0])
        if rows.ndim != 2 or rows.shape[1] != n_inputs:
            raise InvalidInputError(
                f"The network takes rows of {n_inputs} features, got shape {rows.shape}."
            )
        for weights, bias in self.layers[:-1]:
            rows = np.maximum(rows @ weights + bias, 0.0)
        weights, bias = self.layers[-1]
        return np.asarray(rows @ weights + bias)

    def predict(self, X: Any) -> Labels:
        """Return the class of each row."""
        winners: Labels = self.labels[self.scores(X).argmax(axis=1)]
        return winners


def _read_layer(i: int, layer: Any) -> tuple[Matrix, Vector]:
    try:
        weights, bias = (numbers(part) for part in layer)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"A network is a list of pairs of weights and biases, but layer {i} is {layer!r}."
        ) from None
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InvalidInputError(
            f"Layer {i} has a weight or bias that is not a finite number. Check how the network "
            f"was trained."
        )
    return weights, bias


@dataclass(frozen=True, eq=False)
class TorchModel:
    """A torch network that predicts the class of its highest output, in its own precision.

    With a single output, a positive value is the second class, as in :class:`ReluNetwork`.
    """

    module: Any

    def predict(self, X: Any) -> Labels:
        """Return the class of each row."""
        answer = TorchModule(self.module).predict(X)
        return (answer > 0).astype(np.intp) if self._has_one_output() else answer

    def _has_one_output(self) -> bool:
        layers = [part for part in _parts(self.module) if _is_part(part, "Linear")]
        return bool(layers) and layers[-1].out_features == 1


def as_model(model: Any) -> Any:
    """Return a model that predicts labels: lists of layers and torch networks are wrapped."""
    if _is_torch(model):
        return TorchModel(model)
    return ReluNetwork(model) if isinstance(model, list | tuple) else model


def read_network(model: Any) -> ReluNetwork | None:
    """Read a model as a ReLU network; None if it is not one.

    The outputs of a regression are 0 and its prediction.
    """
    if isinstance(model, ReluNetwork):
        return model
    if isinstance(model, TorchModel):
        return _read_torch(model.module)
    return _read_sklearn(model) if isinstance(model, MLPClassifier | MLPRegressor) else None


def _read_sklearn(model: MLPClassifier | MLPRegressor) -> ReluNetwork | None:
    """Read a network of scikit-learn with one class or number for each row."""
    if not hasattr(model, "coefs_"):
        return None
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    if len(layers) > 1 and model.activation != "relu":
        return None
    single = layers[-1][0].shape[1] == 1
    if isinstance(model, MLPRegressor):
        return ReluNetwork(layers) if single and model.out_activation_ == "identity" else None
    if model.classes_ is None or (model.out_activation_ == "logistic" and not single):
        return None  # several labels for each row
    return ReluNetwork(layers, model.classes_)


def _is_torch(model: Any) -> bool:
    # By name, so that torch need not be installed, nor imported to find out.
    return _is_part(model, "Sequential")


def _is_part(part: Any, *names: str) -> bool:
    """Return whether this is one of torch's own classes of these names, not a subclass."""
    return type(part).__name__ in names and type(part).__module__.partition(".")[0] == "torch"


def _parts(module: Any) -> Iterator[Any]:
    """Yield the parts of a Sequential and of nested ones, without those that do nothing."""
    for part in module:
        if _is_part(part, "Sequential"):
            yield from _parts(part)
        elif not _is_part(part, "Identity", "Dropout"):
            yield part


def _read_torch(module: Any) -> ReluNetwork | None:
    """Read Linear, ReLU, Linear, ...; a Softmax at the end does not change the class."""
    parts = list(_parts(module))
    if len(parts) > 1 and _is_softmax_of_several(*parts[-2:]):
        parts = parts[:-1]
    kinds = ["Linear" if i % 2 == 0 else "ReLU" for i in range(len(parts))]
    fits = all(_is_part(part, kind) for part, kind in zip(parts, kinds, strict=True))
    if not fits or len(parts) % 2 == 0:
        return None
    layers, roundoffs = [], []
    for part in parts[::2]:
        bias = np.zeros(part.out_features) if part.bias is None else _as_array(part.bias)
        layers.append((_as_array(part.weight).T, bias))
        roundoffs.append(TORCH_ROUNDOFF.get(str(part.weight.dtype)))
    # The coarsest of all counts. With an unknown one, no bound could be proved.
    known = [each for each in roundoffs if each is not None]
    return ReluNetwork(layers, roundoff=max(known)) if len(known) == len(layers) else None


def _is_softmax_of_several(last: Any, part: Any) -> bool:
    """Return whether a part is a Softmax over the several outputs of each row."""
    ranks = _is_part(part, "Softmax", "LogSoftmax") and part.dim in (1, -1)
    return ranks and _is_part(last, "Linear") and last.out_features > 1


def _as_array(tensor: Any) -> Matrix:
    return np.asarray(tensor.detach().cpu().double(), dtype=np.float64)
