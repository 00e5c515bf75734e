"""``counterset evaluate``: measure how good explanations are, and how stable."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

import pandas as pd

from counterset._base.files import written_aside
from counterset.cli.files import check_files, read_case
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_model_and_data,
    add_parser,
    add_repeats,
    add_seed,
    add_settings,
    add_training,
    whole_number,
)
from counterset.evaluation.evaluate import evaluate
from counterset.tables.table import Table
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["add_command"]

#: What is measured, and what it means.
FIGURES = {
    "counterfactuals": "options for each row",
    "validity": "share of them that the model confirms",
    "k_distance": "mean distance from a row to its options",
    "k_diversity": "mean distance between them",
    "sparsity": "features that an option changes",
    "input_distance": "distance from a row to its noisy copies",
    "set_distance_mean": "mean distance between the options of both",
    "jump": "the same, beyond the difference between the two rows",
    "set_distance_max": "largest distance between the options of both",
    "coverage": "from the nearest option of one to the options of the other",
    "kept": "share of a row's options that its copy is offered too",
    "covered": "share of copies whose nearest option is one of the row's",
}
#: What is far from the mean for a few: their 95th percentile is told beside it.
TAILS = ("set_distance_mean", "set_distance_max", "jump", "coverage")


def add_command(commands: Commands) -> None:
    """Add ``evaluate`` to the command line."""
    parser, group = add_parser(
        commands,
        "evaluate",
        "Measure how near, diverse and stable explanations are.",
        usage="MODEL DATA [options]",
        example="counterset evaluate model.skops credit.csv --inputs 20 --target good",
    )
    add_model_and_data(group, "a CSV or parquet file with rows to explain")
    group.add_argument(
        "--inputs",
        type=whole_number(1),
        default=50,
        metavar="N",
        help="explain the first N rows (default: 50)",
    )
    add_training(group)
    add_goal(group)
    add_settings(group)
    add_repeats(group, 3, "noisy copies of each row")
    add_seed(group)
    group.add_argument("--output", type=Path, metavar="FILE", help="also write all figures, as CSV")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_files(arguments, "output")
    case = read_case(arguments)
    rows = case.rows.iloc[: arguments.inputs]
    table = evaluate(
        case.explainer, rows, **case.goal, repeats=arguments.repeats, random_state=arguments.seed
    )
    sys.stdout.write(_summary(table) + _how_noisy(table, case.explainer.training_.table))
    if arguments.output is not None:
        with written_aside(arguments.output) as unfinished:
            table.to_csv(unfinished, index=False)
        sys.stdout.write(f"Written to {arguments.output}\n")
    return 0


def _summary(table: pd.DataFrame) -> str:
    """Return the mean of each figure, over the rows that were explained."""
    explained = table[table["validity"].notna()]
    count = explained["input"].nunique()
    reached = table["input"].nunique() - count
    rows = "1 row" if count == 1 else f"{count} rows"
    lines = [f"{rows} explained, {reached} already had the wanted class or value."]
    if len(explained):
        means, tails = explained[list(FIGURES)].mean(), explained[list(TAILS)].quantile(0.95)
        lines.append("Means; in brackets the 95th percentile:")
        for name, meaning in FIGURES.items():
            tail = f" (95%: {tails[name]:.3f})" if name in TAILS else ""
            lines.append(f"{means[name]:9.3f}  {name}: {meaning}{tail}")
    return "".join(f"{line}\n" for line in lines)


def _how_noisy(table: pd.DataFrame, columns: Table) -> str:
    """Return how much noisy copies differ from their rows, in the units of each number."""
    differences = Writer(Templates.read()).differences(table.attrs["differences"], columns)
    return textwrap.fill(f"Copies differ, on average: {differences}.") + "\n" if differences else ""
