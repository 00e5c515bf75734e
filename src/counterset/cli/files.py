"""The files that commands read and write: models, tables, constraints, schemas.

All files are checked before a command begins to work, which may take minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from counterset._base.arrays import to_python
from counterset._base.files import read_settings
from counterset.batch.table_files import open_table
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.explainer import DiverseExplainer
from counterset.models.files import feature_names, is_model_file, is_table_file, load_model
from counterset.plots.style import pyplot
from counterset.tables.schema import Schema

__all__ = [
    "Case",
    "check_files",
    "check_folder",
    "find_class",
    "find_outcomes",
    "find_rows",
    "listed",
    "read_case",
    "read_constraints",
    "read_explainer",
    "read_rows",
    "read_schema",
    "schema_to_json",
    "select_features",
]

_Made = TypeVar("_Made", Constraints, Schema)


@dataclass(frozen=True)
class Case:
    """What a command explains.

    Attributes
    ----------
    explainer
        Fitted on the training rows.
    rows
        The features of the rows in DATA, in their order, numbered from 0.
    data
        All columns of DATA.
    goal
        What is wanted, as parameters of ``explain``.
    training
        The features of the rows that the explainer was fitted on.
    """

    explainer: DiverseExplainer
    rows: pd.DataFrame
    data: pd.DataFrame
    goal: dict[str, Any]
    training: pd.DataFrame


def read_case(arguments: argparse.Namespace) -> Case:
    """Read what the shared arguments name (see :mod:`counterset.cli.parsing`), and fit.

    The settings come first: a wrong one is reported before a large model or table is read.
    """
    settings = _read_settings(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    data = read_rows(arguments.data, least=2 if arguments.train is None else 1)
    rows = select_features(data, model, arguments.drop, arguments.data)
    training = rows if arguments.train is None else _read_training(arguments, model)
    explainer = DiverseExplainer(model, **settings).fit(training)
    return Case(explainer, rows, data, _goal(arguments, explainer), training)


def read_explainer(arguments: argparse.Namespace) -> tuple[DiverseExplainer, dict[str, Any]]:
    """Read and fit as ``read_case`` does, but do not keep the rows; also return what is wanted."""
    settings = _read_settings(arguments)
    model = load_model(arguments.model, trust=arguments.trust)
    explainer = DiverseExplainer(model, **settings).fit(_read_training(arguments, model))
    return explainer, _goal(arguments, explainer)


def _read_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    constraints = read_constraints(arguments.constraints)
    if arguments.immutable:
        named = [*constraints.immutable, *arguments.immutable]
        constraints = replace(constraints, immutable=list(dict.fromkeys(named)))
    schema = read_schema(arguments.schema)
    return {
        "constraints": constraints,
        "schema": schema,
        "max_counterfactuals": arguments.options,
        "margin": getattr(arguments, "margin", None),
    }


def _read_training(arguments: argparse.Namespace, model: Any) -> pd.DataFrame:
    """Read the training rows: those of ``--train``, or of DATA."""
    file = arguments.data if arguments.train is None else arguments.train
    rows = read_rows(file)
    dropped = arguments.drop
    if arguments.train is not None:
        dropped = [column for column in dropped if column in rows]
    return select_features(rows, model, dropped, file)


def _goal(arguments: argparse.Namespace, explainer: DiverseExplainer) -> dict[str, Any]:
    return {
        "target": find_class(arguments.target, explainer),
        "target_probability": arguments.target_probability,
        "interval": None if arguments.interval is None else tuple(arguments.interval),
    }


def find_class(name: str | None, explainer: DiverseExplainer) -> Any:
    """Return the class that a text names: classes may be numbers, arguments are texts."""
    if name is None:
        return None
    return {str(to_python(each)): each for each in explainer.classes_}.get(name, name)


def find_outcomes(
    arguments: argparse.Namespace, explainer: DiverseExplainer
) -> dict[Any, str] | None:
    """Return what people call the classes, from the classes themselves."""
    texts = arguments.outcomes
    if texts is None:
        return None
    if arguments.interval is not None:
        raise InvalidInputError("--outcomes names classes, and with --interval there are none.")
    return {to_python(find_class(name, explainer)): text for name, text in texts.items()}


def find_rows(rows: pd.DataFrame, numbers: Sequence[int], file: Any) -> pd.DataFrame:
    """Return the rows of these numbers, counted from 0.

    Parameters
    ----------
    rows
        The rows of the file.
    numbers
        Which to return.
    file
        Where they come from, for messages.
    """
    for number in numbers:
        if number >= len(rows):
            raise InvalidInputError(
                f"There is no row {number} in {file}, which has {len(rows)} rows. Choose a number "
                f"from 0 (the first row below the column names) to {len(rows) - 1}."
            )
    return rows.iloc[list(numbers)]


def listed(names: Iterable[Any]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> listed(["age", "income"])
    'age, income'
    """
    return ", ".join(map(str, names))


def read_rows(file: Path, least: int = 2) -> pd.DataFrame:
    """Read a CSV or parquet file that has at least ``least`` rows.

    The first line of a CSV file names the columns.
    """
    rows = open_table(file).read()
    if len(rows) < least:
        raise InvalidInputError(
            f"{file} has too few rows below the column names: {len(rows)}. At least {least} are "
            f"needed."
        )
    return rows


def select_features(
    rows: pd.DataFrame, model: Any, dropped: Sequence[str], file: Path
) -> pd.DataFrame:
    """Return the columns that are the model's features, in the order that it takes them.

    A model that knows the names of its features gets those columns. All others, such as the
    labels, are left out, and a line on the error stream says so. Any other model gets all columns.

    Parameters
    ----------
    rows
        The rows of the file.
    model
        The model.
    dropped
        The columns that the user leaves out.
    file
        Where the rows come from, for messages.
    """
    unknown = [column for column in dropped if column not in rows]
    if unknown:
        raise InvalidInputError(f"--drop names columns that are not in {file}: {listed(unknown)}.")
    rows = rows.drop(columns=list(dropped))
    names = feature_names(model)
    if names is None:
        return _counted(rows, model, file)
    needed = [name for name in dropped if name in names]
    if needed:
        raise InvalidInputError(
            f"--drop names columns that are features of the model: {listed(needed)}."
        )
    missing = [name for name in names if name not in rows]
    if missing:
        raise InvalidInputError(
            f"The model needs columns that are not in {file}: {listed(missing)}. The columns are "
            f"{listed(rows)}."
        )
    others = [column for column in rows if column not in names]
    if others:
        sys.stderr.write(
            f"counterset: left out columns of {file} that are not features of the model: "
            f"{listed(others)}\n"
        )
    return rows[names]


def _counted(rows: pd.DataFrame, model: Any, file: Path) -> pd.DataFrame:
    """Check the number of columns, if the model knows how many it takes."""
    count = getattr(model, "n_features_in_", rows.shape[1])
    if count != rows.shape[1]:
        raise InvalidInputError(
            f"The model takes {count} features, but {file} has {rows.shape[1]} columns: "
            f"{listed(rows)}. Name those that are not features with --drop."
        )
    return rows


def read_constraints(file: Path | None) -> Constraints:
    """Read constraints from a file; None: there are none.

    TOML has no null, so an open end of a range is ``inf`` or ``-inf`` there.
    """
    if file is None:
        return Constraints()
    given = _read(file, Constraints)
    ranges = given.get("ranges")
    if isinstance(ranges, dict):
        given["ranges"] = {name: _open(ends) for name, ends in ranges.items()}
    return _make(Constraints, given, file)


def read_schema(file: Path | None) -> Schema | None:
    """Read a schema from a file; without a file, return None."""
    return None if file is None else _make(Schema, _read(file, Schema), file)


def schema_to_json(schema: Schema) -> str:
    """Return a schema as the JSON text that :func:`read_schema` reads.

    Examples
    --------
    >>> print(schema_to_json(Schema(units={"duration": "months"})))
    {
     "units": {
      "duration": "months"
     }
    }
    """
    given = {each.name: getattr(schema, each.name) for each in fields(schema)}
    return json.dumps(
        {name: value for name, value in given.items() if value == 0 or len(value)},
        indent=1,
        ensure_ascii=False,
    )


def _read(file: Path, kind: type[Constraints | Schema]) -> dict[str, Any]:
    """Read the parameters of a class, and check their names."""
    names = [each.name for each in fields(kind)]
    given = read_settings(file, names)
    for key in given:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {listed(names)}."
            raise InvalidInputError(
                f"{file} has the key {key!r}, which is not a parameter of {kind.__name__}. {hint}"
            )
    return given


def _make(kind: type[_Made], given: dict[str, Any], file: Path) -> _Made:
    try:
        return kind(**given)
    except InvalidInputError as error:
        raise InvalidInputError(f"In {file}: {error}") from error


def _open(ends: Any) -> Any:
    """Return the ends of a range, None for an infinite one."""
    if not isinstance(ends, list):
        return ends
    return tuple(None if isinstance(end, float) and math.isinf(end) else end for end in ends)


def check_files(
    arguments: argparse.Namespace,
    *written: str,
    more: Mapping[str, Sequence[Path]] | None = None,
    read: Sequence[Path] = (),
) -> None:
    """Check that files can be read or written, and that no file is both. Nothing is made yet.

    Parameters
    ----------
    arguments
        Each path among them that is not written is a file to read.
    written
        The names of the arguments that name files to write; one that was not given is None.
    more
        From names of arguments to further files that are written, or folders that are removed.
    read
        Further files that are read.
    """
    more = more or {}
    named = [(name, file) for name in written if (file := getattr(arguments, name)) is not None]
    outputs = [*named, *((name, file) for name, files in more.items() for file in files)]
    inputs = [
        *read,
        *(
            value
            for name, value in vars(arguments).items()
            if isinstance(value, Path) and name not in (*written, *more)
        ),
    ]
    for name, file in named:
        _check_writable(file, f"--{name}")
    for name, file in outputs:
        for each in inputs:
            if _holds(file, each):
                lost = "a file that" if each == file else f"{each}, which"
                raise InvalidInputError(
                    f"--{name}: {file} would overwrite {lost} this command reads. Choose another "
                    f"name."
                )
    for (name, file), (other, second) in combinations(named, 2):
        if _holds(file, second):
            raise InvalidInputError(
                f"--{name} and --{other} name the same file, {file}. Choose another name for one."
            )
    _check_kinds(arguments)
    for file in inputs:
        if not file.is_file():
            folder = f"{file} is a folder, not a file."
            raise InvalidInputError(folder if file.is_dir() else f"There is no file {file}.")


def check_folder(
    folder: Path, *, plots: bool, what: str = "The report", option: str = "--output"
) -> None:
    """Check that files can be written to a folder, and plots drawn; nothing is made yet.

    Parameters
    ----------
    folder
        The folder that the user named. It may not exist yet.
    plots
        Whether plots will be drawn.
    what, option
        What is written and the argument that names the folder, for messages.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(
            f"{what} cannot be written to {folder}, because {existing} is a file, not a "
            f"folder. Choose another folder with {option}."
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"{what} cannot be written to {folder}, because you may not write to {existing}. "
            f"Choose another folder with {option}."
        )
    if plots:
        try:
            pyplot()
        except MissingExtraError as error:
            raise MissingExtraError(f"{error}, or draw no plots: --no-plots.") from error


def _holds(written: Path, read: Path) -> bool:
    """Whether writing to a path would change a file: it is the same, or a folder that holds it."""
    if written.exists() and read.exists() and os.path.samefile(written, read):
        return True  # by this name, by a link, or in other letters where case does not matter
    place, target = (Path(os.path.normcase(each.resolve())) for each in (written, read))
    return place == target or place in target.parents


def _check_kinds(arguments: argparse.Namespace) -> None:
    """Check by the endings of their names that the model and another file are not swapped."""
    given = vars(arguments)
    model, data, report = (given.get(name) for name in ("model", "data", "report"))
    if model and data and is_table_file(model) and is_model_file(data):
        raise InvalidInputError(
            f"{model} is a table, and {data} is a model. Name the model first: {data} {model}."
        )
    if model and report and is_model_file(report) and not is_model_file(model):
        raise InvalidInputError(
            f"{report} is a model. Name the report first: {model} --model {report}."
        )


def _check_writable(file: Path, option: str) -> None:
    """Check that a file can be written, whose folder must exist."""
    folder = file.parent
    reason = None
    if file.is_dir():
        reason = "it is a folder. Name a file in it"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}. Make it, or choose another"
    elif file.exists() and not file.is_file():
        reason = "it is a device or a pipe. Name a file"
    elif file.exists() and not os.access(file, os.W_OK):
        reason = "it exists and you may not write to it. Choose another name"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"you may not write to {folder}. Choose another folder"
    if reason is not None:
        raise InvalidInputError(f"{option}: {file} cannot be written, because {reason}.")
