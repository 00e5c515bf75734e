"""Parts of a long run: kept, counted, joined, and refused if they belong to another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.batch.parts import Parts
from counterset.batch.table_files import CsvFormat

HOW = CsvFormat(("a",))


class Full(CsvFormat):
    """A format that fails in the middle, as on a full disk."""

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        raise OSError(28, "No space left on device")


def test_parts_are_kept_and_joined_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    for number in (1, 0):  # each by a run of its own
        parts = Parts(file, {"DATA": "x"})
        parts.open()
        assert not parts.is_finished(number)
        parts.write(
            number, pd.DataFrame({"a": [number]}), {"explained": 2, "none_found": number}, HOW
        )
        assert parts.is_finished(number)
    assert parts.status() == Counter(explained=4, none_found=1)
    assert not file.exists()
    parts.join(2, HOW)
    assert file.read_text() == "a\n0\n1\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_part_that_could_not_be_written_is_not_finished(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "out.csv", {})
    parts.open()
    with pytest.raises(OSError, match="No space left"):
        parts.write(0, pd.DataFrame({"a": [1]}), {"explained": 1}, Full(("a",)))
    assert not parts.is_finished(0)
    assert [file.name for file in parts.folder.iterdir()] == ["manifest.json"]


def test_parts_of_another_run_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    Parts(file, {"DATA": "x", "--target": '"good"', "MODEL": "m"}).open()
    with pytest.raises(InvalidInputError, match=r"out.csv.parts .*: --where, --target differed"):
        Parts(file, {"DATA": "x", "MODEL": "m", "--where": '"a"'}).open()
    manifest = tmp_path / "out.csv.parts" / "manifest.json"
    manifest.write_text("{")
    with pytest.raises(InvalidInputError, match="parts of another run: DATA differed"):
        Parts(file, {"DATA": "x"}).open()
