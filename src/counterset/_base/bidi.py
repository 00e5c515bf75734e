"""Texts that run from right to left, among others that run from left to right.

A name in Arabic or Hebrew turns round what stands beside it, such as the arrow and the number in
"الدخل → 3,200", unless it is isolated: by two signs of Unicode in plain text, by ``bdi`` in HTML.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

__all__ = ["data_html", "isolated", "to_html"]

#: The signs around an isolated text; its own first letter decides its direction.
BEGIN, END = "\u2068", "\u2069"
#: Signs in data that would end the isolation too early, or begin another.
SIGNS = re.compile("[\u2066-\u2069]")
PAIR = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
#: The directions of letters, of Hebrew and of Arabic, and of Arabic digits.
RIGHT_TO_LEFT = {"R", "AL", "AN"}


def isolated(text: str) -> str:
    """Return a text from data, isolated if a part of it runs from right to left.

    Examples
    --------
    >>> isolated("income"), isolated("\u05d0") == "\u2068\u05d0\u2069"
    ('income', True)
    """
    if not any(unicodedata.bidirectional(each) in RIGHT_TO_LEFT for each in text):
        return text
    return f"{BEGIN}{SIGNS.sub('', text)}{END}"


def to_html(text: str) -> str:
    """Return a text as HTML: escaped, with ``bdi`` for what is isolated.

    Examples
    --------
    >>> to_html("<b> " + isolated("\u05d0")) == "&lt;b&gt; <bdi>\u05d0</bdi>"
    True
    """
    return PAIR.sub(r"<bdi>\1</bdi>", escape(text))


def data_html(text: str) -> str:
    """Return a text from data as HTML, isolated if a part of it runs from right to left."""
    return to_html(isolated(text))
