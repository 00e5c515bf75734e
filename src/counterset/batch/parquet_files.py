"""Parquet files, read and written with pyarrow: the only module that knows this format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.files import written_aside
from counterset.exceptions import InvalidInputError, MissingExtraError

__all__ = ["ParquetFormat", "ParquetTable"]


class ParquetTable:
    """A parquet file; dtypes are those that it was written with.

    Parameters
    ----------
    file
        The file, which is there.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        pyarrow = _pyarrow()
        with _reading(file), pyarrow.parquet.ParquetFile(file) as opened:
            self._schema = opened.schema_arrow
            self._rows = opened.metadata.num_rows

    @property
    def names(self) -> list[str]:
        """The names that the file has."""
        return [str(name) for name in self._schema.names]

    @property
    def columns(self) -> list[str]:
        """The names of the columns; a named index is a column too."""
        return [str(name) for name in _to_pandas(self._schema.empty_table())]

    def count(self) -> int:
        """Return the number of rows, as the file states it."""
        return int(self._rows)

    def read(self) -> pd.DataFrame:
        """Read all rows."""
        with _reading(self.file):
            return _to_pandas(_pyarrow().parquet.read_table(self.file))

    def chunks(self, size: int, texts: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Read chunks; the file says what its columns are, so ``texts`` has no effect."""
        pyarrow, first = _pyarrow(), 0
        left = self._schema.empty_table()
        with pyarrow.parquet.ParquetFile(self.file) as opened:
            batches = opened.iter_batches(batch_size=size)
            while True:
                with _reading(self.file):
                    batch = next(batches, None)
                if batch is None:
                    break
                # A batch may be shorter: it may end with a group of rows.
                left = pyarrow.concat_tables([left, pyarrow.Table.from_batches([batch])])
                while left.num_rows >= size:
                    yield _numbered(left.slice(0, size), first)
                    left, first = left.slice(size), first + size
        if left.num_rows:
            yield _numbered(left, first)


class ParquetFormat:
    """Parquet with the same types in all parts.

    Parameters
    ----------
    frame
        A frame with the columns and dtypes; it may have no rows.
    values
        Values of some columns: what a column of objects holds, its dtype does not tell. One
        without any value holds text.
    """

    def __init__(self, frame: pd.DataFrame, values: pd.DataFrame) -> None:
        pyarrow = _pyarrow()
        schema = pyarrow.Schema.from_pandas(frame, preserve_index=False)
        for at, field in enumerate(schema):
            if pyarrow.types.is_null(field.type):
                known = pyarrow.array(values.get(field.name, []), from_pandas=True).type
                text = pyarrow.types.is_null(known)
                schema = schema.set(at, field.with_type(pyarrow.string() if text else known))
        self._schema = schema

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        """Write a part."""
        pyarrow = _pyarrow()
        table = pyarrow.Table.from_pandas(frame, schema=self._schema, preserve_index=False)
        with written_aside(file) as unfinished:
            pyarrow.parquet.write_table(table, unfinished)

    def join(self, parts: Sequence[Path], file: Path) -> None:
        """Write one part after the other, so that no more than one is in memory."""
        pyarrow = _pyarrow()
        with (
            written_aside(file) as unfinished,
            pyarrow.parquet.ParquetWriter(unfinished, self._schema) as writer,
        ):
            for part in parts:
                writer.write_table(pyarrow.parquet.read_table(part, schema=self._schema))


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Say what is wrong with a file that cannot be read as parquet."""
    try:
        yield
    except (_pyarrow().ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk or the network failed
            raise
        raise InvalidInputError(f"{file} cannot be read as a parquet file: {error}") from error


def _numbered(table: Any, first: int) -> pd.DataFrame:
    frame = _to_pandas(table)
    frame.index = pd.RangeIndex(first, first + len(frame))
    return frame


def _to_pandas(table: Any) -> pd.DataFrame:
    """Return a table with the dtypes that pandas wrote; a named index becomes a column."""
    frame: pd.DataFrame = table.to_pandas()
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    frame.index = pd.RangeIndex(len(frame))
    return frame


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "A parquet file needs pyarrow: pip install 'counterset[parquet]'. A CSV file does not."
        ) from None
    return pyarrow
