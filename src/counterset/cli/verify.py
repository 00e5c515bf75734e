"""``counterset verify``: is a report as it was written, and is this still its model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from counterset.models.files import load_model
from counterset.report.verify import verify_report

__all__ = ["add_command"]

#: The exit code of a report that was refused.
REFUSED = 1


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``verify`` to the command line."""
    parser = commands.add_parser(
        "verify",
        help="check a report: is it unchanged, and does the model still answer as recorded",
        description="Check a report that to_html wrote. One line each says whether the file is as "
        "it was written, whether the model gives the recorded decisions, and whether it answers "
        "fixed rows as recorded. The exit code is 0 if all hold, 1 if the report is refused, and 2 "
        "if it cannot be checked.",
        epilog="example: counterset verify report.html --model model.skops",
    )
    parser.add_argument("report", type=Path, help="the HTML file")
    parser.add_argument(
        "--model",
        type=Path,
        required=True,
        help="the fitted model: an .onnx file, a .skops file, or with --trust a file written by "
        "joblib or pickle",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="load the model even if that may run code: say this only of files whose origin you "
        "know",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    model = load_model(arguments.model, trust=arguments.trust)
    found = verify_report(arguments.report, model)
    sys.stdout.write(f"{found}\n")
    return 0 if found.holds else REFUSED
