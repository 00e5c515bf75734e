"""Letters: reasons and options for an applicant, and all figures for a reviewer."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from counterset._base.arrays import to_python
from counterset._base.bidi import to_html
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import versions
from counterset.explanations.explanation import Explanation
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter
from counterset.words.description import Description, folded
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.reasons import ReasonWriter
from counterset.words.templates import Templates, TemplatesLike

__all__ = ["Letter", "Section", "write_letter"]

#: For whom a letter is written.
Audience: TypeAlias = Literal["applicant", "reviewer"]


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

    def text(self, width: int | None = 88) -> str:
        """Return the letter as plain text; folded details are left out.

        Parameters
        ----------
        width
            The most letters of a line; None: lines are not broken.
        """
        parts = [self.title]
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
        return "\n\n".join(parts)

    def html(self) -> str:
        """Return the letter as HTML, a fragment without scripts; everything is escaped."""
        parts = [f"<h1>{to_html(self.title)}</h1>"]
        for section in self.sections:
            blocks = "\n".join(map(_block, section.blocks))
            title = to_html(section.title)
            if section.folded:
                parts.append(f"<details>\n<summary>{title}</summary>\n{blocks}\n</details>")
            else:
                heading = f"<h2>{title}</h2>\n" if title else ""
                parts.append(f"<section>\n{heading}{blocks}\n</section>")
        body = "\n".join(parts)
        return f'<article lang="{html.escape(self.language)}">\n{body}\n</article>'


def write_letter(
    explanation: Explanation,
    audience: Audience = "applicant",
    *,
    format: Literal["text", "html"] = "text",
    contact: str | None = None,
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
    writer = _Writer(explanation, Templates.read(templates), outcomes or {})
    letter = writer.to_applicant(contact) if audience == "applicant" else writer.to_reviewer()
    return letter.text(width) if format == "text" else letter.html()


class _Writer:
    """Write the letters about one explanation."""

    def __init__(
        self, explanation: Explanation, templates: Templates, outcomes: Mapping[Any, str]
    ) -> None:
        self._explanation, self._templates = explanation, templates
        self._outcomes = Outcomes(explanation, templates, outcomes)
        self._description = Description.of(explanation, templates, outcomes)
        self._reasons = ReasonWriter(templates, self._outcomes)
        self._language: str = templates.texts["language.code"]

    def to_applicant(self, contact: str | None) -> Letter:
        texts, outcomes = self._templates, self._outcomes
        name = "letter.result_number" if outcomes.is_number else "letter.result_class"
        label = outcomes.text(self._explanation.label)
        sections = [Section("", (texts(name, label=label),))]
        if reasons := self._reasons.short():
            sections.append(Section("", (self._reasons.heading(), reasons)))
        sections.append(self._options())
        contact = texts("letter.contact_missing") if contact is None else contact
        sections.append(
            Section(texts("letter.contact_title"), (texts("letter.contact", contact=contact),))
        )
        if len(self._explanation):
            details = (*self._description.kept, *self._description.far, *self._description.sure)
            sections.append(Section(texts("letter.details"), details, folded=True))
        return Letter(self._language, texts("letter.title"), tuple(sections))

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
            changes = writer.instead(coded.input, option.codes)
            if len(changes) <= MOST_IN_ONE_SENTENCE:
                items.append(texts("letter.option", rank=option.rank, changes=texts.join(changes)))
            else:
                lines = [texts("change.line", clause=change) for change in changes]
                title = texts("letter.option_many", rank=option.rank, count=len(changes))
                items.append("\n".join([title, *lines]))
        heading = "letter.one_option" if len(explanation) == 1 else "letter.options"
        return Section("", (texts(heading, wanted=wanted), tuple(items), texts("letter.example")))

    def to_reviewer(self) -> Letter:
        texts, description = self._templates, self._description
        options = tuple("\n".join(option) for option in description.options)
        sections = [Section("", (description.heading, *([options] if options else [])))]
        for title, lines in (
            ("letter.review_reasons", self._reasons.long()),
            ("letter.review_constraints", description.kept),
            ("letter.review_sure", (*description.far, *description.sure)),
        ):
            sections.append(Section(texts(title), (lines or texts("letter.nothing"),)))
        sections.append(Section(texts("letter.review_how"), tuple(self._how())))
        sections.append(Section("", (texts("letter.review_note"),)))
        index = to_python(self._explanation.index)
        return Letter(self._language, texts("letter.review_title", index=index), tuple(sections))

    def _how(self) -> list[str | tuple[str, ...]]:
        """Return how the explanation was made: settings, data, model and versions."""
        texts, context = self._templates, self._explanation.context
        settings = tuple(
            texts("letter.setting", name=name, value=value)
            for name, value in context.settings.value.items()
            if name != "constraints"  # those of the call stand among the constraints
        )
        blocks: list[str | tuple[str, ...]] = [
            texts("letter.review_settings", explainer=context.explainer),
            settings,
        ]
        if context.training is not None:
            data = context.training.value
            blocks.append(texts("letter.review_data", rows=f"{data.rows:,}", hash=data.hash))
            if data.labels is not None:
                counts = [f"{self._outcomes.text(label)} {n:,}" for label, n in data.labels.items()]
                blocks.append(texts("letter.review_labels", labels=", ".join(counts)))
            elif data.low is not None and data.high is not None:
                low, high = rounded(data.low), rounded(data.high)
                blocks.append(texts("letter.review_range", low=low, high=high))
        model, digest = type(context.model_to_ask()).__name__, context.fingerprint().digest
        blocks.append(texts("letter.review_model", model=model, digest=digest))
        shown = ", ".join(f"{name} {version}" for name, version in versions().items())
        blocks.append(texts("letter.review_versions", versions=shown))
        return blocks


def _indented(item: str, width: int | None) -> list[str]:
    """Return an item of a list as lines of text."""
    first, *lines = item.split("\n")
    return [
        folded(f"  {first}", width, "     "),
        *(folded(f"     {line}", width, "       ") for line in lines),
    ]


def _block(block: str | tuple[str, ...]) -> str:
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
