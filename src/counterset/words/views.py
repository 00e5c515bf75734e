"""Views: what an explanation shows in a terminal and in a notebook.

In a terminal that is a table; in a notebook words, a table with marked changes, and a drawing. The
HTML has no script and no colour of its own: lines and letters take the colour of the notebook's
text, and marks are shades of grey that show on a white and on a dark ground.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.bidi import data_html, to_html
from counterset.explanations.explanation import Explanation
from counterset.words.changes import capitalised
from counterset.words.description import Description, heading
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["MOST_FEATURES", "UNCHANGED", "html_view", "text_view"]

#: The mark of what does not change.
UNCHANGED = "·"
#: A terminal shows at most 60 features that change, those that change most often first: what is
#: printed can be typed in.
MOST_FEATURES = 60

#: A cell that changed: bold, on half-transparent grey.
MARKED = "font-weight:bold;background:rgba(127,127,127,.25)"
#: A notebook shows at most 20 features, those that change most often first.
SHOWN_FEATURES = 20
#: The drawing, in pixels: its width, its height, and the margin for the circles at both ends.
WIDTH, HEIGHT, MARGIN = 420, 46, 24


def text_view(explanation: Explanation) -> str:
    """Return an explanation as a table of its changes, with a mark where nothing changes."""
    templates, coded = Templates.read(), explanation.coded
    outcomes = Outcomes(explanation, templates, {})
    title = heading(explanation, templates, outcomes, followed_by="table")
    more = len(coded.features) - MOST_FEATURES
    notes = [templates("table.more", count=more)] if more > 0 else []
    if explanation.certificate is not None:
        notes.append(str(explanation.certificate))
    table = [_text_table(explanation, templates).to_string()] if len(explanation) else []
    return "\n".join([title, *table, *filter(None, notes)])


def _text_table(explanation: Explanation, templates: Templates) -> pd.DataFrame:
    coded, certificate = explanation.coded, explanation.certificate
    text = coded.frame(lambda feature, code: feature.format(code))
    text.iloc[:, 1:] = text.iloc[:, 1:].mask(~coded.changed[:, coded.features].T, UNCHANGED)
    text = text.head(MOST_FEATURES)
    ranks = [templates("table.option", rank=option.rank) for option in explanation.options]
    text.columns = pd.Index([templates("table.input"), *ranks])
    rows: dict[str, list[Any]] = {
        templates("table.changed"): list(coded.changed.sum(axis=1)),
        templates("table.distance"): [f"{option.distance:.3g}" for option in explanation.options],
    }
    if certificate is not None and certificate.safety is not None:
        rows[templates("table.safe")] = certificate.column()
    if certificate is not None and certificate.option_radii is not None:
        rows[templates("table.works")] = certificate.works_column()
    outcomes = Outcomes(explanation, templates, {}, quoted=False)
    if len({str(option.label) for option in explanation.options}) > 1:
        name = "table.predicted" if outcomes.is_number else "table.classified"
        rows[templates(name)] = [outcomes.text(option.label) for option in explanation.options]
    figures = [["", *map(str, values)] for values in rows.values()]
    return pd.concat([text, pd.DataFrame(figures, columns=text.columns, index=list(rows))])


def html_view(explanation: Explanation) -> str:
    """Return an explanation as HTML for a notebook; everything is escaped."""
    templates = Templates.read()
    description = Description.of(explanation, templates)
    options = "".join(f"<li>{_option(option)}</li>" for option in description.options)
    notes = "".join(
        f"<p>{to_html(' '.join(part))}</p>"
        for part in (description.kept, description.far, description.sure)
        if part
    )
    parts = [
        f"<p><b>{to_html(description.heading)}</b></p>",
        f'<ul style="list-style:none;padding-left:0">{options}</ul>' if options else "",
        _drawing(explanation, templates) if options else "",
        _table(explanation, templates),
        notes,
    ]
    return f"<div>{''.join(parts)}</div>"


def _option(option: tuple[str, ...]) -> str:
    first, *lines = (to_html(line) for line in option)
    more = "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines)
    return f"{first}<ul>{more}</ul>" if more else first


def _table(explanation: Explanation, templates: Templates) -> str:
    """Return the changes as a table, in which the cells that change are marked."""
    coded, writer = explanation.coded, Writer(templates)
    headings = [templates("table.feature"), templates("table.input")]
    headings += [templates("table.option", rank=option.rank) for option in explanation.options]
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in headings)
    body = []
    for at in coded.features[:SHOWN_FEATURES]:
        feature = coded.table.features[at]
        cells = [f"<td>{to_html(writer.own(feature, coded.input[at]))}</td>"]
        for row, is_changed in zip(coded.matrix, coded.changed, strict=True):
            text = to_html(writer.value(feature, row[at]))
            cells.append(
                f'<td style="{MARKED}">{text}</td>'
                if is_changed[at]
                else f'<td style="opacity:.6">{UNCHANGED}</td>'
            )
        body.append(f"{_row_head(capitalised(feature.label))}{''.join(cells)}")
    outcomes = Outcomes(explanation, templates, {})
    distances = [f"{option.distance:.3g}" for option in explanation.options]
    body.append(_figures(templates("table.distance"), ["", *distances]))
    certificate = explanation.certificate
    if certificate is not None and certificate.safety is not None:
        body.append(_figures(templates("table.safe"), ["", *certificate.column()]))
    if certificate is not None and certificate.option_radii is not None:
        body.append(_figures(templates("table.works"), ["", *certificate.works_column()]))
    labels = [explanation.label, *explanation.labels]
    body.append(_figures(templates("table.label"), [outcomes.text(each) for each in labels]))
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    more = len(coded.features) - SHOWN_FEATURES
    note = f"<p>{html.escape(templates('table.more', count=more))}</p>" if more > 0 else ""
    # Pages without a doctype give tables a colour of their own.
    table_of = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<table style="color:inherit">{table_of}</table>{note}'


def _figures(name: str, texts: list[str]) -> str:
    return _row_head(name) + "".join(f"<td>{to_html(text)}</td>" for text in texts)


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
