"""CSV files in chunks and parts; which file is of which format."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterset import InvalidInputError
from counterset.batch.parquet_files import ParquetFormat, ParquetTable
from counterset.batch.table_files import CsvFormat, CsvTable, check_ending, format_of, open_table

ROWS = pd.DataFrame(
    {"case": ["007", "8", "9", "10", "11"], "note": ["a", "b\nc", "d", None, "e,f"]}
)


def written(folder: Path) -> Path:
    file = folder / "rows.csv"
    ROWS.to_csv(file, index=False)
    return file


def with_none(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of objects in which all that is missing is None."""
    return frame.astype(object).where(frame.notna(), None)


def test_chunks_hold_every_row_once_under_its_number(tmp_path: Path) -> None:
    table = open_table(written(tmp_path))
    assert table.columns == ["case", "note"]
    assert table.count() == 5  # though one has two lines
    for size in (1, 2, 5, 9):
        chunks = list(table.chunks(size, texts=["case"]))
        assert [len(each) for each in chunks[:-1]] == [size] * (len(chunks) - 1)
        pd.testing.assert_frame_equal(with_none(pd.concat(chunks)), with_none(ROWS))
    assert table.read()["case"].tolist() == [7, 8, 9, 10, 11]


def test_joined_parts_are_the_whole_table(tmp_path: Path) -> None:
    how = CsvFormat(tuple(ROWS))
    parts = [tmp_path / f"{i}.csv" for i in range(3)]
    for part, rows in zip(parts, (ROWS[:2], ROWS[:0], ROWS[2:]), strict=True):
        how.write(rows, part)
    how.join(parts, tmp_path / "all.csv")
    ROWS.to_csv(tmp_path / "expected.csv", index=False)
    assert (tmp_path / "all.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    how.join([], tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text() == "case,note\n"


def test_the_ending_tells_the_format(tmp_path: Path) -> None:
    assert isinstance(open_table(written(tmp_path)), CsvTable)
    ROWS.to_parquet(tmp_path / "rows.PARQUET")
    assert isinstance(open_table(tmp_path / "rows.PARQUET"), ParquetTable)
    assert isinstance(format_of(Path("a.csv"), ROWS, ROWS), CsvFormat)
    assert isinstance(format_of(Path("a.pq"), ROWS, ROWS), ParquetFormat)


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.csv.gz"])
def test_what_cannot_be_written_is_refused(name: str) -> None:
    # A table used to be written as CSV under any name.
    with pytest.raises(InvalidInputError, match=r"ends neither in \.csv nor in \.parquet"):
        check_ending(Path(name))
    check_ending(Path("a.CSV"))
    check_ending(Path("a.pq"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"There is no file .*none.csv"):
        open_table(tmp_path / "none.csv")
    file = tmp_path / "rows.csv"
    # Not the first rows of a chunk: pandas below 3.1 leaves out what is too much there.
    file.write_text("a,b\n" + "1,2\n" * 7 + "5,6,7,8\n")
    table = open_table(file)
    chunks = table.chunks(4)
    assert len(next(chunks)) == 4
    with pytest.raises(InvalidInputError, match=r"rows.csv cannot be read as a CSV file: .*line"):
        next(chunks)
    file.write_text("a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(InvalidInputError, match="more cells than its first line has names"):
        list(table.chunks(2))
