"""Every example of the documentation runs, prints what is shown, and every link leads somewhere."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import sklearn
from support.pages import PAGES, ROOT, broken_links, run_page

#: The pages whose links are checked.
LINKING = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
#: Whether models become those of the pages: other releases train slightly different ones.
AS_SHOWN = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what an example writes is not left behind
    assert run_page(page, compare=AS_SHOWN) > 0


def test_the_pictures_of_the_pages_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    # A parameter that was gone showed only when somebody drew them again.
    runpy.run_path(str(ROOT / "docs" / "pictures.py"))["main"](str(tmp_path))
    drawn = {file.name for file in tmp_path.iterdir()}
    # Pictures of the explorer page are taken in a browser, and a benchmark draws how near options
    # are.
    others = {
        *(f"explorer{part}.png" for part in ("", "_group", "_person", "_phone")),
        "nearest.png",
    }
    assert drawn | others == {file.name for file in (ROOT / "docs").glob("*.png")}


def test_pictures_with_a_dark_version_are_shown_where_they_suit() -> None:
    shown = runpy.run_path(str(ROOT / "scripts" / "site_pages.py"))["on_page_markdown"]

    def page(source: str, markdown: str) -> str:
        return str(shown(markdown, SimpleNamespace(file=SimpleNamespace(src_uri=source))))

    assert page("plots.md", "![A map](map.png){ width=300 }") == (
        "![A map](map.png#only-light){ width=300 }![A map](map_dark.png#only-dark){ width=300 }"
    )
    for alone in ("![The page](explorer.png)", "[no picture](map.png)"):
        assert page("plots.md", alone) == alone


def test_an_output_that_is_not_printed_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n2\n```\n", encoding="utf-8")
    assert run_page(page) == 1
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="what is printed is"):
        run_page(page)


def test_commands_run_and_print_what_is_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "```console\n$ counterset --version\ncounterset ...\n$ counterset datasets\n{}...\n```\n"
    page.write_text(text.format("adult"), encoding="utf-8")
    assert run_page(page) == 1
    page.write_text(text.format("iris"), encoding="utf-8")
    with pytest.raises(AssertionError, match="what is printed is"):
        run_page(page)
    for wrong in ("$ counterset datasets iris", "$ rm rows.csv", "counterset demo"):
        page.write_text(f"```console\n{wrong}\n```\n", encoding="utf-8")
        with pytest.raises(AssertionError):
            run_page(page)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_the_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_link_to_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `name`, and more\n[other](other.md) [here](#a-name-and-more) [web](https://a.b/c.md)\n"
        "![plot](no.png) [gone](gone.md) [no heading](#gone) [not there](other.md#gone)\n"
        "`code[0](no link)`\n\n```\nx[0](no.md)\n```\n",
        encoding="utf-8",
    )
    (tmp_path / "other.md").write_text("# Other\n", encoding="utf-8")
    assert broken_links(page) == ["no.png", "gone.md", "#gone", "other.md#gone"]
