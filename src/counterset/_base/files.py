"""Read small files of settings, write files atomically, and let one process write at a time."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from counterset.exceptions import InvalidInputError

__all__ = [
    "UNFINISHED",
    "file_hash",
    "locked",
    "read_settings",
    "whole_file",
    "write_text",
    "written_aside",
]

#: How the names of files begin that are not finished yet.
UNFINISHED = "unfinished-"

_READERS: dict[str, Callable[[str], Any]] = {".json": json.loads, ".toml": tomllib.loads}


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
    if file.exists() and not file.is_file():  # moving a file to /dev/null would replace the device
        raise InvalidInputError(
            f"{file} cannot be written, because it is a folder or a device. Name a file."
        )
    # The ending stays: pandas, numpy and matplotlib choose the format by it. The number of the
    # process would not do for a name: two containers that share a folder can have the same. With
    # the whole name before it, a long one would be too long.
    unfinished = file.with_name(f"{UNFINISHED}{secrets.token_hex(8)}{file.suffix}")
    try:
        yield unfinished
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def whole_file(file: Path, what: str) -> Iterator[Path]:
    """Yield another name to write to, as ``written_aside`` does; say why that is not possible.

    Parameters
    ----------
    what
        How messages call what is written, such as "The report".
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
            yield unfinished
    except PermissionError as error:
        raise InvalidInputError(
            f"{what} cannot be written to {file}: you may not write to {file.parent}. Choose "
            f"another folder."
        ) from error


def write_text(file: Path, text: str, what: str) -> None:
    """Write a text to a file, all of it or nothing; ``what`` as for :func:`whole_file`."""
    with whole_file(file, what) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def read_settings(file: Path, names: Iterable[str]) -> dict[str, Any]:
    """Read a mapping from a .json or .toml file.

    Parameters
    ----------
    names
        The keys that the file can have, for messages.
    """
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise InvalidInputError(
            f"{file} must be a .json or a .toml file: the ending of its name is its format."
        )
    try:
        given = read(file.read_text(encoding="utf-8"))
    except ValueError as error:  # of both formats, and of a text that is not UTF-8
        what = file.suffix[1:].upper()
        raise InvalidInputError(f"{file} cannot be read as {what}: {error}.") from None
    if not isinstance(given, dict):
        raise InvalidInputError(f"{file} must map {', '.join(names)} to values, got {given!r}.")
    return given


def file_hash(file: Path) -> str:
    """Return the SHA-256 of what a file holds, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def locked(file: Path) -> Iterator[bool]:
    """Hold the lock on a file, which is made and removed; yield False if another holds it.

    The system drops the lock when the process ends, in whatever way: a file that is left behind by
    a process that was killed blocks nobody. Where the system has no locks (some file systems of
    networks, Python in a browser), nobody is kept out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, locked(Path(folder) / "lock") as first:
    ...     with locked(Path(folder) / "lock") as second:
    ...         first, second
    (True, False)
    """
    while True:
        with file.open("ab") as stream:
            held = _take(stream)
            # The one who held it may have removed the file since it was opened: then this is the
            # lock on a file without a name, which keeps nobody out.
            if held and not _is_still(file, stream):
                continue
            try:
                yield held
            finally:
                if held and sys.platform != "win32":  # before another can take it
                    file.unlink(missing_ok=True)
        if held and sys.platform == "win32":  # where no open file can be removed
            with suppress(PermissionError):  # another took it
                file.unlink(missing_ok=True)
        return


def _take(stream: BinaryIO) -> bool:
    """Lock an open file; return whether no other process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - there is none on other systems

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - there is none on Windows, nor in a browser

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):  # there are no locks here
        return True
    return True


def _is_still(file: Path, stream: BinaryIO) -> bool:
    """Whether a name stands for the file that was opened."""
    try:
        return os.path.samestat(file.stat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False
