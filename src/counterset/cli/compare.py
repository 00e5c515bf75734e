"""``counterset compare``: explainers side by side, on a table and a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from counterset import datasets
from counterset.cli.files import check_files, check_folder, listed, read_rows, select_features
from counterset.cli.parsing import (
    Commands,
    add_immutable,
    add_parser,
    positive_number,
    whole_number,
)
from counterset.exceptions import InvalidInputError
from counterset.models.files import feature_names, is_table_file, load_model
from counterset.paper.comparison import WRITTEN, Comparer
from counterset.paper.peers.protocol import check_peer
from counterset.paper.setups import PAPER_DATASETS
from counterset.paper.tasks import KINDS, Task, named_task, table_task

__all__ = ["add_command"]

#: These need no other library, and take any model.
DEFAULT_PEERS = (
    "counterset-nearest", "counterset-shared", "counterset", "nearest-rows", "face", "constant",
)  # fmt: skip


def add_command(commands: Commands) -> None:
    """Add ``compare`` to the command line."""
    parser, group = add_parser(
        commands,
        "compare",
        "Measure explainers side by side, on a table and a model.",
        usage="--data DATA ... [options]",
        example="counterset compare --data german_credit --models forest --inputs 5",
    )
    group.add_argument(
        "--data",
        nargs="+",
        required=True,
        metavar="DATA",
        help="names of datasets, or one CSV or parquet file",
    )
    group.add_argument("--label", metavar="COLUMN", help="the class in a file (default: the last)")
    group.add_argument(
        "--models",
        nargs="+",
        metavar="KIND",
        help="boosting (default), forest, logistic, network",
    )
    group.add_argument("--model", type=Path, metavar="FILE", help="a fitted model of your own")
    group.add_argument("--trust", action="store_true", help="load a pickle, which can run any code")
    group.add_argument(
        "--weights", type=Path, metavar="FOLDER", help="the paper's networks (default: train)"
    )
    group.add_argument(
        "--peers",
        nargs="+",
        default=DEFAULT_PEERS,
        metavar="PEER",
        help="explainers, or package.module:Class (default: six)",
    )
    add_immutable(group)
    for name, kind, default, text in (
        ("inputs", whole_number(1), 10, "rows to explain"),
        ("repeats", whole_number(1), 3, "noisy copies of each"),
        ("retrainings", whole_number(1), 5, "models trained again"),
    ):
        group.add_argument(
            f"--{name}",
            type=kind,
            default=default,
            metavar="N",
            help=f"{text} (default: {default})",
        )
    for name, limit, unit, text in (
        ("time-limit", 60.0, "S", "seconds for each explainer"),
        ("proof-limit", 5.0, "S", "seconds to prove each optimum"),
        ("memory-limit", 4.0, "GB", "for each explainer"),
    ):
        group.add_argument(
            f"--{name}", type=positive_number, default=limit, metavar=unit,
            help=f"{text} (default: {limit:g})",
        )  # fmt: skip
    group.add_argument(
        "--output",
        type=Path,
        default=Path("comparison"),
        metavar="FOLDER",
        help="where results are kept (default: comparison)",
    )
    group.add_argument("--retry", action="store_true", help="run again what failed")
    group.add_argument("--no-plots", action="store_true", help="draw no plot; needs no matplotlib")
    group.add_argument("--quiet", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    plots = not arguments.no_plots
    check_folder(arguments.output, plots=plots)
    peers = tuple(dict.fromkeys(arguments.peers))
    for peer in peers:
        check_peer(peer)
    _check_options(arguments)
    comparer = Comparer(
        arguments.repeats,
        arguments.time_limit,
        arguments.memory_limit * 1e9,
        arguments.proof_limit,
        arguments.retrainings,
    )
    comparison = comparer.run(
        list(_tasks(arguments)),
        peers,
        arguments.output,
        retry=arguments.retry,
        progress=not arguments.quiet,
    )
    written = comparison.write(arguments.output, plots=plots)
    sys.stdout.write(comparison.to_text())
    sys.stdout.write("\nWritten:\n" + "".join(f"  {file}\n" for file in written))
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Check the names of the data, and that each option has an effect."""
    known = datasets.names()
    files = [name for name in arguments.data if name not in known]
    for name in files:
        if not is_table_file(Path(name)):
            raise InvalidInputError(
                f"--data: there is no dataset named {name!r}, and it is no name of a CSV or "
                f"parquet file. The datasets are {listed(known)}."
            )
    if unknown := [kind for kind in arguments.models or () if kind not in KINDS]:
        raise InvalidInputError(
            f"--models: there is no kind of model {unknown[0]!r}. Choose from {listed(KINDS)}, or "
            f"name the file of a model with --model."
        )
    if arguments.label is not None and not files:
        raise InvalidInputError("--label is for a file, and --data names none.")
    written = [arguments.output / name for name in WRITTEN]
    named = argparse.Namespace(model=arguments.model, output=arguments.output)
    check_files(named, more={"output": written}, read=list(map(Path, files)))
    if arguments.model is not None:
        if arguments.models is not None or arguments.weights is not None:
            raise InvalidInputError("Choose either --model FILE, or models to train with --models.")
        if len(arguments.data) > 1:
            raise InvalidInputError(
                f"--model is a model for one table, and --data names {len(arguments.data)}."
            )
    elif arguments.trust:
        raise InvalidInputError("--trust is for the file of --model.")
    if arguments.weights is not None and (
        "network" not in (arguments.models or ()) or not set(arguments.data) & set(PAPER_DATASETS)
    ):
        raise InvalidInputError(
            f"--weights are those of the paper's networks: use it with --models network and --data "
            f"{' or '.join(PAPER_DATASETS)}."
        )


def _tasks(arguments: argparse.Namespace) -> Iterator[Task]:
    """Return what is compared on, dataset by dataset."""
    tables = {name: _table(name, arguments) for name in dict.fromkeys(arguments.data)}
    for feature in arguments.immutable:
        if not any(feature in X.columns for X, _ in tables.values()):
            raise InvalidInputError(
                f"--immutable: there is no feature {feature!r} in {listed(tables)}."
            )
    for name, (X, y) in tables.items():
        fixed = tuple(each for each in arguments.immutable if each in X.columns)
        shared: dict[str, Any] = {"inputs": arguments.inputs, "immutable": fixed}
        if arguments.model is not None:
            yield _own_task(name, X, y, arguments, shared)
            continue
        for kind in dict.fromkeys(arguments.models or ["boosting"]):
            if name in datasets.names():
                yield named_task(name, kind, weights=arguments.weights, **shared)
            else:
                yield table_task(Path(name).stem, X, y, kind, **shared)


def _table(name: str, arguments: argparse.Namespace) -> tuple[pd.DataFrame, Any]:
    """Return the features and the classes of a dataset or a file."""
    if name in datasets.names():
        data = datasets.load(name)
        return data.X, data.y
    rows = read_rows(Path(name))
    label = rows.columns[-1] if arguments.label is None else arguments.label
    if label not in rows:
        raise InvalidInputError(
            f"--label: there is no column {label!r} in {name}. The columns are {listed(rows)}."
        )
    return rows.drop(columns=label), rows[label]


def _own_task(
    name: str, X: pd.DataFrame, y: Any, arguments: argparse.Namespace, shared: dict[str, Any]
) -> Task:
    """Return the task of a model of one's own."""
    model = load_model(arguments.model, trust=arguments.trust)
    needed = feature_names(model)
    if needed is not None and y.name in needed:  # the last column is a feature
        X, y = X.assign(**{y.name: y}), None
    X = select_features(X, model, (), Path(name))
    return table_task(Path(name).stem, X, y, model, **shared)
