"""One HTML page: a title, sections, and a record, sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from counterset._base.bidi import to_html
from counterset._base.files import write_text
from counterset.exceptions import InvalidInputError
from counterset.report.texts import LANGUAGE, TEXTS

__all__ = [
    "Section",
    "listed",
    "make_page",
    "paragraphs",
    "read_record",
    "seal_holds",
    "write_page",
]

#: Stands for the digest while it is computed: the digest cannot contain itself.
UNSEALED = "0" * 64
SEAL = re.compile(r'(<meta name="counterset-digest" content="sha256:)([0-9a-f]{64})(">)')
RECORD = re.compile(
    r'<script type="application/json" id="counterset-record">\s*(.*?)\s*</script>', re.DOTALL
)


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    heading
        Its heading, as text.
    body
        What stands below it, as HTML.
    """

    heading: str
    body: str


def make_page(
    title: str, lead: str, sections: Sequence[Section], record: dict[str, Any], version: str
) -> str:
    """Return a whole page, with the digest of everything in it.

    Parameters
    ----------
    title, lead
        Texts.
    sections
        The parts, in their order.
    record
        What a machine can read, as values of JSON.
    version
        The release that wrote it.
    """
    templates = resources.files("counterset.report").joinpath("templates")
    # "<" and ">" are written as escapes, so that no text can end the script.
    held = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    for sign in "<>&":
        held = held.replace(sign, f"\\u{ord(sign):04x}")
    page = Template(templates.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        language=LANGUAGE,
        version=escape(version),
        digest=UNSEALED,
        title=escape(title),
        lead=to_html(lead),
        style=templates.joinpath("style.css").read_text(encoding="utf-8").strip(),
        sections="\n".join(map(_section, sections)),
        footer=escape(TEXTS["footer"].format(version=version)),
        record=held,
    )
    return SEAL.sub(rf"\g<1>{_digest(page)}\g<3>", page, count=1)


def write_page(page: str, path: str | Path | None) -> str:
    """Write a page to a file, if there is one, and return it."""
    if path is not None:
        write_text(Path(path), page, "The report")
    return page


def read_record(page: str, what: str) -> dict[str, Any]:
    """Return the record of a page.

    Parameters
    ----------
    what
        How messages call the page.
    """
    found = RECORD.search(page)
    if found is None or SEAL.search(page) is None:
        raise InvalidInputError(
            f"{what} is no report of counterset: it has no record or no digest. Pass a file that "
            f"to_html wrote."
        )
    try:
        record: Any = json.loads(found[1])
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise InvalidInputError(f"The record of {what} is damaged: it cannot be read as JSON.")
    return record


def seal_holds(page: str) -> bool:
    """Return whether a page is as it was written, by its digest; how lines end does not count."""
    seal = SEAL.search(page)
    return seal is not None and seal[2] == _digest(SEAL.sub(rf"\g<1>{UNSEALED}\g<3>", page, 1))


def paragraphs(text: str) -> str:
    """Return lines of text as paragraphs of HTML."""
    return "\n".join(f"<p>{to_html(line)}</p>" for line in text.splitlines() if line.strip())


def listed(lines: Iterable[str], kind: str = "ul") -> str:
    """Return lines of text as a list of HTML: ``"ul"``, or ``"ol"`` with numbers."""
    items = "".join(f"<li>{to_html(line.removeprefix('- '))}</li>" for line in lines)
    return f"<{kind}>{items}</{kind}>"


def _section(section: Section) -> str:
    return f"<section>\n<h2>{to_html(section.heading)}</h2>\n{section.body}\n</section>"


def _digest(page: str) -> str:
    lines = page.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()
