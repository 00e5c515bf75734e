"""The parser of a command, whose help fits on a screen and ends with an example."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn, TypeAlias

__all__ = ["Commands", "Group", "Help", "Parser", "add_parser"]

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Group: TypeAlias = argparse._ArgumentGroup


class Parser(argparse.ArgumentParser):
    """A parser that tells an error in one line, and where the help is."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong, and exit with the code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Help(argparse.RawDescriptionHelpFormatter):
    """Help in lines of at most 80 letters: texts stand as they are written, one line an option."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"max_help_position": 28, "width": 80})

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        """Return how the values of an option are shown: "FEATURE ...", and not each name twice."""
        if action.nargs in ("+", "*"):
            return f"{action.metavar or default_metavar} ..."
        return super()._format_args(action, default_metavar)


def add_parser(
    commands: Commands, name: str, about: str, *, usage: str, example: str
) -> tuple[argparse.ArgumentParser, Group]:
    """Add the parser of a command, and return it with the group that its arguments belong in.

    All arguments stand in one group without a heading, and who reads the help knows ``--help``:
    each would cost a line, and a screen has 24.

    Parameters
    ----------
    commands
        Where the command is added.
    name
        How it is called.
    about
        What it does, as one or two lines of text; the first stands in the list of commands.
    usage
        What comes after the name, such as ``"MODEL DATA [options]"``.
    example
        A whole command.
    """
    parser = commands.add_parser(
        name,
        help=about.splitlines()[0].rstrip("."),
        description=about,
        usage=f"counterset {name} {usage}".rstrip(),
        epilog=f"example: {example}",
        formatter_class=Help,
        add_help=False,
    )
    group = parser.add_argument_group()
    group.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    return parser, group
