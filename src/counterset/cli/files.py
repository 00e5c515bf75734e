"""Check the files that a command reads and writes, before it works for minutes."""

from __future__ import annotations

import argparse
import json
import math
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.models.files import is_model_file, is_table_file
from counterset.plots.style import pyplot
from counterset.tables.schema import Schema

__all__ = ["check_files", "check_folder", "read_constraints", "read_schema", "schema_to_json"]


def check_files(
    arguments: argparse.Namespace,
    *written: str,
    more: Mapping[str, Sequence[Path]] | None = None,
    read: Sequence[Path] = (),
) -> None:
    """Check that files can be read or written, and that what is written is not also read.

    Nothing is made yet.

    Parameters
    ----------
    arguments
        Every path among them that is not written is a file to read.
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


def check_folder(folder: Path, *, plots: bool) -> None:
    """Check that files can be written to a folder, and plots drawn; nothing is made yet.

    Parameters
    ----------
    folder
        The folder that the user named. It may not exist yet.
    plots
        Whether plots will be drawn.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(
            f"The report cannot be written to {folder}, because {existing} is a file, not a "
            f"folder. Choose another folder with --output."
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"The report cannot be written to {folder}, because you may not write to {existing}. "
            f"Choose another folder with --output."
        )
    if plots:
        try:
            pyplot()
        except MissingExtraError as error:
            raise MissingExtraError(f"{error}, or draw no plots: --no-plots.") from error


def _holds(written: Path, read: Path) -> bool:
    """Whether writing to a name would change a file: it is the same, or a folder that holds it."""
    if written.exists() and read.exists() and os.path.samefile(written, read):
        return True  # by this name, by a link, or in other letters where case does not matter
    place, target = (Path(os.path.normcase(each.resolve())) for each in (written, read))
    return place == target or place in target.parents


def _check_kinds(arguments: argparse.Namespace) -> None:
    """Check by their endings that the model and another file are not in each other's place."""
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
        reason = "it is there, and you may not write to it. Choose another name"
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"you may not write to {folder}. Choose another folder"
    if reason is not None:
        raise InvalidInputError(f"{option}: {file} cannot be written, because {reason}.")


_Made = TypeVar("_Made", Constraints, Schema)
_READERS: dict[str, Callable[[str], Any]] = {".json": json.loads, ".toml": tomllib.loads}


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
    """Read a schema from a file; None: there is none."""
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
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}.")
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise InvalidInputError(
            f"{file} must be a .json or a .toml file, because its ending tells how it is read."
        )
    try:
        given = read(file.read_text(encoding="utf-8"))
    except ValueError as error:  # that of both formats, and of a text that is no UTF-8
        what = file.suffix[1:].upper()
        raise InvalidInputError(f"{file} cannot be read as {what}: {error}.") from None
    names = [each.name for each in fields(kind)]
    if not isinstance(given, dict):
        raise InvalidInputError(f"{file} must map {', '.join(names)} to values, got {given!r}.")
    for key in given:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            way_out = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(names)}."
            raise InvalidInputError(
                f"{file} has the key {key!r}, which is no parameter of {kind.__name__}. {way_out}"
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
