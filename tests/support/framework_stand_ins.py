"""Stand-ins for models of torch, keras and onnxruntime: each as much of it as is used."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np


class Tensor(np.ndarray[Any, Any]):
    """An array with the methods of a tensor."""

    device = "cpu"  # arrays of numpy have one only since version 2

    def to(self, dtype: Any = None, device: Any = None) -> Tensor:
        return self.astype(dtype).view(Tensor)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def is_floating_point(self) -> bool:
        return bool(self.dtype.kind == "f")

    def double(self) -> Tensor:
        return self.to(np.float64)


class Module:
    """A torch module: it computes, and knows whether it is in training."""

    def __init__(self, compute: Any, parameters: Any = (), parts: tuple[Module, ...] = ()) -> None:
        self.compute, self.parts, self.training = compute, parts, True
        self.given = parameters
        self.seen: list[Any] = []

    def parameters(self) -> Any:
        return iter(self.given)

    def modules(self) -> Any:
        yield self
        yield from self.parts

    def eval(self) -> None:
        for part in self.modules():
            part.training = False

    def __call__(self, values: Any) -> Any:
        self.seen.append((values, [part.training for part in self.modules()]))
        return self.compute(values)


Module.__module__ = "torch.nn.modules.module"


class Model:
    """A keras model of a last layer."""

    def __init__(self, compute: Any, activation: str | None = None) -> None:
        self.compute = compute
        self.layers = [SimpleNamespace(activation=SimpleNamespace(__name__=activation))]

    def predict(self, values: Any, batch_size: int, verbose: int) -> Any:
        assert verbose == 0
        return self.compute(values)


class Sequential(Model):
    """A keras model that is a row of layers."""


for each in (Model, Sequential):
    each.__module__ = "keras.src.models"


class InferenceSession:
    """A session of onnxruntime with the given inputs and outputs, by name, type and shape."""

    def __init__(self, inputs: Any, outputs: Any, compute: Any) -> None:
        self.inputs = [SimpleNamespace(name=n, type=t, shape=s) for n, t, s in inputs]
        self.outputs = [SimpleNamespace(name=n, type=t) for n, t in outputs]
        self.compute = compute
        self.fed: dict[str, Any] = {}

    def get_inputs(self) -> Any:
        return self.inputs

    def get_outputs(self) -> Any:
        return self.outputs

    def run(self, names: list[str], feeds: dict[str, Any]) -> Any:
        self.fed = feeds
        return [self.compute(feeds, name) for name in names]


InferenceSession.__module__ = "onnxruntime.capi.onnxruntime_inference_collection"


def session(kind: str = "tensor(float)", output: str = "tensor(float)") -> InferenceSession:
    """Return a session that has two scores, the first two columns."""
    return InferenceSession(
        [("rows", kind, ["n", 2])], [("scores", output)], lambda feeds, name: feeds["rows"]
    )
