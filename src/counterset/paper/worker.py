"""Measure one peer on one dataset, as a separate process.

It is started by :mod:`counterset.paper.isolation`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import Matrix
from counterset.evaluation.evaluate import evaluate
from counterset.explainer import DiverseExplainer
from counterset.paper.experiment import PROTOCOLS, Experiment
from counterset.paper.peers.protocol import Peer, find_peer

__all__ = ["main", "measure"]


class _Cached:
    """An explainer that asks a peer about each row only once."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._sets: dict[bytes, Matrix] = {}

    def explain_many(self, X: Matrix) -> Sequence[Matrix]:
        new = [i for i, row in enumerate(X) if row.tobytes() not in self._sets]
        if new:
            for i, found in zip(new, self.peer.explain_many(X[new]), strict=True):
                self._sets[X[i].tobytes()] = found
        return [self._sets[row.tobytes()] for row in X]


def measure(job: dict[str, Any]) -> dict[int, pd.DataFrame]:
    """Measure a peer in each norm of the job.

    Parameters
    ----------
    job
        What to run, as :class:`~counterset.paper.isolation.PeerRunner` writes it.

    Returns
    -------
    tables
        The table of :func:`counterset.evaluate` for each norm.
    """
    weights = None if job["weights"] is None else Path(job["weights"])
    split, network = Experiment(weights=weights, cache=Path(job["cache"])).setup(job["dataset"])
    rows = split.X_test[PROTOCOLS["final"].rows][: job["inputs"]]
    tables: dict[int, pd.DataFrame] = {}
    explainer: _Cached | None = None
    for norm in job["norms"]:
        if explainer is None or explainer.peer.uses_norm:
            peer = find_peer(job["peer"], norm)
            peer.fit(network, split.X_train)
            explainer = _Cached(peer)
        plain = DiverseExplainer.paper(network, distance=f"l{norm}", scale=None).fit(split.X_train)
        table = evaluate(
            explainer, rows, repeats=job["repeats"], model=network, distance=plain.distance_
        )
        if tables and not explainer.peer.uses_norm:
            # For the second norm the sets are there already, so the time is that of the first.
            table["seconds"] = tables[job["norms"][0]]["seconds"]
        tables[norm] = table
    return tables


def main() -> None:
    """Read a job from standard input, and write a table per norm to the files that it names."""
    job = json.load(sys.stdin)
    for norm, table in measure(job).items():
        table.to_csv(job["outputs"][str(norm)], index=False)


if __name__ == "__main__":
    main()
