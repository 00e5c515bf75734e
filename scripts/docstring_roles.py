"""Show references of docstrings, such as ``:class:`Schema```, as links to the page that has them.

An extension of griffe, which reads the docstrings for the site; named in ``mkdocs.yml``.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

import counterset

ROLE = re.compile(r":(?:attr|class|exc|func|meth|mod):`~?([\w.]+)`")


class Roles(griffe.Extension):
    """Turn references into Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(_link, obj.docstring.value)


def _link(role: re.Match[str]) -> str:
    """Return a link to a public name; others are code without a link."""
    name = role[1].rsplit(".", 1)[-1]
    return f"[`{name}`][counterset.{name}]" if name in counterset.__all__ else f"`{role[1]}`"
