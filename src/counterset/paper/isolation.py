"""Run each peer in its own process, with a time limit, so that it cannot stop the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import Matrix
from counterset.datasets.loading import cache_folder
from counterset.evaluation.evaluate import evaluate
from counterset.explainer import DiverseExplainer
from counterset.paper.cells import Cell, CellError
from counterset.paper.experiment import PROTOCOLS, Experiment
from counterset.paper.peers.protocol import Peer, find_peer

__all__ = ["PeerRunner", "main", "measure"]

#: What the process of a peer runs.
PROGRAM = "from counterset.paper.isolation import main; main()"
#: Of an error message, 200 characters go into the table.
LONGEST_MESSAGE = 200


@dataclass
class PeerRunner:
    """Runs the cells of peers.

    Parameters
    ----------
    weights : Path or None
        A folder with the weights of the networks. None: use those that were trained here.
    norms : sequence of int, default=(1, 2)
        The norms to measure in. All are measured in one process.
    inputs : int, default=20
        The number of inputs, out of those of the final results.
    repeats : int, default=3
        The number of noisy copies of each input.
    time_limit : float, default=600.0
        Seconds for one peer on one dataset.
    python : str, default=sys.executable
        The interpreter to run a peer with. A peer that needs other versions of common packages
        can be installed in a separate environment.
    """

    weights: Path | None
    norms: Sequence[int] = (1, 2)
    inputs: int = 20
    repeats: int = 3
    time_limit: float = 600.0
    python: str = sys.executable
    _done: dict[tuple[str, str], dict[int, pd.DataFrame] | CellError] = field(
        default_factory=dict, init=False, repr=False
    )

    def __call__(self, cell: Cell) -> pd.DataFrame:
        """Return the table of a cell; raise :class:`CellError` if its peer fails."""
        key = cell.method, cell.dataset
        if key not in self._done:
            try:
                self._done[key] = self._run(*key)
            except CellError as error:
                self._done[key] = error
        outcome = self._done[key]
        if isinstance(outcome, CellError):
            raise outcome
        return outcome[cell.norm]

    def _run(self, peer: str, dataset: str) -> dict[int, pd.DataFrame]:
        with tempfile.TemporaryDirectory() as folder:
            outputs = {norm: Path(folder) / f"{norm}.csv" for norm in self.norms}
            job = {
                "peer": peer,
                "dataset": dataset,
                "norms": list(self.norms),
                "weights": None if self.weights is None else str(self.weights),
                "cache": str(cache_folder()),
                "inputs": self.inputs,
                "repeats": self.repeats,
                "outputs": {norm: str(file) for norm, file in outputs.items()},
            }
            self._work(json.dumps(job))
            return {norm: pd.read_csv(file) for norm, file in outputs.items()}

    def _work(self, job: str) -> None:
        process = subprocess.Popen(
            [self.python, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # A new process group: the processes that a peer starts are stopped together with it.
            start_new_session=True,
        )
        try:
            _, errors = process.communicate(job, timeout=self.time_limit)
        except subprocess.TimeoutExpired:
            raise CellError(
                f"not finished within the time limit of {self.time_limit:g} s"
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode != 0:
            raise CellError(
                _last_line(errors) or f"the process ended with exit code {process.returncode}"
            )


def _last_line(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1][:LONGEST_MESSAGE] if lines else ""


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
        What to run, as :class:`PeerRunner` writes it.

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
