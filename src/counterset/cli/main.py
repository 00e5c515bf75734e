"""Read the command line, and run one command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from counterset import __version__
from counterset.cli import demo, reproduce, tune
from counterset.exceptions import CountersetError

__all__ = ["main"]

#: The modules of the commands. ``add_command`` of each adds a parser whose ``run`` takes the
#: parsed arguments and returns the exit code.
COMMANDS = (demo, reproduce, tune)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code.

    Parameters
    ----------
    argv
        The arguments; None: those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="counterset", description="Explain a model's decision by diverse counterfactuals."
    )
    parser.add_argument("--version", action="version", version=f"counterset {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_command(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except CountersetError as error:
        sys.stderr.write(f"counterset: {error}\n")
        return 2
