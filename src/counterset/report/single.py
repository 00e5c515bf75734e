"""The report of one explanation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.bidi import isolated, to_html
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import Stability
from counterset.explanations.survival import Survival
from counterset.plots.changes import ChangesDisplay
from counterset.plots.style import most_changed
from counterset.report.drawings import CROSS, ranges
from counterset.report.page import Section, listed, make_page, note, paragraphs, write_page
from counterset.report.technical import technical_sections
from counterset.report.verify import record_of
from counterset.words.changes import capitalised
from counterset.words.description import (
    Description,
    costs_of_changes,
    fewer_than_asked,
    fixed_features,
    heading,
    lasting_options,
    order_of,
    unusual_options,
)
from counterset.words.details import Details, DetailsLike
from counterset.words.outcomes import Outcomes
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates, TemplatesLike

__all__ = ["report_of_one"]

#: The drawings have at most 18 lines, one for each change: a printed report has three pages.
MOST_LINES = 18
#: A report shows the first 7 options, unless others are chosen: more are not compared. The
#: record has all.
MOST_OPTIONS = 7
#: A sentence names the first 30 features that stay: more are not read.
MOST_NAMES = 30


def report_of_one(
    explanation: Explanation,
    path: str | Path | None = None,
    *,
    options: Collection[int] | None = None,
    details: DetailsLike | None = None,
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
    options, details, outcomes, stability, survival, templates
        As for :meth:`Explanation.to_html`.
    """
    texts = Templates.read(templates)
    chosen = _chosen(options, len(explanation))
    given = Details.read({} if details is None else details)
    labels = Outcomes(explanation, texts, outcomes or {})
    writer = _Writer(explanation, chosen, labels, stability, survival)
    record = record_of(explanation)
    title = heading(explanation, texts, writer.outcomes, followed_by="nothing")
    sections = writer.sections() + technical_sections(
        explanation.context,
        texts,
        label_text=writer.outcomes.text,
        wanted=writer.outcomes.aim(),
        constraints=[*writer.described.kept, *costs_of_changes(explanation.context, texts)],
    )
    return write_page(make_page(title, sections, record, texts, head=given.head(texts)), path)


def _chosen(options: Collection[int] | None, count: int) -> tuple[int, ...]:
    """Return the numbers of the options to show, ascending."""
    if options is None:
        return tuple(range(1, min(count, MOST_OPTIONS) + 1))
    if isinstance(options, str | bytes) or not isinstance(options, Collection | np.ndarray):
        raise InvalidInputError(
            f"options takes the numbers of the options to show, such as [1, 3], got {options!r}."
        )
    for rank in options:
        is_number = isinstance(rank, int | np.integer) and not isinstance(rank, bool)
        if not is_number or not 1 <= rank <= count:
            there = f"from 1 to {count}" if count else "none: this explanation has no option"
            raise InvalidInputError(f"There is no option {rank!r}. There are {there}.")
    if count and not len(options):
        raise InvalidInputError(
            "options is empty. Name the numbers of the options to show, or pass None."
        )
    return tuple(sorted({int(rank) for rank in options}))


@dataclass(frozen=True)
class _Writer:
    """Write the part of a report that is for the person.

    Attributes
    ----------
    explanation
        With all its options.
    chosen
        The numbers of the options to show.
    outcomes
        What writes the labels.
    stability, survival
        What was measured, or None.
    """

    explanation: Explanation
    chosen: tuple[int, ...]
    outcomes: Outcomes
    stability: pd.DataFrame | Stability | None
    survival: Survival | None

    @property
    def _texts(self) -> Templates:
        return self.outcomes.templates

    @cached_property
    def _near(self) -> Explanation:
        """The explanation with the options up to the last that is shown."""
        return self.explanation.nearest(max(self.chosen, default=0))

    @cached_property
    def described(self) -> Description:
        """The sentences of ``explanation.describe()``, about these options."""
        stability = self.stability
        if isinstance(stability, Stability) and len(stability.kept) == len(self.explanation):
            stability = stability.of_nearest(len(self._near))
        survival = self.survival and self.survival.of_nearest(max(1, len(self._near)))
        of_labels = self.outcomes.texts
        return Description.of(self._near, self._texts, of_labels, stability, survival=survival)

    def sections(self) -> list[Section]:
        """Return reasons, options, what stays, and what is certain."""
        texts, described = self._texts, self.described
        found = [
            Section(texts("letter.review_reasons"), self._reasons()),
            Section(texts("report.options_title"), self._options()),
            Section(texts("report.stays"), paragraphs(" ".join(described.kept), self._same())),
            Section(texts("letter.review_sure"), listed((*described.sure, *described.far))),
        ]
        return [section for section in found if section.body not in ("", listed(()))]

    def _reasons(self) -> str:
        if not self.explanation.can_give_reasons:
            return paragraphs(self._texts("report.no_reasons"))
        lines = ReasonWriter(self._texts, self.outcomes).long()
        return listed(lines, "ol") if lines else ""

    def _options(self) -> str:
        if not self.chosen:
            return ""
        texts = self._texts
        fewer = fewer_than_asked(self.explanation, texts)
        intro = texts("report.intro_one", fewer=fewer)
        if len(self.chosen) > 1:
            order = capitalised(order_of(self.explanation, texts))
            intro = texts("report.intro", order=order, fewer=fewer)
        options = [self.explanation.options[rank - 1] for rank in self.chosen]
        items = []
        for rank in self.chosen:
            first, *lines = self.described.options[rank - 1]
            changes = "".join(f"<li>{to_html(line.removeprefix('- '))}</li>" for line in lines)
            more = f'<ul class="changes">{changes}</ul>' if lines else ""
            items.append(f"<li><p>{to_html(first)}</p>{more}</li>")
        return "".join([
            paragraphs(intro),
            f'<ul class="options">{"".join(items)}</ul>',
            note(self._left_out()),
            paragraphs(
                " ".join(unusual_options(self.explanation, texts, options)),
                " ".join(lasting_options(self.explanation, texts, self.outcomes, options)),
            ),
            paragraphs(texts("letter.example")),
            self._drawing(),
        ])  # fmt: skip

    def _left_out(self) -> str:
        """Return which of the options are shown, if not all are."""
        count, texts = len(self.explanation), self._texts
        if len(self.chosen) == count:
            return ""
        if self.chosen == tuple(range(1, MOST_OPTIONS + 1)):
            return texts("report.first", shown=MOST_OPTIONS, count=f"{count:,}")
        name = "report.chosen_one" if len(self.chosen) == 1 else "report.chosen_many"
        return texts(name, ranks=texts.join(list(map(str, self.chosen))), count=f"{count:,}")

    def _drawing(self) -> str:
        """Return how far the options go, as drawings of the features that change most."""
        shown = [rank - 1 for rank in self.chosen]
        lines = self._near.changed[shown][:, most_changed(self._near)].sum(axis=0).cumsum()
        count = max(1, int((lines <= MOST_LINES).sum()))
        display = ChangesDisplay.from_explanation(self._near, max_features=count)
        drawn, texts = ranges(display, self.chosen, self._texts), self._texts
        crossed = [texts("report.drawing_cross")] if CROSS in drawn else []
        return f"{drawn}{note(' '.join([texts('report.drawing'), *crossed]))}" if drawn else ""

    def _same(self) -> str:
        """Return which features stay as they are in all options that are shown."""
        if not self.chosen:
            return ""
        coded, texts = self._near.coded, self._texts
        moved = coded.changed[[rank - 1 for rank in self.chosen]].any(axis=0)
        moved[fixed_features(self.explanation.context)] = True  # a sentence names them already
        names = [isolated(coded.table.features[i].label) for i in np.flatnonzero(~moved)]
        if not names:
            return ""
        return texts("report.same", features=_few(names, texts))


def _few(names: Sequence[str], texts: Templates) -> str:
    """Return names as an enumeration, the first of many."""
    if len(names) <= MOST_NAMES:
        return texts.join(names)
    first = texts("list.comma").join(names[:MOST_NAMES])
    return texts("report.same_more", features=first, count=len(names) - MOST_NAMES)
