"""``counterset explain``: one row in words, or the rows of a file as another file."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from counterset._base.arrays import to_python
from counterset.cli.arguments import whole_number
from counterset.cli.cases import find_rows, read_case
from counterset.cli.explain_file import explain_file
from counterset.cli.files import check_files
from counterset.cli.options import add_goal, add_limits, add_model_and_data, add_training
from counterset.cli.parsers import Commands, add_parser
from counterset.exceptions import FewerCounterfactualsWarning, InvalidInputError

__all__ = ["add_command"]

#: The arguments that have an effect only with another.
ONLY = {
    "--row": ("html", "json"),
    "--out": ("where", "keep", "safe_csv", "jobs", "scheduler", "quiet"),
}


def add_command(commands: Commands) -> None:
    """Add ``explain`` to the command line."""
    parser, group = add_parser(
        commands,
        "explain",
        "Say in words what would change a model's decision on one row.\n"
        "--out: write a file on all rows; exit code 3 if some have no explanation.",
        usage="MODEL DATA (--row N | --out FILE) [options]",
        example="counterset explain model.skops credit.csv --row 1 --target good",
    )
    add_model_and_data(group, "a CSV or parquet file with the rows")
    group.add_argument(
        "--row", type=whole_number(0), metavar="N", help="the row to explain; the first is 0"
    )
    group.add_argument(
        "--out", type=Path, metavar="FILE", help="explain all rows, to a .parquet or .csv file"
    )
    add_training(group)
    add_goal(group)
    add_limits(group)
    group.add_argument("--html", type=Path, metavar="FILE", help="--row: also write a report")
    group.add_argument("--json", action="store_true", help="--row: JSON in place of words")
    group.add_argument("--where", metavar="EXPR", help="--out: only rows where this holds")
    group.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="--out: columns of DATA to write too",
    )
    group.add_argument(
        "--safe-csv", action="store_true", help="--out: a ' before texts that may be formulas"
    )
    group.add_argument(
        "--jobs",
        type=whole_number(1),
        metavar="N",
        help="--out: processes at work (default: 1)",
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="--out: run on this Dask cluster")
    group.add_argument("--quiet", action="store_true", help="--out: show no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if (arguments.row is None) == (arguments.out is None):
        raise InvalidInputError(
            "Choose one of --row N, to explain one row, and --out FILE, to explain all."
        )
    needed, used = ("--out", "--row") if arguments.out is None else ("--row", "--out")
    given = [f"--{name.replace('_', '-')}" for name in ONLY[needed] if getattr(arguments, name)]
    if given:
        raise InvalidInputError(f"{', '.join(given)} needs {needed}, and was given with {used}.")
    return _explain_row(arguments) if arguments.out is None else explain_file(arguments)


def _explain_row(arguments: argparse.Namespace) -> int:
    check_files(arguments, "html")
    case = read_case(arguments)
    row = find_rows(case.rows, [arguments.row], arguments.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)  # the words say it
        explanations = case.explainer.explain_many(row, **case.goal, skip=True)
    explanation = explanations[0]
    if explanations.status[0] == "already_reached":
        raise InvalidInputError(
            f"The model's answer on row {arguments.row} is what is wanted already: "
            f"{to_python(explanation.label)!r}. Choose another row, or another goal."
        )
    told = explanation.to_json(indent=1) if arguments.json else explanation.describe()
    sys.stdout.write(f"{told}\n")
    if arguments.html is not None:
        explanation.to_html(arguments.html)
        if not arguments.json:  # which is all that another program expects
            sys.stdout.write(f"\nWritten to {arguments.html}\n")
    return 0
