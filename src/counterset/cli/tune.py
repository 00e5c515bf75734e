"""``counterset tune``: find good parameters for a model and its data."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.model_selection import train_test_split

from counterset._base.files import written_aside
from counterset.cli.files import check_files, check_folder, find_class, read_rows, select_features
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_model_and_data,
    add_parser,
    add_repeats,
    add_seed,
    positive_number,
    whole_number,
)
from counterset.evaluation.tuning import Tuning, tune
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.models.files import load_model
from counterset.plots.trade_off import draw_trade_off
from counterset.strategies.nearest import Nearest
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import CandidatesWithin, Cutoff

__all__ = ["add_command"]

#: The strategies whose steps can be tuned here.
STRATEGIES: dict[str, type[Nearest | Paper]] = {"nearest": Nearest, "paper": Paper}
#: The files of the report.
WRITTEN = TABLE, MARKDOWN, PLOT = ("tuning.csv", "tuning.md", "trade-off.png")


def add_command(commands: Commands) -> None:
    """Add ``tune`` to the command line."""
    parser, group = add_parser(
        commands,
        "tune",
        "Find good parameters for your model and data.\n"
        "Tries the paper's settings, shows the trade-offs and recommends one.",
        usage="MODEL DATA [options]",
        example="counterset tune model.skops credit.csv --target good --inputs 20",
    )
    add_model_and_data(group, "a CSV or parquet file of rows like the training rows")
    add_goal(group)
    group.add_argument(
        "--distance", default="l1", metavar="NAME", help="l1, l2 or linf (default: l1)"
    )
    group.add_argument(
        "--strategy",
        choices=list(STRATEGIES),
        default="nearest",
        metavar="NAME",
        help="nearest or paper, its four steps (default: nearest)",
    )
    group.add_argument(
        "--within",
        nargs="+",
        type=positive_number,
        metavar="E",
        help="with paper: candidates up to 1 + E times the nearest",
    )
    group.add_argument(
        "--options",
        nargs="+",
        type=whole_number(1),
        metavar="N",
        help="numbers of options to try (default: 5)",
    )
    group.add_argument(
        "--inputs",
        type=whole_number(1),
        default=50,
        metavar="N",
        help="the number of rows to explain (default: 50)",
    )
    add_repeats(group, 1, "noisy copies of each row")
    add_seed(group)
    group.add_argument(
        "--output",
        type=Path,
        default=Path("tuning"),
        metavar="FOLDER",
        help="where the report goes (default: tuning)",
    )
    group.add_argument("--no-plots", action="store_true", help="draw no plots; needs no matplotlib")
    group.add_argument("--quiet", action="store_true", help="show no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    folder, plots = arguments.output, not arguments.no_plots
    strategy = STRATEGIES[arguments.strategy]()
    candidates: list[Cutoff] | None = None
    if arguments.within is not None:
        if not isinstance(strategy, Paper):
            raise InvalidInputError("--within is step 2 of the paper. Add --strategy paper.")
        candidates = [strategy.candidates, *map(CandidatesWithin, arguments.within)]
    check_files(arguments, more={"output": [folder / name for name in WRITTEN]})
    check_folder(folder, plots=plots)
    model = load_model(arguments.model, trust=arguments.trust)
    rows = read_rows(arguments.data)
    rows = select_features(rows, model, arguments.drop, arguments.data)
    if arguments.inputs >= len(rows):
        raise InvalidInputError(
            f"--inputs must be between 1 and {len(rows) - 1}, because at least one of the "
            f"{len(rows)} rows is needed for fitting, got {arguments.inputs}."
        )
    train, test = train_test_split(rows, test_size=arguments.inputs, random_state=arguments.seed)
    tuning = tune(
        model,
        train,
        test,
        strategy=strategy,
        candidates=candidates,
        counts=arguments.options,
        target=_find_target(arguments.target, model, train),
        target_probability=arguments.target_probability,
        interval=arguments.interval,
        distance=arguments.distance,
        repeats=arguments.repeats,
        random_state=arguments.seed,
        progress=not arguments.quiet,
    )
    _write(tuning, folder, plots=plots)
    best = tuning.explainer
    sys.stdout.write(tuning.to_table().to_text() + "\n\n")
    count = f", max_counterfactuals={best.max_counterfactuals}" if arguments.options else ""
    sys.stdout.write(f"Recommended: strategy={best.strategy}{count}\n")
    sys.stdout.write(f"Written to {folder}\n")
    return 0


def _find_target(name: str | None, model: Any, train: pd.DataFrame) -> Any:
    """Return the class of a name; the model is asked for its classes only if there is one."""
    return None if name is None else find_class(name, DiverseExplainer(model).fit(train))


def _write(tuning: Tuning, folder: Path, *, plots: bool) -> None:
    """Write the report; its files are moved to their names once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:

        def file(name: str) -> Path:
            return stack.enter_context(written_aside(folder / name))

        tuning.table.to_csv(file(TABLE), index=False)
        file(MARKDOWN).write_text(tuning.to_table().to_markdown() + "\n", encoding="utf-8")
        if plots:
            draw_trade_off(tuning, file(PLOT))
