"""Bring the pages outside of ``docs`` into the site: measurements, changelog, policies.

A hook of mkdocs, named in ``mkdocs.yml``. Links between pages are written for readers of the
repository, and become those of the site here. Where a picture has a dark version beside it,
``map_dark.png`` beside ``map.png``, the site shows each where it suits.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
#: From pages of the site to files of the repository, beside ``docs``.
OTHERS = {
    "changelog.md": "CHANGELOG.md",
    "code_of_conduct.md": "CODE_OF_CONDUCT.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
MEASUREMENTS = "benchmarks"
#: A block that needs a heavy framework is tagged for the tests: "```python frameworks".
TAGGED = re.compile(r"^```python +\w+$", re.MULTILINE)
PICTURE = re.compile(r"!\[([^\]]*)\]\(((?:[^)/]+/)*[^)/]+)\.png\)(\{[^}]*\})?")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures that are not in ``docs``."""
    pages = dict(OTHERS)
    for file in sorted((ROOT / MEASUREMENTS).rglob("*")):
        if file.suffix in (".md", ".png"):
            pages[file.relative_to(ROOT).as_posix()] = file.relative_to(ROOT).as_posix()
    for page, source in pages.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page as the site shows it: with its links, and without tags for the tests."""
    markdown = TAGGED.sub("```python", markdown)
    source: str = page.file.src_uri
    markdown = PICTURE.sub(lambda found: _in_light_and_dark(found, source), markdown)
    if source in OTHERS:
        for name, file in OTHERS.items():
            markdown = markdown.replace(f"]({file}", f"]({name}")
        return markdown.replace("](docs/", "](")
    if source.startswith(f"{MEASUREMENTS}/"):
        return markdown.replace("](../docs/", "](../")
    return markdown.replace(f"](../{MEASUREMENTS}/", f"]({MEASUREMENTS}/")


def _in_light_and_dark(found: re.Match[str], source: str) -> str:
    """Return a picture twice, if it has a dark version: mkdocs-material shows one of the two."""
    text, name, attributes = found[1], found[2], found[3] or ""
    folder = ROOT if source in OTHERS or source.startswith(f"{MEASUREMENTS}/") else ROOT / "docs"
    if not (folder / Path(source).parent / f"{name}_dark.png").exists():
        return found[0]
    return (
        f"![{text}]({name}.png#only-light){attributes}"
        f"![{text}]({name}_dark.png#only-dark){attributes}"
    )
