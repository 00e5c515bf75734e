"""Parquet files: dtypes stay, parts share their types, pyarrow is an extra."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from support.loan_frames import loans

from counterset import InvalidInputError
from counterset.batch.table_files import ParquetFormat, ParquetTable, open_table
from counterset.exceptions import MissingExtraError


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
