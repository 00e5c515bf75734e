"""``counterset verify``: check that a report is unchanged and that this is still its model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counterset.cli.files import check_files, read_rows
from counterset.cli.parsing import Commands, add_parser, whole_number
from counterset.exceptions import InvalidInputError
from counterset.models.files import load_model
from counterset.report.verify import verify_report

__all__ = ["add_command"]

#: Of many people, 100 are checked if nothing else is asked for.
PEOPLE = 100
#: The exit code of a report that was refused.
REFUSED = 1


def add_command(commands: Commands) -> None:
    """Add ``verify`` to the command line."""
    parser, group = add_parser(
        commands,
        "verify",
        "Check that a report and its model are unchanged.\n"
        "Exit code 0: all holds; 1: the report is refused; 2: it cannot be checked.",
        usage="REPORT --model MODEL [--data DATA [--sample N | --all]]",
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
    group.add_argument(
        "--data", type=Path, metavar="DATA", help="for a report about many: the rows it is about"
    )
    group.add_argument(
        "--sample",
        type=whole_number(1),
        metavar="N",
        help=f"with --data: check N people (default: {PEOPLE})",
    )
    group.add_argument("--all", action="store_true", help="with --data: check all people")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.data is None and (arguments.all or arguments.sample is not None):
        option = "--all" if arguments.all else "--sample"
        raise InvalidInputError(
            f"{option} says how many people to check, which needs their rows: name them with "
            f"--data."
        )
    if arguments.all and arguments.sample is not None:
        raise InvalidInputError("Choose either --sample N or --all.")
    check_files(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    data = sample = None
    if arguments.data is not None:
        data = read_rows(arguments.data, least=1)
        sample = None if arguments.all else arguments.sample or PEOPLE
    found = verify_report(arguments.report, model, data=data, sample=sample)
    sys.stdout.write(f"{found}\n")
    return 0 if found.holds else REFUSED
