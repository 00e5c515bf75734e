"""The technical part of a report, on a page of its own: how it was made, and how to check it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from counterset.explanations.context import Context
from counterset.report.page import Section, note, paragraphs
from counterset.words.letter import block_html
from counterset.words.making import how_it_was_made
from counterset.words.templates import Templates

__all__ = ["technical_sections"]

#: What a reader types, in every language.
COMMAND = "counterset verify REPORT.html --model MODEL"


def technical_sections(
    context: Context,
    templates: Templates,
    *,
    label_text: Callable[[Any], str],
    wanted: str,
    constraints: Sequence[str],
    command: str = COMMAND,
) -> list[Section]:
    """Return how explanations were made, and how a report is checked.

    Parameters
    ----------
    label_text
        Returns how a label is called.
    wanted
        What was asked for.
    constraints
        The constraints and costs that were kept, a sentence each.
    command
        What a reader types to check the report.
    """
    kept = " ".join(constraints) or templates("letter.nothing")
    blocks = [
        templates("report.asked_for", wanted=wanted),
        f"{templates('letter.review_constraints')}: {kept}",
        *how_it_was_made(context, templates, label_text),
        templates("report.fingerprint"),
    ]
    check = [
        paragraphs(templates("report.check_text")),
        f"<pre>{escape(command)}</pre>",
        note(templates("report.digest")),
    ]
    return [
        Section(templates("report.technical"), "\n".join(map(block_html, blocks)), True),
        Section(templates("report.check"), "\n".join(check)),
    ]
