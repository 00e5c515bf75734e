"""Drawings as SVG, made by hand: they need no matplotlib, and follow the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from counterset._base.bidi import isolated
from counterset.plots.changes import Change, ChangesDisplay, FeatureRow
from counterset.plots.style import wrapped
from counterset.report.texts import TEXTS

__all__ = ["bars_svg", "changes_svg"]

#: The columns of the drawing of changes, in pixels: names, ranges, and values.
WIDTH, NAMES, RANGE_END = 760, 180, 450
#: A value that is missing or special stands here, between the name and the range.
ASIDE = 8
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
        parts.append(_text(RANGE_END + 14, y + 4, _told(change)))
    return "".join(parts)


def _told(change: Change) -> str:
    """Return a change in words; SVG has no element that isolates a text."""
    return f"{isolated(change.before)} → {isolated(change.after)}"


def _change(change: Change, y: float, *, is_switch: bool) -> str:
    colour = f"o{(change.option - 1) % 6 + 1}"
    start, end = _x(change.start), _x(change.end)
    dashed = " switch" if is_switch else ""
    way = f'<path class="way {colour}{dashed}" d="M{start:.1f} {y:.1f}H{end:.1f}"/>'
    mark = _mark(change.option, end, y) if change.is_known else _cross(end, y, f"way {colour}")
    return way + mark


def _x(share: float) -> float:
    start = NAMES + 3 * ASIDE
    return NAMES + ASIDE if share < 0 else start + share * (RANGE_END - start)


def _mark(option: int, x: float, y: float) -> str:
    """Return the mark of an option: each of six has a shape and a colour of its own."""
    kind = (option - 1) % 6
    colour = f'class="o{kind + 1}"'
    if kind == 0:
        return f'<circle {colour} cx="{x:.1f}" cy="{y:.1f}" r="{MARK}"/>'
    if kind == 5:
        return _cross(x, y, "way o6")
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
