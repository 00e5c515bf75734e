"""Run the paper's experiments, and return its tables."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pandas as pd

from counterset import __version__
from counterset._base.files import written_aside
from counterset._base.progress import Progress
from counterset.exceptions import CountersetWarning, InvalidInputError
from counterset.paper.cells import METRICS, Cell, CellError, Stage, select_cells
from counterset.paper.differences import paired_differences
from counterset.paper.experiment import PROTOCOLS, Experiment, summarise
from counterset.paper.isolation import PeerRunner
from counterset.paper.peers.protocol import check_peer
from counterset.paper.report import Report
from counterset.paper.setups import PAPER_DATASETS, Network, Split, fingerprint, identity_of

__all__ = ["TABLES", "HasKey", "ResultsFolder", "fingerprint", "reproduce"]

TABLES: tuple[Stage, ...] = ("final", "tuning")
#: The file in the folder that holds the settings.
SETTINGS_FILE = "settings.json"


class HasKey(Protocol):
    """What a result is kept for; ``key`` is a name for its file."""

    @property
    def key(self) -> str:
        """A name for files."""
        ...


_Kept = TypeVar("_Kept", bound=HasKey)


def reproduce(
    experiment: Experiment,
    folder: Path,
    *,
    datasets: tuple[str, ...] = PAPER_DATASETS,
    norms: tuple[int, ...] = (1, 2),
    tables: tuple[Stage, ...] = TABLES,
    peers: tuple[str, ...] = (),
    peer_runner: PeerRunner | None = None,
    retry: bool = False,
    progress: bool = False,
) -> Report:
    """Run those of the paper's experiments that are not in the folder yet.

    Parameters
    ----------
    experiment : Experiment
        The definitions and the networks to use.
    folder : Path
        Where finished cells are kept. A later call continues from there if the version of the
        library, the definitions, the data and the weights are the same. If not, it is refused. A
        cell whose file is damaged is run again, with a warning.
    datasets : tuple of str, default=("diabetes", "no2", "credit", "spambase", "news")
        The datasets to run; those that ``experiment.own`` holds can be named too.
    norms : tuple of int, default=(1, 2)
        The norms to measure in.
    tables : tuple of {"final", "tuning"}, default=("final", "tuning")
        The tables to run. Those of the datasets and of the accuracy are always included.
    peers : tuple of str, default=()
        The names of other explainers to measure on the same inputs and networks.
    peer_runner : PeerRunner, default=None
        Runs the peers. None: with the default number of inputs, copies and seconds.
    retry : bool, default=False
        Run failed cells again.
    progress : bool, default=False
        Show a progress bar on the error stream.

    Returns
    -------
    Report
        The tables, and the plots that can be drawn of them.
    """
    for what, given, known in (
        ("datasets", datasets, (*PAPER_DATASETS, *experiment.own)),
        ("norms", norms, (1, 2)),
        ("tables", tables, TABLES),
    ):
        strange = [each for each in given if each not in known]
        if strange:
            raise InvalidInputError(
                f"{what} has {strange[0]!r}, which the paper has not. Choose from {list(known)}."
            )
    for name, (split, _) in experiment.own.items():
        left = PROTOCOLS["tuning"].of(len(split.X_test)).stop
        if name in datasets and "tuning" in tables and left == 0:
            raise InvalidInputError(
                f"{name} has {len(split.X_test)} test rows, which are all explained in the final "
                f"results. Leave the tuning out of tables, or pass more than 100 rows."
            )
    for peer in peers:
        check_peer(peer)
    runner = peer_runner or PeerRunner(experiment, norms, explained=folder / "explained")
    setups = [experiment.setup(name) for name in datasets]
    settings = _settings(experiment, setups)
    if peers:
        settings |= {"peer inputs": str(runner.inputs), "peer repeats": str(runner.repeats)}
    results = ResultsFolder(folder / "cells", settings)
    cells = [cell for table in tables for cell in select_cells(table, datasets, norms)]
    results.run_all(cells, experiment.run, retry=retry, progress=progress)
    others = [
        Cell("peers", dataset, norm, method=peer)
        for dataset in datasets
        for peer in peers
        for norm in norms
    ]
    results.run_all(others, runner, retry=retry, progress=progress)
    return Report(
        results.summary([*cells, *others]),
        setups,
        experiment.as_published,
        trained=experiment.weights is None and any(name in PAPER_DATASETS for name in datasets),
        differences=paired_differences(results.read, cells, others),
    )


def _settings(experiment: Experiment, setups: Sequence[tuple[Split, Any]]) -> dict[str, str]:
    """Return what identifies the results: if any of it changes, the figures may change."""
    definitions = "as published" if experiment.as_published else "the paper's"
    settings = {"version": __version__, "definitions": definitions}
    for split, model in setups:
        if isinstance(model, Network):
            rows = (split.X_train, split.X_test, split.y_train, split.y_test)
            weights = [array for layer in model.layers for array in layer]
            settings[f"rows of {split.name}"] = fingerprint(rows)
            settings[f"weights of {split.name}"] = fingerprint(weights)
        else:
            settings[f"rows and model of {split.name}"] = identity_of(split, model)[:16]
    return settings


@dataclass(frozen=True)
class ResultsFolder:
    """Finished cells, one CSV file each, and the settings they were run with.

    The first line of a file is a checksum of the rest. A file that does not match it is damaged,
    and does not count as finished.

    Parameters
    ----------
    path
        The folder. It is made if it does not exist.
    settings
        What identifies the results. A folder with another value for one of them is refused; new
        ones are added to it.
    """

    path: Path
    settings: dict[str, str]

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / SETTINGS_FILE
        before = self._read_settings(file)
        different = [
            f"{name}: {before[name]} there, {now} now"
            for name, now in self.settings.items()
            if before.get(name, now) != now
        ]
        if different:
            raise InvalidInputError(
                f"The results in {self.path} were run with other settings "
                f"({'; '.join(different)}). Choose another folder, or delete that one."
            )
        if not self.settings.items() <= before.items():
            with written_aside(file) as unfinished:
                text = json.dumps(before | self.settings, indent=1) + "\n"
                unfinished.write_text(text, encoding="utf-8")

    def _read_settings(self, file: Path) -> dict[str, str]:
        """Return the settings of the results that are in the folder already."""
        if not file.exists() and not any(self.path.glob("*.csv")):
            return {}
        try:
            before = json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            before = None
        if not isinstance(before, dict):
            raise InvalidInputError(
                f"It is not known what the results in {self.path} were run with, because "
                f"{SETTINGS_FILE} is missing or damaged. Choose another folder, or delete that one."
            )
        return before

    def run_all(
        self,
        cells: Iterable[_Kept],
        run: Callable[[_Kept], pd.DataFrame],
        *,
        retry: bool = False,
        progress: bool = False,
        label: str = "reproduce",
    ) -> None:
        """Run the cells that are not finished yet, and save each as soon as it is.

        A failure is saved like a result; ``retry`` runs the failed cells again.
        """
        open_ = [cell for cell in cells if self._is_open(cell, retry)]
        with Progress(len(open_), label, shown=progress and bool(open_)) as bar:
            for cell in open_:
                bar.advance(0, label=cell.key)
                try:
                    table = run(cell)
                except CellError as failure:
                    table = pd.DataFrame({"error": [str(failure)]})
                self.save(cell, table)
                bar.advance()

    def save(self, cell: HasKey, table: pd.DataFrame) -> None:
        """Save a finished cell."""
        content = table.to_csv(index=False).encode()
        with written_aside(self._file(cell)) as unfinished:
            unfinished.write_bytes(_first_line(cell, content) + content)

    def summary(self, cells: Iterable[Cell]) -> pd.DataFrame:
        """Return one row per finished cell: its settings, and its figures or its error."""
        records: list[dict[str, object]] = []
        for cell in cells:
            table = self.read(cell)
            if table is None:
                continue
            record: dict[str, object] = asdict(cell) | {"minimised": cell.minimised, "error": ""}
            if "error" in table:
                record["error"] = str(table["error"].iloc[0])
            if "same_class" in table:
                record |= summarise(table)
            records.append(record)
        columns = [*Cell.__dataclass_fields__, "minimised", "error", "pairs", "valid", "sparsity"]
        figures = [name for metric in METRICS for name in (metric, f"{metric}_std")]
        return pd.DataFrame(records, columns=[*columns, "time_s", *figures, "epsilon", "k"])

    def _is_open(self, cell: HasKey, retry: bool) -> bool:
        table = self.read(cell)
        return table is None or (retry and "error" in table)

    def read(self, cell: HasKey) -> pd.DataFrame | None:
        """Return the table of a finished cell; None for one that is missing or damaged."""
        file = self._file(cell)
        if not file.exists():
            return None
        first, end, content = file.read_bytes().partition(b"\n")
        if first + end != _first_line(cell, content):
            warnings.warn(
                f"The result in {file} is damaged (its checksum does not match), so it does not "
                f"count as finished.",
                CountersetWarning,
                stacklevel=2,
            )
            return None
        return pd.read_csv(BytesIO(content))

    def _file(self, cell: HasKey) -> Path:
        return self.path / f"{cell.key.replace(':', '.')}.csv"


def _first_line(cell: HasKey, content: bytes) -> bytes:
    """Return the checksum line of a cell's file; the file of another cell has another."""
    return f"# sha256 {sha256(cell.key.encode() + content).hexdigest()}\n".encode()
