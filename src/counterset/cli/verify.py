"""``counterset verify``: check that a report is unchanged and that this is still its model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counterset.cli.files import check_files
from counterset.cli.parsing import Commands, add_parser
from counterset.models.files import load_model
from counterset.report.verify import verify_report

__all__ = ["add_command"]

#: The exit code of a report that was refused.
REFUSED = 1


def add_command(commands: Commands) -> None:
    """Add ``verify`` to the command line."""
    parser, group = add_parser(
        commands,
        "verify",
        "Check that a report and its model are unchanged.\n"
        "Exit code 0: both hold; 1: the report is refused; 2: it cannot be checked.",
        usage="REPORT --model MODEL [--trust]",
        example="counterset verify report.html --model model.skops",
    )
    group.add_argument("report", type=Path, metavar="REPORT", help="the HTML file")
    group.add_argument(
        "--model",
        type=Path,
        required=True,
        metavar="MODEL",
        help="an .onnx or .skops file, or a pickle (--trust)",
    )
    group.add_argument("--trust", action="store_true", help="load a pickle, which can run any code")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_files(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    found = verify_report(arguments.report, model)
    sys.stdout.write(f"{found}\n")
    return 0 if found.holds else REFUSED
