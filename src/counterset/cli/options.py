"""Arguments that several commands share: the model, its data, what is wanted, what may change."""

from __future__ import annotations

from pathlib import Path

from counterset.cli.arguments import whole_number
from counterset.cli.parsers import Group

__all__ = [
    "add_goal",
    "add_limits",
    "add_model_and_data",
    "add_repeats",
    "add_seed",
    "add_training",
]


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
        help="columns that are no features of the model",
    )


def add_training(group: Group) -> None:
    """Add the training rows, which candidates and scales are taken from."""
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
        help="how probable that class must be, from 0 to 1",
    )
    group.add_argument(
        "--interval",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="for a regression: the wanted range",
    )


def add_limits(group: Group) -> None:
    """Add what may change, how features are called, and how many ways are wanted."""
    group.add_argument(
        "--immutable",
        nargs="+",
        default=[],
        metavar="FEATURE",
        help="features that stay as they are",
    )
    group.add_argument(
        "--constraints", type=Path, metavar="FILE", help="what may change, as .json or .toml"
    )
    group.add_argument(
        "--schema", type=Path, metavar="FILE", help="kinds, labels, units, as .json or .toml"
    )
    group.add_argument(
        "--ways",
        type=whole_number(1),
        default=5,
        metavar="K",
        help="the most ways for one row (default: 5)",
    )


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
    """Add the seed of what is random."""
    group.add_argument(
        "--seed",
        type=whole_number(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="the seed of all that is random (default: 0)",
    )
