"""Reading linear models, and the linear scalers before them in a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.linear_model import Perceptron as _Perceptron
from sklearn.linear_model import RidgeClassifierCV as _RidgeClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

from counterset._base.arrays import Codes, Labels, Matrix
from counterset.models.classes import Classes

__all__ = ["Affine", "LinearModel", "read_linear", "read_scalers"]

_LINEAR = (
    LogisticRegression,
    LinearSVC,
    RidgeClassifier,
    _RidgeClassifierCV,
    SGDClassifier,
    _Perceptron,
    LinearDiscriminantAnalysis,
)


@dataclass(frozen=True, eq=False)
class Affine:
    """A scaling of each feature, ``x * factor + shift``."""

    factor: Matrix
    shift: Matrix

    def fold_into(self, weights: Matrix, bias: Matrix) -> tuple[Matrix, Matrix]:
        """Give the first layer that does to x what ``weights, bias`` do to the scaled x."""
        return self.factor[:, None] * weights, bias + self.shift @ weights


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores ``x @ weights + bias``, one column per class; the highest score decides.

    ``bias_size`` is the size of the terms that each bias is the sum of: what the model rounds.
    """

    weights: Matrix
    bias: Matrix
    labels: Labels
    bias_size: Matrix

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    def codes(self, labels: Labels) -> Codes:
        """Give the columns of labels."""
        return Classes(self.labels).codes(labels)

    def preference(
        self, X: Matrix, classes: tuple[int, int], roundoff: float
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Give the gradient of the first class's lead, what it lacks at X, and its rounding."""
        other, own = classes
        gradient = self.weights[:, other] - self.weights[:, own]
        offset = self.bias[other] - self.bias[own]
        lead = X @ gradient + offset
        terms = np.abs(X) @ (np.abs(self.weights[:, other]) + np.abs(self.weights[:, own]))
        # A move to the border adds to the terms as much as the lead lacks, if not more.
        size = terms + self.bias_size[other] + self.bias_size[own] + np.abs(lead)
        # Twice the bound on a sum of so many products, for what scaling and storing adds.
        return gradient, -lead, 2 * (X.shape[1] + 4) * roundoff * size


def read_linear(model: Any) -> LinearModel | None:
    """Read a linear model, also at the end of a pipeline of linear scalers; None: it is not one."""
    scaling, last = read_scalers(model)
    if not isinstance(last, _LINEAR) or not hasattr(last, "coef_"):
        return None
    weights = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64)).T
    bias = np.atleast_1d(np.asarray(last.intercept_, dtype=np.float64))
    labels = np.asarray(last.classes_)
    if len(labels) == 2 and weights.shape[1] == 1:
        weights = np.hstack([np.zeros_like(weights), weights])
        bias = np.array([0.0, bias[0]])
    bias = np.broadcast_to(bias, weights.shape[1])
    if weights.shape[1] != len(labels):
        return None  # several outputs a row: no single class to change
    size = np.abs(bias)
    if scaling is not None:
        size = size + np.abs(scaling.shift) @ np.abs(weights)
        weights, bias = scaling.fold_into(weights, bias)
    return LinearModel(weights, bias, labels, size)


def read_scalers(model: Any) -> tuple[Affine | None, Any]:
    """Give what linear scalers do before the last step of a pipeline, and that step.

    A model that is not such a pipeline is given back as it is.
    """
    if not isinstance(model, Pipeline):
        return None, model
    *before, (_, last) = model.steps
    scaling = None
    for _, step in before:
        if step is None or step == "passthrough":
            continue
        affine = _read_scaler(step)
        if affine is None:
            return None, model
        if scaling is None:
            scaling = affine
        else:
            shift = scaling.shift * affine.factor + affine.shift
            scaling = Affine(scaling.factor * affine.factor, shift)
    return scaling, last


def _read_scaler(step: Any) -> Affine | None:
    n = getattr(step, "n_features_in_", 0)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return Affine(step.scale_, step.min_)
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return Affine(1 / step.scale_, np.zeros(n))
    if isinstance(step, StandardScaler):
        centre = step.mean_ if step.with_mean else None
        return _centred(centre, step.scale_, n)
    if isinstance(step, RobustScaler):
        centre = step.center_ if step.with_centering else None
        return _centred(centre, step.scale_ if step.with_scaling else None, n)
    return None


def _centred(centre: Matrix | None, scale: Matrix | None, n: int) -> Affine:
    factor = np.ones(n) if scale is None else 1 / scale
    return Affine(factor, np.zeros(n) if centre is None else -centre * factor)
