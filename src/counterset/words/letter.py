"""Letters: reasons and options for an applicant, and all figures for a reviewer."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from counterset._base.arrays import to_python
from counterset._base.bidi import to_html
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanation import Explanation
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter
from counterset.words.description import Description, costs_of_changes, folded
from counterset.words.details import Details, DetailsLike
from counterset.words.making import how_it_was_made
from counterset.words.outcomes import Outcomes
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates, TemplatesLike

__all__ = ["Letter", "Section", "block_html", "head_html", "page_style", "write_letter"]

#: For whom a letter is written.
Audience: TypeAlias = Literal["applicant", "reviewer"]

#: A4 paper takes about 45 lines of a letter in letters of the usual size. Longer ones get smaller
#: letters.
MOST_LINES = 40


@dataclass(frozen=True)
class Section:
    """A part of a letter: its title (may be empty), paragraphs, and lists among them.

    Attributes
    ----------
    title
        The heading.
    blocks
        Paragraphs, and lists as tuples of items; the further lines of an item are a list in it.
    folded
        Whether it is a detail: folded in HTML, and left out in plain text.
    """

    title: str
    blocks: tuple[str | tuple[str, ...], ...]
    folded: bool = False


@dataclass(frozen=True)
class Letter:
    """A letter: a title and sections.

    Attributes
    ----------
    language
        Its code, such as "en".
    title
        What stands above the sections.
    sections
        The parts; those that are folded come last.
    head
        Lines above the title, in groups: who writes, and about what.
    signature
        Lines below the sections.

    Examples
    --------
    >>> letter = Letter("en", "About it", (Section("", ("Two options:", ("1. a", "2. b"))),))
    >>> print(letter.text())
    About it
    <BLANKLINE>
    Two options:
      1. a
      2. b
    """

    language: str
    title: str
    sections: tuple[Section, ...]
    head: tuple[tuple[str, ...], ...] = ()
    signature: tuple[str, ...] = ()

    def text(self, width: int | None = 88) -> str:
        """Return the letter as plain text; folded details are left out.

        Parameters
        ----------
        width
            The most letters of a line; None: lines are not broken.
        """
        parts = [*("\n".join(lines) for lines in self.head), self.title]
        for section in self.sections:
            if section.folded:
                continue
            lines = [section.title] if section.title else []
            for block in section.blocks:
                if isinstance(block, str):
                    lines.append(folded(block, width))
                else:
                    lines += [line for item in block for line in _indented(item, width)]
            parts.append("\n".join(lines))
        if self.signature:
            parts.append("\n".join(self.signature))
        return "\n\n".join(parts)

    def html(self) -> str:
        """Return the letter as a whole page without scripts; everything is escaped."""
        parts = [f"<h1>{to_html(self.title)}</h1>"]
        if self.head:
            parts.insert(0, head_html(self.head))
        parts += [_section(section) for section in self.sections if not section.folded]
        if self.signature:
            parts.append(f'<p class="signature">{_lines(self.signature)}</p>')
        parts += [_section(section) for section in self.sections if section.folded]
        body = "\n".join(parts)
        dense = ' class="dense"' if len(self.text().splitlines()) > MOST_LINES else ""
        return f"""<!DOCTYPE html>
<html lang="{html.escape(self.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(self.title)}</title>
<style>
{page_style()}
{_style("letter")}
</style>
</head>
<body>
<main dir="auto"{dense}>
{body}
</main>
</body>
</html>
"""


def page_style() -> str:
    """Return the look that letters and reports share, as CSS."""
    return _style("page")


def head_html(head: Sequence[Sequence[str]]) -> str:
    """Return groups of lines that stand above a title as HTML: who writes, and about what."""
    groups = "\n".join(f"<p>{_lines(lines)}</p>" for lines in head)
    return f"<header>\n{groups}\n</header>"


def write_letter(
    explanation: Explanation,
    audience: Audience = "applicant",
    *,
    format: Literal["text", "html"] = "text",
    contact: str | None = None,
    details: DetailsLike | None = None,
    outcomes: Mapping[Any, str] | None = None,
    templates: TemplatesLike = None,
    width: int | None = 88,
) -> str:
    """Write a letter about a decision; parameters as for ``Explanation.letter``."""
    for name, value, known in (
        ("audience", audience, ("applicant", "reviewer")),
        ("format", format, ("text", "html")),
    ):
        if value not in known:
            raise InvalidInputError(f"{name} must be {known[0]!r} or {known[1]!r}, got {value!r}.")
    if contact is not None and not isinstance(contact, str):
        raise InvalidInputError(
            f"contact must be a text: who answers questions, and how to reach them, got "
            f"{contact!r}."
        )
    given = Details.read({} if details is None else details)
    if contact is not None:
        if given.contact is not None:
            raise InvalidInputError(
                f"There are two contacts: {given.contact!r} in details, and contact={contact!r}. "
                f"Name one."
            )
        given = replace(given, contact=contact)
    writer = _Writer(explanation, Templates.read(templates), outcomes or {}, given)
    is_whole = details is not None
    letter = writer.to_applicant(is_whole) if audience == "applicant" else writer.to_reviewer()
    return letter.text(width) if format == "text" else letter.html()


class _Writer:
    """Write the letters about one explanation."""

    def __init__(
        self,
        explanation: Explanation,
        templates: Templates,
        outcomes: Mapping[Any, str],
        details: Details,
    ) -> None:
        self._explanation, self._templates = explanation, templates
        self._outcomes = Outcomes(explanation, templates, outcomes)
        self._description = Description.of(explanation, templates, outcomes)
        self._reasons = ReasonWriter(templates, self._outcomes)
        self._language: str = templates.texts["language.code"]
        self._details = details

    def to_applicant(self, is_whole: bool) -> Letter:
        """Return the letter to an applicant; one that is whole has a head."""
        texts, outcomes = self._templates, self._outcomes
        name = "letter.result_number" if outcomes.is_number else "letter.result_class"
        label = outcomes.text(self._explanation.label)
        sections = [Section("", (texts(name, label=label),))]
        if reasons := self._reasons.short():
            sections.append(Section("", (self._reasons.heading(), reasons)))
        sections.append(self._options())
        given = self._details
        contact = given.line("contact") or texts("letter.contact_missing")
        review = [texts("letter.contact", contact=contact)]
        if deadline := given.line("deadline"):
            review.append(texts("letter.deadline", deadline=deadline))
        sections.append(Section(texts("letter.contact_title"), tuple(review)))
        if len(self._explanation):
            details = (*self._description.kept, *self._description.far, *self._description.sure)
            sections.append(Section(texts("letter.details"), details, folded=True))
        head: tuple[tuple[str, ...], ...] = ()
        if is_whole:
            institution = given.line("institution") or texts("letter.institution_missing")
            date = given.line("date") or texts("letter.date_missing")
            about = (texts("letter.date", date=date), *given.named(texts, "case"))
            head = ((institution, *given.lines("address")), about)
        return self._letter(texts("letter.title"), sections, head)

    def _letter(
        self, title: str, sections: Sequence[Section], head: tuple[tuple[str, ...], ...]
    ) -> Letter:
        signature = self._details.lines("signature")
        return Letter(self._language, title, tuple(sections), head, signature)

    def _options(self) -> Section:
        """Return which options would have led to another result."""
        texts, explanation, wanted = self._templates, self._explanation, self._outcomes.wanted()
        if explanation.status == "already_reached":
            return Section("", (texts("letter.reached"),))
        if not len(explanation):
            aim = self._outcomes.aim()
            return Section("", (texts("letter.no_option", wanted=aim),))
        writer, coded = ChangeWriter(explanation.coded.table, texts), explanation.coded
        items: list[str] = []
        for option in explanation.options:
            changes = writer.instead(coded.input, option.codes, option.span)
            values: dict[str, Any] = {"rank": option.rank}
            one, many = "letter.option", "letter.option_many"
            notes = [self._outcomes.of_option(option)] if self._outcomes.differ else []
            notes += [texts("unusual.mark")] if option.unusual else []
            safer = option.safe and not all(each.safe for each in explanation.options)
            notes += [texts("safe.mark")] if safer else []
            if notes:
                one, many = "letter.option_to", "letter.option_many_to"
                values["result"] = texts("list.comma").join(notes)
            if len(changes) <= MOST_IN_ONE_SENTENCE:
                items.append(texts(one, changes=texts.join(changes), **values))
            else:
                lines = [texts("change.line", clause=change) for change in changes]
                items.append("\n".join([texts(many, count=len(changes), **values), *lines]))
        heading = "letter.one_option" if len(explanation) == 1 else "letter.options"
        known = *self._description.unusual, *self._description.lasting
        note = " ".join((*known, texts("letter.example")))
        return Section("", (texts(heading, wanted=wanted), tuple(items), note))

    def to_reviewer(self) -> Letter:
        texts, description = self._templates, self._description
        options = tuple("\n".join(option) for option in description.options)
        costs = costs_of_changes(self._explanation.context, texts)
        found: list[str | tuple[str, ...]] = [description.heading, *([options] if options else [])]
        sections = [Section("", (*found, *description.unusual, *description.lasting))]
        for title, lines in (
            ("letter.review_reasons", self._reasons.long()),
            ("letter.review_constraints", (*description.kept, *costs)),
            ("letter.review_sure", (*description.far, *description.sure)),
        ):
            sections.append(Section(texts(title), (lines or texts("letter.nothing"),)))
        made = how_it_was_made(self._explanation.context, texts, self._outcomes.text)
        sections.append(Section(texts("letter.review_how"), made))
        sections.append(Section("", (texts("letter.review_note"),)))
        title = texts("letter.review_title", index=to_python(self._explanation.index))
        return self._letter(title, sections, self._details.head(texts))


def _indented(item: str, width: int | None) -> list[str]:
    """Return an item of a list as lines of text."""
    first, *lines = item.split("\n")
    return [
        folded(f"  {first}", width, "     "),
        *(folded(f"     {line}", width, "       ") for line in lines),
    ]


@cache
def _style(name: str) -> str:
    return files("counterset.words").joinpath(f"{name}.css").read_text(encoding="utf-8").strip()


def _lines(lines: Sequence[str]) -> str:
    """Return lines as HTML, each with a direction of its own: the title has that of the page."""
    return "<br>\n".join(f"<bdi>{to_html(line)}</bdi>" for line in lines)


def _section(section: Section) -> str:
    """Return a part of a letter as HTML."""
    blocks, title = "\n".join(map(block_html, section.blocks)), to_html(section.title)
    if section.folded:
        return f"<details>\n<summary>{title}</summary>\n{blocks}\n</details>"
    heading = f"<h2>{title}</h2>\n" if title else ""
    return f"<section>\n{heading}{blocks}\n</section>"


def block_html(block: str | tuple[str, ...]) -> str:
    """Return a paragraph or a list as HTML."""
    if isinstance(block, str):
        return f"<p>{to_html(block)}</p>"
    numbers = [f"{rank}. " for rank in range(1, len(block) + 1)]
    if all(item.startswith(number) for item, number in zip(block, numbers, strict=True)):
        items = [item[len(number) :] for item, number in zip(block, numbers, strict=True)]
        return "\n".join(["<ol>", *map(_item, items), "</ol>"])
    return "\n".join(["<ul>", *(_item(item.removeprefix("- ")) for item in block), "</ul>"])


def _item(item: str) -> str:
    """Return an item of a list as HTML, with a list of its further lines."""
    first, *lines = (to_html(line) for line in item.split("\n"))
    more = "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines)
    return f"<li>{first}<ul>{more}</ul></li>" if more else f"<li>{first}</li>"
