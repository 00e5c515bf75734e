"""Tables in CSV and parquet files: read in chunks, and written in parts.

A long run keeps its finished parts in a folder, and the same run goes on from there.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pandas.api import types
from pandas.errors import EmptyDataError, ParserWarning

from counterset._base.files import UNFINISHED, file_hash, locked, written_aside
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.models.files import is_model_file

__all__ = [
    "CsvFormat",
    "CsvTable",
    "Format",
    "ParquetFormat",
    "ParquetTable",
    "Parts",
    "TableFile",
    "as_text",
    "check_ending",
    "format_of",
    "open_table",
]

#: The rows of a CSV file are counted a million at a time.
COUNTED = 1_000_000
#: Other separators of cells, with their names.
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
#: A spreadsheet may take a cell that begins so for a formula; from OWASP's "CSV Injection".
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")  # noqa: RUF001
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?")
#: The file that one run at a time holds a lock on.
LOCK = "lock"
#: The file that says what the parts were made from.
MANIFEST = "manifest.json"
#: All files that a folder of parts can hold: parts, notes about them, and what is not finished.
OWN = re.compile(rf"{LOCK}|{re.escape(MANIFEST)}|joined\.\w+|[0-9]{{8}}\.\w+|{UNFINISHED}.*")


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
    """Open a table; the ending of its name says whether it is parquet or CSV."""
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    if is_model_file(file):
        raise InvalidInputError(f"{file} is a model, by the ending of its name, and not a table.")
    table: ParquetTable | CsvTable = ParquetTable(file) if _is_parquet(file) else CsvTable(file)
    _check_names(table.names, file)
    return table


def check_ending(file: Path) -> None:
    """Check that the name of a file to be written ends in .csv or .parquet.

    Examples
    --------
    >>> check_ending(Path("answers.xlsx"))
    Traceback (most recent call last):
        ...
    counterset.exceptions.InvalidInputError: answers.xlsx ends neither ...
    """
    if file.suffix.lower() != ".csv" and not _is_parquet(file):
        raise InvalidInputError(
            f"{file} ends neither in .csv nor in .parquet. Choose one: it is the format to write."
        )


def format_of(
    file: Path, frame: pd.DataFrame, values: pd.DataFrame, *, safe: bool = False
) -> Format:
    """Return how a table is written to a file of this name.

    Parameters
    ----------
    file
        The file that the table will be.
    frame
        A frame with the columns and dtypes of the table; it may have no rows.
    values
        Values of some columns: the dtype of a column of objects does not say what it has.
    safe
        Whether a CSV file is written so that no spreadsheet takes a text for a formula.
    """
    if _is_parquet(file):
        return ParquetFormat(frame, values)
    return CsvFormat(tuple(frame.columns), safe)


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() in (".parquet", ".pq")


def _check_names(names: Sequence[str], file: Path) -> None:
    """Check that columns are separated by commas and have different names."""
    if len(names) == 1:
        for separator, called in SEPARATORS.items():
            if separator in names[0] and names[0].replace(separator, "").isprintable():
                raise InvalidInputError(
                    f"{file} seems to be separated by {called}, and a CSV file is separated by "
                    f'commas. Convert it: python -c "import pandas as pd; pd.read_csv('
                    f"{str(file)!r}, sep={separator!r}).to_csv('commas.csv', index=False)\" (with "
                    f"decimal=',' if its numbers have decimal commas)."
                )
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise InvalidInputError(
            f"{file} has several columns of the same name: {', '.join(map(repr, twice))}. Give "
            f"each column its own name."
        )


@dataclass(frozen=True)
class CsvTable:
    """A CSV file whose first line names the columns."""

    file: Path

    @property
    def names(self) -> list[str]:
        """The cells of the first line, as they stand there."""
        with _reading_csv(self.file):
            first = pd.read_csv(self.file, header=None, nrows=1, dtype=str, keep_default_na=False)
        return [str(name) for name in first.iloc[0]]

    @property
    def columns(self) -> list[str]:
        """The names in the first line; a column without a name gets one."""
        with _reading_csv(self.file):
            return [str(name) for name in pd.read_csv(self.file, index_col=False, nrows=0)]

    def count(self) -> int:
        """Return the number of rows; a cell in quotes may have several lines."""
        with (
            _reading_csv(self.file),
            pd.read_csv(self.file, usecols=[0], index_col=False, chunksize=COUNTED) as chunks,
        ):
            return sum(map(len, chunks))

    def read(self) -> pd.DataFrame:
        """Read all rows, each column in the dtype that fits all of them."""
        with _reading_csv(self.file):
            # By default, pandas takes an extra first cell for the index, and shifts the others.
            return pd.read_csv(self.file, index_col=False, low_memory=False)

    def chunks(self, size: int, texts: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Read chunks; columns that are not texts have the dtype that fits the chunk."""
        dtypes: Any = dict.fromkeys(texts, str)
        with _reading_csv(self.file):
            reader = pd.read_csv(
                self.file, index_col=False, chunksize=size, dtype=dtypes, low_memory=False
            )
        with reader:
            while True:
                with _reading_csv(self.file):
                    chunk = next(reader, None)
                if chunk is None:
                    return
                yield chunk


@dataclass(frozen=True)
class CsvFormat:
    """CSV with the names of the columns in the first line, which parts do not have.

    Attributes
    ----------
    columns
        The names of the columns.
    safe
        Whether texts are written so that no spreadsheet takes them for formulas, see
        :func:`as_text`. By default, each cell is written as it is, and read again as it was.
    """

    columns: tuple[Any, ...]
    safe: bool = False

    def write(self, frame: pd.DataFrame, file: Path) -> None:
        """Write rows without the names of the columns."""
        with written_aside(file) as unfinished:
            self._write(frame, unfinished, header=False)

    def join(self, parts: Sequence[Path], file: Path) -> None:
        """Write the names of the columns, then one part after the other."""
        with written_aside(file) as unfinished:
            self._write(pd.DataFrame(columns=pd.Index(self.columns)), unfinished, header=True)
            with unfinished.open("ab") as whole:
                for part in parts:
                    with part.open("rb") as rows:
                        shutil.copyfileobj(rows, whole)

    def _write(self, frame: pd.DataFrame, file: Path, *, header: bool) -> None:
        if not self.safe:
            # Before Python 3.13, a cell with a mere carriage return is not put in quotes by itself.
            if any("\r" in cell for cell in _texts(frame)):
                frame.to_csv(file, index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)
            else:
                frame.to_csv(file, index=False, header=header)
            return
        cells = frame.copy(deep=False)
        for at, dtype in enumerate(frame.dtypes):
            if not (types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype)):
                column = frame.iloc[:, at].astype(object)
                cells.isetitem(at, column.map(as_text, na_action="ignore").to_numpy())
        cells.columns = pd.Index([as_text(name) for name in cells.columns])
        # In quotes, since a spreadsheet may take a semicolon or a tab for the end of a cell.
        cells.to_csv(file, index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the names of the columns, and each different text of a frame."""
    yield from map(str, frame.columns)
    for at, dtype in enumerate(frame.dtypes):
        if not (types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype)):
            yield from (cell for cell in frame.iloc[:, at].unique() if isinstance(cell, str))


def as_text(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: such a text gets a quote before it.

    Numbers stay as they are, even if they are texts.

    Examples
    --------
    >>> [as_text(cell) for cell in ("=1+1", "@home", "-5.2", "yes", -3)]
    ["'=1+1", "'@home", '-5.2', 'yes', -3]
    """
    if isinstance(cell, str) and cell[:1] in FORMULA_SIGNS and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


@contextmanager
def _reading_csv(file: Path) -> Iterator[None]:
    """Raise an error that names the file if it cannot be read as CSV."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            yield
    except ParserWarning:
        raise InvalidInputError(
            f"The rows of {file} have more cells than its first line has names. Name every column."
        ) from None
    except EmptyDataError:
        raise InvalidInputError(
            f"{file} is empty. The first line of a CSV file names the columns."
        ) from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidInputError(
            f"{file} is not a UTF-8 text: it has the byte 0x{byte:02x}. Save it again as UTF-8 "
            f"(spreadsheets call it 'CSV UTF-8'). If it is in Latin-1, convert it: iconv -f LATIN1 "
            f"-t UTF-8 {file} > utf8.csv"
        ) from None
    except OSError as error:
        if error.errno is not None:  # the disk or the network failed, and not the file
            raise
        raise InvalidInputError(f"{file} cannot be read as a CSV file: {error}") from error
    except Exception as error:  # other files can fail in many ways, and few errors name the file
        raise InvalidInputError(f"{file} cannot be read as a CSV file: {error}") from error


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
        with _reading_parquet(file), pyarrow.parquet.ParquetFile(file) as opened:
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
        with _reading_parquet(self.file):
            return _to_pandas(_pyarrow().parquet.read_table(self.file))

    def chunks(self, size: int, texts: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
        """Read chunks; the file says what its columns are, so ``texts`` has no effect."""
        pyarrow, first = _pyarrow(), 0
        left = self._schema.empty_table()
        with pyarrow.parquet.ParquetFile(self.file) as opened:
            batches = opened.iter_batches(batch_size=size)
            while True:
                with _reading_parquet(self.file):
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
        Values of some columns: the dtype of a column of objects does not say what it has. A column
        without any value is written as text.
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
def _reading_parquet(file: Path) -> Iterator[None]:
    """Raise an error that names the file if it cannot be read as parquet."""
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


class Parts:
    """The finished parts of a table, in a folder beside the file that it will be.

    A part is finished when there is a note for it, a small file with its hash. Files are written
    atomically, so an interruption leaves no half part behind. A part that does not have the hash in
    its note is damaged, and does not count as finished.

    Parameters
    ----------
    file
        The file that the table will be.

    Attributes
    ----------
    folder
        The folder.
    damaged
        The number of damaged parts, which will be made again.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = file.parent / f"{file.name}.parts"
        self.damaged = 0
        self._notes: dict[int, dict[str, Any]] = {}

    @contextmanager
    def opened(self, made_from: Mapping[str, str]) -> Iterator[None]:
        """Make the folder, or find the finished parts of the same run; lock out other runs.

        The folder is kept if some parts are finished but the table is not.

        Parameters
        ----------
        made_from
            What the parts depend on: a short text for each, such as the hash of a file. Parts that
            were made from something else are refused.
        """
        self._check_folder()
        self.folder.mkdir(exist_ok=True)
        try:
            with locked(self.folder / LOCK) as held:
                if not held:
                    raise InvalidInputError(
                        f"Another run is writing {self.file} now. Wait until it ends, or choose "
                        f"another name."
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
            The number of inputs with each status.
        how
            The format.
        """
        part = self._part(number)
        how.write(frame, part)
        note = {"status": dict(status), "sha256": file_hash(part)}
        with written_aside(self._note(number)) as unfinished:
            unfinished.write_text(json.dumps(note), encoding="utf-8")
        self._notes[number] = note

    def status(self) -> Counter[str]:
        """Return the number of inputs with each status, in all finished parts."""
        total: Counter[str] = Counter()
        for note in self._notes.values():
            total.update(note["status"])
        return total

    def join(self, count: int, how: Format) -> None:
        """Write the parts to the file; the folder is no longer needed."""
        # Joined inside the folder: if this run is killed, the next one removes what is left.
        joined = self.folder / f"joined{self.file.suffix}"
        how.join([self._part(number) for number in range(count)], joined)
        joined.replace(self.file)
        self.discard()

    def discard(self) -> None:
        """Forget what is finished, so that the folder is removed at the end."""
        self._notes.clear()

    def _check_folder(self) -> None:
        """Check that the folder does not exist or has only files of runs: it will be removed."""
        if not self.folder.exists():
            return
        if self.folder.is_dir():
            others = [each.name for each in self.folder.iterdir() if not OWN.fullmatch(each.name)]
            reason = f"it has other files ({', '.join(sorted(others)[:3])})" if others else None
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
                f"{self.folder} has finished parts of another run: {', '.join(other)} differed. "
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
        """Return the note of a part; None if the part is missing or damaged."""
        note, part = _read_json(self._note(number)), self._part(number)
        if (
            not part.is_file()
            or {"status", "sha256"} - set(note)
            or note["sha256"] != file_hash(part)
        ):
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
    """Return what a file has; an empty dict if it is damaged or missing."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}
