"""One HTML page: a title, sections, and a record, sealed by a digest."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from counterset._base.bidi import data_html, isolated, to_html
from counterset._base.files import write_text
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanation import Explanation
from counterset.plots.changes import ChangesDisplay, Dumbbell, FeatureRow
from counterset.plots.style import most_changed, name_of, value_text, wrapped
from counterset.report.texts import LANGUAGE, TEXTS, counted
from counterset.words.letter import page_style

__all__ = [
    "Section",
    "bars_svg",
    "changes_svg",
    "facts",
    "listed",
    "make_page",
    "options_table",
    "paragraphs",
    "plain_table",
    "read_record",
    "seal_holds",
    "unchanged",
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
    own = templates.joinpath("style.css").read_text(encoding="utf-8").strip()
    page = Template(templates.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        language=LANGUAGE,
        version=escape(version),
        digest=UNSEALED,
        title=escape(title),
        lead=to_html(lead),
        style=f"{page_style()}\n{own}",
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


#: The table shows the 20 features that change most, so that a printed report has three pages.
MOST_ROWS = 20
#: A cell holds at most 60 characters.
LONGEST = 60
#: A sentence names the first 30 features that stay: more are not read.
MOST_NAMES = 30


def options_table(explanation: Explanation, decisions: Sequence[str]) -> str:
    """Return the options side by side, with the changed cells marked.

    Parameters
    ----------
    decisions
        The decision on the input, and on each option.
    """
    coded, order = explanation.coded, most_changed(explanation)
    ranks = [TEXTS["option"].format(rank=option.rank) for option in explanation.options]
    headings = [_heading(text) for text in (TEXTS["now"], *ranks)]
    kept = f'<td class="kept"><span role="img" aria-label="{escape(TEXTS["as_now"])}">·</span></td>'
    rows = []
    for i in order[:MOST_ROWS]:
        feature, marks = coded.table.features[i], coded.changed[:, i]
        own, others = coded.input[i], coded.matrix[:, i]
        cells = [f"<td>{data_html(value_text(feature, own, LONGEST, others[marks]))}</td>"]
        cells += [
            f'<td class="changed">{data_html(value_text(feature, code, LONGEST, [own]))}</td>'
            if mark
            else kept
            for code, mark in zip(others, marks, strict=True)
        ]
        rows.append(f'<tr><th scope="row">{data_html(name_of(feature))}</th>{"".join(cells)}</tr>')
    last: list[tuple[str, Sequence[object]]] = [
        (TEXTS["decision"], decisions),
        (TEXTS["features_changed"], ["", *(len(each.changes) for each in explanation.options)]),
        (TEXTS["distance"], ["", *(f"{each.distance:.3g}" for each in explanation.options)]),
    ]
    foot = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{to_html(str(value))}</td>" for value in values)
        + "</tr>"
        for name, values in last
    ]
    more = len(order) - MOST_ROWS
    text = escape(TEXTS["more_features"].format(count=counted(more, "more feature")))
    note = f'<p class="note">{text}</p>' if more > 0 else ""
    table = (
        f"<table><caption>{escape(TEXTS['table_caption'])}</caption>"
        f"<thead><tr><td></td>{''.join(headings)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody><tfoot>{''.join(foot)}</tfoot></table>"
    )
    return _scrolling(table, TEXTS["table"]) + note


def unchanged(explanation: Explanation) -> str:
    """Return which features stay as they are, as text; empty if none do."""
    coded = explanation.coded
    features = [coded.table.features[i] for i in np.flatnonzero(~coded.changed.any(axis=0))]
    if not features:
        return ""
    names = ", ".join(isolated(each.label) for each in features[:MOST_NAMES])
    if len(features) > MOST_NAMES:
        names = TEXTS["and_more"].format(names=names, count=len(features) - MOST_NAMES)
    return TEXTS["stays"].format(names=names)


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
    body = "".join(
        "<tr>"
        + f'<th scope="row">{data_html(row[0])}</th>'
        + "".join(f"<td{kind(i)}>{data_html(cell)}</td>" for i, cell in enumerate(row[1:], start=1))
        + "</tr>"
        for row in rows
    )
    table = (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return _scrolling(table, caption)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names with what they are."""
    held = "".join(f"<dt>{escape(name)}</dt><dd>{to_html(value)}</dd>" for name, value in pairs)
    return f"<dl>{held}</dl>"


def _scrolling(table: str, name: str) -> str:
    """Return a table that scrolls on a narrow screen, by keys too."""
    name = escape(name)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{name}">{table}</div>'


def _heading(text: str) -> str:
    return f'<th scope="col">{escape(text)}</th>'


#: The columns of the drawing of changes, in pixels: names, ranges, and values.
WIDTH, NAMES, RANGE_END = 760, 180, 450
#: Where the usual range begins and ends: values outside it, missing and special ones stand beside.
START, END = 234, 420
#: The heights of a lane, and of the space for the ends of a range.
LANE, GAP = 19, 25
#: Half the size of a mark.
MARK = 5.5


def changes_svg(display: ChangesDisplay, title: str) -> str:
    """Draw what each option changes: see :class:`~counterset.plots.ChangesDisplay`.

    Parameters
    ----------
    display
        What to draw.
    title
        What a reader hears who does not see the drawing.
    """
    parts = [_legend(display.n_options)]
    top = 44.0
    for row in display.rows:
        parts.append(_row(row, top))
        top += len(row.changes) * LANE + GAP
    return _svg("".join(parts), WIDTH, top, title)


def bars_svg(bars: Sequence[tuple[str, float, str]], title: str) -> str:
    """Draw horizontal bars.

    Parameters
    ----------
    bars
        For each: its name, its length as a share of the longest, and its value as text.
    title
        What a reader hears who does not see the drawing.
    """
    parts = []
    for i, (name, share, value) in enumerate(bars):
        y = 4 + 24 * i
        length = max(1.0, share * (WIDTH - NAMES - 90))
        parts.append(_text(NAMES - 10, y + 14, name, anchor="end"))
        parts.append(
            f'<rect class="bar" x="{NAMES}" y="{y + 2}" width="{length:.1f}" height="16"/>'
        )
        parts.append(_text(NAMES + length + 7, y + 14, value))
    return _svg("".join(parts), WIDTH, 8 + 24 * len(bars), title)


def _svg(body: str, width: float, height: float, title: str) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" aria-label="{escape(title)}">{body}</svg>'
    )


def _legend(n_options: int) -> str:
    parts = [f'<circle class="input" cx="8" cy="14" r="{MARK}"/>', _text(20, 18, TEXTS["now"])]
    for i in range(n_options):
        x = 70 + 96 * (i % 7)
        y = 14 + 16 * (i // 7)
        parts.append(_mark(i + 1, x, y))
        parts.append(_text(x + 12, y + 4, TEXTS["option"].format(rank=i + 1)))
    return "".join(parts)


def _row(row: FeatureRow, top: float) -> str:
    lanes = len(row.changes)
    base = top + lanes * LANE - 3
    lines = wrapped(row.name, 20).split("\n")
    middle = top + (lanes * LANE) / 2 - 7 * (len(lines) - 1)
    parts = [_text(NAMES - 12, middle + 14 * i, line, anchor="end") for i, line in enumerate(lines)]
    if row.ends is not None:
        ticks = f"M{_x(0):g} {base - 3:g}v6M{_x(0):g} {base:g}H{_x(1):g}M{_x(1):g} {base - 3:g}v6"
        parts.append(f'<path class="axis" d="{ticks}"/>')
        parts.append(_text(_x(0), base + 14, row.ends[0], small=True))
        parts.append(_text(_x(1), base + 14, row.ends[1], anchor="end", small=True))
    start = _x(row.changes[0].start)
    parts.append(f'<path class="axis" d="M{start:.1f} {top - 3:.1f}V{base:.1f}"/>')
    for i, change in enumerate(row.changes):
        y = top + i * LANE + 6
        parts.append(_change(change, y, is_switch=row.ends is None or not change.is_known))
        if row.input_is_known:
            parts.append(f'<circle class="input" cx="{start:.1f}" cy="{y:.1f}" r="{MARK}"/>')
        else:
            parts.append(_cross(start, y, "lost"))
        parts.append(_text(RANGE_END + 14, y + 4, _change_text(change)))
    return "".join(parts)


def _change_text(change: Dumbbell) -> str:
    """Return a change in words; SVG has no element that isolates a text."""
    return f"{isolated(change.before)} → {isolated(change.after)}"


def _change(change: Dumbbell, y: float, *, is_switch: bool) -> str:
    colour = f"o{(change.option - 1) % 6 + 1}"
    start, end = _x(change.start), _x(change.end)
    dashed = " switch" if is_switch else ""
    line = f'<path class="move {colour}{dashed}" d="M{start:.1f} {y:.1f}H{end:.1f}"/>'
    mark = _mark(change.option, end, y) if change.is_known else _cross(end, y, f"move {colour}")
    return line + mark


def _x(share: float) -> float:
    return START + share * (END - START)


def _mark(option: int, x: float, y: float) -> str:
    """Return the mark of an option: each of six has a shape and a colour of its own."""
    kind = (option - 1) % 6
    colour = f'class="o{kind + 1}"'
    if kind == 0:
        return f'<circle {colour} cx="{x:.1f}" cy="{y:.1f}" r="{MARK}"/>'
    if kind == 5:
        return _cross(x, y, "move o6")
    corners = (4, 4, 3, 3)[kind - 1]
    turn = (45, 0, -90, 90)[kind - 1]
    size = MARK * (1.25 if corners == 4 else 1.3)
    angles = [math.radians(turn + 360 * i / corners) for i in range(corners)]
    points = " ".join(f"{x + size * math.cos(a):.1f},{y + size * math.sin(a):.1f}" for a in angles)
    return f'<polygon {colour} points="{points}"/>'


def _cross(x: float, y: float, kind: str) -> str:
    ends = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
    return f'<path class="{kind}" d="{ends}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", small: bool = False) -> str:
    kind = ' class="muted"' if small else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{11 if small else 13}"'
        f"{kind}>{escape(text)}</text>"
    )
