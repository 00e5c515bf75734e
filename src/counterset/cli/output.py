"""Check that a command will be able to write its report, before it works for minutes."""

from __future__ import annotations

import os
from pathlib import Path

from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.plots.style import pyplot

__all__ = ["check_file", "check_output"]


def check_output(folder: Path, *, plots: bool) -> None:
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


def check_file(file: Path, option: str) -> None:
    """Check that a file can be written; nothing is made yet.

    Parameters
    ----------
    file
        The file that the user named. Its folder must exist.
    option
        The option that names it.
    """
    folder = file.parent
    reason = None
    if file.is_dir():
        reason = "it is a folder. Name a file in it"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}. Make it, or choose another"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"you may not write to {folder}. Choose another folder"
    if reason is not None:
        raise InvalidInputError(f"{option}: {file} cannot be written, because {reason}.")
