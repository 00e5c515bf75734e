"""Reading linear models, and what linear scalers before them make of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lars,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.linear_model import Perceptron as _Perceptron
from sklearn.linear_model import RidgeClassifierCV as _RidgeClassifierCV
from sklearn.linear_model import RidgeCV as _RidgeCV
from sklearn.svm import LinearSVC, LinearSVR

from counterset._base.arrays import Codes, Labels, Matrix, Vector
from counterset.exact.preprocessing import Preprocessing
from counterset.exact.problem import DOUBLE_ROUNDOFF
from counterset.models.classes import Classes
from counterset.tables.table import Table

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
#: With their subclasses: a Lasso is an ElasticNet.
_REGRESSIONS = (
    LinearRegression,
    Ridge,
    _RidgeCV,
    ElasticNet,
    Lars,
    HuberRegressor,
    SGDRegressor,
    LinearSVR,
)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores ``(x - centre) @ weights + bias``, one for each class; the highest one wins.

    Those of a regression are 0 and its prediction.

    Attributes
    ----------
    weights, bias
        Of shapes ``(d, classes)`` and ``(classes,)``.
    labels
        The label of each class; None for a regression.
    weight_size, bias_size
        The size of the terms that each weight and each bias is the sum of, of the same shapes: the
        model rounds them.
    centre
        What scalers subtract first, ``(d,)``.
    """

    weights: Matrix
    bias: Vector
    labels: Labels | None
    weight_size: Matrix
    bias_size: Vector
    centre: Vector

    @property
    def n_classes(self) -> int:
        """The number of scores."""
        return len(self.bias)

    def codes(self, labels: Labels) -> Codes:
        """Return the columns of labels."""
        assert self.labels is not None, "of a classifier"
        return Classes(self.labels).codes(labels)

    def preference(
        self, X: Matrix, row: Vector, least: float, roundoff: float
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """Compare a weighted sum of the scores with the least that is wanted.

        The lead is that sum minus the least.

        Parameters
        ----------
        row
            The weight of each score, ``(classes,)``: 1 and -1 compare two classes.

        Returns
        -------
        gradient
            Of the lead, ``(d,)``.
        need
            How much the lead lacks of 0 at each row, ``(n,)``.
        rounding
            How far the model's own sums may be off, ``(n,)``.
        growth
            How much farther they may be off for each step away in a feature, ``(d,)``.
        """
        gradient, offset = self.weights @ row, self.bias @ row - least
        centred = X - self.centre
        lead = centred @ gradient + offset
        sizes = self.weight_size @ np.abs(row)
        terms = np.abs(centred) @ sizes
        if roundoff > DOUBLE_ROUNDOFF:  # then the centre is rounded too
            terms = terms + np.abs(self.centre) @ sizes
        # A move to the border adds to the terms at least as much as the lead lacks.
        size = terms + self.bias_size @ np.abs(row) + abs(least) + np.abs(lead)
        # Twice the bound on a sum of d products, for what scaling and storing add.
        unit = 2 * (X.shape[1] + 4) * roundoff
        return gradient, -lead, unit * size, unit * sizes

    def before(self, preprocessing: Preprocessing, table: Table) -> LinearModel | None:
        """Return the model of a table's columns before linear steps; None if they are not linear.

        The columns are numbers.
        """
        if not preprocessing.steps:
            return self
        sources = preprocessing.sources_in(table)
        if sources is None or not all(each.rises and np.isfinite(each.factor) for each in sources):
            return None
        weights = np.zeros((len(table.columns), self.n_classes))
        weight_size, centre = np.zeros_like(weights), np.zeros(len(weights))
        for source in sources:
            centre[source.column] = source.centre
        bias, bias_size = self.bias, self.bias_size
        for source, row in zip(sources, self.weights, strict=True):
            weights[source.column] += source.factor * row
            weight_size[source.column] += np.abs(source.factor * row)
            # Two scalers of one column have two centres.
            apart = (centre[source.column] - source.centre) * source.factor
            bias = bias + (source.shift + apart) * row
            bias_size = bias_size + (abs(source.shift) + abs(apart) + source.rounds) * np.abs(row)
        return LinearModel(weights, bias, self.labels, weight_size, bias_size, centre)


def read_linear(model: Any) -> LinearModel | None:
    """Read a linear model; None if it is not one.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [4.0]]
    >>> model = read_linear(RidgeClassifier().fit(X, ["no", "no", "yes", "yes"]))
    >>> model.labels, model.weights.round(3)
    (array(['no', 'yes'], dtype='<U3'), array([[0.   , 0.545]]))
    """
    if not isinstance(model, (*_LINEAR, *_REGRESSIONS)) or not hasattr(model, "coef_"):
        return None
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    bias = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    labels = None if isinstance(model, _REGRESSIONS) else np.asarray(model.classes_)
    count = 2 if labels is None else len(labels)
    if count == 2 and weights.shape[1] == 1:
        weights = np.hstack([np.zeros_like(weights), weights])
        bias = np.array([0.0, bias[0]])
    bias = np.broadcast_to(bias, weights.shape[1])
    if weights.shape[1] != count or (labels is None and np.ndim(model.coef_) > 1):
        return None  # several outputs a row: no single class or number to change
    centre = np.zeros(len(weights))
    return LinearModel(weights, bias, labels, np.abs(weights), np.abs(bias), centre)
