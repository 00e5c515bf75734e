"""DiCE, with its defaults or with refined settings."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from counterset._base.arrays import Labels, Matrix, Vector
from counterset.exceptions import MissingExtraError
from counterset.paper.peers.protocol import LIMIT
from counterset.paper.setups import Network

__all__ = ["Dice"]

#: The name of the target column in the frame for DiCE.
OUTCOME = "outcome"
#: DiCE rounds what it returns. With its default precision some counterfactuals lose their class
#: by that; 12 digits keep it.
FULL_PRECISION = 12


@dataclass
class Dice:
    """DiCE with one of its methods.

    By default its sets are those that the authors of the paper measured: as DiCE finds them, before
    it searches for sparsity. So that search, whose result nobody would read, is left out, and the
    time is that without it.

    Parameters
    ----------
    norm
        Not used: DiCE has its own distance.
    method
        The method of DiCE; ``"gradient"`` needs torch.
    refined
        Report the sets that DiCE shows: after its search for sparsity, by bisection, and rounded to
        12 digits.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    method: Literal["random", "genetic", "kdtree", "gradient"]
    refined: bool = False
    immutable: Sequence[str] = ()
    name: str = "dice"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Pass the training rows to DiCE, with the model's labels."""
        dice_ml = _import("dice_ml", "dice-ml")
        self._rows = _Rows.like(X)
        frame = self._rows.for_dice(X)
        asked = _FrameModel(model, self._rows)
        frame[OUTCOME] = asked.predict(frame)
        numbers = self._rows.numbers
        precision = dict.fromkeys(numbers, FULL_PRECISION) if self.refined else None
        data = dice_ml.Data(
            dataframe=frame,
            continuous_features=numbers,
            outcome_name=OUTCOME,
            **({"continuous_features_precision": precision} if precision else {}),
        )
        if self.method == "gradient":
            network = _torch_network(model, *_ranges(X))
            wrapped = dice_ml.Model(model=network, backend="PYT", func="ohe-min-max")
        else:
            wrapped = dice_ml.Model(model=asked, backend="sklearn")
        self._explainer = dice_ml.Dice(data, wrapped, method=self.method)

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where DiCE finds none."""
        queries = self._rows.for_dice(X)
        return [self._explain(queries.iloc[[i]]) for i in range(len(queries))]

    def _explain(self, query: pd.DataFrame) -> Any:
        arguments: dict[str, Any] = {"verbose": False}
        if self.refined:
            arguments["posthoc_sparsity_algorithm"] = "binary"
        else:
            arguments["posthoc_sparsity_param"] = 0  # no search for sparsity
        if self.method == "random":
            arguments["random_seed"] = 0
        if self.immutable:
            free = [name for name in query.columns if name not in self.immutable]
            arguments["features_to_vary"] = free
        # DiCE draws from the global random state. A seed of the query's own makes its set the same
        # whatever was explained before. Only this process is affected.
        seed = int(pd.util.hash_pandas_object(query, index=False).iloc[0] % 2**32)
        random.seed(seed)
        np.random.seed(seed)
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
                return self._rows.from_dice(query.iloc[:0])
        examples = answer.cf_examples_list[0]
        found = examples.final_cfs_df_sparse if self.refined else examples.final_cfs_df
        return self._rows.from_dice(query.iloc[:0] if found is None else found)


@dataclass(frozen=True)
class _Rows:
    """The rows of a table or of an array, as DiCE wants them, and back.

    DiCE wants frames with named columns, and the words of categories.

    Attributes
    ----------
    dtypes
        The dtype of each column.
    as_frame
        Whether the model takes frames; if not, it takes arrays.
    """

    dtypes: dict[str, Any]
    as_frame: bool

    @classmethod
    def like(cls, X: Matrix | pd.DataFrame) -> _Rows:
        """Learn the columns of the training rows."""
        if isinstance(X, pd.DataFrame):
            return cls({str(name): dtype for name, dtype in X.dtypes.items()}, as_frame=True)
        return cls({f"x{i}": X.dtype for i in range(X.shape[1])}, as_frame=False)

    @property
    def numbers(self) -> list[str]:
        """The names of the columns that hold numbers."""
        return [name for name, dtype in self.dtypes.items() if is_numeric_dtype(dtype)]

    def for_dice(self, X: Matrix | pd.DataFrame) -> pd.DataFrame:
        """Return rows as DiCE takes them: floats, because it writes floats into any number."""
        numbers = self.numbers
        kinds = {name: np.float64 if name in numbers else object for name in self.dtypes}
        return pd.DataFrame(X, columns=list(self.dtypes)).astype(kinds)

    def from_dice(self, frame: pd.DataFrame) -> Any:
        """Return rows as the model takes them. Integers are rounded for DiCE's questions too."""
        if not self.as_frame:
            return frame[list(self.dtypes)].to_numpy(dtype=np.float64)
        rows = frame[list(self.dtypes)].astype(dict.fromkeys(self.numbers, np.float64))
        whole = [name for name in self.numbers if is_integer_dtype(self.dtypes[name])]
        return rows.round(dict.fromkeys(whole, 0)).astype(self.dtypes)


class _FrameModel:
    """The model as DiCE calls it: with DiCE's frames, and with the classes 0 and 1."""

    def __init__(self, model: Any, rows: _Rows) -> None:
        self._model = model
        self._rows = rows

    def predict(self, X: pd.DataFrame) -> Labels:
        labels: Labels = self.predict_proba(X).argmax(axis=1)
        return labels

    def predict_proba(self, X: pd.DataFrame) -> Matrix:
        answer: Matrix = self._model.predict_proba(self._rows.from_dice(X))
        return answer


def _ranges(X: Any) -> tuple[Vector, Vector]:
    """Return the least and the greatest value of each column of an array."""
    return X.min(axis=0), X.max(axis=0)


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
