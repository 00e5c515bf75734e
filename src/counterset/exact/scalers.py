"""Linear scalers, read as one scaling of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from counterset._base.arrays import Vector

__all__ = ["SCALERS", "Scaling", "read_scaler"]

SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling of each feature, ``(x - centre) * factor + shift``; each ``(d,)``.

    It is in this form since far from 0 ``x * factor`` and ``centre * factor`` would cancel.
    """

    centre: Vector
    factor: Vector
    shift: Vector


def read_scaler(step: Any) -> Scaling | None:
    """Read a fitted scaler; None for one that is not linear.

    Examples
    --------
    >>> read = read_scaler(MinMaxScaler().fit([[2.0], [4.0]]))
    >>> read.centre, read.factor, read.shift
    (array([0.]), array([0.5]), array([-1.]))
    """
    n = int(step.n_features_in_)
    if getattr(step, "clip", False):
        return None
    if isinstance(step, MinMaxScaler):
        return Scaling(np.zeros(n), step.scale_, step.min_)
    if isinstance(step, MaxAbsScaler):
        return _centred(None, step.scale_, n)
    if isinstance(step, StandardScaler):
        return _centred(step.mean_ if step.with_mean else None, step.scale_, n)
    centre = step.center_ if step.with_centering else None
    return _centred(centre, step.scale_ if step.with_scaling else None, n)


def _centred(centre: Vector | None, scale: Vector | None, n: int) -> Scaling:
    factor = np.ones(n) if scale is None else 1 / scale
    return Scaling(np.zeros(n) if centre is None else centre, factor, np.zeros(n))
