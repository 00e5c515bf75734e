"""Models of frameworks that answer with scores: torch, keras, ONNX.

None of them is imported: a model is known by the module that its class comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterset.arrays import Labels
from counterset.exceptions import ModelError

__all__ = ["framework_predict"]


def framework_predict(model: Any) -> Callable[[Any], Any] | None:
    """Give a function from rows to labels for a model of a known framework, else None.

    Scores of two or more classes become the class of the highest. A single score is the
    probability of class 1 in keras, and is not understood in the others.
    """
    roots = {cls.__module__.partition(".")[0] for cls in type(model).__mro__}
    if "torch" in roots and callable(model):
        return lambda rows: _highest(_ask_torch(model, rows), "torch module")
    if roots & {"keras", "tensorflow"} and hasattr(model, "predict"):
        return lambda rows: _ask_keras(model, rows)
    if "onnxruntime" in roots and hasattr(model, "run"):
        return lambda rows: _ask_onnx(model, rows)
    return None


def _numbers(rows: Any) -> Any:
    """Give rows as the float32 array that networks take."""
    return np.ascontiguousarray(np.asarray(rows, dtype=np.float32))


def _ask_torch(model: Any, rows: Any) -> Any:
    import torch  # noqa: PLC0415 - only where a torch model is at hand

    parameter = next(iter(model.parameters()), None)
    values = torch.from_numpy(_numbers(rows))
    if parameter is not None:
        values = values.to(device=parameter.device, dtype=parameter.dtype)
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return model(values).detach().cpu().numpy()
    finally:
        model.train(training)


def _ask_keras(model: Any, rows: Any) -> Labels:
    scores = np.asarray(model.predict(_numbers(rows), verbose=0))
    if scores.ndim == 2 and scores.shape[1] == 1:
        return (scores[:, 0] > 0.5).astype(np.intp)
    return _highest(scores, "keras model")


def _ask_onnx(session: Any, rows: Any) -> Labels:
    (first, *_) = session.get_inputs()
    outputs = session.run(None, {first.name: _numbers(rows)})
    # Converters of classifiers put the labels first; exported networks give scores only.
    answer = np.asarray(outputs[0])
    return answer if answer.ndim == 1 else _highest(answer, "ONNX model")


def _highest(scores: Any, what: str) -> Labels:
    scores = np.asarray(scores)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ModelError(
            f"A {what} must give one score per class and row, two classes or more, got shape "
            f"{scores.shape}. Wrap it in a function from rows to labels that says what its output "
            f"means, such as lambda X: score(X) > 0.5."
        )
    highest: Labels = scores.argmax(axis=1)
    return highest
