"""NICE: one counterfactual, the nearest row with features taken back."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.exceptions import MissingExtraError

__all__ = ["Nice"]


class Nice:
    """NICE with its proximity reward; it gives a single counterfactual."""

    name = "nice"
    uses_norm = False

    def __init__(self, norm: int) -> None:
        del norm  # it has a distance of its own

    def fit(self, model: Network, X: Matrix) -> None:
        """Give NICE the training rows and the classes that the model predicts."""
        try:
            from nice import NICE  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError(
                f"NICE cannot be imported ({error}). Install it with: pip install NICEx"
            ) from error
        self._explainer = NICE(
            predict_fn=model.predict_proba,
            X_train=X,
            cat_feat=[],
            num_feat=list(range(X.shape[1])),
            y_train=model.predict(X),
            optimization="proximity",
        )

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Give a set of one for each row."""
        return [np.asarray(self._explainer.explain(x[None, :]), dtype=np.float64) for x in X]
