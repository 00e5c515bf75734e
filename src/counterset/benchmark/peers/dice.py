"""DiCE on scaled data, with its defaults or with refined settings."""

from __future__ import annotations

import contextlib
import io
import random
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, Matrix, Vector
from counterset.benchmark.classifiers import Network
from counterset.benchmark.peers.protocol import LIMIT
from counterset.exceptions import MissingExtraError

__all__ = ["Dice"]

#: The name of the target column in the frame for DiCE.
OUTCOME = "outcome"
#: DiCE rounds what it returns. With its default precision some counterfactuals lose their class
#: by that; 12 digits keep it.
FULL_PRECISION = 12


@dataclass
class Dice:
    """DiCE with one of its methods.

    Parameters
    ----------
    norm
        Not used: DiCE has its own distance.
    method
        The method of DiCE; ``"gradient"`` needs torch.
    refined
        Search for sparsity by bisection and round to 12 digits, instead of the defaults.
    name, uses_norm
        See :class:`~counterset.benchmark.peers.protocol.Peer`.
    """

    norm: int
    method: Literal["random", "genetic", "kdtree", "gradient"]
    refined: bool = False
    name: str = "dice"
    uses_norm: bool = False

    def fit(self, model: Network, X: Matrix) -> None:
        """Pass the training rows to DiCE, scaled as for the model, with the model's labels."""
        dice_ml = _import("dice_ml", "dice-ml")
        # DiCE draws from the global random state. Only this process is affected.
        random.seed(0)
        np.random.seed(0)
        self._model = model
        self._columns = [f"x{i}" for i in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=self._columns)
        frame[OUTCOME] = model.predict(X)
        precision = dict.fromkeys(self._columns, FULL_PRECISION) if self.refined else None
        data = dice_ml.Data(
            dataframe=frame,
            continuous_features=self._columns,
            outcome_name=OUTCOME,
            **({"continuous_features_precision": precision} if precision else {}),
        )
        if self.method == "gradient":
            network = _torch_network(model, X.min(axis=0), X.max(axis=0))
            wrapped = dice_ml.Model(model=network, backend="PYT", func="ohe-min-max")
        else:
            wrapped = dice_ml.Model(model=_FrameModel(model), backend="sklearn")
        self._explainer = dice_ml.Dice(data, wrapped, method=self.method)

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row; an empty one where DiCE finds none."""
        return [self._explain(x) for x in X]

    def _explain(self, x: Vector) -> Matrix:
        query = pd.DataFrame(x[None, :], columns=self._columns)
        algorithm = "binary" if self.refined else "linear"
        arguments: dict[str, Any] = {"posthoc_sparsity_algorithm": algorithm, "verbose": False}
        if self.method == "random":
            arguments["random_seed"] = 0
        # DiCE prints messages and progress bars.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                answer = self._explainer.generate_counterfactuals(
                    query, total_CFs=LIMIT, desired_class="opposite", **arguments
                )
            except Exception as error:
                # DiCE raises an exception of its own class when it finds nothing.
                if type(error).__name__ != "UserConfigValidationException":
                    raise
                return np.empty((0, len(x)))
        found = answer.cf_examples_list[0].final_cfs_df
        if found is None:
            return np.empty((0, len(x)))
        rows: Matrix = found[self._columns].to_numpy(dtype=np.float64)
        return rows


class _FrameModel:
    """The network as DiCE calls it: with frames."""

    def __init__(self, model: Network) -> None:
        self._model = model

    def predict(self, X: pd.DataFrame) -> Labels:
        return self._model.predict(X.to_numpy(dtype=np.float64))

    def predict_proba(self, X: pd.DataFrame) -> Matrix:
        return self._model.predict_proba(X.to_numpy(dtype=np.float64))


def _torch_network(model: Network, low: Vector, high: Vector) -> Any:
    """Build the network in torch, for inputs that DiCE scales to the training range."""
    torch = _import("torch", "torch")
    spread = np.where(high > low, high - low, 1.0)
    layers: list[Any] = []
    for i, (weight, bias) in enumerate(model.layers):
        if i == 0:
            # x = z * spread + low, folded into the first layer.
            weight, bias = spread[:, None] * weight, low @ weight + bias  # noqa: PLW2901
        if i + 1 == len(model.layers):
            # The probability of class 1 is the sigmoid of the difference of the two logits.
            weight, bias = weight[:, 1:] - weight[:, :1], bias[1:] - bias[:1]  # noqa: PLW2901
        layer = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weight.T))
            layer.bias.copy_(torch.tensor(bias))
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())


def _import(module: str, package: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"This peer needs {package}, which cannot be imported ({error}). Install it with: "
            f"pip install 'counterset[benchmark]' {package}"
        ) from error
