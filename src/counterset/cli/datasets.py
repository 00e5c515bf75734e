"""``counterset datasets``: list the datasets, and write one to a CSV file."""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

from counterset import datasets
from counterset._base.files import written_aside
from counterset.cli.files import check_files, schema_to_json
from counterset.cli.parsing import Commands, add_parser
from counterset.datasets.bundled import BUNDLED, Dataset
from counterset.datasets.loading import FETCHED, find_files
from counterset.exceptions import InvalidInputError
from counterset.tables.schema import Schema

__all__ = ["add_command"]


def add_command(commands: Commands) -> None:
    """Add ``datasets`` to the command line."""
    parser, group = add_parser(
        commands,
        "datasets",
        "List the datasets, describe one, or write it to a CSV file.\n"
        "Those that are not bundled are read from the folder COUNTERSET_DATA, or fetched.",
        usage="[NAME] [options]",
        example="counterset datasets german_credit --output credit.csv",
    )
    group.add_argument("name", nargs="?", metavar="NAME", help="the dataset (default: list all)")
    group.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write a CSV file, with the target as last column",
    )
    group.add_argument(
        "--schema",
        type=Path,
        metavar="FILE",
        help="write labels and units, to use with --schema",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    wanted = {"--output": arguments.output, "--schema": arguments.schema}
    files = {option: file for option, file in wanted.items() if file is not None}
    if arguments.name is None:
        if files:
            raise InvalidInputError(f"{' and '.join(files)} needs the NAME of a dataset.")
        sys.stdout.write("".join(f"{line}\n" for line in _listed()))
        return 0
    source = find_files(arguments.name) if arguments.name in FETCHED else []
    check_files(arguments, "output", "schema", read=source)
    dataset = datasets.load(arguments.name)
    if not files:
        sys.stdout.write(f"{dataset!r}\n{textwrap.fill(dataset.description, 88)}\n")
    if arguments.output is not None:
        _write_rows(dataset, arguments.output)
    if arguments.schema is not None:
        with written_aside(arguments.schema) as unfinished:
            unfinished.write_text(f"{schema_to_json(_with_orders(dataset))}\n", encoding="utf-8")
    sys.stdout.write("".join(f"Written to {file}\n" for file in files.values()))
    return 0


def _listed() -> list[str]:
    """Return a line for each dataset. Those that are not bundled are not loaded."""
    width = max(map(len, datasets.names()))
    lines = []
    for name in datasets.names():
        about = "not bundled: read from COUNTERSET_DATA, or fetched from OpenML"
        if name in BUNDLED:
            rows, features = (dataset := datasets.load(name)).X.shape
            about = f"{rows:,} rows, {features} features, target {dataset.y.name!r}"
        lines.append(f"{name:{width}}  {about}")
    return lines


def _with_orders(dataset: Dataset) -> Schema:
    """Return the schema of a dataset with the orders of its categories, which CSV cannot hold."""
    types = {
        name: dtype for name, dtype in dataset.X.dtypes.items() if getattr(dtype, "ordered", False)
    }
    orders = {name: dtype.categories.tolist() for name, dtype in types.items()}
    return replace(dataset.schema, ordinal=orders | dict(dataset.schema.ordinal))


def _write_rows(dataset: Dataset, file: Path) -> None:
    target = dataset.y.name
    with written_aside(file) as unfinished:
        dataset.X.assign(**{str(target): dataset.y}).to_csv(unfinished, index=False)
