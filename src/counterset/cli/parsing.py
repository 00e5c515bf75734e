"""The arguments that commands share, their types, and the layout of the help."""

from __future__ import annotations

import argparse
import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

__all__ = [
    "Commands",
    "Group",
    "Help",
    "Parser",
    "add_goal",
    "add_immutable",
    "add_margin",
    "add_model_and_data",
    "add_outcomes",
    "add_parser",
    "add_repeats",
    "add_rows",
    "add_seed",
    "add_settings",
    "add_training",
    "class_texts",
    "positive_number",
    "whole_number",
]


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a type of argument: a whole number in a range, both ends included.

    Examples
    --------
    >>> whole_number(1, 20)("7")
    7
    """
    span = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise ArgumentTypeError(f"must be a whole number {span}, got {text!r}")
        return value

    return read


def positive_number(text: str) -> float:
    """Read a finite number above 0.

    Examples
    --------
    >>> positive_number("0.5")
    0.5
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def class_texts(text: str) -> dict[str, str]:
    """Read what people call the classes.

    Examples
    --------
    >>> class_texts("bad=declined,good=approved")
    {'bad': 'declined', 'good': 'approved'}
    """
    pairs = [pair.partition("=") for pair in text.split(",")]
    texts = {name.strip(): called.strip() for name, _, called in pairs}
    if len(texts) < len(pairs) or not all((*texts, *texts.values())):
        raise ArgumentTypeError(
            f"must name each class once, such as bad=declined,good=approved, got {text!r}"
        )
    return texts


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Group: TypeAlias = argparse._ArgumentGroup


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line and names the help."""

    def error(self, message: str) -> NoReturn:
        """Write what is wrong, and exit with the code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Help(argparse.RawDescriptionHelpFormatter):
    """Help in lines of at most 80 letters, with one line for each option."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"max_help_position": 28, "width": 80})

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        """Return "FEATURE ..." for a list of values; argparse would show the name twice."""
        if action.nargs in ("+", "*"):
            return f"{action.metavar or default_metavar} ..."
        return super()._format_args(action, default_metavar)


def add_parser(
    commands: Commands, name: str, about: str, *, usage: str, example: str
) -> tuple[argparse.ArgumentParser, Group]:
    """Add the parser of a command, and return it with the group that its arguments belong in.

    All arguments are in one group without a heading, and ``--help`` is not listed: each would take
    a line, and a screen has 24.

    Parameters
    ----------
    commands
        Where the command is added.
    name
        Its name.
    about
        What it does, in one or two lines. The first is shown in the list of commands.
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


def add_model_and_data(group: Group, data: str, *, required: bool = True) -> None:
    """Add the model, its data and how they are read.

    Parameters
    ----------
    group
        Where the arguments are added.
    data
        What the data is, for the help.
    required
        Whether the command needs both files.
    """
    count = None if required else "?"
    model = "an .onnx or .skops file, or a pickle (--trust)"
    group.add_argument("model", type=Path, nargs=count, metavar="MODEL", help=model)
    group.add_argument("data", type=Path, nargs=count, metavar="DATA", help=data)
    group.add_argument("--trust", action="store_true", help="load a pickle, which can run any code")
    group.add_argument(
        "--drop",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns that are not features of the model",
    )


def add_training(group: Group) -> None:
    """Add the training rows, from which the explainer learns."""
    group.add_argument(
        "--train", type=Path, metavar="FILE", help="a file of training rows (default: DATA)"
    )


def add_goal(group: Group) -> None:
    """Add what is wanted of the model."""
    group.add_argument("--target", metavar="CLASS", help="the wanted class (default: any other)")
    group.add_argument(
        "--target-probability",
        type=float,
        metavar="P",
        help="the least probability of that class, from 0 to 1",
    )
    group.add_argument(
        "--interval",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="for a regression: the wanted range",
    )


def add_immutable(group: Group) -> None:
    """Add the features that must not change."""
    group.add_argument(
        "--immutable",
        nargs="+",
        default=[],
        metavar="FEATURE",
        help="features that must not change",
    )


def add_settings(group: Group) -> None:
    """Add what may change, how features are called, and the number of options."""
    add_immutable(group)
    group.add_argument(
        "--constraints", type=Path, metavar="FILE", help="what may change: a .json or .toml file"
    )
    group.add_argument(
        "--schema", type=Path, metavar="FILE", help="labels, units, kinds: a .json or .toml file"
    )
    group.add_argument(
        "--options",
        type=whole_number(1),
        default=5,
        metavar="K",
        help="at most K options for one row (default: 5)",
    )


def add_margin(group: Group) -> None:
    """Add how near to an option people may land."""
    group.add_argument(
        "--margin",
        type=float,
        metavar="SHARE",
        help="options must work this share of the range away: 0.05",
    )


def add_outcomes(group: Group) -> None:
    """Add what people call the classes."""
    group.add_argument(
        "--outcomes",
        type=class_texts,
        metavar="TEXTS",
        help="what to call classes: bad=declined,good=approved",
    )


def add_rows(group: Group, what: str) -> None:
    """Add the numbers of the rows; the help says what they are for."""
    group.add_argument("--rows", nargs="+", type=whole_number(0), metavar="N", help=what)


def add_repeats(group: Group, repeats: int, what: str) -> None:
    """Add the number of noisy copies.

    Parameters
    ----------
    group
        Where the argument is added.
    repeats
        The default; 0 copies can be asked for where that is the default.
    what
        What they are for, for the help.
    """
    group.add_argument(
        "--repeats",
        type=whole_number(min(repeats, 1)),
        default=repeats,
        metavar="N",
        help=f"{what} (default: {repeats})",
    )


def add_seed(group: Group) -> None:
    """Add the random seed."""
    group.add_argument(
        "--seed",
        type=whole_number(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="the random seed (default: 0)",
    )
