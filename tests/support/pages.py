"""Run the blocks of a documentation page, in order, in one namespace; and find its links."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path
from typing import Any

from counterset.cli import main

ROOT = Path(__file__).parents[2]
#: A block of python or of commands, a tag, its content, and the output that is shown right below.
BLOCK = re.compile(
    r"^```(python|console) *(\w*)\n(.*?)^```$(?:\n\n```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
#: A command in a block of commands, and what is shown below it.
COMMAND = re.compile(r"^\$ counterset (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8"))
]
#: Code, in which brackets are no links, and the target of a link or an image.
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def run_page(page: Path, tags: tuple[str, ...] = ("",), *, compare: bool = True) -> int:
    """Run the blocks that have no tag, or one of these, and return how many there were.

    A block that needs a heavy framework, or files that do not ship, is tagged, as in
    "```python frameworks" and "```python files". What is shown right below a block that prints is
    compared with what it prints; "..." stands for anything. Without ``compare``, it is not.
    """
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": page.stem}
    blocks = [block for block in BLOCK.finditer(text) if block[2] in tags]
    for block in blocks:
        # Empty lines above make an error point at the line of the page.
        above = "\n" * text.count("\n", 0, block.start(3))
        for printed, shown in run_block(block, namespace, str(page), above):
            if compare and printed and shown:
                _check_output(printed, shown)
    return len(blocks)


def run_block(
    block: re.Match[str], namespace: dict[str, Any], name: str, above: str = ""
) -> list[tuple[str, str | None]]:
    """Run a block, and return what is printed and what is shown, for each of its commands."""
    if block[1] == "python":
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(above + block[3], name, "exec"), namespace)
        return [(printed.getvalue(), block[4])]
    commands = list(COMMAND.finditer(block[3]))
    if "".join(command[0] for command in commands) != block[3]:
        raise AssertionError(f"Each command begins with '$ counterset', got\n{block[3]}")
    return [(_run_command(command[1]), command[2]) for command in commands]


def _run_command(arguments: str) -> str:
    """Run a command of the package, and return what a terminal shows."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        try:
            code = main(shlex.split(arguments))
        except SystemExit as stopped:  # --help
            code = stopped.code if isinstance(stopped.code, int) else 1
    if code:
        raise AssertionError(f"counterset {arguments} failed: {printed.getvalue()}")
    return printed.getvalue()


def _check_output(printed: str, shown: str) -> None:
    """Fail unless a page shows what is printed."""
    # A page has no spaces at the end of lines.
    printed = re.sub(" +$", "", printed, flags=re.MULTILINE)
    if not doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
        raise AssertionError(f"The page shows\n{shown}\nbut what is printed is\n{printed}")


def broken_links(page: Path) -> list[str]:
    """Return the relative links of a page that lead to no file, or to no heading of a page."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in LINK.findall(text) if "://" not in link]
    return [link for link in links if not _leads_somewhere(page, link)]


def _leads_somewhere(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists() or not heading:
        return target.exists()
    return heading in map(_anchor, HEADING.findall(target.read_text(encoding="utf-8")))


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
