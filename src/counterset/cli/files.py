"""Check the files that a command reads and writes, before it works for minutes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.models.files import is_model_file, is_table_file
from counterset.plots.style import pyplot

__all__ = ["check_files", "check_folder"]


def check_files(
    arguments: argparse.Namespace,
    *written: str,
    more: Mapping[str, Sequence[Path]] | None = None,
    read: Sequence[Path] = (),
) -> None:
    """Check that files can be read or written, and that what is written is not also read.

    Nothing is made yet.

    Parameters
    ----------
    arguments
        Every path among them that is not written is a file to read.
    written
        The names of the arguments that name files to write; one that was not given is None.
    more
        From names of arguments to further files that are written, or folders that are removed.
    read
        Further files that are read.
    """
    more = more or {}
    named = [(name, file) for name in written if (file := getattr(arguments, name)) is not None]
    outputs = [*named, *((name, file) for name, files in more.items() for file in files)]
    inputs = [
        *read,
        *(
            value
            for name, value in vars(arguments).items()
            if isinstance(value, Path) and name not in (*written, *more)
        ),
    ]
    for name, file in named:
        _check_writable(file, f"--{name}")
    for name, file in outputs:
        for each in inputs:
            if _holds(file, each):
                lost = "a file that" if each == file else f"{each}, which"
                raise InvalidInputError(
                    f"--{name}: {file} would overwrite {lost} this command reads. Choose another "
                    f"name."
                )
    for (name, file), (other, second) in combinations(named, 2):
        if _holds(file, second):
            raise InvalidInputError(
                f"--{name} and --{other} name the same file, {file}. Choose another name for one."
            )
    _check_kinds(arguments)
    for file in inputs:
        if not file.is_file():
            folder = f"{file} is a folder, not a file."
            raise InvalidInputError(folder if file.is_dir() else f"There is no file {file}.")


def check_folder(folder: Path, *, plots: bool) -> None:
    """Check that files can be written to a folder, and plots drawn; nothing is made yet.

    Parameters
    ----------
    folder
        The folder that the user named. It may not exist yet.
    plots
        Whether plots will be drawn.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(
            f"The report cannot be written to {folder}, because {existing} is a file, not a "
            f"folder. Choose another folder with --output."
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"The report cannot be written to {folder}, because you may not write to {existing}. "
            f"Choose another folder with --output."
        )
    if plots:
        try:
            pyplot()
        except MissingExtraError as error:
            raise MissingExtraError(f"{error}, or draw no plots: --no-plots.") from error


def _holds(written: Path, read: Path) -> bool:
    """Whether writing to a name would change a file: it is the same, or a folder that holds it."""
    if written.exists() and read.exists() and os.path.samefile(written, read):
        return True  # by this name, by a link, or in other letters where case does not matter
    place, target = (Path(os.path.normcase(each.resolve())) for each in (written, read))
    return place == target or place in target.parents


def _check_kinds(arguments: argparse.Namespace) -> None:
    """Check by their endings that the model and another file are not in each other's place."""
    given = vars(arguments)
    model, data, report = (given.get(name) for name in ("model", "data", "report"))
    if model and data and is_table_file(model) and is_model_file(data):
        raise InvalidInputError(
            f"{model} is a table, and {data} is a model. Name the model first: {data} {model}."
        )
    if model and report and is_model_file(report) and not is_model_file(model):
        raise InvalidInputError(
            f"{report} is a model. Name the report first: {model} --model {report}."
        )


def _check_writable(file: Path, option: str) -> None:
    """Check that a file can be written, whose folder must exist."""
    folder = file.parent
    reason = None
    if file.is_dir():
        reason = "it is a folder. Name a file in it"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}. Make it, or choose another"
    elif file.exists() and not file.is_file():
        reason = "it is a device or a pipe. Name a file"
    elif file.exists() and not os.access(file, os.W_OK):
        reason = "it is there, and you may not write to it. Choose another name"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"you may not write to {folder}. Choose another folder"
    if reason is not None:
        raise InvalidInputError(f"{option}: {file} cannot be written, because {reason}.")
