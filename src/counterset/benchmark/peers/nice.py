"""NICE: one counterfactual, built from the nearest row of the other class."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.exceptions import MissingExtraError

__all__ = ["Nice"]


class Nice:
    """NICE with its proximity reward. It finds a single counterfactual."""

    name = "nice"
    uses_norm = False

    def __init__(self, norm: int) -> None:
        del norm  # NICE has its own distance

    def fit(self, model: Network, X: Matrix) -> None:
        """Pass the training rows to NICE, with the classes that the model predicts."""
        try:
            from nice import NICE  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError(
                f"This peer needs NICE, which cannot be imported ({error}). Install it with: "
                f"pip install NICEx"
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
        """Return a set of one counterfactual for each row."""
        return [np.asarray(self._explainer.explain(x[None, :]), dtype=np.float64) for x in X]
