"""Tables and lists of a report, as HTML; every text in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from counterset._base.bidi import data_html, isolated, to_html
from counterset.plots.cells import most_changed, name_of, value_text
from counterset.report.texts import TEXTS, counted
from counterset.results.explanation import Explanation

__all__ = ["facts", "options_table", "plain_table", "unchanged"]

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
    features, order = explanation._table.features, most_changed(explanation)
    ranks = range(1, len(explanation) + 1)
    headings = [_heading(TEXTS["now"]), *(_heading(TEXTS["option"].format(rank=i)) for i in ranks)]
    kept = f'<td class="kept"><span role="img" aria-label="{escape(TEXTS["as_now"])}">·</span></td>'
    rows = []
    for i in order[:MOST_ROWS]:
        feature, marks = features[i], explanation.changed[:, i]
        own, others = explanation._input[i], explanation._matrix[:, i]
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
        (TEXTS["features_changed"], ["", *explanation.changed.sum(axis=1)]),
        (TEXTS["distance"], ["", *(f"{each:.3g}" for each in explanation.distances)]),
    ]
    foot = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{to_html(str(value))}</td>" for value in values)
        + "</tr>"
        for name, values in last
    ]
    more = len(order) - MOST_ROWS
    told = escape(TEXTS["more_features"].format(count=counted(more, "feature")))
    note = f'<p class="note">{told}</p>' if more > 0 else ""
    table = (
        f"<table><caption>{escape(TEXTS['table_caption'])}</caption>"
        f"<thead><tr><td></td>{''.join(headings)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody><tfoot>{''.join(foot)}</tfoot></table>"
    )
    return _scrolling(table, TEXTS["table"]) + note


def unchanged(explanation: Explanation) -> str:
    """Return which features stay as they are, as text; empty if none do."""
    often = explanation.changed.sum(axis=0)
    features = [explanation._table.features[i] for i in np.flatnonzero(often == 0)]
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
