"""Run each peer in its own process, with a time limit, so that it cannot stop the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix, Vector
from counterset.datasets.loading import cache_folder
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import NoCounterfactualError
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
    explained : Path or None, default=None
        A folder where each set is kept as soon as it is found, so that a run that was stopped
        continues with the next input. None: nothing is kept.
    """

    weights: Path | None
    norms: Sequence[int] = (1, 2)
    inputs: int = 20
    repeats: int = 3
    time_limit: float = 600.0
    python: str = sys.executable
    explained: Path | None = None
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
                "explained": None if self.explained is None else str(self.explained.absolute()),
            }
            try:
                self._work(json.dumps(job))
            except subprocess.TimeoutExpired:
                raise CellError(
                    f"not finished within the time limit of {self.time_limit:g} s"
                    f"{self._progress(peer, dataset)}"
                ) from None
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
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode != 0:
            raise CellError(
                _last_line(errors) or f"the process ended with exit code {process.returncode}"
            )

    def _progress(self, peer: str, dataset: str) -> str:
        """Say how many rows a peer has explained that was stopped."""
        if self.explained is None:
            return ""
        files = self.explained.glob(f"{_stem(peer, dataset)}*.jsonl")
        done = sum(len(_lines(file)) for file in files)
        return f"; {done} explanations are kept, and --retry continues with the next one"


def _last_line(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1][:LONGEST_MESSAGE] if lines else ""


class _Kept:
    """An explainer that asks a peer about each row only once, and keeps the answers in a file.

    The rows are asked about one at a time. Each answer is one line of the file, so that a process
    that is stopped loses no more than the row that it was at.

    Parameters
    ----------
    peer
        The peer.
    explained
        What identifies the network and the training rows: an answer about others is not used.
    file
        The file, in JSON lines. None: the answers are kept in memory only.

    Attributes
    ----------
    seconds
        How long the peer took for each row that was asked about, in the order of asking.
    """

    def __init__(self, peer: Peer, explained: Sequence[Matrix], file: Path | None) -> None:
        self.peer = peer
        self.seconds: list[float] = []
        self._prefix = sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in explained))
        self._file = file
        self._answers: dict[str, dict[str, Any]] = {}
        if file is not None and file.exists():
            self._answers = {
                answer["row"]: answer for answer in map(_parse, _lines(file)) if answer
            }

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [self._explain(row) for row in X]

    def _explain(self, row: Vector) -> Matrix:
        digest = self._prefix.copy()
        digest.update(row.tobytes())
        key = digest.hexdigest()[:16]
        if key not in self._answers:
            start = time.perf_counter()
            try:
                found = np.asarray(self.peer.explain_many(row[None, :])[0], dtype=np.float64)
            except NoCounterfactualError:
                found = np.empty((0, len(row)))
            seconds = time.perf_counter() - start
            self._keep({"row": key, "seconds": round(seconds, 6), "set": found.tolist()})
        answer = self._answers[key]
        self.seconds.append(answer["seconds"])
        return np.array(answer["set"]) if answer["set"] else np.empty((0, len(row)))

    def _keep(self, answer: dict[str, Any]) -> None:
        self._answers[answer["row"]] = answer
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a+b") as stream:
            # A process that was stopped may have left half a line: it must not swallow this one.
            if stream.tell() and not _lines(self._file)[-1].endswith(b"\n"):
                stream.write(b"\n")
            stream.write(json.dumps(answer).encode() + b"\n")


def _lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return an answer; None for half a line."""
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return answer


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
    identity = [split.X_train, *(array for layer in network.layers for array in layer)]
    tables: dict[int, pd.DataFrame] = {}
    explainer: _Kept | None = None
    for norm in job["norms"]:
        if explainer is None or explainer.peer.uses_norm:
            peer = find_peer(job["peer"], norm)
            peer.fit(network, split.X_train)
            explainer = _Kept(peer, identity, _file_of(job, peer, norm))
        explainer.seconds.clear()
        plain = DiverseExplainer.paper(network, distance=f"l{norm}", scale=None).fit(split.X_train)
        table = evaluate(
            explainer, rows, repeats=job["repeats"], model=network, distance=plain.distance_
        )
        # The time is that of the peer, also where the set was there already.
        table["seconds"] = _seconds_of_pairs(explainer.seconds, table["same_class"], job["repeats"])
        tables[norm] = table
    return tables


def _file_of(job: dict[str, Any], peer: Peer, norm: int) -> Path | None:
    """Return the file that keeps the sets of a peer on a dataset."""
    if job.get("explained") is None:
        return None
    name = _stem(peer.name, job["dataset"]) + (f"-L{norm}" if peer.uses_norm else "")
    return Path(job["explained"]) / f"{name}.jsonl"


def _stem(peer: str, dataset: str) -> str:
    return f"{peer.replace(':', '.')}-{dataset}"


def _seconds_of_pairs(seconds: Sequence[float], found: pd.Series, repeats: int) -> Vector:
    """Return the mean time of the two explanations of each pair.

    The inputs are explained first, and then those copies that were found.
    """
    inputs = len(found) // repeats
    own = np.repeat(seconds[:inputs], repeats)
    copies = own.copy()
    copies[found.to_numpy()] = seconds[inputs:]
    pairs: Vector = (own + copies) / 2
    return pairs


def main() -> None:
    """Read a job from standard input, and write a table per norm to the files that it names."""
    job = json.load(sys.stdin)
    for norm, table in measure(job).items():
        table.to_csv(job["outputs"][str(norm)], index=False)
