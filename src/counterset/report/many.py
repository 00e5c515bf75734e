"""The report of many explanations: what people would have to change, and who has no option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Mask, to_python
from counterset._base.bidi import isolated
from counterset.explanations.explanations import Explanations
from counterset.explanations.why_none import WhyNone
from counterset.plots.stability import StabilityDisplay
from counterset.plots.style import name_of
from counterset.report.drawings import bars
from counterset.report.groups import figures_of, group_people
from counterset.report.page import Section, make_page, note, paragraphs, plain_table, write_page
from counterset.report.technical import technical_sections
from counterset.report.texts import TEXTS, counted
from counterset.report.verify import record_of_many
from counterset.words.changes import ChangeWriter
from counterset.words.description import (
    constraint_sentences,
    constraints_kept,
    costs_of_changes,
    is_in_usual_ranges,
    what_stays,
)
from counterset.words.details import one_line
from counterset.words.groups import LEAST
from counterset.words.outcomes import Outcomes, rounded, wanted_text
from counterset.words.templates import Templates
from counterset.words.values import Writer, percent

__all__ = ["report_of_many"]

#: The 15 features that change most are drawn, and as many constraints are listed.
MOST_ROWS = 15
#: What stands in the way of the first 100 inputs without an option is found out: each takes about
#: as long as an explanation.
MOST_REASONS = 100
#: Up to 10 groups with too few people are named; of more, it is said how many there are.
MOST_SMALL = 10
#: What is written of noisy copies, as means over all of them.
MEASURED = ("input_distance", "covered", "kept", "set_distance_mean")


def report_of_many(
    explanations: Explanations,
    path: str | Path | None = None,
    *,
    groups: Any = None,
    stability: pd.DataFrame | None = None,
    annex: bool = False,
    outcomes: Mapping[Any, str] | None = None,
    title: str | None = None,
    author: str | None = None,
    date: Any = None,
) -> str:
    """Return the report of many explanations as a page of HTML, and write it to a file.

    Parameters
    ----------
    explanations
        What to report.
    path
        The file to write, or None.
    groups, stability, annex, outcomes, title, author, date
        As for :meth:`Explanations.to_html`.
    """
    writer = _Writer(explanations, outcomes or {})
    context, texts = explanations.context, writer.texts
    sections = [writer.options(), writer.without_options(), writer.features()]
    if groups is not None:
        sections.append(writer.by_group(groups))
    sections.append(writer.stability(stability))
    technical, check = technical_sections(
        context,
        texts,
        label_text=writer.label_text,
        wanted=writer.wanted,
        constraints=writer.constraints(),
        command=TEXTS["command"],
    )
    check = Section(check.heading, check.body + note(TEXTS["check_many"]))
    sections += [technical, check, *([writer.annex()] if annex else [])]
    people = counted(len(explanations), "person", "people")
    heading = one_line("title", title) or TEXTS["many_title"].format(people=people)
    author, date = one_line("author", author), one_line("date", date)
    about = [
        *([TEXTS["author"].format(author=isolated(author))] if author else []),
        *([texts("letter.date", date=isolated(date))] if date else []),
    ]
    page = make_page(
        isolated(heading),
        sections,
        record_of_many(explanations, writer.figures),
        texts,
        head=[about] if about else [],
        lead=writer.lead(),
    )
    return write_page(page, path)


@dataclass(frozen=True)
class _Writer:
    """Write the parts of a report, and collect the figures that they show.

    Attributes
    ----------
    explanations
        What is reported.
    outcomes
        From labels to how people call them.
    figures
        What the parts show, as values of JSON.
    """

    explanations: Explanations
    outcomes: Mapping[Any, str]
    figures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.explanations):  # a wrong outcome is an error
            _ = self._labels

    @property
    def texts(self) -> Templates:
        """The English texts."""
        return Templates.read()

    @property
    def wanted(self) -> str:
        """What the options lead to."""
        return wanted_text(self.explanations.context, self.texts, self.outcomes)

    @cached_property
    def _labels(self) -> Outcomes:
        return Outcomes(self.explanations[0], self.texts, self.outcomes)

    def label_text(self, label: Any) -> str:
        """Return how a label is called."""
        return self._labels.text(label) if len(self.explanations) else repr(to_python(label))

    @cached_property
    def _open(self) -> Mask:
        """Who was to be explained."""
        status = self.explanations.status
        return np.array([each != "already_reached" for each in status], dtype=bool)

    @property
    def _people(self) -> str:
        return counted(int(self._open.sum()), "person", "people")

    def constraints(self) -> list[str]:
        """Return the constraints and the costs that were kept, a sentence each."""
        context, texts = self.explanations.context, self.texts
        if len({repr(each.context.constraints) for each in self.explanations}) > 1:
            return [TEXTS["constraints_differ"], *costs_of_changes(context, texts)]
        context = self.explanations[0].context if len(self.explanations) else context
        stays = what_stays(context, texts)
        kept = (*([stays] if stays else []), *constraints_kept(context, texts))
        return [*kept, *costs_of_changes(context, texts)]

    def lead(self) -> str:
        """Return how many people have options."""
        status = Counter(self.explanations.status)
        with_options, reached = status["explained"], status["already_reached"]
        sentences = [TEXTS["nobody_left"]]
        if self._open.any():
            name = "many_lead_one" if with_options == 1 else "many_lead"
            if with_options == self._open.sum():
                name = "many_lead_all"
            sentences = [
                TEXTS[name].format(
                    some=f"{with_options:,}", people=self._people, wanted=self.wanted
                )
            ]
        if reached:
            people = counted(reached, "person", "people")
            sentences.append(TEXTS["reached"].format(people=people))
        return " ".join(sentences)

    def options(self) -> Section:
        """Return how many people have how many options."""
        counts = Counter(self.explanations.counts[self._open].tolist())
        self.figures["options"] = {str(count): n for count, n in sorted(counts.items())}
        most = max(counts.values(), default=1)
        rows = [(f"{count:,}", n / most, f"{n:,}") for count, n in sorted(counts.items())]
        caption = TEXTS["options_caption"].format(people=self._people)
        body = bars(rows, caption, (TEXTS["number"], TEXTS["people"])) if rows else ""
        return Section(TEXTS["options"], body or paragraphs(TEXTS["nobody_left"]))

    def features(self) -> Section:
        """Return which features change most."""
        coded = self.explanations.coded
        moved = coded.changed
        shares = moved.mean(axis=0) if len(moved) else np.zeros(moved.shape[1])
        names = coded.table.names
        self.figures["features"] = {
            name: float(share) for name, share in zip(names, shares, strict=True)
        }
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] > 0]
        rows = [
            (
                name_of(coded.table.features[i]),
                float(shares[i] / shares[order[0]]),
                percent(float(shares[i]), self.texts),
            )
            for i in order[:MOST_ROWS]
        ]
        if not rows:
            return Section(TEXTS["features"], paragraphs(self.texts("letter.nothing")))
        more = len(order) - MOST_ROWS
        text = TEXTS["more_features"].format(count=counted(more, "more feature"))
        drawn = bars(rows, TEXTS["features_caption"], (TEXTS["feature"], TEXTS["share"]))
        return Section(TEXTS["features"], drawn + note(text if more > 0 else ""))

    @cached_property
    def _blocked(self) -> dict[int, WhyNone | None]:
        """Why people have no option, by their positions; None if it was not looked into."""
        why, status = self.explanations.why_none, self.explanations.status
        without = [i for i, each in enumerate(status) if each == "none_found"]
        return {
            i: why[i] if rank < MOST_REASONS and i in why else None
            for rank, i in enumerate(without)
        }

    def _obstacles(self, position: int) -> list[str]:
        """Return what stands in the way of a person, in words."""
        why = self._blocked[position]
        if why is None:
            return []
        if why.cause == "constraint":
            context = self.explanations[position].context
            return list(dict.fromkeys(constraint_sentences(context, self.texts, why.constraints)))
        return [TEXTS[why.cause]]

    def without_options(self) -> Section:
        """Return how many people have no option, and what stands in the way."""
        found = Counter(text for i in self._blocked for text in self._obstacles(i))
        self.figures["without"] = {"people": len(self._blocked), "obstacles": dict(found)}
        if not self._blocked:
            nobody = "without_none" if self._open.any() else "nobody_left"
            return Section(TEXTS["without"], paragraphs(TEXTS[nobody]))
        rows = [(text, f"{count:,}") for text, count in found.most_common(MOST_ROWS)]
        more = counted(len(found) - len(rows), "more constraint")
        headings = (TEXTS["constraint"], TEXTS["people"])
        body = [
            paragraphs(self._without_lead()),
            plain_table(TEXTS["without_caption"], headings, rows, 1) if rows else "",
            note(TEXTS["more_constraints"].format(count=more) if len(found) > len(rows) else ""),
        ]
        return Section(TEXTS["without"], "".join(body))

    def _without_lead(self) -> str:
        """Return how many people have no option, and of how many it is known why."""
        count, known = len(self._blocked), len([*filter(None, self._blocked.values())])
        name = "without_one" if count == 1 else "without_lead"
        text = TEXTS[name].format(people=counted(count, "person", "people"))
        if known == count:
            return text
        rest = TEXTS["part_known" if known else "none_known"].format(count=known)
        return f"{text} {rest}"

    def by_group(self, groups: Any) -> Section:
        """Return figures of groups."""
        name, members = group_people(self.explanations, groups, self._open)
        found = {each.text: figures_of(self.explanations, each, self._open) for each in members}
        self.figures["groups"] = {"by": name, "least": LEAST, "figures": found}
        small = [text for text, each in found.items() if each is None]
        few = "few"
        if len(small) > MOST_SMALL:
            small, few = [TEXTS["small_groups"].format(count=f"{len(small):,}")], "few_each"
        shown = [(text, each) for text, each in found.items() if each is not None or text in small]
        rows = [
            (text, TEXTS[few].format(least=LEAST), "", "", "")
            if each is None
            else (text, *_cells(each, self.texts))
            for text, each in (*shown, *((text, None) for text in small if text not in found))
        ]
        headings = (
            isolated(name), TEXTS["people"], TEXTS["share_with"], TEXTS["mean_options"],
            TEXTS["median_distance"],
        )  # fmt: skip
        notes = [TEXTS["groups_distance"]]
        if is_in_usual_ranges(self.explanations.context):
            notes.append(TEXTS["groups_usual"])
        table = plain_table(TEXTS["groups_caption"].format(least=LEAST), headings, rows, 4)
        heading = TEXTS["groups"].format(name=isolated(name))
        return Section(heading, table + note(" ".join(notes)))

    def stability(self, table: pd.DataFrame | None) -> Section:
        """Return how much the options of noisy copies differ."""
        if table is None:
            return Section(TEXTS["stability"], paragraphs(TEXTS["stability_none"]))
        known = StabilityDisplay.from_evaluation(table).table
        count = int(known["input"].nunique()) if "input" in known else len(known)
        measured = {name: float(known[name].mean()) for name in MEASURED}
        tail = float(known["set_distance_mean"].quantile(0.95))
        self.figures["stability"] = {
            "copies": len(known), "inputs": count, **measured,
            "set_distance_mean_95th_percentile": tail,
            "set_distance_max": float(known["set_distance_max"].max()),
        }  # fmt: skip
        text = TEXTS["stability_text"].format(
            copies=counted(len(known), "slightly different copy", "slightly different copies"),
            people=counted(count, "person", "people"),
            covered=percent(measured["covered"], self.texts),
            kept=percent(measured["kept"], self.texts),
        )
        differences = Writer(self.texts).differences(
            table.attrs.get("differences", {}), self.explanations.context.table
        )
        slightly = TEXTS["stability_differences"].format(differences=differences)
        mean, most = rounded(measured["set_distance_mean"], 2), rounded(tail, 2)
        far = TEXTS["stability_far"].format(mean=mean, tail=most)
        body = paragraphs(text, slightly if differences else "", far)
        return Section(TEXTS["stability"], body)

    def annex(self) -> Section:
        """Return the list of cases."""
        found, coded = self.explanations, self.explanations.coded
        firsts = found.counts.cumsum() - found.counts
        changes = ChangeWriter(coded.table, self.texts)
        rows = []
        for i, status in enumerate(found.status):
            if status == "explained":
                text = f"{changes.headline(coded.inputs[i], coded.matrix[firsts[i]])}."
            elif status == "already_reached":
                text = TEXTS["has_result"]
            else:
                text = " ".join([TEXTS["no_option"], *self._obstacles(i)])
            decision = self.label_text(found.labels[i])
            case = isolated(str(to_python(found.index[i])))
            rows.append((case, decision, f"{found.counts[i]}", text))
        headings = (TEXTS["case"], TEXTS["decision"], TEXTS["number"], TEXTS["first"])
        table = plain_table(TEXTS["annex_caption"], headings, rows)
        return Section(TEXTS["annex"], table, on_new_page=True)


def _cells(figures: Mapping[str, Any], texts: Templates) -> Sequence[str]:
    """Return the figures of a group as text."""
    distance = figures["median_distance"]
    return (
        f"{figures['people']:,}",
        percent(figures["with_an_option"], texts),
        f"{figures['mean_options']:.1f}",
        "-" if distance is None else rounded(distance, 2),
    )
