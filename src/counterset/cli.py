"""The ``counterset`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from counterset.benchmark.commands import add_commands
from counterset.exceptions import CountersetError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="counterset", description=__doc__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_commands(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except CountersetError as error:
        sys.stderr.write(f"counterset: {error}\n")
        return 2
