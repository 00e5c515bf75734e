"""ModelEstimator: what scikit-learn expects of an explainer that is fitted on rows."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from counterset.exceptions import NotFittedError
from counterset.models.goals import set_goal
from counterset.steps.parameters import check_parameters, used_by_fit
from counterset.steps.training import TrainingData

__all__ = ["ModelEstimator"]


class ModelEstimator(BaseEstimator):
    """An estimator whose first parameter is a model that is fitted already.

    A subclass calls ``_keep_training`` in its ``fit``.
    """

    def _keep_training(self, training: TrainingData) -> None:
        """Keep what was learned from the training rows, and what scikit-learn expects of it."""
        self._training = training
        self._fitted_with, self._checked = used_by_fit(self), self._parameters()
        self.schema_ = training.table
        self.distance_ = training.distance
        self.pool_ = training.pool
        self.classes_ = training.classes.labels
        self.support_ = training.support
        self.n_features_in_ = len(training.table.columns)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if training.table.array_dtype is None:
            self.feature_names_in_ = np.asarray(training.table.columns, dtype=object)

    def _check_fitted(self) -> None:
        if not hasattr(self, "pool_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit with the training rows "
                f"first."
            )
        now = self._parameters()
        if any(now[name] is not value for name, value in self._checked.items()):
            check_parameters(self, self._fitted_with)  # set_params may have come after fit
            self._checked = now

    def _check_goal(self, target: Any = None, interval: tuple[float, float] | None = None) -> None:
        """Raise if no training row has what is wanted: it is wrong for every row that is asked."""
        set_goal(self._training.classes, target, interval)

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters as they are now; faster than ``get_params``."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in _parameter_names(kind)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pool_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = tags.input_tags
        takes.allow_nan = takes.categorical = takes.string = True
        return tags

    def __sklearn_clone__(self) -> Self:
        # A clone explains the same model: cloning the model too would throw its training away.
        return type(self)(**self.get_params(deep=False))


@cache
def _parameter_names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())
