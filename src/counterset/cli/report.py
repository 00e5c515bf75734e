"""``counterset report``: one HTML file about the decisions on many rows."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from counterset.cli.explain import Where, count_by_status
from counterset.cli.files import (
    Case,
    check_files,
    find_outcomes,
    find_rows,
    listed,
    read_case,
)
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_model_and_data,
    add_outcomes,
    add_parser,
    add_repeats,
    add_rows,
    add_settings,
    add_training,
)
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import FewerCounterfactualsWarning, InvalidInputError

__all__ = ["add_command"]


def add_command(commands: Commands) -> None:
    """Add ``report`` to the command line."""
    parser, group = add_parser(
        commands,
        "report",
        "Report what would change a model's decisions on many rows.",
        usage="MODEL DATA --html FILE [options]",
        example="counterset report model.skops credit.csv --target good --html r.html",
    )
    add_model_and_data(group, "a CSV or parquet file with the rows to explain")
    group.add_argument("--html", type=Path, required=True, metavar="FILE", help="the file to write")
    add_rows(group, "the rows to explain; the first is 0 (default: all)")
    group.add_argument("--where", metavar="EXPR", help="only rows where this is true")
    add_training(group)
    add_goal(group)
    add_settings(group)
    add_outcomes(group)
    group.add_argument("--groups", metavar="COLUMN", help="show figures by the values of a column")
    add_repeats(group, 0, "noisy copies of each row, for stability")
    group.add_argument("--annex", action="store_true", help="list the cases and their options")
    group.add_argument("--title", metavar="TEXT", help="what stands above the report")
    group.add_argument("--author", metavar="NAME", help="who writes it")
    group.add_argument("--date", metavar="DATE", help="its date (default: none)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_files(arguments, "html")
    case = read_case(arguments)
    case.explainer.check_goal(case.goal["target"], case.goal["interval"])
    outcomes = find_outcomes(arguments, case.explainer)
    numbers = _numbers(case, arguments)
    rows = find_rows(case.rows, numbers, arguments.data)
    groups = _groups(case, arguments, numbers)
    stability = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)  # the report says who has none
        explanations = case.explainer.explain_many(rows, **case.goal, if_none="warn", skip=True)
        if arguments.repeats:
            stability = evaluate(case.explainer, rows, **case.goal, repeats=arguments.repeats)
    explanations.to_html(
        arguments.html,
        groups=groups,
        stability=stability,
        annex=arguments.annex,
        outcomes=outcomes,
        title=arguments.title,
        author=arguments.author,
        date=arguments.date,
    )
    sys.stdout.write(f"{count_by_status(Counter(explanations.status))}\n")
    sys.stdout.write(f"Written to {arguments.html}\n")
    return 0


def _numbers(case: Case, arguments: argparse.Namespace) -> list[int]:
    """Return the numbers of the rows to explain, each once."""
    named = range(len(case.rows)) if arguments.rows is None else arguments.rows
    numbers = list(dict.fromkeys(named))
    rows = find_rows(case.data, numbers, arguments.data)
    holds = Where(arguments.where, case.explainer).mask(rows)
    if not holds.any():
        raise InvalidInputError(
            f"--where {arguments.where!r} holds for none of the {len(rows)} rows, so there is "
            f"nothing to report."
        )
    return [number for number, is_there in zip(numbers, holds.tolist(), strict=True) if is_there]


def _groups(case: Case, arguments: argparse.Namespace, numbers: list[int]) -> Any:
    """Return the groups: a feature's name, or the values of another column for each row."""
    name = arguments.groups
    if name is None or name in case.rows:
        return name
    if name not in case.data:
        raise InvalidInputError(
            f"--groups: there is no column {name!r} in {arguments.data}. The columns are "
            f"{listed(case.data)}."
        )
    return case.data[name].iloc[numbers]
