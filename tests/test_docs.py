"""Every example of the documentation runs, prints what is shown, and every link leads somewhere."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import sklearn
from support.pages import PAGES, ROOT, broken_links, run_page

import counterset
from counterset import evaluation, exact, exceptions

#: The pages whose links are checked.
LINKING = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
BUILD_SITE = ROOT / "scripts" / "build_site.py"
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


@pytest.fixture
def shown() -> Callable[[str, str], str]:
    """Return a page as the site shows it, by its name and its Markdown."""
    found: Callable[[str, str], str] = runpy.run_path(str(BUILD_SITE))["shown"]
    return found


def test_pictures_with_a_dark_version_are_shown_where_they_suit(
    shown: Callable[[str, str], str],
) -> None:
    assert shown("plots.md", "![A map](map.png){ width=300 }") == (
        "![A map](map.png){.only-light width=300}![A map](map_dark.png){.only-dark width=300}"
    )
    for alone in ("![The page](explorer.png)", "[no picture](map.png)"):
        assert shown("plots.md", alone) == alone


def test_links_of_the_repository_become_those_of_the_site(
    shown: Callable[[str, str], str],
) -> None:
    assert shown("words.md", "[a](../benchmarks/mixed.md#b) [c](../CHANGELOG.md)") == (
        "[a](benchmarks/mixed.md#b) [c](changelog.md)"
    )
    cases = "[a](../examples/plot_a.py) [all](../examples/README.rst)"
    assert shown("words.md", cases) == "[a](gallery/plot_a.rst) [all](gallery/index.rst)"
    assert shown("benchmarks/mixed.md", "[a](../docs/words.md)") == "[a](../words.md)"
    assert shown("contributing.md", "[a](docs/words.md) [b](SECURITY.md)") == (
        "[a](words.md) [b](security.md)"
    )
    case = "[a](../../examples/plot_a.py)"
    assert shown("reference/steps.md", case) == "[a](../gallery/plot_a.rst)"
    assert shown("words.md", "```python frameworks\n1\n```") == "```python\n1\n```"


@pytest.mark.parametrize("room", [counterset, evaluation, exact])
def test_every_public_name_has_a_page_of_the_reference(room: ModuleType) -> None:
    pages = (ROOT / "docs" / "reference").glob("*.md")
    listed = {line.strip() for page in pages for line in page.read_text("utf-8").splitlines()}
    # Errors stand together on a page that lists itself.
    listed |= {*exceptions.__all__, "__version__", "datasets", "distances", "metrics"}
    names = {name: f"{room.__name__.removeprefix('counterset.')}.{name}" for name in room.__all__}
    assert [name for name, full in names.items() if not {name, full} & listed] == []


def test_pages_that_are_gone_leave_the_folder_of_the_site(tmp_path: Path) -> None:
    old, made = tmp_path / "gone.md", tmp_path / "gallery" / "case.rst"
    made.parent.mkdir()
    old.touch()
    made.touch()
    runpy.run_path(str(BUILD_SITE))["write_pages"](tmp_path)
    assert made.exists()
    assert not old.exists()
    assert (tmp_path / "benchmarks" / "README.md").exists()
    assert "toctree" in (tmp_path / "index.md").read_text(encoding="utf-8")


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
