"""Tables in files: CSV and parquet, read in chunks, written in parts that are joined at the end."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pandas.errors import ParserWarning

from counterset._base.files import written_aside
from counterset.batch.parquet_files import ParquetFormat, ParquetTable
from counterset.exceptions import InvalidInputError

__all__ = [
    "CsvFormat",
    "CsvTable",
    "Format",
    "TableFile",
    "check_ending",
    "format_of",
    "open_table",
]

#: The rows of a CSV file are counted a million at a time.
COUNTED = 1_000_000


class TableFile(Protocol):
    """A table in a file."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        ...

    def count(self) -> int:
        """Return the number of rows."""
        ...

    def read(self) -> pd.DataFrame:
        """Read the whole table; rows are numbered from 0."""
        ...

    def chunks(self, size: int, texts: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Read the table in chunks of a number of rows, numbered from 0 through all chunks.

        Parameters
        ----------
        size
            The rows of a chunk; the last may have fewer.
        texts
            Columns that are read as text, where the file does not say what they are.
        """
        ...


class Format(Protocol):
    """How a table is written in parts."""

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        """Write a part."""
        ...

    def join(self, parts: Sequence[Path], file: Path) -> None:
        """Write all parts to one file."""
        ...


def open_table(file: Path) -> TableFile:
    """Open a table; the ending of its name tells whether it is parquet or CSV."""
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    return ParquetTable(file) if _is_parquet(file) else CsvTable(file)


def check_ending(file: Path) -> None:
    """Check that the ending of a file to be written tells what to write.

    Examples
    --------
    >>> check_ending(Path("answers.xlsx"))
    Traceback (most recent call last):
        ...
    counterset.exceptions.InvalidInputError: answers.xlsx ends neither ...
    """
    if file.suffix.lower() != ".csv" and not _is_parquet(file):
        raise InvalidInputError(
            f"{file} ends neither in .csv nor in .parquet. Choose one: it tells what to write."
        )


def format_of(file: Path, frame: pd.DataFrame, values: pd.DataFrame) -> Format:
    """Return how a table is written to a file of this name.

    Parameters
    ----------
    file
        The file that the table will be.
    frame
        A frame with the columns and dtypes of the table; it may have no rows.
    values
        Values of some columns: what a column of objects holds, its dtype does not tell.
    """
    return ParquetFormat(frame, values) if _is_parquet(file) else CsvFormat(tuple(frame.columns))


@dataclass(frozen=True)
class CsvTable:
    """A CSV file whose first line names the columns."""

    file: Path

    @property
    def columns(self) -> list[str]:
        """The names in the first line."""
        with _reading(self.file):
            return [str(name) for name in pd.read_csv(self.file, index_col=False, nrows=0)]

    def count(self) -> int:
        """Return the number of rows: a cell in quotes may have several lines."""
        with (
            _reading(self.file),
            pd.read_csv(self.file, usecols=[0], index_col=False, chunksize=COUNTED) as chunks,
        ):
            return sum(map(len, chunks))

    def read(self) -> pd.DataFrame:
        """Read all rows, each column in the dtype that fits all of them."""
        with _reading(self.file):
            # By default, pandas takes a cell too many for the name of its row, and shifts the rest.
            return pd.read_csv(self.file, index_col=False, low_memory=False)

    def chunks(self, size: int, texts: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Read chunks; columns that are not texts have the dtype that fits the chunk."""
        dtypes: Any = dict.fromkeys(texts, str)
        with _reading(self.file):
            reader = pd.read_csv(
                self.file, index_col=False, chunksize=size, dtype=dtypes, low_memory=False
            )
        with reader:
            while True:
                with _reading(self.file):
                    chunk = next(reader, None)
                if chunk is None:
                    return
                yield chunk


@dataclass(frozen=True)
class CsvFormat:
    """CSV with the names of the columns in the first line, which parts do not have."""

    columns: tuple[Any, ...]

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        """Write rows without the names of the columns."""
        with written_aside(file) as unfinished:
            frame.to_csv(unfinished, index=False, header=False)

    def join(self, parts: Sequence[Path], file: Path) -> None:
        """Write the names of the columns, then one part after the other."""
        with written_aside(file) as unfinished:
            pd.DataFrame(columns=pd.Index(self.columns)).to_csv(unfinished, index=False)
            with unfinished.open("ab") as whole:
                for part in parts:
                    with part.open("rb") as rows:
                        shutil.copyfileobj(rows, whole)


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() in (".parquet", ".pq")


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Say what is wrong with a file that cannot be read as CSV."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            yield
    except ParserWarning:
        raise InvalidInputError(
            f"The rows of {file} have more cells than its first line has names. Name every column."
        ) from None
    except Exception as error:  # what is no table can fail in many ways, and few name the file
        raise InvalidInputError(f"{file} cannot be read as a CSV file: {error}") from error
