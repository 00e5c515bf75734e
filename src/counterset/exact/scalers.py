"""Linear scalers before a model in a pipeline, read as one scaling of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from counterset._base.arrays import Matrix, Vector

__all__ = ["Scaling", "read_scalers"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling of each feature, ``x * factor + shift``, both ``(d,)``."""

    factor: Vector
    shift: Vector

    def fold_into(self, weights: Matrix, bias: Vector) -> tuple[Matrix, Vector]:
        """Return the layer that does to x what ``weights, bias`` do to the scaled x."""
        return self.factor[:, None] * weights, bias + self.shift @ weights


def read_scalers(model: Any) -> tuple[Scaling | None, Any]:
    """Return what linear scalers do before the last step of a pipeline, and that step.

    A model that is not such a pipeline is returned as it is.
    """
    if not isinstance(model, Pipeline):
        return None, model
    *before, (_, last) = model.steps
    scaling = None
    for _, step in before:
        if step is None or step == "passthrough":
            continue
        read = _read_scaler(step)
        if read is None:
            return None, model
        if scaling is None:
            scaling = read
        else:
            shift = scaling.shift * read.factor + read.shift
            scaling = Scaling(scaling.factor * read.factor, shift)
    return scaling, last


def _read_scaler(step: Any) -> Scaling | None:
    n = getattr(step, "n_features_in_", 0)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return Scaling(step.scale_, step.min_)
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return Scaling(1 / step.scale_, np.zeros(n))
    if isinstance(step, StandardScaler):
        centre = step.mean_ if step.with_mean else None
        return _centred(centre, step.scale_, n)
    if isinstance(step, RobustScaler):
        centre = step.center_ if step.with_centering else None
        return _centred(centre, step.scale_ if step.with_scaling else None, n)
    return None


def _centred(centre: Vector | None, scale: Vector | None, n: int) -> Scaling:
    factor = np.ones(n) if scale is None else 1 / scale
    return Scaling(factor, np.zeros(n) if centre is None else -centre * factor)
