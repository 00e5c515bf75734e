"""``counterset tune``: find good parameters for a model and its data."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import joblib
import pandas as pd
from sklearn.model_selection import train_test_split

from counterset.evaluation.tuning import tune
from counterset.exceptions import InvalidInputError
from counterset.plots.trade_off import draw_trade_off

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tune`` to the command line."""
    parser = commands.add_parser(
        "tune",
        help="find good parameters for your model and data",
        description="Try the paper's grid of parameters on your model. The report shows the "
        "trade-off between k-distance, k-diversity and set-distance, and recommends a setting.",
    )
    parser.add_argument("model", type=Path, help="the fitted model, a file written by joblib.dump")
    parser.add_argument("data", type=Path, help="a CSV file of rows like the model's training rows")
    parser.add_argument("--drop", nargs="+", default=[], help="columns that are not features")
    parser.add_argument("--distance", default="l1", help="l1, l2 or linf (default: l1)")
    parser.add_argument(
        "--inputs", type=int, default=50, help="the number of rows to explain (default: 50)"
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="the number of noisy copies of each (default: 1)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="the seed of the split and of the noise (default: 0)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("tuning"),
        metavar="FOLDER",
        help="where the report goes (default: tuning)",
    )
    parser.add_argument(
        "--no-plots", action="store_true", help="do not draw plots (matplotlib is not needed)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    for file in (arguments.model, arguments.data):
        if not file.is_file():
            raise InvalidInputError(f"There is no file {file}.")
    rows = pd.read_csv(arguments.data)
    missing = [column for column in arguments.drop if column not in rows]
    if missing:
        raise InvalidInputError(
            f"--drop names columns that are not in {arguments.data}: {missing}."
        )
    rows = rows.drop(columns=arguments.drop)
    if not 0 < arguments.inputs < len(rows):
        raise InvalidInputError(
            f"--inputs must be between 1 and {len(rows) - 1}, because at least one of the "
            f"{len(rows)} rows is needed for fitting, got {arguments.inputs}."
        )
    train, test = train_test_split(rows, test_size=arguments.inputs, random_state=arguments.seed)
    tuning = tune(
        joblib.load(arguments.model),
        train,
        test,
        distance=arguments.distance,
        repeats=arguments.repeats,
        random_state=arguments.seed,
        progress=not arguments.quiet,
    )
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    tuning.table.to_csv(folder / "tuning.csv", index=False)
    (folder / "tuning.md").write_text(tuning.to_table().to_markdown() + "\n", encoding="utf-8")
    if not arguments.no_plots:
        draw_trade_off(tuning, folder / "trade-off.png")
    best = tuning.explainer
    sys.stdout.write(tuning.to_table().to_text() + "\n\n")
    sys.stdout.write(f"Recommended: diversity={best.diversity}, search={best.search}\n")
    sys.stdout.write(f"Written to {folder}\n")
    return 0
