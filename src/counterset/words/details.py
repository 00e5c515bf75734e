"""Details of a letter: who sends it, when, about which case, and until when to reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from counterset._base.files import read_settings
from counterset.exceptions import InvalidInputError

__all__ = ["Details", "DetailsLike"]


@dataclass(frozen=True)
class Details:
    """What a letter says besides reasons and options; None: it is not known.

    Attributes
    ----------
    institution, address
        Who sends the letter, and where from; an address may have several lines.
    contact
        Who answers questions and reviews the decision, and how to reach them.
    date
        The date of the letter.
    case
        The number of the case.
    deadline
        Until when the person can ask for a review.
    signature
        Who signs; may have several lines.

    Examples
    --------
    >>> Details.read({"institution": "Example Bank", "case": 4711}).case
    '4711'
    """

    institution: str | None = None
    address: str | None = None
    contact: str | None = None
    date: str | None = None
    case: str | None = None
    deadline: str | None = None
    signature: str | None = None

    @classmethod
    def read(cls, details: DetailsLike) -> Details:
        """Read the details of a mapping, or of a .toml or .json file."""
        names, what = [each.name for each in fields(cls)], "details"
        given: Any = details
        if isinstance(details, str | Path):
            given, what = read_settings(Path(details), names), str(details)
        if not isinstance(given, Mapping):
            raise InvalidInputError(
                f"details takes a mapping, or the path of a .toml or .json file, with the keys "
                f"{', '.join(names)}, got {given!r}."
            )
        if unknown := [key for key in given if key not in names]:
            raise InvalidInputError(
                f"A letter has no detail {', '.join(map(repr, unknown))}, which {what} has. There "
                f"are {', '.join(names)}."
            )
        return cls(**{name: _text(name, value, what) for name, value in given.items()})


#: What users pass: a mapping, or the path of a file.
DetailsLike: TypeAlias = Mapping[str, Any] | Path | str


def _text(name: str, value: Any, what: str) -> str | None:
    """Return a detail as text; None if it is blank, as in a form that nobody filled in."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | date):
        raise InvalidInputError(f"{name} of {what} must be a text, got {value!r}.")
    lines = (" ".join(line.split()) for line in str(value).splitlines())
    return "\n".join(filter(None, lines)) or None
