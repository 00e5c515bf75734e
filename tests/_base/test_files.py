"""Files that are complete or not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterset import InvalidInputError
from counterset._base.files import locked, written_aside


def test_nothing_is_left_of_a_file_whose_writing_failed(tmp_path: Path) -> None:
    # The file that was being written used to stay behind.
    file = tmp_path / "table.csv"
    file.write_text("before")

    def write_half(error: type[BaseException]) -> None:
        with written_aside(file) as unfinished:
            unfinished.write_text("half")
            raise error

    for error in (OSError, KeyboardInterrupt):
        with pytest.raises(error):
            write_half(error)
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == "before"


def test_a_failure_before_the_first_byte_is_the_one_that_is_seen(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), written_aside(tmp_path / "a.csv"):
        raise OSError("full")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "picture.png", "none", f"{'long' * 60}.csv"])
def test_the_ending_is_kept_since_it_chooses_the_format(tmp_path: Path, name: str) -> None:
    with written_aside(tmp_path / name) as unfinished:
        assert unfinished.suffix == Path(name).suffix
        assert unfinished.name != name
        unfinished.write_text("")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    # The administrator lost /dev/null so.
    (tmp_path / "null.csv").symlink_to(os.devnull)
    (tmp_path / "folder.csv").mkdir()
    for name in ("null.csv", "folder.csv"):
        with (
            pytest.raises(InvalidInputError, match="because it is a folder or a device"),
            written_aside(tmp_path / name) as unfinished,
        ):
            unfinished.write_text("")
    assert (tmp_path / "null.csv").is_symlink()


def test_two_writers_of_one_file_do_not_share_what_is_unfinished(tmp_path: Path) -> None:
    # Processes in two containers can have the same number.
    with written_aside(tmp_path / "a") as one, written_aside(tmp_path / "a") as two:
        one.write_text("one")
        two.write_text("two")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["one"]  # it ends last


def test_a_lock_is_held_by_one_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    for _ in range(2):
        with locked(file) as first, locked(file) as second:
            assert (first, second) == (True, False)
        assert not file.exists()


def test_another_process_sees_the_lock(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from counterset._base.files import locked\n"
        "with locked(Path(sys.argv[1])) as held: print(held)"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "lock")]
    with locked(tmp_path / "lock"):
        assert subprocess.check_output(run, text=True) == "False\n"
    assert subprocess.check_output(run, text=True) == "True\n"


def test_a_lock_on_a_file_that_was_removed_in_between_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two could hold it: one the file without a name, the other a new file of the same name.
    file, stat = tmp_path / "lock", Path.stat
    removed: list[Path] = []

    def remove_once(path: Path, **options: bool) -> os.stat_result:
        if path == file and not removed:
            removed.append(path)
            file.unlink()
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", remove_once)
    with locked(file) as held:
        assert held
        assert removed
        with locked(file) as second:
            assert not second


@pytest.mark.skipif(sys.platform == "win32", reason="its locks are in another module")
def test_without_locks_nobody_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with locked(tmp_path / "lock") as first, locked(tmp_path / "lock") as second:
        assert (first, second) == (True, True)
