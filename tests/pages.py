"""Run the python blocks of a documentation page, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8"))
]


def run_page(page: Path, tags: tuple[str, ...] = ("",)) -> int:
    """Run the blocks that have no tag, or one of these, and say how many there were.

    A block that needs a heavy framework is tagged, as in "```python frameworks".
    """
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": page.stem}
    blocks = [block for block in BLOCK.finditer(text) if block[1] in tags]
    for block in blocks:
        # Empty lines above make an error point at the line of the page.
        above = "\n" * text.count("\n", 0, block.start(2))
        exec(compile(above + block[2], str(page), "exec"), namespace)
    return len(blocks)
