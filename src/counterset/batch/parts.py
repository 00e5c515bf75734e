"""Parts: what is finished of a long run stays, and the same run goes on from there."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.files import UNFINISHED, locked, written_aside
from counterset.batch.table_files import Format
from counterset.exceptions import InvalidInputError

__all__ = ["Parts"]

#: The file that one run at a time holds a lock on.
LOCK = "lock"
#: The file that says what the parts were made from.
MANIFEST = "manifest.json"
#: All files that a folder of parts can hold: parts, notes about them, and what is not finished.
OWN = re.compile(rf"{LOCK}|{re.escape(MANIFEST)}|joined\.\w+|[0-9]{{8}}\.\w+|{UNFINISHED}.*")


class Parts:
    """The finished parts of a table, in a folder beside the file that it will be.

    A part is finished when a small file, its note, says what it holds. All files are written under
    another name and moved, so an interruption leaves no half part behind. A part that was damaged
    later, which its note shows, does not count as finished.

    Parameters
    ----------
    file
        The file that the table will be.

    Attributes
    ----------
    folder
        The folder.
    damaged
        How many parts were found damaged, and will be made again.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = file.parent / f"{file.name}.parts"
        self.damaged = 0
        self._notes: dict[int, dict[str, Any]] = {}

    @contextmanager
    def opened(self, made_from: Mapping[str, str]) -> Iterator[None]:
        """Make the folder, or find in it what the same run has finished; let no other run in.

        At the end the folder stays if some parts are finished, and the table is not.

        Parameters
        ----------
        made_from
            What decides what is in the parts: a short text for each thing, such as a hash for a
            file. Parts that were made from something else are refused.
        """
        self._check_folder()
        self.folder.mkdir(exist_ok=True)
        try:
            with locked(self.folder / LOCK) as held:
                if not held:
                    raise InvalidInputError(
                        f"Another run is writing {self.file} at this moment. Wait until it ends, "
                        f"or choose another name."
                    )
                self._find_finished(made_from)
                try:
                    if not self._notes:
                        self._write_manifest(made_from)
                    yield
                finally:
                    if not self._notes:
                        self._remove_all_but(LOCK)
        finally:
            with suppress(OSError):  # it is not empty: something is finished, or another run's
                self.folder.rmdir()

    def is_finished(self, number: int) -> bool:
        """Whether a part is finished."""
        return number in self._notes

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
        part = self._part(number)
        how.write(frame, part)
        note = {"status": dict(status), "sha256": _hash(part)}
        with written_aside(self._note(number)) as unfinished:
            unfinished.write_text(json.dumps(note), encoding="utf-8")
        self._notes[number] = note

    def status(self) -> Counter[str]:
        """Return how many inputs of all finished parts have which status."""
        total: Counter[str] = Counter()
        for note in self._notes.values():
            total.update(note["status"])
        return total

    def join(self, count: int, how: Format) -> None:
        """Write the parts to the file; the folder is no longer needed."""
        # Inside the folder, a run that is killed leaves nothing that the next one does not remove.
        joined = self.folder / f"joined{self.file.suffix}"
        how.join([self._part(number) for number in range(count)], joined)
        joined.replace(self.file)
        self.discard()

    def discard(self) -> None:
        """Forget what is finished, so that nothing stays of this run."""
        self._notes.clear()

    def _check_folder(self) -> None:
        """Check that the folder is not there, or holds what runs write: it will be removed."""
        if not self.folder.exists():
            return
        if self.folder.is_dir():
            others = [each.name for each in self.folder.iterdir() if not OWN.fullmatch(each.name)]
            reason = f"it holds other files ({', '.join(sorted(others)[:3])})" if others else None
        else:
            reason = "it is a file"
        if reason is not None:
            raise InvalidInputError(
                f"Finished parts of {self.file} would be kept in the folder {self.folder}, but "
                f"{reason}. Move it, or choose another name."
            )

    def _find_finished(self, made_from: Mapping[str, str]) -> None:
        """Find the finished parts; refuse those of another run, and remove what is damaged."""
        numbers = sorted(int(note.stem) for note in self.folder.glob("[0-9]*.json"))
        before = _read_json(self.folder / MANIFEST)
        names = dict.fromkeys([*made_from, *before])
        other = [name for name in names if before.get(name) != made_from.get(name)]
        if before and other and numbers:
            raise InvalidInputError(
                f"{self.folder} holds finished parts of another run: {', '.join(other)} differed. "
                f"Repeat that command to finish it, remove the folder, or choose another name."
            )
        if not other:
            self._notes = {
                number: note for number in numbers if (note := self._read_note(number)) is not None
            }
        self.damaged = len(numbers) - len(self._notes)
        finished = [name(n).name for n in self._notes for name in (self._part, self._note)]
        self._remove_all_but(LOCK, MANIFEST, *finished)

    def _read_note(self, number: int) -> dict[str, Any] | None:
        """Return what a note says of a part; None if the part is not as it was written."""
        note, part = _read_json(self._note(number)), self._part(number)
        if not part.is_file() or {"status", "sha256"} - set(note) or note["sha256"] != _hash(part):
            return None
        return note

    def _write_manifest(self, made_from: Mapping[str, str]) -> None:
        with written_aside(self.folder / MANIFEST) as unfinished:
            unfinished.write_text(json.dumps(dict(made_from), indent=1), encoding="utf-8")

    def _remove_all_but(self, *kept: str) -> None:
        for each in self.folder.iterdir():
            if each.name not in kept:
                each.unlink()

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:08d}{self.file.suffix}"

    def _note(self, number: int) -> Path:
        return self.folder / f"{number:08d}.json"


def _read_json(file: Path) -> dict[str, Any]:
    """Return what a file holds; nothing if it is damaged or not there."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
