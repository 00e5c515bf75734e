"""Read the command line, and run one command."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import Any

from counterset import __version__
from counterset.cli import (
    compare,
    datasets,
    demo,
    evaluate,
    explain,
    letter,
    peers,
    report,
    reproduce,
    serve,
    tune,
    verify,
)
from counterset.cli.parsing import Help, Parser
from counterset.exceptions import CountersetError

__all__ = ["main"]

#: The modules of the commands. ``add_command`` of each adds a parser whose ``run`` takes the
#: parsed arguments and returns the exit code.
COMMANDS = (
    demo,
    explain,
    letter,
    report,
    serve,
    verify,
    evaluate,
    tune,
    compare,
    reproduce,
    peers,
    datasets,
)

#: What shells expect of a command: wrong use, another failure, and an interrupt by Ctrl-C.
WRONG_USE, FAILURE, INTERRUPTED = 2, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code.

    An error is one line on the error stream. The exit code is 0 if all went well, 2 if the
    arguments or files cannot be used, 1 if the system failed (a full disk) or a report was refused,
    3 if some rows of a file have no explanation, and 130 after an interrupt.

    Parameters
    ----------
    argv
        The arguments; None: those of the process.
    """
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks for words that can follow
        _complete(parser)
    arguments = parser.parse_args(argv)
    if arguments.run is None:
        parser.error("name a command, such as 'counterset demo'")
    run: Callable[[argparse.Namespace], int] = arguments.run
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        # A letter that the terminal cannot show is written as its code, as on the error stream.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = run(arguments)
        sys.stdout.flush()  # a full disk shows now, and not when Python exits
        return code
    except CountersetError as error:
        _report(str(error))
        return WRONG_USE
    except KeyboardInterrupt:
        _report("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _silence()
        return FAILURE
    except OSError as error:
        _report(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        _silence()
        return FAILURE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="counterset",
        usage="counterset COMMAND [options]",
        description="Explain a model's decision by a small set of diverse counterfactuals.",
        epilog="'counterset COMMAND --help' shows the options of a command.\n"
        "example: counterset demo",
        formatter_class=Help,
        add_help=False,
    )
    # Not listed: all commands fit on a screen.
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    parser.add_argument(
        "--version", action="version", version=f"counterset {__version__}", help="show the version"
    )
    commands = parser.add_subparsers(title="commands", prog="counterset", metavar="COMMAND ...")
    parser.set_defaults(run=None)
    for command in COMMANDS:
        command.add_command(commands)
    return parser


def _complete(parser: argparse.ArgumentParser) -> None:
    """Write for the shell what can follow, with argcomplete, the ``[completion]`` extra."""
    import argcomplete  # noqa: PLC0415 - an extra

    argcomplete.autocomplete(parser)


def _report(message: str) -> None:
    """Write one line to the error stream."""
    sys.stderr.write(f"counterset: {' '.join(message.split())}\n")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning without the line of code that it comes from."""
    _report(f"warning: {message}")


def _silence() -> None:
    """Drop what standard output still holds: Python would try to write it again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
