"""Parts: what is finished of a long run stays, and the same run goes on from there."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pandas as pd

from counterset._base.files import written_aside
from counterset.batch.table_files import Format
from counterset.exceptions import InvalidInputError

__all__ = ["Parts"]


class Parts:
    """The finished parts of a table, in a folder beside the file that it will be.

    A part is finished when a small file says what it holds. All files are written under another
    name and moved, so an interruption leaves no half part behind.

    Parameters
    ----------
    file
        The file that the table will be.
    made_from
        What decides what is in the parts: a short text for each thing, such as a hash for a file.
        Parts that were made from something else are refused.
    """

    def __init__(self, file: Path, made_from: Mapping[str, str]) -> None:
        self.file = file
        self.folder = file.with_name(f"{file.name}.parts")
        self._made_from = dict(made_from)

    def open(self) -> None:
        """Make the folder; if it is there, check that it belongs to the same run."""
        manifest = self.folder / "manifest.json"
        if not manifest.is_file():
            self.folder.mkdir(exist_ok=True)
            with written_aside(manifest) as unfinished:
                unfinished.write_text(json.dumps(self._made_from, indent=1), encoding="utf-8")
            return
        try:
            found = json.loads(manifest.read_text(encoding="utf-8"))
        except ValueError:
            found = {}
        names = [*self._made_from, *found]
        other = [
            name for name in dict.fromkeys(names) if found.get(name) != self._made_from.get(name)
        ]
        if other:
            raise InvalidInputError(
                f"{self.folder} holds parts of another run: {', '.join(other)} differed. Repeat "
                f"that command to finish it, remove the folder, or choose another name."
            )

    def is_finished(self, number: int) -> bool:
        """Whether a part is finished."""
        return self._note(number).is_file()

    def write(
        self, number: int, frame: pd.DataFrame, status: Mapping[str, int], how: Format
    ) -> None:
        """Write a part.

        Parameters
        ----------
        number
            Its place among all parts.
        frame
            Its rows.
        status
            How many inputs have which status.
        how
            The format.
        """
        how.write(frame, self._part(number))
        with written_aside(self._note(number)) as unfinished:
            unfinished.write_text(json.dumps(dict(status)), encoding="utf-8")

    def status(self) -> Counter[str]:
        """Return how many inputs of all finished parts have which status."""
        total: Counter[str] = Counter()
        for note in sorted(self.folder.glob("[0-9]*.json")):
            total.update(json.loads(note.read_text(encoding="utf-8")))
        return total

    def join(self, count: int, how: Format) -> None:
        """Write the parts to the file, and remove them."""
        how.join([self._part(number) for number in range(count)], self.file)
        shutil.rmtree(self.folder)

    @cached_property
    def _ending(self) -> str:
        return self.file.suffix

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:08d}{self._ending}"

    def _note(self, number: int) -> Path:
        return self.folder / f"{number:08d}.json"
