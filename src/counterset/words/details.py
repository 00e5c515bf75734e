"""Details of a letter or a report: who writes, when, about which case, and until when to reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from counterset._base.bidi import isolated
from counterset._base.files import read_settings
from counterset.exceptions import InvalidInputError
from counterset.words.templates import Templates

__all__ = ["Details", "DetailsLike", "one_line"]

#: The details that stand in a line of their own, and how it is worded.
TEXTS = {
    "date": "letter.date",
    "case": "letter.case",
    "contact": "letter.review_contact",
    "deadline": "letter.review_deadline",
}


@dataclass(frozen=True)
class Details:
    """What a letter or a report says besides reasons and options; None: it is not known.

    Attributes
    ----------
    institution, address
        Who writes, and where from; an address may have several lines.
    contact
        Who answers questions and reviews the decision, and how to reach them.
    date
        The date of the letter or the report.
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
                f"There is no detail {', '.join(map(repr, unknown))}, which {what} has. There are "
                f"{', '.join(names)}."
            )
        return cls(**{name: _text(f"{name} of {what}", value) for name, value in given.items()})

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the lines of a detail, none if it is not known."""
        text: str | None = getattr(self, name)
        return tuple(map(isolated, text.splitlines())) if text else ()

    def line(self, name: str) -> str:
        """Return a detail in one line, empty if it is not known."""
        return ", ".join(self.lines(name))

    def named(self, templates: Templates, *names: str) -> tuple[str, ...]:
        """Return a line with its name for each detail that is known."""
        known = ((name, self.line(name)) for name in names)
        return tuple(templates(TEXTS[name], **{name: text}) for name, text in known if text)

    def head(self, templates: Templates) -> tuple[tuple[str, ...], ...]:
        """Return who writes, and about what: groups of lines, none that is empty."""
        sender = (*self.lines("institution"), *self.lines("address"))
        return tuple(lines for lines in (sender, self.named(templates, *TEXTS)) if lines)


#: What users pass: a mapping, or the path of a file.
DetailsLike: TypeAlias = Mapping[str, Any] | Path | str


def one_line(name: str, value: Any) -> str | None:
    """Return a title, a name or a date as a text of one line; None if it is blank."""
    text = _text(name, value)
    return None if text is None else " ".join(text.split())


def _text(name: str, value: Any) -> str | None:
    """Return a detail as text; None if it is blank, as in a form that nobody filled in."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | date):
        raise InvalidInputError(f"{name} must be a text, got {value!r}.")
    lines = (" ".join(line.split()) for line in str(value).splitlines())
    return "\n".join(filter(None, lines)) or None
