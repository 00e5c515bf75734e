"""Write files so that a name never stands for an incomplete one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["written_aside"]


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
