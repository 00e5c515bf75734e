"""``counterset explain``: say in words what would change the decision on one row."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from counterset.cli.arguments import whole_number
from counterset.cli.cases import find_rows, read_case
from counterset.cli.options import add_goal, add_limits, add_model_and_data, add_training
from counterset.cli.output import check_file
from counterset.cli.parsers import Commands, add_parser
from counterset.exceptions import FewerCounterfactualsWarning

__all__ = ["add_command"]


def add_command(commands: Commands) -> None:
    """Add ``explain`` to the command line."""
    parser, group = add_parser(
        commands,
        "explain",
        "Say in words what would change a model's decision on one row.",
        usage="MODEL DATA --row N [options]",
        example="counterset explain model.skops credit.csv --row 1 --target good",
    )
    add_model_and_data(group, "a CSV file with the row to explain")
    group.add_argument(
        "--row",
        type=whole_number(0),
        required=True,
        metavar="N",
        help="the row to explain; the first is 0",
    )
    add_training(group)
    add_goal(group)
    add_limits(group)
    group.add_argument("--html", type=Path, metavar="FILE", help="also write a report, as HTML")
    group.add_argument("--json", action="store_true", help="print JSON in place of words")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.html is not None:
        check_file(arguments.html, "--html")
    case = read_case(arguments)
    row = find_rows(case.rows, [arguments.row], arguments.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)  # the words say it
        explanation = case.explainer.explain(row, **case.goal)
    told = explanation.to_json(indent=1) if arguments.json else explanation.describe()
    sys.stdout.write(f"{told}\n")
    if arguments.html is not None:
        explanation.to_html(arguments.html)
        if not arguments.json:  # which is all that another program expects
            sys.stdout.write(f"\nWritten to {arguments.html}\n")
    return 0
