"""``counterset letter``: the letter to one person, or a folder of letters."""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset._base.files import UNFINISHED, write_text
from counterset._base.progress import Progress
from counterset.batch.table_files import open_table
from counterset.cli.files import (
    Case,
    check_files,
    check_folder,
    find_outcomes,
    find_rows,
    listed,
    read_case,
)
from counterset.cli.parsing import (
    Commands,
    add_goal,
    add_margin,
    add_model_and_data,
    add_outcomes,
    add_parser,
    add_rows,
    add_settings,
    add_training,
)
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanation import Explanation
from counterset.words.details import Details

__all__ = ["add_command"]

#: 100 rows are explained at once: batches are fast, and the progress bar moves often.
ROWS = 100


def add_command(commands: Commands) -> None:
    """Add ``letter`` to the command line."""
    parser, group = add_parser(
        commands,
        "letter",
        "Write a letter with reasons and options to one person, or to many.",
        usage="MODEL DATA (--rows N | --folder FOLDER) [options]",
        example="counterset letter model.skops credit.csv --rows 11 --target good",
    )
    add_model_and_data(group, "a CSV or parquet file with the rows")
    add_rows(group, "whom to write to; the first is 0 (--folder: all)")
    add_training(group)
    add_goal(group)
    add_settings(group)
    add_margin(group)
    add_outcomes(group)
    group.add_argument(
        "--audience",
        choices=("applicant", "reviewer"),
        default="applicant",
        metavar="WHO",
        help="applicant or reviewer (default: applicant)",
    )
    group.add_argument(
        "--details", type=Path, metavar="FILE", help="the sender: a .json or .toml file"
    )
    group.add_argument("--ranges", action="store_true", help="ranges in place of single values")
    group.add_argument("--date", metavar="DATE", help="the letter's date (default: today)")
    group.add_argument("--case", metavar="COLUMN", help="a column of DATA with case numbers")
    group.add_argument("--html", type=Path, metavar="FILE", help="write one letter as HTML")
    group.add_argument("--output", type=Path, metavar="FILE", help="write one letter as text")
    group.add_argument("--folder", type=Path, metavar="FOLDER", help="write a file for each person")
    group.add_argument("--text", action="store_true", help="with --folder: text, not HTML")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    folder = arguments.folder
    _check_options(arguments)
    check_files(arguments, "html", "output", more={"folder": [] if folder is None else [folder]})
    if folder is not None:
        _check_empty(folder)
    details, cases = _read_details(arguments), _read_cases(arguments)
    case = read_case(arguments)
    case.explainer.check_goal(case.goal["target"], case.goal["interval"])
    if arguments.rows is None:
        numbers = list(range(len(case.rows)))
    else:
        numbers = list(dict.fromkeys(arguments.rows))
    find_rows(case.rows, numbers, arguments.data)
    how = {
        "audience": arguments.audience,
        "outcomes": find_outcomes(arguments, case.explainer),
    }
    letters = _Letters(case, details, cases, arguments.ranges, how)
    if folder is None:
        return _write_one(letters, numbers[0], arguments)
    return _write_folder(letters, numbers, arguments)


def _check_options(arguments: argparse.Namespace) -> None:
    """Check options that exclude or need each other."""
    given = [name for name in ("html", "output", "folder") if getattr(arguments, name) is not None]
    if len(given) > 1:
        raise InvalidInputError(f"Choose one of {listed(f'--{name}' for name in given)}.")
    if arguments.folder is None and len(set(arguments.rows or ())) != 1:
        raise InvalidInputError(
            "Choose either --rows N, to write to one person, or --folder FOLDER, to write to many."
        )
    if arguments.text and arguments.folder is None:
        raise InvalidInputError("--text: use it with --folder. One letter is text without --html.")


def _check_empty(folder: Path) -> None:
    """Check that a folder can be written to and has nothing in it, if it exists."""
    check_folder(folder, plots=False, what="Letters", option="--folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise InvalidInputError(
            f"--folder: {folder} is not empty, and letters of two runs must not be mixed up. "
            f"Choose another folder, or empty it."
        )


def _read_details(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the details that all letters share."""
    details = asdict(Details.read(arguments.details or {}))
    details["date"] = arguments.date or details["date"] or _today()
    if details["case"] is None:
        return details
    if arguments.case is not None:
        raise InvalidInputError(
            f"{arguments.details} names a case, and --case a column with cases. Leave out one."
        )
    if arguments.folder is not None:
        raise InvalidInputError(
            f"{arguments.details} names one case for all letters of --folder. Leave it out, and "
            f"name a column of {arguments.data} with the cases: --case COLUMN."
        )
    return details


def _today() -> str:
    today = date.today()
    return f"{today.day} {today:%B %Y}"


def _read_cases(arguments: argparse.Namespace) -> pd.Series | None:
    """Return the case of each row as it is written in the file, with leading zeros."""
    if arguments.case is None:
        return None
    table = open_table(arguments.data)
    if arguments.case not in table.columns:
        raise InvalidInputError(
            f"--case: there is no column {arguments.case!r} in {arguments.data}. The columns are "
            f"{listed(table.columns)}."
        )
    chunks = table.chunks(ROWS, [arguments.case])
    cases: pd.Series = pd.concat([chunk[arguments.case] for chunk in chunks])
    return cases


@dataclass(frozen=True)
class _Letters:
    """Write letters to people of a file.

    Attributes
    ----------
    case
        What is explained.
    details
        The details that all letters share.
    cases
        The number of each person's case, or None.
    ranges
        Whether to write ranges in place of single values.
    how
        Further parameters of ``Explanation.letter``.
    """

    case: Case
    details: dict[str, Any]
    cases: pd.Series | None
    ranges: bool
    how: dict[str, Any]

    def explain(self, numbers: Sequence[int]) -> Iterator[tuple[int, Explanation]]:
        """Yield each row's number and explanation, in batches."""
        for start in range(0, len(numbers), ROWS):
            chunk = list(numbers[start : start + ROWS])
            rows, goal = self.case.rows.iloc[chunk], self.case.goal
            found = self.case.explainer.explain_many(rows, **goal, if_none="ignore", skip=True)
            if self.ranges:
                found = self.case.explainer.with_ranges(found)
            yield from zip(chunk, found, strict=True)

    def write(self, number: int, explanation: Explanation, *, as_html: bool) -> str:
        """Return the letter about a row."""
        details = self.details
        if self.cases is not None:
            value = to_python(self.cases.iloc[number])
            details = details | {"case": None if pd.isna(value) else str(value)}
        text = explanation.letter(format="html" if as_html else "text", details=details, **self.how)
        return f"{text.rstrip()}\n"


def _write_one(letters: _Letters, number: int, arguments: argparse.Namespace) -> int:
    [(_, explanation)] = letters.explain([number])
    if explanation.status == "already_reached":
        raise InvalidInputError(
            f"Row {number} already has the wanted class or value: the model predicts "
            f"{to_python(explanation.label)!r}. Choose another row, or another goal."
        )
    file = arguments.html or arguments.output
    letter = letters.write(number, explanation, as_html=arguments.html is not None)
    if file is None:
        sys.stdout.write(letter)
        return 0
    write_text(file, letter, "The letter")
    sys.stdout.write(f"Written to {file}\n")
    return 0


def _write_folder(letters: _Letters, numbers: Sequence[int], arguments: argparse.Namespace) -> int:
    folder, ending = arguments.folder, "txt" if arguments.text else "html"
    written = without = 0
    shown = sys.stderr.isatty()
    with _filled(folder) as unfinished, Progress(len(numbers), "letter", shown=shown) as bar:
        for number, explanation in letters.explain(numbers):
            if explanation.status != "already_reached":
                letter = letters.write(number, explanation, as_html=not arguments.text)
                write_text(unfinished / f"{number}.{ending}", letter, "A letter")
                written += 1
                without += not len(explanation)
            bar.advance()
    sys.stdout.write(f"{_counted(written, without, len(numbers))}\nWritten to {folder}\n")
    return 0


def _counted(written: int, without: int, rows: int) -> str:
    """Return how many letters were written, as one line.

    Examples
    --------
    >>> _counted(3, 1, 5)
    '3 letters, 1 of them without an option; 2 rows already had the wanted class or value'
    >>> _counted(1, 0, 1)
    '1 letter, 0 of them without an option'
    """
    letters = "1 letter" if written == 1 else f"{written} letters"
    line = f"{letters}, {without} of them without an option"
    reached = rows - written
    if not reached:
        return line
    people = "1 row" if reached == 1 else f"{reached} rows"
    return f"{line}; {people} already had the wanted class or value"


@contextmanager
def _filled(folder: Path) -> Iterator[Path]:
    """Yield a folder inside to write to, and move all its files up at the end.

    If writing fails or is interrupted, no letter is left: nobody should send a part of them. The
    folder itself may be one that cannot be replaced, such as a mounted one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{UNFINISHED}{secrets.token_hex(8)}"
    unfinished.mkdir()
    try:
        yield unfinished
        for file in unfinished.iterdir():
            file.rename(folder / file.name)
    finally:
        shutil.rmtree(unfinished)
