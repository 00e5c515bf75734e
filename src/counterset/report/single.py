"""The report of one explanation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset._base.bidi import isolated, to_html
from counterset._base.lazy import Lazy
from counterset.explanations.context import Context, TrainingSummary, versions
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Steadiness
from counterset.models.goals import InInterval, OneOf
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
from counterset.report.record import record_of
from counterset.report.texts import TEXTS, counted
from counterset.words.description import Description
from counterset.words.letter import reason_lines
from counterset.words.outcomes import Outcomes, between
from counterset.words.templates import Templates, TemplatesLike
from counterset.words.values import exact_percent

__all__ = ["check_section", "goal_text", "making_section", "nearest", "report_of_one"]

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

    def told(self, explanation: Explanation) -> Outcomes:
        """Return how the labels of an explanation are called."""
        return Outcomes(explanation, Templates.read(self.templates), self.outcomes or {})


def report_of_one(
    explanation: Explanation,
    path: str | Path | None = None,
    *,
    outcomes: Mapping[Any, str] | None = None,
    stability: pd.DataFrame | Steadiness | None = None,
    templates: TemplatesLike = None,
) -> str:
    """Return the report of one explanation as a page of HTML, and write it to a file.

    Parameters
    ----------
    explanation
        What to report; it must know its model, see :meth:`Explanation.with_model`.
    path
        The file to write, or None.
    outcomes, stability, templates
        As for :meth:`Explanation.describe`.
    """
    wording = Wording(outcomes, templates)
    record, explanation, count = record_of(explanation), nearest(explanation), len(explanation)
    if isinstance(stability, Steadiness):
        stability = stability.of_nearest(MOST_OPTIONS)
    description = Description.of(explanation, templates, outcomes, stability)
    more = TEXTS["more_options"].format(shown=MOST_OPTIONS, count=f"{count:,}")
    note = f'<p class="note">{escape(more)}</p>' if count > MOST_OPTIONS else ""
    sections = [Section(TEXTS["words"], _words(description) + note)]
    reasons = reason_lines(explanation, templates, outcomes)
    if reasons:
        sections.append(Section(TEXTS["reasons"], listed(reasons, "ol")))
    if len(explanation):
        decisions = [wording.told(explanation).told(each) for each in explanation.labels]
        own = wording.told(explanation).told(explanation.label)
        table = options_table(explanation, [own, *decisions])
        sections += [_changes(explanation), Section(TEXTS["table"], table + _stays(explanation))]
    sections += [
        Section(TEXTS["certain"], _certain(description)),
        making_section(explanation.context, record),
        check_section(),
    ]
    lead = _lead(explanation, wording)
    page = make_page(TEXTS["title"], lead, sections, record, versions()["counterset"])
    return write_page(page, path)


def nearest(explanation: Explanation, count: int = MOST_OPTIONS) -> Explanation:
    """Return an explanation with its nearest options only."""
    if len(explanation) <= count:
        return explanation
    certificate, far = explanation.certificate, explanation.plausibility
    if certificate is not None:
        certificate = certificate.of_nearest(count)
    return replace(
        explanation,
        labels=explanation.labels[:count],
        distances=explanation.distances[:count],
        examples=explanation.examples[:count],
        plausibility=None if far is None else far[:count],
        _certificate=Lazy(lambda: certificate),
        _matrix=explanation._matrix[:count],
    )


def goal_text(context: Context) -> str:
    """Return what was asked for, in words."""
    goal = context.goal
    told = TEXTS["another"]
    if isinstance(goal, InInterval):
        told = between(Templates.read(), goal.low, goal.high)
    elif isinstance(goal, OneOf):
        told = " or ".join(repr(to_python(each)) for each in goal.wanted)
    if context.probability is not None:
        shown = exact_percent(context.probability)
        told = TEXTS["probable"].format(goal=told, probability=shown)
    return told


def _lead(explanation: Explanation, wording: Wording) -> str:
    told = wording.told(explanation)
    ways = TEXTS[explanation.status].format(ways=counted(len(explanation), "way"), goal=told.aim())
    return TEXTS["lead"].format(
        index=to_python(explanation.index),
        classified=told.classified(explanation.label),
        told=ways,
    )


def _words(description: Description) -> str:
    """Return the ways; one with many changes is folded, and the table shows it."""
    ways = []
    for first, *lines in description.ways:
        items = f"<details><summary>{to_html(first)}</summary>{listed(lines)}</details>"
        ways.append(f"<li>{items if lines else to_html(first)}</li>")
    told = f'<ul class="ways">{"".join(ways)}</ul>' if ways else ""
    return paragraphs(description.heading) + told + paragraphs(" ".join(description.kept))


def _changes(explanation: Explanation) -> Section:
    lines = explanation.changed[:, most_changed(explanation)].sum(axis=0).cumsum()
    count = max(1, int((lines <= MOST_LINES).sum()))
    display = ChangesDisplay.from_explanation(explanation, max_features=count)
    told = "; ".join(
        f"{row.name}: " + ", ".join(f"option {c.option} {c.text}" for c in row.changes)
        for row in display.rows
    )
    body = (
        f"<figure>{changes_svg(display, TEXTS['changes_alt'].format(changes=told))}"
        f"<figcaption>{escape(TEXTS['changes_caption'])}</figcaption></figure>"
    )
    if display.n_more:
        more = TEXTS["more_features"].format(count=counted(display.n_more, "feature"))
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
        told = TEXTS["training_told"].format(rows=f"{training.rows:,}", labels=_labels(training))
        pairs += [(TEXTS["training"], told), (TEXTS["training_hash"], training.hash)]
    pairs += [
        (TEXTS["asked_for"], goal_text(context)),
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
    note = f'<p class="note">{escape(TEXTS["digest_told"])}</p>'
    return Section(TEXTS["check"], paragraphs(TEXTS["check_told"]) + command + note)


def _settings(context: Context) -> dict[str, Any]:
    """Return the settings that are not told elsewhere."""
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
