"""The ``counterset`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from counterset import __version__
from counterset.benchmark.commands import add_commands
from counterset.demo import run_demo
from counterset.exceptions import CountersetError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; give the exit code."""
    parser = argparse.ArgumentParser(
        prog="counterset", description="Explain a model's decision by diverse counterfactuals."
    )
    parser.add_argument("--version", action="version", version=f"counterset {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_demo(commands)
    add_commands(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except CountersetError as error:
        sys.stderr.write(f"counterset: {error}\n")
        return 2


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "explain why someone was declined a loan, on bundled data"
    demo = commands.add_parser("demo", help=about, description=about)
    demo.add_argument("--applicant", type=int, metavar="ROW", help="which row of the data")
    demo.set_defaults(run=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    sys.stdout.write(f"{run_demo(arguments.applicant)}\n")
    return 0
