"""Constraints and schemas in files: JSON or TOML, with the parameters of the class as keys."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.tables.schema import Schema

__all__ = ["read_constraints", "read_schema", "schema_to_json"]

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
