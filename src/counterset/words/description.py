"""Description: what would have to be different, in plain sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from counterset._base.arrays import to_python
from counterset.results.explanation import Explanation
from counterset.results.steadiness import Steadiness
from counterset.words.certainty import how_far, how_sure, measured
from counterset.words.changes import MOST_IN_ONE_SENTENCE, ChangeWriter
from counterset.words.kept import limits_kept, what_stays
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates, TemplatesLike

__all__ = ["Description", "folded"]


@dataclass(frozen=True)
class Description:
    """An explanation in sentences; as text it is what ``explanation.describe()`` returns.

    Attributes
    ----------
    heading
        What the model says about the input, and how many ways there are.
    ways
        The ways, nearest first: each is one sentence with its figures, or a heading and a line for
        each change.
    kept
        What stays as it is, and the other limits that were kept.
    far
        How far the nearest way is.
    sure
        What is checked, proved and measured.
    """

    heading: str
    ways: tuple[tuple[str, ...], ...]
    kept: tuple[str, ...]
    far: tuple[str, ...]
    sure: tuple[str, ...]

    @classmethod
    def of(
        cls,
        explanation: Explanation,
        templates: TemplatesLike = None,
        outcomes: Mapping[Any, str] | None = None,
        stability: pd.DataFrame | Steadiness | None = None,
    ) -> Description:
        """Describe an explanation.

        Parameters
        ----------
        explanation
            The explanation.
        templates
            The path of the texts of another language; None: English.
        outcomes
            From labels to how people call them, such as ``{"good": "approved"}``.
        stability
            What ``steadiness`` or ``evaluate`` returns for this input.
        """
        texts = Templates.read(templates)
        told = Outcomes(explanation, texts, outcomes or {})
        stays = what_stays(explanation.context, texts)
        return cls(
            heading=_heading(explanation, texts, told),
            ways=tuple(_way(explanation, i, texts, told) for i in range(len(explanation))),
            kept=(*([stays] if stays else []), *limits_kept(explanation.context, texts)),
            far=tuple(how_far(explanation, texts)),
            sure=(
                *how_sure(explanation, texts, told),
                *measured(stability, texts, len(explanation), explanation.context.table),
            ),
        )

    def text(self, width: int | None = 88) -> str:
        """Return the description as text, in lines of at most ``width`` letters; None: unbroken."""
        ways = [folded(line, width, hang) for way in self.ways for line, hang in _hanging(way)]
        rest = [folded(" ".join(part), width) for part in (self.kept, self.far, self.sure) if part]
        parts = [folded(self.heading, width), "\n".join(ways), "\n".join(rest)]
        return "\n\n".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.text()


def _heading(explanation: Explanation, templates: Templates, outcomes: Outcomes) -> str:
    index = explanation.index
    index = tuple(map(to_python, index)) if isinstance(index, tuple) else to_python(index)
    classified = outcomes.classified(explanation.label)
    sentences = [templates("heading.input", index=index, classified=classified)]
    count, wanted = len(explanation), outcomes.wanted()
    asked = explanation.context.wanted_count
    if explanation.status == "already_reached":
        sentences.append(templates("heading.already_reached"))
    elif not count:
        sentences.append(templates("heading.none_found", wanted=wanted))
    else:
        is_few = asked is not None and count < asked and explanation.context.training is not None
        fewer = templates("heading.fewer", asked=asked) if is_few else ""
        name = "heading.one_way" if count == 1 else "heading.ways"
        sentences.append(templates(name, count=count, wanted=wanted, fewer=fewer))
    return " ".join(sentences)


def _way(
    explanation: Explanation, i: int, templates: Templates, outcomes: Outcomes
) -> tuple[str, ...]:
    """Return one way: its number, its changes and its figures."""
    before, after = explanation._input, explanation._matrix[i]
    figures = [templates("way.distance", distance=rounded(explanation.distances[i], 2))]
    if outcomes.differ:
        name = "label.of_way_number" if outcomes.is_number else "label.of_way"
        figures.insert(0, templates(name, label=outcomes.told(explanation.labels[i])))
    told = templates("list.comma").join(figures)
    writer = ChangeWriter(explanation._table, templates)
    lines = writer.lines(before, after)
    if len(lines) > MOST_IN_ONE_SENTENCE:
        return templates("way.many", rank=i + 1, count=len(lines), figures=told), *lines
    sentence = writer.sentence(before, after)
    return (templates("way.line", rank=i + 1, sentence=sentence, figures=told),)


def _hanging(way: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the lines of a way, each with the indent of what follows its first line."""
    first, *lines = way
    return [(first, "   "), *((f"   {line}", "     ") for line in lines)]


def folded(text: str, width: int | None, hang: str = "") -> str:
    """Return a text in lines of at most ``width`` letters; words are never broken."""
    if width is None:
        return text
    return textwrap.fill(
        text,
        width,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
