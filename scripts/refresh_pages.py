"""Write what the examples of the documentation print into the pages.

Run it after a change of what users see, then read the difference:

    python scripts/refresh_pages.py [PAGE ...]
    git diff docs README.md

Only outputs without "..." are replaced: what stands for anything is written by hand.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.pages import BLOCK, COMMAND, PAGES, run_block  # noqa: E402


def refreshed(text: str, name: str) -> str:
    """Return a page with what its blocks print."""
    namespace: dict[str, Any] = {"__name__": name}
    parts, end = [], 0
    for block in BLOCK.finditer(text):
        if block[2]:  # it needs a heavy framework
            continue
        spans = [block.span(4)]
        if block[1] == "console":
            start = block.start(3)
            found = COMMAND.finditer(block[3])
            spans = [(start + each.start(2), start + each.end(2)) for each in found]
        for (printed, shown), span in zip(run_block(block, namespace, name), spans, strict=True):
            if printed and shown and "..." not in shown:
                parts += [text[end : span[0]], re.sub(" +$", "", printed, flags=re.MULTILINE)]
                end = span[1]
    return "".join([*parts, text[end:]])


def main() -> None:
    chosen = {Path(each).resolve() for each in sys.argv[1:]}
    for page in PAGES:
        if chosen and page not in chosen:
            continue
        text = page.read_text(encoding="utf-8")
        # What an example writes is not left behind.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(refreshed(text, page.stem), encoding="utf-8")


if __name__ == "__main__":
    main()
