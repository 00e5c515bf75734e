"""One HTML page: a head, a title, sections, and a record, sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from counterset._base.bidi import data_html, to_html
from counterset._base.files import write_text
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import versions
from counterset.words.letter import head_html, page_style
from counterset.words.templates import Templates

__all__ = [
    "Section",
    "listed",
    "make_page",
    "note",
    "paragraphs",
    "plain_table",
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
    on_new_page
        Whether it begins a new page of paper.
    """

    heading: str
    body: str
    on_new_page: bool = False


def make_page(
    title: str,
    sections: Sequence[Section],
    record: Mapping[str, Any],
    templates: Templates,
    *,
    head: Sequence[Sequence[str]] = (),
    lead: str = "",
) -> str:
    """Return a whole page, with the digest of everything in it.

    Parameters
    ----------
    title
        What the page says first.
    sections
        The parts, in their order.
    record
        What a machine can read, as values of JSON.
    templates
        The texts of the language.
    head
        Lines above the title, in groups: who writes, and about what.
    lead
        A sentence below the title.
    """
    files = resources.files("counterset.report").joinpath("templates")
    own = files.joinpath("style.css").read_text(encoding="utf-8").strip()
    version = versions()["counterset"]
    page = Template(files.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        language=escape(templates.texts["language.code"]),
        version=escape(version),
        digest=UNSEALED,
        title=escape(title),
        style=f"{page_style()}\n{own}",
        head=head_html(head) if head else "",
        heading=to_html(title),
        lead=f'<p class="lead">{to_html(lead)}</p>' if lead else "",
        sections="\n".join(map(_section, sections)),
        footer=to_html(templates("report.footer", version=version)),
        record=_as_json(record),
    )
    return SEAL.sub(rf"\g<1>{_digest(page)}\g<3>", page, count=1)


def _as_json(record: Mapping[str, Any]) -> str:
    """Return a record as JSON, each of its parts on a line."""
    parts = [
        f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False, allow_nan=False)}"
        for name, part in record.items()
    ]
    text = "{\n" + ",\n".join(parts) + "\n}"
    # "<" and ">" are written as escapes, so that no text can end the script.
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


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


def paragraphs(*texts: str) -> str:
    """Return texts as paragraphs of HTML; empty ones are left out."""
    return "\n".join(f"<p>{to_html(text)}</p>" for text in texts if text)


def note(text: str) -> str:
    """Return a text as a paragraph of less weight; empty if it is."""
    return f'<p class="note">{to_html(text)}</p>' if text else ""


def listed(lines: Iterable[str], kind: str = "ul") -> str:
    """Return lines of text as a list of HTML: ``"ul"``, or ``"ol"`` with numbers."""
    items = "".join(f"<li>{to_html(line)}</li>" for line in lines)
    return f"<{kind}>{items}</{kind}>"


def plain_table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0
) -> str:
    """Return a table of texts, of which the last ``numbers`` columns are numbers."""
    first = len(headings) - numbers

    def kind(at: int) -> str:
        return ' class="number"' if at >= first else ""

    head = "".join(
        f'<th scope="col"{kind(i)}>{data_html(name)}</th>' for i, name in enumerate(headings)
    )
    # The headings of columns stand in each cell too, for a phone, where cells stand below another.
    body = "".join(
        "<tr>"
        + f'<th scope="row">{to_html(row[0])}</th>'
        + "".join(
            f'<td{kind(i)} data-heading="{escape(headings[i])}">{to_html(cell)}</td>'
            for i, cell in enumerate(row[1:], start=1)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<table class="plain"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _section(section: Section) -> str:
    kind = ' class="new-page"' if section.on_new_page else ""
    return f"<section{kind}>\n<h2>{to_html(section.heading)}</h2>\n{section.body}\n</section>"


def _digest(page: str) -> str:
    lines = page.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()
