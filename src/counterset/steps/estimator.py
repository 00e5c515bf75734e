"""ModelEstimator: what scikit-learn expects of an explainer that is fitted on rows."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from counterset.exceptions import NotFittedError
from counterset.steps.parameters import check_parameters

__all__ = ["ModelEstimator"]


class ModelEstimator(BaseEstimator):
    """An estimator whose first parameter is a model that is fitted already.

    A subclass sets ``pool_`` and ``_fitted_with``, see
    :func:`~counterset.steps.parameters.used_by_fit`, in its ``fit``.
    """

    _fitted_with: dict[str, Any]

    def _check_fitted(self) -> None:
        if not hasattr(self, "pool_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit with the training rows "
                f"first."
            )
        check_parameters(self, self._fitted_with)  # set_params may have come after fit

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
