"""``counterset reproduce``: run the paper's experiments, and print its tables."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from counterset.benchmark.data import PAPER_DATASETS
from counterset.benchmark.experiment import Experiment
from counterset.benchmark.isolation import PeerRunner
from counterset.benchmark.peers import PEERS
from counterset.benchmark.reproduce import TABLES, reproduce
from counterset.cli.arguments import positive_number, whole_number
from counterset.cli.output import check_output
from counterset.exceptions import InvalidInputError

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``reproduce`` to the command line."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and compare with the published figures",
        description="Run the paper's experiments and compare with the published figures. Data "
        "that is not bundled is read from the folder that the environment variable "
        "COUNTERSET_DATA names, or fetched from OpenML.",
    )
    parser.add_argument(
        "--as-published",
        action="store_true",
        help="use the choices and the random stream of the authors' prototype (default: the "
        "paper's own definitions)",
    )
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FOLDER",
        help="the weights of the networks, one .npz file per dataset (default: train them once)",
    )
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=PAPER_DATASETS,
        default=list(PAPER_DATASETS),
        help="the datasets to run on (default: all)",
    )
    parser.add_argument(
        "--norms",
        nargs="+",
        type=int,
        choices=(1, 2),
        default=[1, 2],
        help="the norms to measure in (default: both)",
    )
    parser.add_argument(
        "--tables",
        nargs="*",
        choices=TABLES,
        default=list(TABLES),
        help="the tables to make (default: all)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="FOLDER",
        help="where the report goes; results that are in it are not computed again (default: "
        "reproduction)",
    )
    _add_peer_options(parser)
    parser.add_argument("--retry", action="store_true", help="run failed peers again")
    parser.add_argument(
        "--no-plots", action="store_true", help="do not draw plots (matplotlib is not needed)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _add_peer_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--peers",
        nargs="+",
        default=[],
        metavar="PEER",
        help=f"other explainers to measure: {', '.join(PEERS)}, or package.module:Class",
    )
    parser.add_argument(
        "--peer-inputs",
        type=whole_number(1, 20),
        default=20,
        metavar="N",
        help="the number of inputs for peers, out of the 20 of the final results (default: 20)",
    )
    parser.add_argument(
        "--peer-repeats",
        type=whole_number(1),
        default=3,
        metavar="N",
        help="the number of noisy copies of each (default: 3)",
    )
    parser.add_argument(
        "--peer-time-limit",
        type=positive_number,
        default=600.0,
        metavar="SECONDS",
        help="the time limit for one peer on one dataset (default: 600)",
    )
    parser.add_argument(
        "--peer-python",
        default=sys.executable,
        metavar="PYTHON",
        help="a Python interpreter that has the peers installed (default: this one)",
    )


def _run(arguments: argparse.Namespace) -> int:
    plots = not arguments.no_plots
    check_output(arguments.output, plots=plots)
    if arguments.peers and shutil.which(arguments.peer_python) is None:
        raise InvalidInputError(f"--peer-python: there is no program {arguments.peer_python!r}.")
    report = reproduce(
        Experiment(arguments.as_published, arguments.weights),
        arguments.output,
        datasets=tuple(dict.fromkeys(arguments.datasets)),
        norms=tuple(dict.fromkeys(arguments.norms)),
        tables=tuple(dict.fromkeys(arguments.tables)),
        peers=tuple(dict.fromkeys(arguments.peers)),
        peer_runner=PeerRunner(
            arguments.weights,
            tuple(dict.fromkeys(arguments.norms)),
            arguments.peer_inputs,
            arguments.peer_repeats,
            arguments.peer_time_limit,
            arguments.peer_python,
        ),
        retry=arguments.retry,
        progress=not arguments.quiet,
    )
    written = report.write(arguments.output, plots=plots)
    sys.stdout.write(report.to_text())
    sys.stdout.write("\nWritten:\n" + "".join(f"  {file}\n" for file in written))
    return 0
