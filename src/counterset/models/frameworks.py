"""Models of frameworks that return scores: torch, keras, ONNX.

A model is recognised by the name of its class, so that no framework is imported before one of its
models is passed. All are read by one rule: of several scores, the label is the position of the
highest, and a single output is taken as it is, a label or a number.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Matrix
from counterset.exceptions import InvalidInputError, MissingExtraError, ModelError
from counterset.tables.frames import to_pandas

__all__ = ["OnnxFile", "as_predictor"]

#: Keras predicts 4096 rows at a time; with its default of 32, a thousand rows are slow.
KERAS_BATCH = 4096
#: The numpy dtypes of the tensors that an ONNX model can ask for.
_ONNX_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
#: The types of an output that holds labels, not scores.
_ONNX_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")


def as_predictor(model: Any) -> Any:
    """Wrap a model of a known framework, so that ``predict`` returns labels; return others as is.

    Examples
    --------
    >>> as_predictor("credit.onnx")
    OnnxFile(path='credit.onnx')
    >>> as_predictor(len)
    <built-in function len>
    """
    if isinstance(model, str | os.PathLike) and str(model).lower().endswith(".onnx"):
        return OnnxFile(os.fspath(model))
    bases = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(model).__mro__}
    # On its torch backend a keras model is a torch module too, so keras comes first.
    if bases & {(root, "Model") for root in ("keras", "tf_keras", "tensorflow")}:
        return KerasModel(model)
    if ("torch", "Module") in bases and not callable(getattr(model, "predict", None)):
        return TorchModule(model)
    if ("onnxruntime", "InferenceSession") in bases:
        return OnnxSession(model)
    return model


@dataclass(frozen=True)
class TorchModule:
    """A torch module, called without gradients, in evaluation mode, on its parameters' device."""

    module: Any

    def predict(self, rows: Any) -> Labels:
        """Return the label of each row."""
        import torch  # noqa: PLC0415 - only where a torch model is passed

        parameters = self.module.parameters()
        floating = next((each for each in parameters if each.is_floating_point()), None)
        # A copy: torch shares memory, and warns of rows that must not be written to.
        values = torch.from_numpy(_numbers(rows).copy())
        if floating is None:
            values = values.to(torch.get_default_dtype())
        else:
            values = values.to(device=floating.device, dtype=floating.dtype)
        with _evaluating(self.module), torch.no_grad():
            answer = self.module(values)
        if not isinstance(answer, torch.Tensor):
            raise ModelError(
                f"The torch module returned a {type(answer).__name__}, where one tensor of scores "
                f"is needed. {_WRAP}"
            )
        answer = answer.detach().cpu()
        # numpy has no bfloat16, and float64 holds every narrower float as it is.
        return _read(answer.double() if answer.is_floating_point() else answer, "torch module")


@dataclass(frozen=True)
class KerasModel:
    """A keras model; if it ends in a single sigmoid, its classes are 0 and 1."""

    model: Any

    def predict(self, rows: Any) -> Labels:
        """Return the label of each row."""
        scores = self.model.predict(_numbers(rows), batch_size=KERAS_BATCH, verbose=0)
        labels = _read(scores, "keras model")
        if labels.dtype.kind == "f" and self._ends_in_a_sigmoid() and not np.isnan(labels).any():
            return (labels > 0.5).astype(np.intp)
        return labels

    def _ends_in_a_sigmoid(self) -> bool:
        # Only a graph of layers has a last one; the code of other models cannot be read.
        kinds = {cls.__name__ for cls in type(self.model).__mro__}
        if not kinds & {"Functional", "Sequential"} or not self.model.layers:
            return False
        activation = getattr(self.model.layers[-1], "activation", None)
        return getattr(activation, "__name__", None) == "sigmoid"


@dataclass(frozen=True)
class OnnxSession:
    """A session of onnxruntime, with one input for all features or one for each."""

    session: Any

    def predict(self, rows: Any) -> Labels:
        """Return the label of each row."""
        # A converted classifier returns labels and probabilities, an exported network scores only.
        outputs = self.session.get_outputs()
        output = next((each for each in outputs if each.type in _ONNX_LABELS), outputs[0])
        (answer,) = self.session.run([output.name], self._feeds(rows))
        return _read(answer, "ONNX model")

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, if each has an input of its own."""
        inputs = self.session.get_inputs()
        return None if len(inputs) == 1 else [each.name for each in inputs]

    def _feeds(self, rows: Any) -> dict[str, Any]:
        inputs = self.session.get_inputs()
        for each in inputs:
            if each.shape and isinstance(each.shape[0], int):
                raise ModelError(
                    f"The ONNX model was exported for exactly {each.shape[0]} rows at a time "
                    f"(input {each.name!r} has shape {each.shape}). Export it with a first "
                    f"dimension of any length: dynamic_shapes in torch.onnx.export, [None, ...] "
                    f"in skl2onnx."
                )
        if len(inputs) == 1:
            return {inputs[0].name: _onnx_tensor(rows, inputs[0])}
        rows = to_pandas(rows, "The table")
        columns = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
        names = [each.name for each in inputs]
        if not isinstance(rows, pd.DataFrame) and len(names) == columns.shape[1]:
            columns.columns = pd.Index(names)
        missing = [name for name in names if name not in columns]
        if missing:
            raise ModelError(
                f"The ONNX model has inputs {missing} that are not columns of the rows it is asked "
                f"about, {list(columns)}. Name the inputs like the columns when exporting."
            )
        return {each.name: _onnx_tensor(columns[[each.name]], each) for each in inputs}


@dataclass(frozen=True)
class OnnxFile:
    """The file of an ONNX model, opened when the model is first called."""

    path: str

    def predict(self, rows: Any) -> Labels:
        """Return the label of each row."""
        return self.session().predict(rows)

    def session(self) -> OnnxSession:
        """Open the file, if it was not opened or was written since."""
        path = Path(self.path)
        if not path.is_file():
            raise InvalidInputError(f"There is no file {self.path!r}. Pass the path of the model.")
        return _open_session(str(path.resolve()), path.stat().st_mtime_ns)


# An explainer keeps the path alone, so that it can be pickled, and calls the model many times. A
# file is opened once, and again only if it was written since.
@lru_cache(maxsize=8)
def _open_session(path: str, written: int) -> OnnxSession:
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "An ONNX file needs onnxruntime: pip install 'counterset[onnx]'."
        ) from None
    providers = onnxruntime.get_available_providers()
    try:
        return OnnxSession(onnxruntime.InferenceSession(path, providers=providers))
    except Exception as error:  # onnxruntime has a class of error for each way to fail
        raise InvalidInputError(
            f"{path} cannot be read as an ONNX file ({type(error).__name__}: {error})."
        ) from error


_WRAP = (
    "Wrap it in a function from rows to labels that says what its output means, such as "
    "lambda X: score(X) > 0.5."
)


def _numbers(rows: Any) -> Matrix:
    """Return rows as the array of numbers that networks take."""
    rows = to_pandas(rows, "The table")
    if not isinstance(rows, pd.DataFrame):
        return np.ascontiguousarray(rows, dtype=np.float64)
    wrong = [name for name, dtype in rows.dtypes.items() if not types.is_numeric_dtype(dtype)]
    if wrong:
        raise ModelError(
            f"A network takes numbers, but the columns {wrong} hold something else. Pass a "
            f"function that encodes the rows as in training and then calls the network."
        )
    return np.ascontiguousarray(rows.to_numpy(dtype=np.float64, na_value=np.nan))


def _onnx_tensor(rows: Any, wanted: Any) -> Any:
    """Return rows in the type of an input of an ONNX model."""
    dtype = _ONNX_DTYPES.get(wanted.type)
    if dtype is None:
        raise ModelError(
            f"The ONNX model's input {wanted.name!r} is a {wanted.type}, which rows of a table "
            f"cannot be converted to. Export it with one of {list(_ONNX_DTYPES)}."
        )
    rows = to_pandas(rows, "The table")
    if dtype is np.object_:
        return np.asarray(rows, dtype=object)
    values = _numbers(rows)
    # A cast would cut fractions silently, and the label would be that of another row.
    if np.issubdtype(dtype, np.integer) and not (values == np.rint(values)).all():
        raise ModelError(
            f"The ONNX model's input {wanted.name!r} takes whole numbers ({wanted.type}), but the "
            f"rows have fractions. Make the column an integer one, or export it as a float."
        )
    return values.astype(dtype)


@contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Put a torch module in evaluation mode, and then each of its parts back as it was."""
    # One part may be frozen in evaluation mode while the rest is training.
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _read(answer: Any, what: str) -> Labels:
    """Return the labels of an output: scores of classes, or one label or number per row."""
    try:
        scores = np.asarray(answer)
    except ValueError:  # several outputs of different shapes
        scores = np.empty(0)
    if scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] == 1):
        single: Labels = scores.reshape(len(scores))
        return single
    if scores.ndim != 2 or scores.shape[1] == 0 or scores.dtype.kind != "f":
        raise ModelError(
            f"The {what} must return one score per class and row, or one number per row, got "
            f"{scores.dtype} of shape {scores.shape}. {_WRAP}"
        )
    if np.isnan(scores).any():
        raise ModelError(
            f"The {what} returned a score that is not a number (NaN), so no class is highest. "
            f"Check the network's weights and the scale of its inputs."
        )
    highest: Labels = scores.argmax(axis=1)
    return highest
