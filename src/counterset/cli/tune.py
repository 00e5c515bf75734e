"""``counterset tune``: find good parameters for a model and its data."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.model_selection import train_test_split

from counterset._base.arrays import to_python
from counterset._base.files import written_aside
from counterset.cli.arguments import whole_number
from counterset.cli.output import check_output
from counterset.cli.rows import read_rows, select_features
from counterset.evaluation.tuning import Tuning, tune
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.models.files import load_model
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
    _add_model_and_data(parser)
    _add_goal(parser)
    _add_protocol(parser)
    parser.set_defaults(run=_run)


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        type=Path,
        help="the fitted model: an .onnx file, a .skops file, or with --trust a file written by "
        "joblib or pickle",
    )
    parser.add_argument("data", type=Path, help="a CSV file of rows like the model's training rows")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="load the model even if that may run code: a pickle can run any code when it is "
        "loaded, so say this only of files whose origin you know",
    )
    parser.add_argument(
        "--drop",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns that are not features; not needed for a model that knows the names of its "
        "features",
    )


def _add_goal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", metavar="CLASS", help="the class that is wanted (default: any other)"
    )
    parser.add_argument(
        "--target-probability",
        type=float,
        metavar="P",
        help="how probable the model must find the class of a counterfactual, from 0 to 1",
    )
    parser.add_argument(
        "--interval",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="for a regression: the wanted range of the prediction",
    )


def _add_protocol(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distance", default="l1", help="l1, l2 or linf (default: l1)")
    parser.add_argument(
        "--inputs",
        type=whole_number(1),
        default=50,
        metavar="N",
        help="the number of rows to explain (default: 50)",
    )
    parser.add_argument(
        "--repeats",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="the number of noisy copies of each (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="the seed of the split and of the noise (default: 0)",
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


def _run(arguments: argparse.Namespace) -> int:
    folder, plots = arguments.output, not arguments.no_plots
    check_output(folder, plots=plots)
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
        target=_find_class(arguments.target, model, train),
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
    sys.stdout.write(f"Recommended: diversity={best.diversity}, search={best.search}\n")
    sys.stdout.write(f"Written to {folder}\n")
    return 0


def _find_class(name: str | None, model: Any, train: pd.DataFrame) -> Any:
    """Return the class of a name: classes may be numbers, but arguments are texts."""
    if name is None:
        return None
    classes = DiverseExplainer(model).fit(train).classes_
    return {str(to_python(each)): each for each in classes}.get(name, name)


def _write(tuning: Tuning, folder: Path, *, plots: bool) -> None:
    """Write the report; its files are moved to their names once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:

        def file(name: str) -> Path:
            return stack.enter_context(written_aside(folder / name))

        tuning.table.to_csv(file("tuning.csv"), index=False)
        file("tuning.md").write_text(tuning.to_table().to_markdown() + "\n", encoding="utf-8")
        if plots:
            draw_trade_off(tuning, file("trade-off.png"))
