"""Write files so that a name never stands for an incomplete one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterset.exceptions import InvalidInputError

__all__ = ["write_text", "written_aside"]


@contextmanager
def written_aside(file: Path) -> Iterator[Path]:
    """Yield another name to write to, in the same folder, and move it to the file at the end.

    If writing fails or is interrupted, what was written is removed, and the file stays as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written_aside(Path(folder) / "table.csv") as unfinished:
    ...         _ = unfinished.write_text("a,b")
    ...     [file.name for file in Path(folder).iterdir()]
    ['table.csv']
    """
    # The ending stays: pandas, numpy and matplotlib choose the format by it.
    unfinished = file.with_name(f"unfinished-{os.getpid()}-{file.name}")
    try:
        yield unfinished
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(file: Path, text: str, what: str) -> None:
    """Write a text to a file, all of it or nothing.

    Parameters
    ----------
    what
        How messages call the text, such as "The report".
    """
    if not file.parent.is_dir():
        raise InvalidInputError(
            f"{what} cannot be written to {file}: there is no folder {file.parent}. Make it, or "
            f"choose another."
        )
    if file.is_dir():
        raise InvalidInputError(
            f"{what} cannot be written to {file}, which is a folder. Name a file in it."
        )
    try:
        with written_aside(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    except PermissionError as error:
        raise InvalidInputError(
            f"{what} cannot be written to {file}: you may not write to {file.parent}. Choose "
            f"another folder."
        ) from error
