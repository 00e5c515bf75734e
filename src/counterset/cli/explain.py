"""``counterset explain``: one row in words, or all rows of a file."""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset import __version__
from counterset._base.arrays import Mask, to_python
from counterset._base.files import file_hash
from counterset._base.progress import Progress
from counterset.batch.cluster import connected, explain_chunks
from counterset.batch.frame_explainer import FrameExplainer, isolate
from counterset.batch.table_files import (
    CsvTable,
    Format,
    Parts,
    TableFile,
    check_ending,
    format_of,
    open_table,
)
from counterset.cli.files import (
    check_files,
    find_outcomes,
    find_rows,
    listed,
    read_case,
    read_explainer,
    select_features,
)
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_margin,
    add_model_and_data,
    add_outcomes,
    add_parser,
    add_settings,
    add_training,
    whole_number,
)
from counterset.exceptions import FewerCounterfactualsWarning, InvalidInputError, ModelError
from counterset.explainer import DiverseExplainer
from counterset.explanations.tidy import free_name
from counterset.models.adapter import ModelAdapter
from counterset.words.details import Details

__all__ = ["INCOMPLETE", "Where", "add_command", "count_by_status", "explain_file"]

#: A part has the explanations of 1,000 rows: batches are fast, an interruption costs little.
ROWS = 1000
#: The rows that are worked on at once take about 100 MB: less than models and libraries need.
MEMORY = "100MB"
#: How the number of rows with each status is described.
STATUS_TEXTS = {
    "explained": "explained",
    "already_reached": "already had the wanted class or value",
    "none_found": "without an option",
    "invalid_input": "with values that cannot be used",
    "model_error": "on which the model failed",
}
#: The exit code of a run that finished, but not every row has an explanation.
INCOMPLETE = 3
#: The name of the predicted class in an expression.
DECISION = "decision"
#: The arguments that have an effect only with another.
ONLY = {
    "--row": ("html", "json", "outcomes", "details", "ranges"),
    "--out": ("where", "keep", "safe_csv", "jobs", "scheduler", "quiet"),
}


def add_command(commands: Commands) -> None:
    """Add ``explain`` to the command line."""
    parser, group = add_parser(
        commands,
        "explain",
        "Say in words what would change a model's decision on one row.\n"
        "With --out, write a file on all rows; exit code 3: some have no explanation.",
        usage="MODEL DATA (--row N | --out FILE) [options]",
        example="counterset explain model.skops credit.csv --row 1 --target good",
    )
    add_model_and_data(group, "a CSV or parquet file with the rows")
    group.add_argument(
        "--row", type=whole_number(0), metavar="N", help="the row to explain; the first is 0"
    )
    group.add_argument(
        "--out", type=Path, metavar="FILE", help="explain all rows, to a .parquet or .csv file"
    )
    add_training(group)
    add_goal(group)
    add_settings(group)
    add_margin(group)
    add_outcomes(group)
    group.add_argument(
        "--ranges", action="store_true", help="with --row: ranges in place of single values"
    )
    group.add_argument("--html", type=Path, metavar="FILE", help="with --row: also write a report")
    group.add_argument(
        "--details", type=Path, metavar="FILE", help="with --html: who writes; .json or .toml"
    )
    group.add_argument("--json", action="store_true", help="with --row: print JSON, not words")
    group.add_argument("--where", metavar="EXPR", help="with --out: only rows where this is true")
    group.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="with --out: columns of DATA to copy",
    )
    group.add_argument(
        "--safe-csv", action="store_true", help="with --out: put ' before texts like formulas"
    )
    group.add_argument(
        "--jobs",
        type=whole_number(1),
        metavar="N",
        help="with --out: the number of processes (default: 1)",
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="with --out: the Dask cluster to use")
    group.add_argument("--quiet", action="store_true", help="with --out: show no progress bar")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if (arguments.row is None) == (arguments.out is None):
        raise InvalidInputError(
            "Choose either --row N, to explain one row, or --out FILE, to explain all rows."
        )
    needed, used = ("--out", "--row") if arguments.out is None else ("--row", "--out")
    given = [f"--{name.replace('_', '-')}" for name in ONLY[needed] if getattr(arguments, name)]
    if given:
        raise InvalidInputError(f"{', '.join(given)}: use it with {needed}, not with {used}.")
    return _explain_row(arguments) if arguments.out is None else explain_file(arguments)


def _explain_row(arguments: argparse.Namespace) -> int:
    if arguments.details is not None and arguments.html is None:
        raise InvalidInputError("--details: use it with --html, the report that shows them.")
    check_files(arguments, "html")
    details = asdict(Details.read(arguments.details or {}))
    case = read_case(arguments)
    row = find_rows(case.rows, [arguments.row], arguments.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)  # the text says it
        explanations = case.explainer.explain_many(row, **case.goal, skip=True)
    explanation = explanations[0]
    if explanations.status[0] == "already_reached":
        raise InvalidInputError(
            f"Row {arguments.row} already has the wanted class or value: the model predicts "
            f"{to_python(explanation.label)!r}. Choose another row, or another goal."
        )
    if arguments.ranges:
        explanation = case.explainer.with_ranges(explanation)
    outcomes = find_outcomes(arguments, case.explainer)
    text = (
        explanation.to_json(indent=1, outcomes=outcomes)
        if arguments.json
        else explanation.describe(outcomes=outcomes)
    )
    sys.stdout.write(f"{text}\n")
    if arguments.html is not None:
        explanation.to_html(arguments.html, outcomes=outcomes, details=details)
        if not arguments.json:  # another program expects nothing but JSON
            sys.stdout.write(f"\nWritten to {arguments.html}\n")
    return 0


def explain_file(arguments: argparse.Namespace) -> int:
    """Explain the rows of DATA, write them to ``--out``, and return the exit code."""
    out = arguments.out
    parts = Parts(out)
    check_files(arguments, "out", more={"out": [parts.folder]})
    check_ending(out)
    _check_options(arguments)
    table = open_table(arguments.data)
    with ExitStack() as stack:
        # Another run that writes the file is reported before a model is read.
        stack.enter_context(parts.opened(_made_from(arguments)))
        if parts.damaged:
            sys.stderr.write(
                f"counterset: {parts.damaged} finished parts are damaged and will be made again\n"
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
        except InvalidInputError:  # the same command would fail again
            parts.discard()
            raise
        except BaseException:
            _report_kept(run)
            raise
    sys.stdout.write(f"{count_by_status(status)}\nWritten to {out}\n")
    complete = set(status) <= {"explained", "already_reached"}
    return 0 if complete else INCOMPLETE


def count_by_status(status: Counter[str]) -> str:
    """Return how many rows have which status, as one line.

    Examples
    --------
    >>> count_by_status(Counter(explained=3, none_found=1))
    '4 rows: 3 explained, 1 without an option'
    >>> count_by_status(Counter(explained=1))
    '1 row: 1 explained'
    """
    total = sum(status.values())
    counts = [f"{status[name]} {text}" for name, text in STATUS_TEXTS.items() if status[name]]
    rows = "1 row" if total == 1 else f"{total} rows"
    return f"{rows}: {', '.join(counts) or 'none to explain'}"


def _check_options(arguments: argparse.Namespace) -> None:
    """Check options that exclude each other."""
    if arguments.safe_csv and arguments.out.suffix.lower() != ".csv":
        raise InvalidInputError(
            f"--safe-csv is for a .csv file, got {arguments.out}. In a parquet file, no text is "
            f"taken for a formula."
        )
    if arguments.jobs is not None and arguments.scheduler is not None:
        raise InvalidInputError(
            "Choose either --jobs (processes on this machine) or --scheduler (a cluster)."
        )


def _check_columns(table: TableFile, model: Any, arguments: argparse.Namespace) -> None:
    """Check that DATA has all columns, before its rows are read."""
    columns = pd.DataFrame(columns=table.columns)
    missing = [name for name in arguments.keep if name not in columns]
    if missing:
        raise InvalidInputError(
            f"--keep names columns that are not in {arguments.data}: {listed(missing)}. The "
            f"columns are {listed(columns)}."
        )
    if arguments.train is not None:  # else it was read as the training rows
        select_features(columns, model, arguments.drop, arguments.data)


def _made_from(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what the parts depend on: a hash for each file, and the other arguments."""
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
            made_from[name] = file_hash(file)
    others = [
        "drop",
        "target",
        "target_probability",
        "interval",
        "margin",
        "immutable",
        "options",
        "keep",
        "where",
        "safe_csv",
    ]
    for name in others:
        value = getattr(arguments, name)
        if value not in (None, [], False):
            made_from[f"--{name.replace('_', '-')}"] = json.dumps(value)
    return made_from


def _report_kept(run: _Run) -> None:
    """Write what is kept of a run that did not finish."""
    if run.finished:
        sys.stderr.write(
            f"counterset: {run.finished} of {run.total} rows are finished and kept in "
            f"{run.parts.folder}. Run the same command again to continue.\n"
        )


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
        training = function.explainer.training_.table
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
        explainer, empty = self.function.explainer, self._arranged(self.function(head[:0]))
        some: Any = explainer.training_.table.decode(explainer.training_.pool.matrix[:ROWS])
        return format_of(self.arguments.out, empty, some, safe=self.arguments.safe_csv)

    def explain(self, client: Any) -> None:
        """Explain all chunks that are not finished, and write each as a part."""
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
    """Return a column of numbers or booleans that was read as text because of some other cell.

    That cell stays as it is, so that only its own row cannot be read.
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


@dataclass(frozen=True)
class Where:
    """An expression about the columns of a file, such as ``age > 30 and town == 'Ulm'``.

    ``decision`` is the class that the model predicts for the row, unless a column has that name.

    Attributes
    ----------
    expression
        As ``DataFrame.eval`` of pandas takes it; None: all rows are explained.
    explainer
        The fitted explainer, with the model and its columns.
    kept_as_text
        Columns that were read as text, so that they are written unchanged.
    """

    expression: str | None
    explainer: DiverseExplainer
    kept_as_text: Sequence[str] = ()

    def mask(self, rows: pd.DataFrame) -> Mask:
        """Return the rows for which the expression is true, or the decision is not known.

        Rows on which the model fails are included, so that their status says so.
        """
        everything = np.ones(len(rows), dtype=bool)
        if self.expression is None or not len(rows):
            return everything
        unknown = ~everything
        known = rows.copy(deep=False)
        for name in self.kept_as_text:
            known[name] = _numbers_if_all_are(rows[name])
        if DECISION not in rows and re.search(rf"\b{DECISION}\b", self.expression):
            known[DECISION], unknown = self._decisions(rows)
        return _holds(self.expression, known) | unknown

    def _decisions(self, rows: pd.DataFrame) -> tuple[pd.Series, Mask]:
        """Return the class of each row, and the rows on which the model fails."""
        table = self.explainer.training_.table
        model = ModelAdapter(self.explainer.model, table)
        features = rows[list(table.columns)]
        found = isolate(
            np.arange(len(rows)),
            lambda some: model.labels(table.encode(features.iloc[some])[0]),
            (InvalidInputError, ModelError),
        )
        decisions = pd.Series(None, index=rows.index, dtype=object)
        for some, labels in found.pieces:
            decisions.iloc[some] = labels
        unknown = np.zeros(len(rows), dtype=bool)
        unknown[list(found.errors)] = True
        return decisions.infer_objects(), unknown


def _numbers_if_all_are(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    return column if (numbers.isna() & column.notna()).any() else numbers


def _holds(expression: str, rows: pd.DataFrame) -> Mask:
    """Return the rows for which an expression is true."""
    try:
        holds: Any = rows.eval(expression, engine="python", local_dict={}, global_dict={})
    except Exception as error:  # an expression can fail in any way
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise InvalidInputError(
            f"--where {expression!r} cannot be evaluated: {reason}. Put texts in quotes: "
            f"\"town == 'Ulm'\". The columns are {listed(rows)}."
        ) from error
    # A comparison with a missing value is missing too, or an object, and counts as false.
    values = np.array(holds, dtype=object) if isinstance(holds, pd.Series) else np.array([holds])
    values[pd.isna(values)] = False
    if len(values) != len(rows) or not all(isinstance(each, bool | np.bool_) for each in values):
        raise InvalidInputError(
            f'--where must be true or false for each row, such as "income > 50", got '
            f"{expression!r}."
        )
    return values.astype(bool)
