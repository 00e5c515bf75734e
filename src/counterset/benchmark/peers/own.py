"""The library's own explainer, measured as the peers are."""

from __future__ import annotations

import warnings

from counterset._base.arrays import Matrix
from counterset.benchmark.classifiers import Network
from counterset.exceptions import FewerCounterfactualsWarning
from counterset.explainer import DiverseExplainer

__all__ = ["Own"]


class Own:
    """The library's explainer with its defaults, in the norm that is measured."""

    name = "counterset"
    uses_norm = True

    def __init__(self, norm: int) -> None:
        self._distance = f"l{norm}"

    def fit(self, model: Network, X: Matrix) -> None:
        """Fit the explainer. The rows are scaled already."""
        self._explainer = DiverseExplainer.paper(model, distance=self._distance, scale=None).fit(X)

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            return [explanation.values for explanation in self._explainer.explain_many(X)]
