"""Reports in a browser: no network, no fault on the console, three pages, accessible."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException

NAMES = ["credit", "mixed", "arabic", "wide", "sixty", "many", "annex", "nothing"]
#: A printed page is A4. Reports have three at most; where each of five options changes some 40
#: features, all written out, they have four. The annex is as long as the list of cases.
MOST_PAGES = {"wide": 4, "sixty": 4, "annex": 12}
#: Small and usual phones, in pixels.
PHONES = [320, 390]
#: Printing is tried up to 3 times.
PRINTING_ATTEMPTS = 3


def open_page(browser: Any, page: Path, scheme: str = "light") -> None:
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    browser.get(page.as_uri())


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_without_a_network_and_without_a_fault(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    open_page(browser, pages[name])
    assert browser.find_element("tag name", "h1").text
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked == [pages[name].as_uri()]


def printed_page(browser: Any, page: Path) -> bytes:
    """Print a page to PDF.

    On a busy machine Chromium sometimes answers "Printing failed", whatever the page: then it is
    opened and printed again.
    """
    attempt = 0
    while True:
        open_page(browser, page)
        attempt += 1
        try:
            printed = browser.execute_cdp_cmd(
                "Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True}
            )
        except WebDriverException as error:
            if "Printing failed" not in str(error) or attempt == PRINTING_ATTEMPTS:
                raise
        else:
            return base64.b64decode(printed["data"])


@pytest.mark.parametrize("name", NAMES)
def test_it_prints_on_few_pages(browser: Any, pages: dict[str, Path], name: str) -> None:
    found = re.findall(rb"/Type\s*/Page\b", printed_page(browser, pages[name]))
    assert 2 <= len(found) <= MOST_PAGES.get(name, 3)


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_all_is_open_and_the_technical_part_begins_a_page(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    open_page(browser, pages[name])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    try:
        hidden, first, break_before = browser.execute_script(
            """
            const texts = [...document.querySelectorAll("main :is(p, li, td, th, h1, h2)")];
            const section = document.querySelector("section.new-page");
            return [
                texts.filter((each) => each.textContent && !each.getClientRects().length)
                    .map((each) => each.textContent),
                section.querySelector("h2").textContent,
                getComputedStyle(section).breakBefore,
            ];
            """
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert hidden == []
    assert (first, break_before) == ("Technical part", "page")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_fault(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    open_page(browser, pages[name], scheme)
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(axe)
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert len(found["passes"]) > 10
    faults = [(each["id"], each["impact"], each["help"]) for each in found["violations"]]
    assert faults == []


def test_the_colours_follow_the_reader(browser: Any, pages: dict[str, Path]) -> None:
    seen = []
    for scheme in ("light", "dark"):
        open_page(browser, pages["credit"], scheme)
        script = "return getComputedStyle(document.body).backgroundColor"
        seen.append(browser.execute_script(script))
    assert seen == ["rgb(255, 255, 255)", "rgb(22, 24, 27)"]


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    """Set the width of the screen, as of a phone."""

    def set_width(width: int) -> None:
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    yield set_width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", PHONES)
@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_nothing_is_cut_off_and_nothing_scrolls_sideways(
    browser: Any, pages: dict[str, Path], phone: Any, name: str, width: int
) -> None:
    phone(width)
    open_page(browser, pages[name])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    cut = browser.execute_script(
        """
        return [...document.querySelectorAll("main *")].filter((each) => {
            const box = each.getBoundingClientRect();
            return box.width && !each.closest("svg") && getComputedStyle(each).display != "inline"
                && (each.scrollWidth > each.clientWidth + 1 || box.right > innerWidth + 1);
        }).map((each) => each.outerHTML.slice(0, 200));
        """
    )
    assert cut == []


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_labels_have_room_for_words(
    browser: Any, pages: dict[str, Path], phone: Any, name: str
) -> None:
    # They used to break one letter a line.
    phone(PHONES[0])
    open_page(browser, pages[name])
    narrow = browser.execute_script(
        """
        return [...document.querySelectorAll("main :is(th, td, li, figcaption, .ends span, p)")]
            .filter((each) => each.textContent.length > 12 && each.getClientRects().length
                && each.getBoundingClientRect().width < 70)
            .map((each) => each.textContent);
        """
    )
    assert narrow == []


def test_the_drawing_has_no_text_outside_it(browser: Any, pages: dict[str, Path]) -> None:
    for name in NAMES:
        open_page(browser, pages[name])
        outside = browser.execute_script(
            """
            const outside = [];
            for (const svg of document.querySelectorAll("svg")) {
                const box = svg.getBoundingClientRect();
                for (const text of svg.querySelectorAll("text")) {
                    const own = text.getBoundingClientRect();
                    if (own.left < box.left - 1 || own.right > box.right + 1
                        || own.bottom > box.bottom + 1) outside.push(text.textContent);
                }
            }
            return outside;
            """
        )
        assert outside == [], name
