"""Every example in the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_one_after_the_other(page: Path) -> None:
    namespace: dict[str, Any] = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert blocks
    for block in blocks:
        # Blank lines before it make an error tell the line of the page.
        before = "\n" * text[: block.start(1)].count("\n")
        exec(compile(before + block.group(1), str(page), "exec"), namespace)
