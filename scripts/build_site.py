"""Build the documentation site into a folder: ``python scripts/build_site.py [FOLDER]``.

Sphinx reads one folder, and the pages of the repository lie in several. So they are first written
to one, which is kept in ``build/site`` for the next time, with the pictures of the gallery. Links
between pages are written for readers of the repository, and become those of the site on the way.
Where a picture has a dark version beside it, ``map_dark.png`` beside ``map.png``, the site shows
each where it suits.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "site" / "pages"
#: From pages of the site to files of the repository, beside ``docs``.
OTHERS = {
    "changelog.md": "CHANGELOG.md",
    "code_of_conduct.md": "CODE_OF_CONDUCT.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
MEASUREMENTS = "benchmarks"
#: The pages below a page, in their order. What is named nowhere makes the build fail.
BELOW = {
    "index.md": [
        "Tutorial <tutorial>", "how_to", "Gallery <gallery/index>", "how_it_works",
        "reference/index", "Measurements <measurements>", "development",
    ],
    "how_to.md": [
        "models", "mixed_data", "constraints", "margin", "words", "letters", "plots", "report",
        "shared_lists", "lasting", "privacy", "command_line", "cluster", "explorer", "service",
        "deploying", "reproduction",
    ],
    "how_it_works.md": ["theory", "comparison"],
    "reference/index.md": [
        "explaining", "steps", "results", "distances", "measuring", "metrics", "exact", "plots",
        "errors",
    ],
    "measurements.md": [f"{MEASUREMENTS}/*"],
    "development.md": [
        "contributing", "architecture", "changelog", "security", "code_of_conduct",
    ],
}  # fmt: skip
#: The cases of the gallery, in their order; others come last.
CASES = [
    "credit_with_constraints", "letter", "codes_and_missing_values", "constraints_per_person",
    "figure_1", "three_classes", "regression", "xgboost_lightgbm", "network", "polars", "dask",
    "audit", "own_strategy",
]  # fmt: skip
#: A block that needs a heavy framework is tagged for the tests: "```python frameworks".
TAGGED = re.compile(r"^```python +\w+$", re.MULTILINE)
CASE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/(\w+)\.py\)")
CASES_PAGE = "](../examples/README.rst)"
PICTURE = re.compile(r"!\[([^\]]*)\]\(((?:[^)/]+/)*[^)/]+)\.png\)(?:\{ *([^}]*?) *\})?")


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site" / "html")
    write_pages(PAGES)
    # Every page is read again: one that is kept from the last time would hide its warnings.
    strict = ["--fresh-env", "--fail-on-warning", "--keep-going", "--quiet"]
    folders = ["--conf-dir", str(ROOT / "docs"), "--doctree-dir", str(PAGES.parent / "read")]
    command = [sys.executable, "-m", "sphinx", *strict, *folders, str(PAGES), str(target)]
    sys.exit(subprocess.run(command, check=False).returncode)


def write_pages(folder: Path) -> None:
    """Write the pages and pictures of the site, and remove those that are gone."""
    # The cases of the gallery are kept: those that did not change are not run again.
    kept = folder / "gallery"
    if any(not (ROOT / "examples" / case.name).exists() for case in kept.glob("*.py")):
        shutil.rmtree(kept)
    for old in folder.rglob("*"):
        if old.is_file() and kept not in old.parents:
            old.unlink()
    for name, source in sources():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes()
        if source.suffix == ".md":
            content = shown(name, content.decode("utf-8")).encode("utf-8")
        target.write_bytes(content)


def sources() -> Iterator[tuple[str, Path]]:
    """Yield each file of the site, with the file of the repository that it is made of."""
    for folder, start in (("docs", ""), (MEASUREMENTS, f"{MEASUREMENTS}/")):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".md", ".png", ".csv"):
                yield start + file.relative_to(ROOT / folder).as_posix(), file
    for name, other in OTHERS.items():
        yield name, ROOT / other


def shown(name: str, markdown: str) -> str:
    """Return a page as the site shows it: its links, pictures, and the pages below it."""
    markdown = TAGGED.sub("```python", markdown)
    markdown = PICTURE.sub(lambda found: _in_light_and_dark(found, name), markdown)
    if name in OTHERS:
        for page, file in OTHERS.items():
            markdown = markdown.replace(f"]({file}", f"]({page}")
        markdown = markdown.replace("](docs/", "](")
    elif name.startswith(f"{MEASUREMENTS}/"):
        markdown = markdown.replace("](../docs/", "](../")
    else:
        markdown = markdown.replace(f"](../{MEASUREMENTS}/", f"]({MEASUREMENTS}/")
        for page, file in OTHERS.items():
            markdown = markdown.replace(f"](../{file}", f"]({page}")
        markdown = CASE.sub(
            r"](\1gallery/\2.rst)", markdown.replace(CASES_PAGE, "](gallery/index.rst)")
        )
    if name in BELOW:
        pages = "\n".join(BELOW[name])
        markdown += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{pages}\n```\n"
    return markdown


class InOrder:
    """The order of the cases in the gallery, which Sphinx-Gallery asks for."""

    def __init__(self, folder: str) -> None:
        pass

    def __call__(self, file: str) -> tuple[int, str]:
        name = file.removeprefix("plot_").removesuffix(".py")
        return (CASES.index(name) if name in CASES else len(CASES), name)


def _in_light_and_dark(found: re.Match[str], page: str) -> str:
    """Return a picture twice, if it has a dark version: the theme shows one of the two."""
    text, name, attributes = found[1], found[2], found[3] or ""
    folder = ROOT if page in OTHERS or page.startswith(f"{MEASUREMENTS}/") else ROOT / "docs"
    if not (folder / Path(page).parent / f"{name}_dark.png").exists():
        return found[0]
    return "".join(
        f"![{text}]({name}{end}.png){{{f'.only-{mode} {attributes}'.strip()}}}"
        for mode, end in (("light", ""), ("dark", "_dark"))
    )


if __name__ == "__main__":
    main()
