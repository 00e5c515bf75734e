"""Reading linear models, also after linear scalers in a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.linear_model import Perceptron as _Perceptron
from sklearn.linear_model import RidgeClassifierCV as _RidgeClassifierCV
from sklearn.svm import LinearSVC

from counterset._base.arrays import Codes, Labels, Matrix, Vector
from counterset.exact.scalers import read_scalers
from counterset.models.classes import Classes

__all__ = ["LinearModel", "read_linear"]

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
class LinearModel:
    """Scores ``x @ weights + bias``, one column per class; the class with the highest one wins.

    Attributes
    ----------
    weights, bias
        Of shapes ``(d, classes)`` and ``(classes,)``.
    labels
        The label of each class.
    bias_size
        The size of the terms that each bias is the sum of, ``(classes,)``: the model rounds them.
    """

    weights: Matrix
    bias: Vector
    labels: Labels
    bias_size: Vector

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    def codes(self, labels: Labels) -> Codes:
        """Return the columns of labels."""
        return Classes(self.labels).codes(labels)

    def preference(
        self, X: Matrix, classes: tuple[int, int], roundoff: float
    ) -> tuple[Vector, Vector, Vector]:
        """Compare the scores of two classes.

        The lead of the first class is its score minus that of the second.

        Returns
        -------
        gradient
            Of the lead, ``(d,)``.
        need
            How much the lead lacks of 0 at each row, ``(n,)``.
        rounding
            How far the model's own sums may be off, ``(n,)``.
        """
        other, own = classes
        gradient = self.weights[:, other] - self.weights[:, own]
        offset = self.bias[other] - self.bias[own]
        lead = X @ gradient + offset
        terms = np.abs(X) @ (np.abs(self.weights[:, other]) + np.abs(self.weights[:, own]))
        # A move to the border adds to the terms at least as much as the lead lacks.
        size = terms + self.bias_size[other] + self.bias_size[own] + np.abs(lead)
        # Twice the bound on a sum of d products, for what scaling and storing add.
        return gradient, -lead, 2 * (X.shape[1] + 4) * roundoff * size


def read_linear(model: Any) -> LinearModel | None:
    """Read a linear model, also at the end of a pipeline of linear scalers; None if it is not one.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> model = read_linear(RidgeClassifier().fit(X, ["no", "no", "yes", "yes"]))
    >>> model.labels, model.weights.round(3)
    (array(['no', 'yes'], dtype='<U3'), array([[0.   , 0.545]]))
    """
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
