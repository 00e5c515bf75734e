"""Set up, run and summarise one run of the paper."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset.benchmark.classifiers import Network, obtain
from counterset.benchmark.data import Split, prepare
from counterset.benchmark.prototype import PrototypeExplainer, PrototypeNoise
from counterset.benchmark.published import METRICS, Cell
from counterset.datasets.fetched import cache_folder
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import FewerCounterfactualsWarning
from counterset.explainer import DiverseExplainer
from counterset.noise import GaussianNoise, Noise
from counterset.steps.cutoffs import NearestCandidates
from counterset.steps.diversity import AngleDiversity, DistanceDiversity
from counterset.steps.line_search import LineSearch

__all__ = ["Experiment", "Protocol", "alpha_of", "summarise"]


@dataclass(frozen=True)
class Protocol:
    """Which test rows are explained, and how their noisy copies are drawn.

    Attributes
    ----------
    rows
        The test rows.
    repeats
        The number of noisy copies of each.
    redraw
        Whether the prototype draws a copy of another class again.
    """

    rows: slice
    repeats: int
    redraw: bool


#: Tuning uses the first 50 test rows, the final results the next 20.
PROTOCOLS = {
    "final": Protocol(slice(50, 70), repeats=3, redraw=False),
    "tuning": Protocol(slice(0, 50), repeats=1, redraw=True),
}


def alpha_of(dataset: str) -> int:
    """Return the paper's alpha: 50 for the two small datasets, else 1000."""
    return 50 if dataset in ("diabetes", "no2") else 1000


@dataclass
class Experiment:
    """The paper's experiments, one run at a time.

    Parameters
    ----------
    as_published
        Use the prototype's choices and random stream; False: the paper's own definitions.
    weights
        A folder with the weights of each dataset's network; None: train the networks.
    cache
        The folder where trained networks are kept; None: the library's cache.
    """

    as_published: bool = False
    weights: Path | None = None
    cache: Path | None = None
    _setups: dict[str, tuple[Split, Network]] = field(default_factory=dict, init=False, repr=False)

    def setup(self, dataset: str) -> tuple[Split, Network]:
        """Return the rows and the network of a dataset."""
        if dataset not in self._setups:
            split = prepare(dataset)
            cache = self.cache if self.cache is not None else cache_folder()
            self._setups[dataset] = split, obtain(split, self.weights, cache)
        return self._setups[dataset]

    def run(self, cell: Cell) -> pd.DataFrame:
        """Run a cell, and return the table of :func:`counterset.evaluate`."""
        split, network = self.setup(cell.dataset)
        protocol = PROTOCOLS[cell.stage]
        noise: Noise = PrototypeNoise(protocol.redraw) if self.as_published else GaussianNoise()
        explainer = self._explainer(cell, network).fit(split.X_train)
        with warnings.catch_warnings():
            # A strict filter leaves fewer than five counterfactuals, as in the paper.
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            return evaluate(
                explainer,
                split.X_test[protocol.rows],
                repeats=protocol.repeats,
                noise=noise,
                distance=f"l{cell.norm}",
            )

    def _explainer(self, cell: Cell, network: Network) -> Any:
        alpha = alpha_of(cell.dataset)
        if self.as_published:
            return PrototypeExplainer(network, cell.norm, alpha, cell.filter, cell.beta, cell.gamma)
        diversity = {"angle": AngleDiversity, "distance": DistanceDiversity}[cell.filter]
        return DiverseExplainer.paper(
            network,
            distance=f"l{cell.norm}",
            candidates=NearestCandidates(alpha),
            diversity=diversity(cell.beta),
            search=None if cell.gamma is None else LineSearch(cell.gamma),
            # The rows are scaled already, over the whole file, as in the paper.
            scale=None,
        )


def summarise(table: pd.DataFrame) -> dict[str, float]:
    """Compute the means and standard deviations of a run, over the pairs of the same class.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "same_class": [True, True, False], "validity": [1.0, 0.5, 1.0],
    ...     **{metric: [1.0, 2.0, 9.0] for metric in METRICS}, "sparsity": 3.0, "seconds": 0.1,
    ... })
    >>> summarise(pairs)["k_distance"], summarise(pairs)["k_distance_std"]
    (1.5, 0.5)
    >>> summarise(pairs)["valid"], summarise(pairs)["pairs"]
    (50.0, 2.0)
    """
    pairs = table[table["same_class"]]
    summary = {
        "pairs": float(len(pairs)),
        "valid": float(100 * (pairs["validity"] == 1).mean()),
        "sparsity": float(pairs["sparsity"].mean()),
        "time_s": float(pairs["seconds"].mean()),
    }
    for metric in METRICS:
        values = pairs[metric].to_numpy(dtype=np.float64)
        values = values[~np.isnan(values)]
        summary[metric] = float(values.mean()) if len(values) else np.nan
        # The population's standard deviation, as published: no correction for a sample.
        summary[f"{metric}_std"] = float(values.std()) if len(values) else np.nan
    return summary
