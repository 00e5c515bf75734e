"""Read the text of a page as a person sees it: one line for each paragraph, item and cell."""

from __future__ import annotations

import html
import re

#: Elements that begin or end a line.
BLOCKS = r"</?(?:p|li|ul|ol|h1|h2|td|th|tr|table|caption|figcaption|section|header|footer|pre|br)\b"
#: How plain text isolates what runs from right to left; a page has elements for it.
ISOLATED = {"<bdi>": "\u2068", "</bdi>": "\u2069"}


def lines_of(page: str) -> list[str]:
    """Return the lines that people see."""
    body = page[page.index("<body>") : page.index("<script")]
    for element, sign in ISOLATED.items():
        body = body.replace(element, sign)
    body = re.sub(rf"{BLOCKS}[^>]*>", "\n", re.sub(r"\s+", " ", body))
    text = html.unescape(re.sub(r"<[^>]+>", "", body))
    return [line.strip() for line in text.splitlines() if line.strip()]
