"""``counterset reproduce``: run the paper's experiments, and print its tables."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from counterset.cli.files import check_files, check_folder, read_rows, select_features
from counterset.cli.parsing import Commands, Group, add_parser, positive_number, whole_number
from counterset.exceptions import InvalidInputError
from counterset.models.files import load_model
from counterset.models.frameworks import as_predictor
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import PeerRunner
from counterset.paper.report import WRITTEN, weights_table
from counterset.paper.reproduce import TABLES, reproduce
from counterset.paper.setups import PAPER_DATASETS, Split, check_weights, own_setup

__all__ = ["add_command"]


def add_command(commands: Commands) -> None:
    """Add ``reproduce`` to the command line."""
    parser, group = add_parser(
        commands,
        "reproduce",
        "Run the paper's experiments and compare with its figures.\n"
        "Data that is not bundled is read from the folder COUNTERSET_DATA, or fetched.\n"
        "With --data they are run on a table of your own.",
        usage="[options]",
        example="counterset reproduce --datasets diabetes --tables final",
    )
    group.add_argument(
        "--as-published", action="store_true", help="make the choices of the authors' prototype"
    )
    group.add_argument(
        "--weights",
        type=Path,
        metavar="FOLDER",
        help="a folder of .npz networks (default: train)",
    )
    group.add_argument(
        "--check-weights",
        action="store_true",
        help="check the networks in --weights, and run nothing",
    )
    for name, kind, values, text in (
        ("datasets", str, PAPER_DATASETS, "the datasets to run (default: all; with --data: none)"),
        ("norms", int, (1, 2), "1 or 2 (default: both)"),
        ("tables", str, TABLES, f"{' or '.join(TABLES)} (default: all; with --data: final)"),
    ):
        group.add_argument(
            f"--{name}",
            nargs="*" if name == "tables" else "+",
            type=kind,
            choices=values,
            metavar=name[:-1].upper(),
            help=text,
        )
    _add_own_options(group)
    group.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="FOLDER",
        help="where results are kept (default: reproduction)",
    )
    _add_peer_options(group)
    group.add_argument("--retry", action="store_true", help="run again what failed")
    group.add_argument("--no-plots", action="store_true", help="draw no plots; needs no matplotlib")
    group.add_argument("--quiet", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _add_own_options(group: Group) -> None:
    group.add_argument(
        "--data", type=Path, metavar="FILE", help="a CSV or parquet file of your own to run"
    )
    group.add_argument("--target-column", metavar="COLUMN", help="the classes in that file")
    group.add_argument(
        "--model",
        type=Path,
        metavar="FILE",
        help="a fitted model for it (default: train a network)",
    )
    group.add_argument("--trust", action="store_true", help="load a pickle, which can run any code")


def _add_peer_options(group: Group) -> None:
    group.add_argument(
        "--peers",
        nargs="+",
        default=[],
        metavar="PEER",
        help="other explainers, as nice or package.module:Class",
    )
    group.add_argument(
        "--peer-inputs",
        type=whole_number(1, 20),
        default=20,
        metavar="N",
        help="inputs that peers explain (default: all 20)",
    )
    group.add_argument(
        "--peer-repeats",
        type=whole_number(1),
        default=3,
        metavar="N",
        help="noisy copies of each input (default: 3)",
    )
    group.add_argument(
        "--peer-time-limit",
        type=_seconds,
        default=600.0,
        metavar="S",
        help="for each, and dataset (default: 600; 0: use kept sets)",
    )
    group.add_argument(
        "--peer-answers",
        type=Path,
        metavar="FOLDER",
        help="where their sets are kept (default: in the output)",
    )
    group.add_argument(
        "--peer-python",
        metavar="PYTHON",
        help="the Python that runs them (see 'counterset peers')",
    )


def _seconds(text: str) -> float:
    """Read a number of seconds; 0 stands for no time."""
    return 0.0 if text == "0" else positive_number(text)


def _run(arguments: argparse.Namespace) -> int:
    own = _read_own(arguments)
    if arguments.datasets is None:
        arguments.datasets = list(own) or list(PAPER_DATASETS)
    else:
        arguments.datasets += list(own)
    if arguments.tables is None:
        arguments.tables = ["final"] if own else list(TABLES)
    if arguments.norms is None:
        arguments.norms = [1, 2]
    if arguments.check_weights:
        return _check_weights(arguments)
    plots = not arguments.no_plots
    check_folder(arguments.output, plots=plots)
    if arguments.peer_python is not None and shutil.which(arguments.peer_python) is None:
        raise InvalidInputError(f"--peer-python: there is no program {arguments.peer_python!r}.")
    experiment = Experiment(arguments.as_published, arguments.weights, own=own)
    report = reproduce(
        experiment,
        arguments.output,
        datasets=tuple(dict.fromkeys(arguments.datasets)),
        norms=tuple(dict.fromkeys(arguments.norms)),
        tables=tuple(dict.fromkeys(arguments.tables)),
        peers=tuple(dict.fromkeys(arguments.peers)),
        peer_runner=PeerRunner(
            experiment,
            tuple(dict.fromkeys(arguments.norms)),
            arguments.peer_inputs,
            arguments.peer_repeats,
            arguments.peer_time_limit,
            arguments.peer_python,
            arguments.peer_answers or arguments.output / "explained",
        ),
        retry=arguments.retry,
        progress=not arguments.quiet,
    )
    written = report.write(arguments.output, plots=plots)
    sys.stdout.write(report.to_text())
    sys.stdout.write("\nWritten:\n" + "".join(f"  {file}\n" for file in written))
    return 0


def _read_own(arguments: argparse.Namespace) -> dict[str, tuple[Split, Any]]:
    """Read a table of one's own and its model; check that no option lacks its other one."""
    file, column = arguments.data, arguments.target_column
    for option, needs, alone in (
        ("--data", "--target-column, the column of the classes", file and column is None),
        ("--target-column", "--data, the file", column is not None and file is None),
        ("--model", "--data, the table that it is for", arguments.model and file is None),
        ("--trust", "--model, the file to trust", arguments.trust and arguments.model is None),
    ):
        if alone:
            raise InvalidInputError(f"{option} needs {needs}.")
    if file is None:
        return {}
    if arguments.as_published and arguments.model is not None:
        raise InvalidInputError(
            "--as-published makes the choices of a prototype for scaled numbers, not for --model. "
            "Leave one of them out."
        )
    if arguments.weights is not None and arguments.datasets is None:
        raise InvalidInputError(
            "--weights are networks for the paper's datasets. Pass --model for --data, or name "
            "--datasets too."
        )
    check_files(
        argparse.Namespace(data=file, model=arguments.model),
        more={"output": [arguments.output / name for name in WRITTEN]},
    )
    name = file.stem if file.stem not in PAPER_DATASETS else f"own-{file.stem}"
    rows, model, features = read_rows(file), None, None
    if arguments.model is not None:
        model = as_predictor(load_model(arguments.model, trust=arguments.trust))
        # The target may be missing, which own_setup says; the model does not take it.
        target = [column] if column in rows else []
        features = select_features(rows.drop(columns=target), model, [], file)
    return {name: own_setup(rows, column, name, model, features=features)}


def _check_weights(arguments: argparse.Namespace) -> int:
    if arguments.weights is None:
        raise InvalidInputError("--check-weights needs --weights, the folder with the networks.")
    checked = check_weights(arguments.weights, tuple(dict.fromkeys(arguments.datasets)))
    sys.stdout.write(weights_table(checked).to_text() + "\n")
    return 1 if (checked["wrong"] != "").any() else 0
