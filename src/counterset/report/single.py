"""The report of one explanation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset._base.bidi import isolated, to_html
from counterset.explanations.context import Context, TrainingSummary, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Stability
from counterset.explanations.survival import Survival
from counterset.plots.changes import ChangesDisplay
from counterset.plots.style import most_changed
from counterset.report.page import (
    Section,
    changes_svg,
    facts,
    listed,
    make_page,
    options_table,
    paragraphs,
    unchanged,
    write_page,
)
from counterset.report.texts import TEXTS, counted
from counterset.report.verify import record_of
from counterset.words.description import Description
from counterset.words.outcomes import Outcomes, wanted_text
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates, TemplatesLike

__all__ = ["check_section", "making_section", "report_of_one"]

#: The drawing has at most 18 lines, one for each change: with the words and the table, a printed
#: report has three pages at most.
MOST_LINES = 18
#: A report shows the 7 nearest options, which fit the width of a page. The record has all.
MOST_OPTIONS = 7


@dataclass(frozen=True)
class Wording:
    """In which words a report is written.

    Attributes
    ----------
    outcomes
        From labels to how people call them.
    templates
        The path of the sentences in another language, as for :meth:`Explanation.describe`.
    """

    outcomes: Mapping[Any, str] | None = None
    templates: TemplatesLike = None

    def outcomes_of(self, explanation: Explanation) -> Outcomes:
        """Return what writes the labels of an explanation."""
        return Outcomes(explanation, Templates.read(self.templates), self.outcomes or {})


def report_of_one(
    explanation: Explanation,
    path: str | Path | None = None,
    *,
    outcomes: Mapping[Any, str] | None = None,
    stability: pd.DataFrame | Stability | None = None,
    survival: Survival | None = None,
    templates: TemplatesLike = None,
) -> str:
    """Return the report of one explanation as a page of HTML, and write it to a file.

    Parameters
    ----------
    explanation
        What to report; it must know its model, see :meth:`Explanation.with_model`.
    path
        The file to write, or None.
    outcomes, stability, survival, templates
        As for :meth:`Explanation.describe`.
    """
    wording = Wording(outcomes, templates)
    record, count = record_of(explanation), len(explanation)
    reasons = _reasons(explanation, wording)
    explanation = explanation.nearest(MOST_OPTIONS)
    if isinstance(stability, Stability):
        stability = stability.of_nearest(MOST_OPTIONS)
    survival = survival and survival.of_nearest(MOST_OPTIONS)
    description = Description.of(explanation, templates, outcomes, stability, survival=survival)
    more = TEXTS["more_options"].format(shown=MOST_OPTIONS, count=f"{count:,}")
    note = f'<p class="note">{escape(more)}</p>' if count > MOST_OPTIONS else ""
    sections = [Section(TEXTS["words"], _words(description) + note), *reasons]
    if len(explanation):
        texts = wording.outcomes_of(explanation)
        labels = [explanation.label, *(option.label for option in explanation.options)]
        table = options_table(explanation, [texts.text(label) for label in labels])
        sections += [_changes(explanation), Section(TEXTS["table"], table + _stays(explanation))]
    sections += [
        Section(TEXTS["certain"], _certain(description)),
        making_section(explanation.context, record),
        check_section(),
    ]
    lead = _lead(explanation, wording)
    page = make_page(TEXTS["title"], lead, sections, record, versions()["counterset"])
    return write_page(page, path)


def _lead(explanation: Explanation, wording: Wording) -> str:
    outcomes, count = wording.outcomes_of(explanation), len(explanation)
    options = TEXTS["one_explained"] if count == 1 else TEXTS[explanation.status]
    return TEXTS["lead"].format(
        index=to_python(explanation.index),
        classified=outcomes.classified(explanation.label),
        options=options.format(count=f"{count:,}", goal=outcomes.aim()),
    )


def _words(description: Description) -> str:
    """Return the options; one with many changes is folded, and the table shows it."""
    items = []
    for first, *lines in description.options:
        item = f"<details><summary>{to_html(first)}</summary>{listed(lines)}</details>"
        items.append(f"<li>{item if lines else to_html(first)}</li>")
    options = f'<ul class="options">{"".join(items)}</ul>' if items else ""
    return paragraphs(description.heading) + options + paragraphs(" ".join(description.kept))


def _reasons(explanation: Explanation, wording: Wording) -> list[Section]:
    """Return the section on the main reasons; none if there are no reasons."""
    if not explanation.can_give_reasons:
        return [Section(TEXTS["reasons"], paragraphs(TEXTS["unknown_reasons"]))]
    templates = Templates.read(wording.templates)
    lines = ReasonWriter(templates, wording.outcomes_of(explanation)).long()
    return [Section(TEXTS["reasons"], listed(lines, "ol"))] if lines else []


def _changes(explanation: Explanation) -> Section:
    lines = explanation.changed[:, most_changed(explanation)].sum(axis=0).cumsum()
    count = max(1, int((lines <= MOST_LINES).sum()))
    display = ChangesDisplay.from_explanation(explanation, max_features=count)
    text = "; ".join(
        f"{row.name}: " + ", ".join(f"option {c.option} {c.text}" for c in row.changes)
        for row in display.rows
    )
    body = (
        f"<figure>{changes_svg(display, TEXTS['changes_alt'].format(changes=text))}"
        f"<figcaption>{escape(TEXTS['changes_caption'])}</figcaption></figure>"
    )
    if display.n_more:
        more = TEXTS["more_features"].format(count=counted(display.n_more, "more feature"))
        body += f'<p class="note">{escape(more)}</p>'
    return Section(TEXTS["changes"], body)


def _stays(explanation: Explanation) -> str:
    stays = unchanged(explanation)
    return f'<p class="note">{to_html(stays)}</p>' if stays else ""


def _certain(description: Description) -> str:
    lines = [*description.sure, *description.far]
    return listed(lines or [TEXTS["no_options"]])


def making_section(context: Context, record: dict[str, Any]) -> Section:
    """Return the section on the model, the data, and how explanations were made."""
    training = None if context.training is None else context.training.value
    model = type(context.model_to_ask()).__name__
    pairs = [
        (TEXTS["model"], TEXTS["asked_by"].format(model=model, explainer=context.explainer)),
        (TEXTS["fingerprint"], record["fingerprint"]["digest"]),
    ]
    if training is not None:
        text = TEXTS["training_text"].format(rows=f"{training.rows:,}", labels=_labels(training))
        pairs += [(TEXTS["training"], text), (TEXTS["training_hash"], training.hash)]
    pairs += [
        (TEXTS["asked_for"], wanted_text(context, Templates.read())),
        (TEXTS["constraints"], _listed(context.constraints)),
        (TEXTS["settings"], _listed(_settings(context))),
        (TEXTS["versions"], ", ".join(f"{name} {each}" for name, each in versions().items())),
    ]
    return Section(TEXTS["made"], facts(pairs))


def _labels(training: TrainingSummary) -> str:
    """Return what the model predicts for the training rows."""
    if training.labels is None:
        return TEXTS["label_range"].format(low=training.low, high=training.high)
    return ", ".join(
        TEXTS["label_count"].format(count=f"{count:,}", label=isolated(repr(to_python(label))))
        for label, count in training.labels.items()
    )


def check_section() -> Section:
    """Return the section on how a report is verified."""
    command = f"<pre>{escape(TEXTS['command'])}</pre>"
    note = f'<p class="note">{escape(TEXTS["digest_text"])}</p>'
    return Section(TEXTS["check"], paragraphs(TEXTS["check_text"]) + command + note)


def _settings(context: Context) -> dict[str, Any]:
    """Return the settings that no other part shows."""
    settings = context.settings.value
    return {name: settings[name] for name in settings if name not in ("constraints", "schema")}


def _listed(values: Any) -> str:
    shown = {name: value for name, value in values.items() if value not in (None, [], {})}
    if not shown:
        return TEXTS["none"]
    return "; ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, default=str)}"
        for name, value in shown.items()
    )
