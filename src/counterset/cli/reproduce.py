"""``counterset reproduce``: run the paper's experiments, and print its tables."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from counterset.cli.files import check_folder
from counterset.cli.parsing import Commands, Group, add_parser, positive_number, whole_number
from counterset.exceptions import InvalidInputError
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import PeerRunner
from counterset.paper.report import weights_table
from counterset.paper.reproduce import TABLES, reproduce
from counterset.paper.setups import PAPER_DATASETS, check_weights

__all__ = ["add_command"]


def add_command(commands: Commands) -> None:
    """Add ``reproduce`` to the command line."""
    parser, group = add_parser(
        commands,
        "reproduce",
        "Run the paper's experiments and compare with its figures.\n"
        "Data that is not bundled is read from the folder COUNTERSET_DATA, or fetched.",
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
        ("datasets", str, PAPER_DATASETS, "the datasets to run (default: all)"),
        ("norms", int, (1, 2), "1 or 2 (default: both)"),
        ("tables", str, TABLES, f"{' or '.join(TABLES)} (default: all)"),
    ):
        group.add_argument(
            f"--{name}",
            nargs="*" if name == "tables" else "+",
            type=kind,
            choices=values,
            default=list(values),
            metavar=name[:-1].upper(),
            help=text,
        )
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
        type=positive_number,
        default=600.0,
        metavar="S",
        help="seconds per peer and dataset (default: 600)",
    )
    group.add_argument(
        "--peer-python",
        metavar="PYTHON",
        help="the Python that runs peers (default: see 'counterset peers')",
    )


def _run(arguments: argparse.Namespace) -> int:
    if arguments.check_weights:
        return _check_weights(arguments)
    plots = not arguments.no_plots
    check_folder(arguments.output, plots=plots)
    if arguments.peer_python is not None and shutil.which(arguments.peer_python) is None:
        raise InvalidInputError(f"--peer-python: there is no program {arguments.peer_python!r}.")
    experiment = Experiment(arguments.as_published, arguments.weights)
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
            arguments.output / "explained",
        ),
        retry=arguments.retry,
        progress=not arguments.quiet,
    )
    written = report.write(arguments.output, plots=plots)
    sys.stdout.write(report.to_text())
    sys.stdout.write("\nWritten:\n" + "".join(f"  {file}\n" for file in written))
    return 0


def _check_weights(arguments: argparse.Namespace) -> int:
    if arguments.weights is None:
        raise InvalidInputError("--check-weights needs --weights, the folder with the networks.")
    checked = check_weights(arguments.weights, tuple(dict.fromkeys(arguments.datasets)))
    sys.stdout.write(weights_table(checked).to_text() + "\n")
    return 1 if (checked["wrong"] != "").any() else 0
