"""``counterset explain --out``: explain the rows of a file, and write a file."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api import types

from counterset import __version__
from counterset._base.progress import Progress
from counterset.batch.cluster import connected, explain_chunks
from counterset.batch.frame_explainer import FrameExplainer
from counterset.batch.parts import Parts
from counterset.batch.table_files import (
    CsvTable,
    Format,
    TableFile,
    check_ending,
    format_of,
    open_table,
)
from counterset.cli.cases import read_explainer
from counterset.cli.files import check_files
from counterset.cli.rows import select_features
from counterset.cli.where import Where
from counterset.exceptions import InvalidInputError
from counterset.results.tidy import free_name

__all__ = ["INCOMPLETE", "explain_file"]

#: The exit code of a run that finished, but not every row has an explanation.
INCOMPLETE = 3
#: A part holds the explanations of 1,000 rows: batches are fast, an interruption costs little.
ROWS = 1000
#: The rows at work take about 100 MB; models and libraries need more than that beside them.
MEMORY = "100MB"
#: What people read about each status; the rest failed.
TOLD = {
    "explained": "explained",
    "already_reached": "had what was wanted",
    "none_found": "without a way",
    "invalid_input": "with values that cannot be used",
    "model_error": "on which the model failed",
}


def explain_file(arguments: argparse.Namespace) -> int:
    """Explain the rows of DATA, write them to ``--out``, and return the exit code."""
    out = arguments.out
    parts = Parts(out)
    check_files(arguments, "out", more={"out": [parts.folder]})
    check_ending(out)
    _check_options(arguments)
    table = open_table(arguments.data)
    with ExitStack() as stack:
        # That another run has the file is told before a model is read.
        stack.enter_context(parts.opened(_made_from(arguments)))
        if parts.damaged:
            sys.stderr.write(
                f"counterset: {parts.damaged} of the finished parts are damaged, and made again\n"
            )
        client = None
        if arguments.scheduler is not None:
            client = stack.enter_context(connected(arguments.scheduler))
        explainer, goal = read_explainer(arguments)
        _check_columns(table, explainer.model, arguments)
        function = FrameExplainer(
            explainer, keep=arguments.keep, memory=MEMORY, n_jobs=arguments.jobs, **goal
        )
        run = _Run(arguments, table, function, parts)
        try:
            run.explain(client)
            status = parts.status()
            parts.join(run.count, run.format)
        except InvalidInputError:  # the same command will never do better
            parts.discard()
            raise
        except BaseException:
            _tell_kept(run)
            raise
    listed = ", ".join(f"{status[name]} {told}" for name, told in TOLD.items() if status[name])
    sys.stdout.write(f"{sum(status.values())} rows: {listed or 'none to explain'}\n")
    sys.stdout.write(f"Written to {out}\n")
    complete = set(status) <= {"explained", "already_reached"}
    return 0 if complete else INCOMPLETE


class _Run:
    """One run over the rows of a file."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        table: TableFile,
        function: FrameExplainer,
        parts: Parts,
    ) -> None:
        self.arguments = arguments
        self.table = table
        self.function = function
        self.parts = parts
        self.total = table.count()
        self.count = -(-self.total // ROWS)
        self.finished = 0
        training = function.explainer.schema_
        self._numbers = [
            name
            for feature in training.features
            for name in training.columns[list(feature.columns)]
            if types.is_numeric_dtype(feature.dtype)
        ]
        others = [name for name in training.columns if name not in self._numbers]
        self._texts = [*others, *arguments.keep]
        as_text = arguments.keep if isinstance(table, CsvTable) else ()
        self._where = Where(arguments.where, function.explainer, as_text)

    @property
    def format(self) -> Format:
        """How the explanations are written, with types that all parts share."""
        head = next(self.table.chunks(1, self._texts), pd.DataFrame(columns=self.table.columns))
        explainer, nothing = self.function.explainer, self._arranged(self.function(head[:0]))
        some: Any = explainer.schema_.decode(explainer.pool_.matrix[:ROWS])
        return format_of(self.arguments.out, nothing, some, safe=self.arguments.safe_csv)

    def explain(self, client: Any) -> None:
        """Explain all chunks that are not finished yet, and write each as a part."""
        how = self.format
        finished = [number for number in range(self.count) if self.parts.is_finished(number)]
        self.finished = sum(min(ROWS, self.total - number * ROWS) for number in finished)
        label, shown = "explain", not self.arguments.quiet
        bar = Progress(self.total, label, unit="rows", done=self.finished, shown=shown)
        with bar:
            chunks = self._chunks(set(finished))
            explained = (
                ((number, self.function(rows)) for number, rows in chunks)
                if client is None
                else explain_chunks(client, self.function, chunks)
            )
            for number, rows in explained:
                status = rows[~rows.index.duplicated()].iloc[:, -2]  # the message is last
                self.parts.write(number, self._arranged(rows), Counter(status), how)
                done = min(ROWS, self.total - number * ROWS)
                self.finished += done
                bar.advance(done)

    def _chunks(self, finished: set[int]) -> Iterator[tuple[int, pd.DataFrame]]:
        """Yield the rows to explain of all chunks that are not finished."""
        for number, chunk in enumerate(self.table.chunks(ROWS, self._texts)):
            if number not in finished:
                for name in self._numbers:
                    chunk[name] = _read_cells(chunk[name])
                yield number, chunk[self._where.mask(chunk)]

    def _arranged(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the number of the input as their first column."""
        name = free_name("input", rows.columns, "row_of")
        return rows.reset_index(names=name)


def _read_cells(column: pd.Series) -> pd.Series:
    """Return a column of numbers or booleans, which a cell that is none has turned into text.

    Such a cell stays as it is, so that only its own row cannot be read.
    """
    if types.is_numeric_dtype(column.dtype):
        return column
    flags = {
        "True": True,
        "TRUE": True,
        "true": True,
        "False": False,
        "FALSE": False,
        "false": False,
    }
    cells = column.astype(object)
    numbers = pd.to_numeric(cells, errors="coerce").astype(object)
    read = numbers.where(numbers.notna(), cells)
    return read.map(lambda cell: flags.get(cell, cell) if isinstance(cell, str) else cell)


def _check_options(arguments: argparse.Namespace) -> None:
    """Check options that have an effect only with another, or only without it."""
    if arguments.safe_csv and arguments.out.suffix.lower() != ".csv":
        raise InvalidInputError(
            f"--safe-csv is for a .csv file, got {arguments.out}. No spreadsheet takes a text of a "
            f"parquet file for a formula."
        )
    if arguments.jobs is not None and arguments.scheduler is not None:
        raise InvalidInputError(
            "Choose one of --jobs, processes on this machine, and --scheduler, those of a cluster."
        )


def _check_columns(table: TableFile, model: Any, arguments: argparse.Namespace) -> None:
    """Check that DATA has all columns, before its rows are read."""
    columns = pd.DataFrame(columns=table.columns)
    missing = [name for name in arguments.keep if name not in columns]
    if missing:
        raise InvalidInputError(
            f"--keep names columns that are not in {arguments.data}: {missing}. There are "
            f"{list(columns)}."
        )
    if arguments.train is not None:  # else it was read as the training rows
        select_features(columns, model, arguments.drop, arguments.data)


def _made_from(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what decides what the parts hold: a hash for each file, and the other arguments."""
    files = {
        "MODEL": arguments.model,
        "DATA": arguments.data,
        "--train": arguments.train,
        "--constraints": arguments.constraints,
        "--schema": arguments.schema,
    }
    made_from = {"counterset": __version__, "rows in a part": str(ROWS)}
    for name, file in files.items():
        if file is not None:
            made_from[name] = _hash(file)
    others = [
        "drop",
        "target",
        "target_probability",
        "interval",
        "immutable",
        "ways",
        "keep",
        "where",
        "safe_csv",
    ]
    for name in others:
        value = getattr(arguments, name)
        if value not in (None, [], False):
            made_from[f"--{name.replace('_', '-')}"] = json.dumps(value)
    return made_from


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _tell_kept(run: _Run) -> None:
    """Say what is kept of a run that did not finish."""
    if run.finished:
        sys.stderr.write(
            f"counterset: {run.finished} of {run.total} rows are finished, and kept in "
            f"{run.parts.folder}. The same command goes on from there.\n"
        )
