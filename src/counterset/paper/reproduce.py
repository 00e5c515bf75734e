"""Run the paper's experiments, and return its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterset import __version__
from counterset.paper.classifiers import Network
from counterset.paper.data import PAPER_DATASETS, Split
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import PeerRunner
from counterset.paper.peers.protocol import check_peer
from counterset.paper.published import Cell, Stage, select_cells
from counterset.paper.report import Report
from counterset.paper.results import ResultsFolder, fingerprint

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
        The folder where finished cells are kept. A later call with the same version of the
        library, definitions, data and weights continues from there; with others it is refused. A
        damaged file is run again, with a warning.
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
    for peer in peers:
        check_peer(peer)
    runner = peer_runner or PeerRunner(experiment.weights, norms)
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
    return Report(results.summary([*cells, *others]), setups, experiment.as_published)


def _settings(experiment: Experiment, setups: Sequence[tuple[Split, Network]]) -> dict[str, str]:
    """Return what identifies the results: with any of it changed, the figures may be others."""
    definitions = "as published" if experiment.as_published else "the paper's"
    settings = {"version": __version__, "definitions": definitions}
    for split, network in setups:
        rows = (split.X_train, split.X_test, split.y_train, split.y_test)
        weights = [array for layer in network.layers for array in layer]
        settings[f"rows of {split.name}"] = fingerprint(rows)
        settings[f"weights of {split.name}"] = fingerprint(weights)
    return settings
