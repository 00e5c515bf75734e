"""Tables in CSV and parquet files."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from support.loan_frames import loans

from counterset import InvalidInputError
from counterset.batch.table_files import (
    CsvFormat,
    CsvTable,
    ParquetFormat,
    ParquetTable,
    check_ending,
    format_of,
    open_table,
)
from counterset.exceptions import MissingExtraError

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


FORMULAS = ["=1+1", "+49 30", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "a;=1+1"]  # noqa: RUF001


def test_a_cell_that_begins_as_a_formula_is_written_as_it_is_by_default(tmp_path: Path) -> None:
    rows = pd.DataFrame({"=note": FORMULAS})
    how = CsvFormat(tuple(rows))
    how.write(rows, tmp_path / "part.csv")
    how.join([tmp_path / "part.csv"], tmp_path / "all.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "all.csv"), rows)


def test_the_safe_form_has_no_formulas_and_leaves_numbers(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {
            "=note": FORMULAS,
            "kind": pd.Categorical(["-yes", "no"] * 4),
            "amount": [-1.5, 2.0] * 4,
            "count": pd.array([-3, None] * 4, dtype="Int64"),
            "flag": [True, False] * 4,
            "kept": ["-12.5", "+3", "-1e5", "-7,5", "", "'", "-", None],
            "day": pd.to_datetime(["2024-02-29"] * 8),
        }
    )
    how = CsvFormat(tuple(rows), safe=True)
    how.write(rows, tmp_path / "part.csv")
    how.join([tmp_path / "part.csv"], tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="", encoding="utf-8") as file:
        names, *cells = csv.reader(file)
    assert names[:2] == ["'=note", "kind"]
    columns = dict(zip(names, zip(*cells, strict=True), strict=True))
    assert columns["'=note"] == (*(f"'{each}" for each in FORMULAS[:-1]), "a;=1+1")
    assert columns["kind"][:2] == ("'-yes", "no")
    assert columns["kept"] == ("-12.5", "+3", "-1e5", "-7,5", "", "'", "'-", "")
    assert columns["day"][0] == "2024-02-29"
    back = pd.read_csv(tmp_path / "all.csv")
    assert back["amount"].tolist() == rows["amount"].tolist()
    assert back["count"].dropna().tolist() == [-3] * 4
    assert back["flag"].tolist() == rows["flag"].tolist()
    # A spreadsheet that takes semicolons for the ends of cells sees no cell that begins with =.
    assert '"a;=1+1"' in (tmp_path / "all.csv").read_text(encoding="utf-8")


def test_a_failure_of_the_disk_is_no_fault_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What was finished is kept after such a failure, and dropped after a fault of the table.
    table = open_table(written(tmp_path))

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(pd, "read_csv", fail)
    with pytest.raises(OSError, match="Input/output error"):
        table.read()


def test_chunks_hold_every_row_once_under_its_number_with_its_dtype(tmp_path: Path) -> None:
    rows = loans(50).reset_index()
    rows["many"] = pd.array([None, *range(49)], dtype="Int64")
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=7)
    table = ParquetTable(tmp_path / "rows.parquet")
    assert table.columns == list(rows)
    assert table.count() == 50
    pd.testing.assert_frame_equal(table.read(), rows)
    for size in (1, 7, 20, 50, 70):
        chunks = list(table.chunks(size))
        assert [len(each) for each in chunks[:-1]] == [size] * (len(chunks) - 1)
        pd.testing.assert_frame_equal(pd.concat(chunks), rows)


def test_a_named_index_is_a_column(tmp_path: Path) -> None:
    loans(3).to_parquet(tmp_path / "rows.parquet")
    table = ParquetTable(tmp_path / "rows.parquet")
    assert table.columns[0] == "person"
    assert table.read()["person"].tolist() == ["p0", "p1", "p2"]


def test_parts_have_the_same_types_even_without_a_value(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {
            "text": pd.Series([None, "a"], dtype=object),
            "flag": pd.Series([None, True], dtype=object),
            "count": pd.array([None, 2**60 + 1], dtype="Int64"),
        }
    )
    how = ParquetFormat(rows[:0], pd.DataFrame({"flag": [None, True]}))
    parts = [tmp_path / f"{i}.parquet" for i in range(3)]
    for part, some in zip(parts, (rows[:1], rows[:0], rows[1:]), strict=True):
        how.write(some, part)
    how.join(parts, tmp_path / "all.parquet")
    joined = pd.read_parquet(tmp_path / "all.parquet")
    assert joined["text"].isna().tolist() == [True, False]
    assert joined["text"][1] == "a"
    assert joined["flag"].tolist() == [None, True]
    assert joined["count"].dtype == "Int64"
    assert joined["count"][1] == 2**60 + 1
    how.join([], tmp_path / "none.parquet")
    assert list(pd.read_parquet(tmp_path / "none.parquet")) == list(rows)


def test_what_is_no_parquet_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    file.write_text("a,b\n")
    with pytest.raises(InvalidInputError, match=r"rows.parquet cannot be read as a parquet file"):
        ParquetTable(file)


def test_a_damaged_parquet_file_is_named_however_it_is_read(tmp_path: Path) -> None:
    # The end, which is read first, is whole.
    file = tmp_path / "rows.parquet"
    loans(500).to_parquet(file)
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 3] = bytes(len(content) // 3 - 4)
    file.write_bytes(content)
    table = ParquetTable(file)
    with pytest.raises(InvalidInputError, match=r"rows.parquet cannot be read as a parquet file"):
        table.read()
    with pytest.raises(InvalidInputError, match=r"rows.parquet cannot be read as a parquet file"):
        list(table.chunks(10))


def test_two_columns_of_one_name_are_told(tmp_path: Path) -> None:
    table = pyarrow.table([[1], [2]], names=["a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(InvalidInputError, match="several columns of the same name: 'a'"):
        open_table(tmp_path / "rows.parquet")


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[parquet\]'"):
        ParquetTable(tmp_path / "rows.parquet")
