"""Drawings by hand: how far options go over the range of each number, and bars."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from html import escape

from counterset._base.bidi import data_html
from counterset.plots.changes import ChangesDisplay, Dumbbell, FeatureRow
from counterset.words.templates import Templates

__all__ = ["CROSS", "bars", "ranges"]

#: A drawing of one feature, in pixels: its width, and where the usual range begins and ends. Values
#: outside of it, missing and special ones stand beside.
WIDTH, START, END = 300, 72, 272
#: The number of the option stands here.
NUMBER = 4
#: The heights of a lane, of the space above the first and below the last.
LANE, ABOVE, BELOW = 18, 10, 8
#: What tells a cross from other lines: one of a value that is missing or special.
CROSS = ' class="lost '
#: Half the size of a mark, and of the ring, which is seen around a mark that hardly moves.
MARK, RING = 5.0, 6.5


def ranges(display: ChangesDisplay, shown: Collection[int], templates: Templates) -> str:
    """Draw how far options go, feature by feature; empty if no feature has an order.

    Names and ends of ranges are texts of HTML beside the drawings: they wrap on a narrow screen.

    Parameters
    ----------
    display
        What to draw: see :class:`~counterset.plots.ChangesDisplay`.
    shown
        The numbers of the options to draw.
    """
    figures = []
    for row in display.rows:
        changes = [change for change in row.changes if change.option in shown]
        if row.ends is not None and changes:
            figures.append(_figure(row, row.ends, changes, templates))
    return f'<div class="ranges">{"".join(figures)}</div>' if figures else ""


def bars(rows: Sequence[tuple[str, float, str]], caption: str, headings: tuple[str, str]) -> str:
    """Return a table of names and values with bars; names wrap, and nothing is cut.

    Parameters
    ----------
    rows
        For each: its name, its length as a share of the longest, and its value as text.
    headings
        Of the names and of the values.
    """
    name, value = map(escape, headings)
    body = "".join(
        f'<tr><th scope="row">{data_html(row)}</th>'
        f'<td><span class="bar" style="width:{max(0.5, 100 * share):.1f}%"></span></td>'
        f'<td class="number">{escape(text)}</td></tr>'
        for row, share, text in rows
    )
    return (
        f'<table class="bars"><caption>{escape(caption)}</caption><thead><tr>'
        f'<th scope="col">{name}</th><td></td><th scope="col" class="number">{value}</th>'
        f"</tr></thead><tbody>{body}</tbody></table>"
    )


def _figure(
    row: FeatureRow, ends: tuple[str, str], changes: Sequence[Dumbbell], templates: Templates
) -> str:
    ranks = [str(change.option) for change in changes]
    options = templates(
        "report.drawn_one" if len(ranks) == 1 else "report.drawn_many", ranks=templates.join(ranks)
    )
    low, high = ends
    title = templates("report.drawing_of", feature=row.name, low=low, high=high, options=options)
    height = ABOVE + len(changes) * LANE + BELOW
    base = height - BELOW + 1
    ticks = f"M{START} {base - 3}v6M{START} {base}H{END}M{END} {base - 3}v6"
    start = _x(row.changes[0].start)
    parts = [f'<path class="axis" d="{ticks}M{start:.1f} {ABOVE - 4}V{base}"/>']
    known = [_x(change.end) for change in changes if change.is_known]
    known += [start] if row.input_is_known else []
    first, last = min([START, *known]), max([END, *known])
    if first < START or last > END:
        beyond = f"M{first:.1f} {base}H{START}M{END} {base}H{last:.1f}"
        parts.append(f'<path class="axis beyond" d="{beyond}"/>')
    for lane, change in enumerate(changes):
        y = ABOVE + lane * LANE + 4.0
        ring = f'<circle class="input" cx="{start:.1f}" cy="{y:.1f}" r="{RING}"/>'
        own = ring if row.input_is_known else _cross(start, y, "lost now")
        parts.append(_lane(change, y, own))
    svg = (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height}" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
    return (
        f"<figure><figcaption>{data_html(row.name)}</figcaption>{svg}"
        f'<p class="ends"><span>{data_html(low)}</span><span>{data_html(high)}</span></p></figure>'
    )


def _lane(change: Dumbbell, y: float, own: str) -> str:
    """Return an option's number, its line from the own value, and its mark."""
    colour = f"o{(change.option - 1) % 6 + 1}"
    start, end = _x(change.start), _x(change.end)
    dashed = "" if change.is_known else " switch"
    mark = _mark(change.option, end, y) if change.is_known else _cross(end, y, f"lost {colour}")
    return (
        f'<text x="{NUMBER}" y="{y + 4.5:.1f}" font-size="13">{change.option}</text>'
        f'<path class="move {colour}{dashed}" d="M{start:.1f} {y:.1f}H{end:.1f}"/>{own}{mark}'
    )


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
