"""Write what the examples of the documentation print into the pages.

Run it after a change of what users see, then read the difference:

    python scripts/refresh_pages.py
    git diff docs README.md

Only outputs without "..." are replaced: what stands for anything is written by hand.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from pages import BLOCK, PAGES  # noqa: E402


def refreshed(text: str, name: str) -> str:
    """Return a page with what its blocks print."""
    namespace: dict[str, Any] = {"__name__": name}
    parts, end = [], 0
    for block in BLOCK.finditer(text):
        if block[1]:  # it needs a heavy framework
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block[2], name, "exec"), namespace)
        shown = re.sub(" +$", "", printed.getvalue(), flags=re.MULTILINE)
        if shown and block[3] and "..." not in block[3]:
            parts += [text[end : block.start(3)], shown]
            end = block.end(3)
    return "".join([*parts, text[end:]])


def main() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(refreshed(text, page.stem), encoding="utf-8")


if __name__ == "__main__":
    main()
