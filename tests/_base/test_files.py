"""Files that are complete or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterset._base.files import written_aside


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


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "picture.png", "none"])
def test_the_ending_is_kept_since_it_chooses_the_format(tmp_path: Path, name: str) -> None:
    with written_aside(tmp_path / name) as unfinished:
        assert unfinished.suffix == Path(name).suffix
        assert unfinished.name != name
        unfinished.write_text("")
    assert [file.name for file in tmp_path.iterdir()] == [name]
