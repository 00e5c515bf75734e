"""Run the paper's experiments, and return its tables."""

from __future__ import annotations

from pathlib import Path

from counterset.benchmark.data import PAPER_DATASETS
from counterset.benchmark.experiment import Experiment
from counterset.benchmark.isolation import PeerRunner
from counterset.benchmark.published import Cell, Stage, select_cells
from counterset.benchmark.report import Report
from counterset.benchmark.results import ResultsFolder

__all__ = ["TABLES", "reproduce"]

TABLES: tuple[Stage, ...] = ("final", "tuning")


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
    experiment
        The definitions and the networks to use.
    folder
        The folder where finished cells are kept. A later call with the same settings continues
        from there.
    datasets, norms, tables
        What to run. The tables of the datasets and of the accuracy are always included.
    peers
        The names of other explainers to measure on the same inputs and networks.
    peer_runner
        How to run the peers; None: with the default limits.
    retry
        Run failed cells again.
    progress
        Show a progress bar on the error stream.
    """
    weights = "trained here" if experiment.weights is None else str(experiment.weights.resolve())
    definitions = "as published" if experiment.as_published else "the paper's"
    results = ResultsFolder(
        folder / "cells", settings={"definitions": definitions, "weights": weights}
    )
    setups = [experiment.setup(name) for name in datasets]
    cells = [cell for table in tables for cell in select_cells(table, datasets, norms)]
    results.run_all(cells, experiment.run, retry=retry, progress=progress)
    runner = peer_runner or PeerRunner(experiment.weights, norms)
    others = [
        Cell("peers", dataset, norm, method=peer)
        for dataset in datasets
        for peer in peers
        for norm in norms
    ]
    results.run_all(others, runner, retry=retry, progress=progress)
    return Report(results.summary([*cells, *others]), setups, experiment.as_published)
