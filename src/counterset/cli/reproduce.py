"""``counterset reproduce``: the paper's tables from one command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counterset.benchmark.data import PAPER_DATASETS
from counterset.benchmark.experiment import Experiment
from counterset.benchmark.isolation import PeerRunner
from counterset.benchmark.peers import PEERS
from counterset.benchmark.reproduce import TABLES, reproduce

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``reproduce`` to the command line."""
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments and compare with the published figures",
        description="Run the paper's experiments and compare with the published figures. Data "
        "that is not bundled is read from the folder in COUNTERSET_DATA, or fetched from OpenML.",
    )
    parser.add_argument(
        "--as-published",
        action="store_true",
        help="the prototype's choices and random stream; without it, the paper's own definitions",
    )
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FOLDER",
        help="the networks' weights, one .npz file per dataset; without it they are trained once",
    )
    parser.add_argument(
        "--datasets", nargs="+", choices=PAPER_DATASETS, default=list(PAPER_DATASETS)
    )
    parser.add_argument("--norms", nargs="+", type=int, choices=(1, 2), default=[1, 2])
    parser.add_argument(
        "--tables", nargs="*", choices=TABLES, default=list(TABLES), help="default: all"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="FOLDER",
        help="results and report; finished cells in it are not run again (default: reproduction)",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        default=[],
        metavar="PEER",
        help=f"other explainers: {', '.join(PEERS)}, or package.module:Class",
    )
    parser.add_argument("--peer-inputs", type=int, default=20, help="of the 20 final inputs")
    parser.add_argument("--peer-repeats", type=int, default=3, help="noisy copies of each")
    parser.add_argument(
        "--peer-time-limit", type=float, default=600.0, metavar="SECONDS",
        help="for one peer on one dataset (default: 600)",
    )  # fmt: skip
    parser.add_argument(
        "--peer-python", default=sys.executable, metavar="PYTHON",
        help="an interpreter whose environment has the peers",
    )  # fmt: skip
    parser.add_argument("--retry", action="store_true", help="run failed cells again")
    parser.add_argument("--no-plots", action="store_true", help="do not draw (no matplotlib)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    report = reproduce(
        Experiment(arguments.as_published, arguments.weights),
        arguments.output,
        datasets=tuple(arguments.datasets),
        norms=tuple(arguments.norms),
        tables=tuple(arguments.tables),
        peers=tuple(arguments.peers),
        peer_runner=PeerRunner(
            arguments.weights,
            tuple(arguments.norms),
            arguments.peer_inputs,
            arguments.peer_repeats,
            arguments.peer_time_limit,
            arguments.peer_python,
        ),
        retry=arguments.retry,
        progress=not arguments.quiet,
    )
    written = report.write(arguments.output, plots=not arguments.no_plots)
    sys.stdout.write(report.to_text())
    sys.stdout.write("\nWritten:\n" + "".join(f"  {file}\n" for file in written))
    return 0
