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

import pandas as pd

from counterset.datasets.fetched import cache_folder
from counterset.paper.published import Cell
from counterset.paper.results import CellError

__all__ = ["PeerRunner"]

#: Of an error message, 200 characters go into the table.
LONGEST_MESSAGE = 200


@dataclass
class PeerRunner:
    """Runs the cells of peers.

    Parameters
    ----------
    weights
        A folder with the weights of the networks; None: use those that were trained here.
    norms
        The norms that will be asked for. All are measured in one process.
    inputs, repeats
        The number of inputs, out of those of the final results, and of noisy copies of each.
    time_limit
        Seconds for one peer on one dataset.
    python
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
            [self.python, "-m", "counterset.paper.worker"],
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
