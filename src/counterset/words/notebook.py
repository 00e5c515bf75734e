"""The view of an explanation in a notebook: words, a table with marked changes, a drawing.

No script and no colour of its own: lines and letters take the colour of the notebook's text, and
marks are shades of grey that show on a white and on a dark ground.
"""

from __future__ import annotations

import html

import numpy as np

from counterset._base.bidi import data_html, to_html
from counterset.explanations.explanation import UNCHANGED, Explanation
from counterset.words.changes import capitalised
from counterset.words.description import Description
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["notebook_html"]

#: A cell that changed: bold, on half-transparent grey.
MARKED = "font-weight:bold;background:rgba(127,127,127,.25)"
#: A notebook shows at most 20 features, those that change most often first.
SHOWN_FEATURES = 20
#: The drawing, in pixels: its width, its height, and the margin for the circles at both ends.
WIDTH, HEIGHT, MARGIN = 420, 46, 24


def notebook_html(explanation: Explanation) -> str:
    """Return an explanation as HTML for a notebook; everything is escaped."""
    templates = Templates.read()
    description = Description.of(explanation, templates)
    ways = "".join(f"<li>{_way(way)}</li>" for way in description.ways)
    notes = "".join(
        f"<p>{to_html(' '.join(part))}</p>"
        for part in (description.kept, description.far, description.sure)
        if part
    )
    parts = [
        f"<p><b>{to_html(description.heading)}</b></p>",
        f'<ul style="list-style:none;padding-left:0">{ways}</ul>' if ways else "",
        _drawing(explanation, templates) if ways else "",
        _table(explanation, templates),
        notes,
    ]
    return f"<div>{''.join(parts)}</div>"


def _way(way: tuple[str, ...]) -> str:
    first, *lines = (to_html(line) for line in way)
    more = "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines)
    return f"{first}<ul>{more}</ul>" if more else first


def _table(explanation: Explanation, templates: Templates) -> str:
    """Return the changes as a table, in which the cells that change are marked."""
    table, writer = explanation._table, Writer(templates)
    changes = explanation.coded
    headings = [templates("table.feature"), templates("table.input")]
    headings += [templates("table.option", rank=i + 1) for i in range(len(explanation))]
    head = "".join(f'<th scope="col">{html.escape(heading)}</th>' for heading in headings)
    body = []
    for at in changes.features[:SHOWN_FEATURES]:
        feature = table.features[at]
        cells = [f"<td>{to_html(writer.own(feature, explanation._input[at]))}</td>"]
        for row, is_changed in zip(explanation._matrix, changes.changed, strict=True):
            text = to_html(writer.value(feature, row[at]))
            cells.append(
                f'<td style="{MARKED}">{text}</td>'
                if is_changed[at]
                else f'<td style="opacity:.6">{UNCHANGED}</td>'
            )
        body.append(f"{_row_head(capitalised(feature.label))}{''.join(cells)}")
    outcomes = Outcomes(explanation, templates, {})
    told = [f"{distance:.3g}" for distance in explanation.distances]
    body.append(_figures(templates("table.distance"), ["", *told]))
    certificate = explanation.certificate
    if certificate is not None and certificate.safety is not None:
        body.append(_figures(templates("table.safe"), ["", *certificate.column()]))
    if certificate is not None and certificate.option_radii is not None:
        body.append(_figures(templates("table.works"), ["", *certificate.works_column()]))
    labels = [explanation.label, *explanation.labels]
    body.append(_figures(templates("table.label"), [outcomes.told(each) for each in labels]))
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    more = len(changes.features) - SHOWN_FEATURES
    note = f"<p>{html.escape(templates('table.more', count=more))}</p>" if more > 0 else ""
    # Pages without a doctype give tables a colour of their own.
    table_of = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<table style="color:inherit">{table_of}</table>{note}'


def _figures(heading: str, texts: list[str]) -> str:
    return _row_head(heading) + "".join(f"<td>{to_html(text)}</td>" for text in texts)


def _row_head(text: str) -> str:
    return f'<th scope="row" style="text-align:left">{data_html(text)}</th>'


def _drawing(explanation: Explanation, templates: Templates) -> str:
    """Return a line from the input to the farthest option, with every option at its distance."""
    far = float(explanation.distances.max()) or 1.0
    places = MARGIN + (WIDTH - 2 * MARGIN) * explanation.distances / far
    middle = HEIGHT / 2
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{middle:g}" r="4" fill="currentColor"/>'
        f'<text x="{x:.1f}" y="{_height(i):g}" text-anchor="middle" font-size="10" '
        f'fill="currentColor">{i + 1}</text>'
        for i, x in enumerate(places)
    )
    title = html.escape(templates("drawing.title"))
    named = html.escape(templates("drawing.input"))
    return (
        f'<svg role="img" aria-label="{title}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"><title>{title}</title>'
        f'<line x1="{MARGIN}" y1="{middle:g}" x2="{np.max(places):.1f}" y2="{middle:g}" '
        f'stroke="currentColor" stroke-opacity=".5"/>'
        f'<circle cx="{MARGIN}" cy="{middle:g}" r="5" fill="none" stroke="currentColor"/>'
        f'<text x="{MARGIN}" y="{HEIGHT - 4}" text-anchor="middle" font-size="10" '
        f'fill="currentColor">{named}</text>{dots}</svg>'
    )


def _height(i: int) -> float:
    """Return where the number of an option stands: above the line, neighbours apart."""
    return 8.0 if i % 2 else 16.0
