"""The documentation site in a browser: nothing is wider than a screen, and every link lives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from support.pages import ROOT

WIDTHS = (390, 1440)
#: What of a page is wider than the screen, blocks whose lines are cut on it, and lost pictures. A
#: table may scroll in a box of its own; so may an output that is one, on a phone.
MEASURE = """
const width = arguments[0];
const scrolls = (each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
const held = (each) => each.closest("article") && (scrolls(each) || held(each.parentElement));
const text = (each) => `${each.tagName} ${each.textContent.trim().slice(0, 60)}`;
const all = [...document.querySelectorAll("article *")];
const wide = all.filter(
    (each) => each.getBoundingClientRect().right > width + 1 && !held(each.parentElement));
const cut = all.filter(
    (each) => each.tagName == "PRE" && each.scrollWidth > each.clientWidth + 1
        && (width > 1000 || !each.closest(".columns")));
const lost = [...document.images].filter((each) => each.complete && !each.naturalWidth);
return {
    beyond: document.documentElement.scrollWidth - width,
    wide: wide.map(text), cut: cut.map(text),
    lost: lost.map((each) => each.src), height: document.documentElement.scrollHeight,
};
"""


class Links(HTMLParser):
    """The anchors of a page, and what it links to and shows."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.anchors |= {each for each in (held.get("id"), held.get("name")) if each}
        self.targets |= {each for each in (held.get("href"), held.get("src")) if each}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, in the folder that COUNTERSET_SITE names, or built now with the extra docs."""
    if built := os.environ.get("COUNTERSET_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "scripts" / "build_site.py"), str(folder)]
    subprocess.run(command, check=True)
    return folder


def pages_of(site: Path) -> list[Path]:
    pages = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    assert len(pages) > 100
    return pages


def dead_links(site: Path) -> Iterator[str]:
    """Yield the links of all pages that lead to no file, or to no anchor of a page."""
    read = {page: Links(page) for page in pages_of(site)}
    for page, links in read.items():
        for link in sorted(links.targets):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            known = read[target].anchors if target in read else set()
            if not target.is_file() or (anchor and anchor not in known):
                yield f"{page.relative_to(site)}: {link}"


def test_every_link_of_the_site_lives(site: Path) -> None:
    assert list(dead_links(site)) == []


def test_a_dead_link_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "pages_of", lambda site: [site / "a.html"])
    links = ("#here", "#gone", "a.html#here", "gone.html", "a%20b.png", "https://a.b/c")
    text = "".join(f'<a href="{each}">' for each in links)
    (tmp_path / "a.html").write_text(f'<p id="here">{text}<img src="no.png">', encoding="utf-8")
    (tmp_path / "a b.png").touch()
    assert list(dead_links(tmp_path)) == ["a.html: #gone", "a.html: gone.html", "a.html: no.png"]


def test_no_page_is_wider_than_the_screen(browser: Any, site: Path) -> None:
    wrong = []
    for page in pages_of(site):
        browser.get(page.as_uri())
        for width in WIDTHS:
            screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
            found = browser.execute_script(MEASURE, width)
            name = f"{page.relative_to(site)} at {width}"
            if found["beyond"] > 0 or found["wide"]:
                wrong.append(f"{name} is {found['beyond']} pixels too wide: {found['wide'][:3]}")
            wrong += [f"{name} cuts {each!r}" for each in found["cut"]]
            wrong += [f"{name} does not show {each}" for each in found["lost"]]
            if width > 1000 and "reference" in name and found["height"] > 15_000:
                wrong.append(f"{name} is {found['height']} pixels high")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not wrong, "\n".join(wrong)
