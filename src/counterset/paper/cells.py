"""The published runs: their settings, as cells, and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

__all__ = ["HEADINGS", "METRICS", "Cell", "CellError", "Stage", "published_results", "select_cells"]

Stage: TypeAlias = Literal["final", "tuning", "peers"]

#: The figures of every table, as columns of :func:`counterset.evaluate`.
METRICS = ("k_distance", "k_diversity", "set_distance_mean", "set_distance_max")
#: Their names in the paper.
HEADINGS = {
    "k_distance": "k-distance",
    "k_diversity": "k-diversity",
    "set_distance_mean": "set-distance (mean)",
    "set_distance_max": "set-distance (max)",
}


@dataclass(frozen=True)
class Cell:
    """One cell of the paper's tables: a setting, run on one dataset and measured in one norm.

    Attributes
    ----------
    stage
        ``"final"``: 20 inputs, 3 noisy copies each. ``"tuning"``: 50 other inputs, 1 copy each.
        ``"peers"``: another explainer on the inputs of ``"final"``.
    dataset
        The name of the dataset.
    norm
        The norm that distances are measured in, 1 or 2.
    method
        ``"ours"`` or the name of a peer.
    filter, beta
        The parameters of step 3.
    gamma
        The parameter of step 4; None: no minimisation.
    """

    stage: Stage
    dataset: str
    norm: int
    method: str = "ours"
    filter: Literal["angle", "distance"] = "angle"
    beta: float = 0.5
    gamma: float | None = None

    @property
    def minimised(self) -> bool:
        """Whether step 4 is taken."""
        return self.gamma is not None

    @property
    def key(self) -> str:
        """A name for files.

        Examples
        --------
        >>> Cell("final", "no2", 1, gamma=0.1).key
        'final-ours-no2-L1-angle-beta0.5-gamma0.1'
        """
        parts = [self.stage, self.method, self.dataset, f"L{self.norm}"]
        if self.method == "ours":
            step_4 = "unminimised" if self.gamma is None else f"gamma{self.gamma:g}"
            parts += [self.filter, f"beta{self.beta:g}", step_4]
        return "-".join(parts)


class CellError(Exception):
    """Raised when a cell cannot be run; the message goes into the table."""


def published_results() -> pd.DataFrame:
    """Return the published figures, one row per run; ``valid`` in percent.

    Examples
    --------
    >>> published_results().query("stage == 'final'").groupby("method").size().to_dict()
    {'dice': 10, 'ours': 20}
    """
    path = files("counterset.paper").joinpath("data", "published_results.csv")
    with path.open(encoding="utf-8") as stream:
        table = pd.read_csv(stream)
    table["norm"] = table["norm"].str.removeprefix("L").astype(int)
    # The tuning rows have "48/50" where the final ones have "96.0".
    parts = table["valid"].str.split("/", expand=True).astype(float)
    table["valid"] = parts[0].where(parts[1].isna(), 100 * parts[0] / parts[1])
    return table


def select_cells(
    stage: Stage, datasets: Sequence[str], norms: Sequence[int] = (1, 2)
) -> list[Cell]:
    """Return the published runs of a stage as cells: every setting that the authors published.

    A dataset that the paper has not is run with the settings of the others, which are all equal.
    """
    table = published_results()
    own = [name for name in datasets if name not in set(table["dataset"])]
    if own:
        like = select_cells(stage, [str(table["dataset"].iloc[0])], norms)
        added = [replace(cell, dataset=name) for name in own for cell in like]
        rest = [name for name in datasets if name not in own]
        return [*select_cells(stage, rest, norms), *added]
    mine = table[
        (table["stage"] == stage)
        & (table["method"] == "ours")
        & table["dataset"].isin(datasets)
        & table["norm"].isin(norms)
    ]
    # In the order of the datasets asked for; the published order is alphabetical.
    mine = mine.sort_values("dataset", kind="stable", key=lambda names: names.map(datasets.index))
    return [
        Cell(
            stage=stage,
            dataset=row["dataset"],
            norm=row["norm"],
            filter=row["filter"],
            beta=row["beta"],
            gamma=None if np.isnan(row["gamma"]) else row["gamma"],
        )
        for row in mine.to_dict("records")
    ]
