"""Parts of a long run: kept, checked, joined, and refused if they belong to another."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.batch.table_files import CsvFormat, Parts

HOW = CsvFormat(("a",))


class Full(CsvFormat):
    """A format that fails in the middle, as on a full disk."""

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        raise OSError(28, "No space left on device")


def write(parts: Parts, *numbers: int) -> None:
    for number in numbers:
        parts.write(number, pd.DataFrame({"a": [number]}), {"explained": 1}, HOW)


def finished(file: Path, **made_from: str) -> tuple[list[int], int]:
    """Return which of the first parts are finished, and how many are damaged."""
    parts = Parts(file)
    with parts.opened(made_from):
        return [number for number in range(5) if parts.is_finished(number)], parts.damaged


def test_parts_are_kept_and_joined_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    for number in (1, 0):  # each by a run of its own
        parts = Parts(file)
        with parts.opened({"DATA": "x"}):
            assert not parts.is_finished(number)
            status = {"explained": 2, "none_found": number}
            parts.write(number, pd.DataFrame({"a": [number]}), status, HOW)
            assert parts.is_finished(number)
    parts = Parts(file)
    with parts.opened({"DATA": "x"}):
        assert parts.status() == Counter(explained=4, none_found=1)
        assert not file.exists()
        parts.join(2, HOW)
        assert file.read_text() == "a\n0\n1\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_part_that_could_not_be_written_is_not_finished(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "out.csv")
    with parts.opened({}):
        write(parts, 0)
        with pytest.raises(OSError, match="No space left"):
            parts.write(1, pd.DataFrame({"a": [1]}), {"explained": 1}, Full(("a",)))
    assert finished(parts.file) == ([0], 0)
    names = ["00000000.csv", "00000000.json", "manifest.json"]
    assert sorted(file.name for file in parts.folder.iterdir()) == names


def test_a_run_that_finished_nothing_or_is_refused_leaves_nothing(tmp_path: Path) -> None:
    # The folder stayed, and blocked the corrected command.
    parts = Parts(tmp_path / "out.csv")
    with pytest.raises(InvalidInputError), parts.opened({}):
        raise InvalidInputError("The model is wrong.")
    assert list(tmp_path.iterdir()) == []
    with parts.opened({}):
        write(parts, 0, 1)
        parts.discard()
    assert list(tmp_path.iterdir()) == []


def test_parts_of_another_run_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    parts = Parts(file)
    with parts.opened({"DATA": "x", "--target": '"good"', "MODEL": "m"}):
        write(parts, 0)
    before = {each: each.read_bytes() for each in parts.folder.iterdir()}
    with (
        pytest.raises(InvalidInputError, match=r"out.csv.parts .*: --where, --target differed"),
        Parts(file).opened({"DATA": "x", "MODEL": "m", "--where": '"a"'}),
    ):
        pass
    assert {each: each.read_bytes() for each in parts.folder.iterdir()} == before


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "note cut", "note gone", "note {}"])
def test_a_damaged_part_is_made_again(damage: str, tmp_path: Path) -> None:
    # A part that was cut ended in a traceback, at every further run.
    file = tmp_path / "out.csv"
    parts = Parts(file)
    with parts.opened({}):
        write(parts, 0, 1, 2)
    part, note = parts.folder / "00000001.csv", parts.folder / "00000001.json"
    if damage == "cut":
        part.write_bytes(b"")
    elif damage == "changed":
        part.write_text("7\n")
    elif damage == "gone":
        part.unlink()
    elif damage == "note cut":
        note.write_text("{")
    elif damage == "note gone":
        note.unlink()
    else:
        note.write_text("{}")
    assert finished(file) == ([0, 2], int(damage != "note gone"))
    with parts.opened({}):
        write(parts, 1)
        parts.join(3, HOW)
    assert file.read_text() == "a\n0\n1\n2\n"
    assert list(tmp_path.iterdir()) == [file]


def test_parts_of_which_nobody_knows_what_they_were_made_from_are_made_again(
    tmp_path: Path,
) -> None:
    parts = Parts(tmp_path / "out.csv")
    with parts.opened({"DATA": "x"}):
        write(parts, 0, 1)
    (parts.folder / "manifest.json").write_text("{")
    assert finished(parts.file, DATA="x") == ([], 2)


def test_what_a_killed_run_did_not_finish_is_removed(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "out.csv")
    with parts.opened({}):
        write(parts, 0)
    for name in ("lock", "unfinished-1-00000001.csv", "00000001.csv", "joined.csv"):
        (parts.folder / name).touch()
    assert finished(parts.file) == ([0], 0)
    names = ["00000000.csv", "00000000.json", "manifest.json"]
    assert sorted(file.name for file in parts.folder.iterdir()) == names


def test_one_run_at_a_time_writes_a_file(tmp_path: Path) -> None:
    # The second died of a file that the first had moved.
    parts = Parts(tmp_path / "out.csv")
    with parts.opened({}):
        write(parts, 0)
        with (
            pytest.raises(InvalidInputError, match=r"Another run is writing .*out\.csv now"),
            Parts(parts.file).opened({}),
        ):
            pass
        write(parts, 1)
    assert finished(parts.file) == ([0, 1], 0)


def test_a_run_that_was_killed_blocks_nobody(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from counterset.batch.table_files import Parts\n"
        "with Parts(Path(sys.argv[1])).opened({}): os.kill(os.getpid(), signal.SIGKILL)"
    )
    file = tmp_path / "out.csv"
    killed = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert killed.returncode != 0
    assert (tmp_path / "out.csv.parts" / "lock").exists()
    assert finished(file) == ([], 0)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    # All of it was removed when the table was finished.
    parts = Parts(tmp_path / "out.csv")
    parts.folder.mkdir()
    (parts.folder / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInputError, match=r"it has other files \(thesis.txt\)"):
        finished(parts.file)
    assert [file.name for file in parts.folder.iterdir()] == ["thesis.txt"]
    (tmp_path / "b.csv.parts").touch()
    with pytest.raises(InvalidInputError, match=r"b.csv.parts, but it is a file"):
        finished(tmp_path / "b.csv")
