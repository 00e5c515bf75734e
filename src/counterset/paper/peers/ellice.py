"""ElliCE: counterfactuals for all models whose loss is nearly as small."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix, Vector
from counterset.exceptions import UnsupportedModelError
from counterset.paper.peers.columns import SAME, Columns, LinearScore, seed_for
from counterset.paper.peers.protocol import LIMIT, import_library

__all__ = ["Ellice"]

TARGET = "target"


@dataclass
class Ellice:
    """Counterfactuals of ElliCE, which should hold for the models of an ellipsoid around this one.

    ElliCE reads the model in torch. Networks on arrays, and linear models of two classes, also
    after encoders and scalers, are passed to it as such. Categories are one-hot columns.

    Parameters
    ----------
    norm
        Not used: ElliCE has its own distance.
    rows
        Report up to 5 training rows that hold. Otherwise: one counterfactual, by gradients.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    rows: bool = False
    immutable: Sequence[str] = ()
    name: str = "ellice"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Pass the model and the training rows to ElliCE, with the model's labels."""
        ellice = import_library("ellice", "ellice")
        self._columns, training = Columns.learn(X)
        layers = _layers(model, self._columns, training)
        self._network = _torch_network(layers)
        frame = pd.DataFrame(training, columns=self._columns.names)
        frame[TARGET] = (_scores(layers, training) > 0).astype(int)
        self._layers = layers
        data = ellice.Data(
            frame,
            TARGET,
            continuous_features=[self._columns.names[i] for i in self._columns.numbers],
            categorical_features=[self._columns.names[i] for g in self._columns.groups for i in g],
        )
        self._explainer = ellice.Explainer(self._network, data, backend="pytorch", device="cpu")

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where ElliCE finds none."""
        return self._columns.sets(X, self._explain)

    def _explain(self, row: Vector) -> Matrix:
        names = self._columns.names
        fixed = set(self._columns.of(self.immutable))
        seed_for(row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where it stops early
            found = self._explainer.generate_counterfactuals(
                pd.DataFrame([row], columns=names),
                total_CFs=LIMIT if self.rows else 1,
                method="data_supported" if self.rows else "continuous",
                features_to_vary=[n for i, n in enumerate(names) if i not in fixed],
                one_hot_groups=[[names[i] for i in group] for group in self._columns.groups],
                target_class=int(_scores(self._layers, row[None, :])[0] <= 0),
                progress_bar=False,
            )
        if not len(found):
            return np.zeros((0, len(row)))
        options: Matrix = found[names].to_numpy(dtype=np.float64)
        # Where it finds none, it returns the input, as torch's shorter floats.
        return options[np.abs(options - row).max(axis=1) > SAME]


def _layers(model: Any, columns: Columns, training: Matrix) -> list[tuple[Matrix, Vector]]:
    """Return a network with a single score, that of the second class; a linear model is one too."""
    if not hasattr(model, "layers"):
        score = LinearScore.of(model, columns, training)
        return [(score.weights[:, None], np.array([score.bias]))]
    *hidden, (weights, bias) = model.layers
    if weights.shape[1] != 2:
        raise UnsupportedModelError(
            f"ElliCE is for networks of two classes, got {weights.shape[1]}. Choose another peer."
        )
    return [*hidden, (weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1])]


def _scores(layers: list[tuple[Matrix, Vector]], rows: Matrix) -> Vector:
    for weights, bias in layers[:-1]:
        rows = np.maximum(rows @ weights + bias, 0.0)
    weights, bias = layers[-1]
    return np.asarray((rows @ weights + bias)[:, 0])


def _torch_network(layers: list[tuple[Matrix, Vector]]) -> Any:
    """Build the network in torch."""
    torch = import_library("ellice", "torch")
    made: list[Any] = []
    for weights, bias in layers:
        layer = torch.nn.Linear(*weights.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(np.ascontiguousarray(weights.T)))
            layer.bias.copy_(torch.tensor(bias))
        made += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*made[:-1])
