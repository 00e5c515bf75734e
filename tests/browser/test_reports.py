"""Reports in a browser: no network, no fault on the console, three pages, accessible."""

from __future__ import annotations

import base64
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException

NAMES = ["credit", "mixed", "wide", "sixty", "many", "nothing"]
#: A printed page is A4; a report has three at most.
MOST_PAGES = 3
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
def test_it_prints_on_three_pages_at_most(browser: Any, pages: dict[str, Path], name: str) -> None:
    found = re.findall(rb"/Type\s*/Page\b", printed_page(browser, pages[name]))
    assert 1 <= len(found) <= MOST_PAGES


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


def test_nothing_is_wider_than_a_phone(browser: Any, pages: dict[str, Path]) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        for name in NAMES:
            open_page(browser, pages[name])
            width = browser.execute_script("return document.documentElement.scrollWidth")
            assert width <= 400, name
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


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
