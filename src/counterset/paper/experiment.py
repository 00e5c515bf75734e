"""The paper's experiments, with its own definitions or with those of the authors' prototype.

The prototype differs from the paper in some points. The published figures can be reproduced to the
last digit only with the prototype's own choices:

- Neighbours are Euclidean whatever the norm. The norm is used only in the evaluation and in the
  distance-based filter.
- The angle-based filter rejects a candidate when the *absolute* cosine exceeds beta, so it treats
  opposite directions as equal.
- In the distance-based filter m is the Chebyshev distance of the nearest candidate when the norm
  is L1.
- Every candidate is halved equally often: as often as the farthest of the alpha neighbours needs.
- The noise comes from numpy's old global stream, seeded with 42, and its variance is 0.08 % of
  each feature's training range.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Stack, Vector
from counterset.datasets.loading import cache_folder
from counterset.distances import L1, LInf
from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.noise import GaussianNoise, Noise, NumericColumns, SameClass
from counterset.exceptions import FewerCounterfactualsWarning
from counterset.explainer import DiverseExplainer
from counterset.paper.cells import METRICS, Cell
from counterset.paper.setups import Network, Split, obtain, prepare
from counterset.strategies.diversity import (
    AngleDiversity,
    DistanceDiversity,
    Diversity,
    TooAlike,
    View,
)
from counterset.strategies.line_search import LineSearch
from counterset.strategies.ranking import NearestCandidates

__all__ = [
    "ChebyshevDiversity",
    "Experiment",
    "Protocol",
    "PrototypeExplainer",
    "PrototypeNoise",
    "alpha_of",
    "scale_of",
    "summarise",
]


@dataclass(frozen=True)
class ChebyshevDiversity:
    """The prototype's distance-based filter when the norm is L1.

    Two candidates differ if their L1 distance is at least ``(1 + beta) * m``. The paper's m is the
    L1 distance from the input to its nearest candidate; the prototype took the Chebyshev distance.

    Parameters
    ----------
    beta
        From 0 to 1.
    """

    beta: float

    def differ(self, view: View, a: Indices, b: Indices) -> Mask:
        """Return whether two candidates of each input are far enough apart, ``(n,)``."""
        rows = view.candidates.coordinates
        apart: Vector = L1().rowwise(rows[a], rows[b][:, None, :])[:, 0]
        return apart >= self._least(view)

    def filter(self, view: View) -> TooAlike:
        """Prepare a filter for all candidates at once."""
        rows = view.candidates.coordinates
        least = self._least(view)

        def too_alike(kept: Indices) -> tuple[Mask, Mask]:
            scores, errors = L1().scores(rows[kept], rows)
            return scores < (least - errors)[:, None], scores > (least + errors)[:, None]

        return too_alike

    def _least(self, view: View) -> Vector:
        x, rows = view.x.coordinates, view.candidates.coordinates
        nearest = rows[view.distance.pairwise(x, rows).argmin(axis=1)]
        m: Vector = LInf().rowwise(x, nearest[:, None, :])[:, 0]
        return (1 + self.beta) * m


@dataclass
class PrototypeExplainer:
    """The explainer behind the published figures: the library's own, with other settings.

    Parameters
    ----------
    model
        The network.
    norm
        1 or 2, for the distance-based filter.
    alpha
        The number of nearest neighbours that are candidates.
    filter
        Angle-based or distance-based.
    beta
        Of the filter.
    gamma
        Of the binary search; None reports the training rows themselves.
    limit
        The most counterfactuals for one input.
    """

    model: Network
    norm: int
    alpha: int
    filter: Literal["angle", "distance"]
    beta: float
    gamma: float | None
    limit: int = 5

    def fit(self, X: Matrix) -> Self:
        """Keep the training rows as candidates."""
        self.rows_ = X
        self.explainer_ = DiverseExplainer.paper(
            self.model,
            distance="l2",
            candidates=NearestCandidates(self.alpha),
            diversity=self._diversity(),
            search=None if self.gamma is None else LineSearch(self.gamma, halvings="farthest"),
            scale=None,
            max_counterfactuals=self.limit,
        ).fit(X)
        self.distance_ = self.explainer_.distance_
        return self

    def explain_many(self, X: Matrix) -> list[Matrix]:
        """Return a set for each row, in the order in which step 3 chose its members."""
        sets = []
        for x, explanation in zip(X, self.explainer_.explain_many(X), strict=True):
            # An explanation is ordered by the distances after step 4. A mean over the members
            # depends on their order in its last bit.
            before_step_4 = self.distance_(x, self.rows_[explanation.examples])[0]
            sets.append(explanation.values[np.argsort(before_step_4, kind="stable")])
        return sets

    def _diversity(self) -> Diversity:
        if self.filter == "angle":
            return AngleDiversity(self.beta, absolute=True)
        return ChebyshevDiversity(self.beta) if self.norm == 1 else DistanceDiversity(self.beta)


@dataclass(frozen=True)
class PrototypeNoise:
    """The noise behind the published figures: numpy's old stream after ``seed(42)``.

    Parameters
    ----------
    redraw
        What to do with a copy of another class. True draws it again until it has the input's
        class, as in the tuning runs; False skips it, as in the final runs.
    """

    redraw: bool

    def copies(
        self,
        rows: Matrix,
        columns: NumericColumns,
        repeats: int,
        same_class: SameClass,
        random: Any,
    ) -> tuple[Stack, Mask]:
        """Draw noisy copies, see :class:`~counterset.evaluation.noise.Noise`."""
        stream = np.random.RandomState(42)
        covariance = np.diag(0.08 * (columns.high - columns.low) / 100)
        copies = np.empty((len(rows), repeats, rows.shape[1]))
        found = np.zeros((len(rows), repeats), dtype=bool)
        for i, repeat in np.ndindex(found.shape):
            while True:
                drawn = stream.multivariate_normal(rows[i], covariance)
                copies[i, repeat] = np.clip(drawn, columns.low, columns.high)
                found[i, repeat] = same_class(copies[i, repeat][None, :], np.array([i]))[0]
                if found[i, repeat] or not self.redraw:
                    break
        return copies, found


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

    def of(self, n_rows: int) -> slice:
        """Return which test rows to explain, given how many there are.

        Where there are fewer than the paper has, the last 20 are for the final results, the
        others for tuning.

        Examples
        --------
        >>> PROTOCOLS["tuning"].of(154), PROTOCOLS["final"].of(154)
        (slice(0, 50, None), slice(50, 70, None))
        >>> PROTOCOLS["tuning"].of(30), PROTOCOLS["final"].of(30)
        (slice(0, 10, None), slice(10, 30, None))
        """
        missing = max(PROTOCOLS["final"].rows.stop - n_rows, 0)
        return slice(max(self.rows.start - missing, 0), max(self.rows.stop - missing, 0))


#: Tuning uses the first 50 test rows, the final results the next 20.
PROTOCOLS = {
    "final": Protocol(slice(50, 70), repeats=3, redraw=False),
    "tuning": Protocol(slice(0, 50), repeats=1, redraw=True),
}
#: A table of one's own with fewer training rows is small.
SMALL = 1000


def alpha_of(dataset: str, n_rows: int = SMALL) -> int:
    """Return the paper's alpha: 50 for the two small datasets, else 1000.

    For a table of one's own, the number of its training rows says whether it is small.

    Examples
    --------
    >>> alpha_of("no2"), alpha_of("news"), alpha_of("own", 400)
    (50, 1000, 50)
    """
    return 50 if dataset in ("diabetes", "no2") or n_rows < SMALL else 1000


def scale_of(split: Split) -> Literal["range"] | None:
    """Return the scale for the rows: those of the paper are scaled already."""
    return "range" if isinstance(split.X_train, pd.DataFrame) else None


@dataclass
class Experiment:
    """The paper's experiments, one run at a time.

    Parameters
    ----------
    as_published : bool, default=False
        Use the prototype's choices and random stream. If False, use the paper's own definitions.
    weights : Path, default=None
        A folder with the weights of each dataset's network. None: train the networks.
    cache : Path, default=None
        The folder where trained networks are kept. None: the library's cache.
    own : dict of str to pair, default={}
        Tables of one's own by name: the rows and the model, see
        :func:`~counterset.paper.setups.own_setup`.
    """

    as_published: bool = False
    weights: Path | None = None
    cache: Path | None = None
    own: dict[str, tuple[Split, Any]] = field(default_factory=dict)
    _setups: dict[str, tuple[Split, Network]] = field(default_factory=dict, init=False, repr=False)

    def setup(self, dataset: str) -> tuple[Split, Network]:
        """Return the rows and the network of a dataset."""
        if dataset in self.own:
            return self.own[dataset]
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
        alpha = alpha_of(cell.dataset, len(split.X_train))
        explainer = self._explainer(cell, network, alpha, scale_of(split)).fit(split.X_train)
        with warnings.catch_warnings():
            # A strict filter leaves fewer than five counterfactuals, as in the paper.
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            return evaluate(
                explainer,
                split.X_test[protocol.of(len(split.X_test))],
                repeats=protocol.repeats,
                noise=noise,
                distance=f"l{cell.norm}",
            )

    def _explainer(self, cell: Cell, network: Network, alpha: int, scale: Any) -> Any:
        if self.as_published:
            return PrototypeExplainer(network, cell.norm, alpha, cell.filter, cell.beta, cell.gamma)
        diversity = {"angle": AngleDiversity, "distance": DistanceDiversity}[cell.filter]
        return DiverseExplainer.paper(
            network,
            distance=f"l{cell.norm}",
            candidates=NearestCandidates(alpha),
            diversity=diversity(cell.beta),
            search=None if cell.gamma is None else LineSearch(cell.gamma),
            # The rows of the paper are scaled already, over the whole file.
            scale=scale,
        )


def summarise(table: pd.DataFrame) -> dict[str, float]:
    """Compute the means and standard deviations of a run, over the pairs of the same class.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "same_class": [True, True, False], "validity": [1.0, 0.5, 1.0],
    ...     **{metric: [1.0, 2.0, 9.0] for metric in METRICS}, "sparsity": 3.0, "seconds": 0.1,
    ...     "input_distance": 0.5,
    ... })
    >>> summarise(pairs)["k_distance"], summarise(pairs)["k_distance_std"]
    (1.5, 0.5)
    >>> summarise(pairs)["valid"], summarise(pairs)["pairs"]
    (50.0, 2.0)
    >>> summarise(pairs)["epsilon"], summarise(pairs)["k"]
    (0.5, 4.0)
    """
    pairs = table[table["same_class"]]
    summary = {
        "pairs": float(len(pairs)),
        "valid": float(100 * (pairs["validity"] == 1).mean()),
        "sparsity": float(pairs["sparsity"].mean()),
        "time_s": float(pairs["seconds"].mean()),
        # Definition 3: no smaller k can hold for inputs that are as close as these.
        "epsilon": float(pairs["input_distance"].max()),
        "k": float((pairs["set_distance_max"] / pairs["input_distance"]).max()),
    }
    for metric in METRICS:
        values = pairs[metric].to_numpy(dtype=np.float64)
        values = values[~np.isnan(values)]
        summary[metric] = float(values.mean()) if len(values) else np.nan
        # The population's standard deviation, as published: no correction for a sample.
        summary[f"{metric}_std"] = float(values.std()) if len(values) else np.nan
    return summary
