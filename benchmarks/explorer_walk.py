"""Walk over the explorer page as three people do, and count what it takes them.

    python benchmarks/explorer_walk.py [--address http://127.0.0.1:8000]

Needs the extras `app` and `test-browser`, and Debian's `chromium` and `chromium-driver`; without an
address it starts `counterset serve`. Each person has a task on case 986 of German credit, the first
that is declined, and is done when the page shows what they came for:

- an advisor types in a new applicant, says what is hard for them, tries an option, and saves a
  sheet with two options;
- a risk officer asks whether people almost alike get equal answers, and looks at one of them;
- a data scientist types an amount that nobody had, sets an option aside, looks at the map, and goes
  back to the start.

Clicks and keys are counted; choosing from a list is two clicks. "Waiting" is the time from an
action until the page shows its answer, on this machine. "In all" adds what the keystroke-level
model of Card, Moran and Newell takes for hands: 1.3 s for a click with its way there, 0.28 s for a
key, and 1.35 s to think before each action.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

#: The keystroke-level model: seconds for a click with its way there, for a key, and to think.
CLICK, KEY, THINK = 1.3, 0.28, 1.35
PATIENCE = 120


@dataclass
class Walk:
    """A person at the page, and what they did."""

    driver: Any
    clicks: int = 0
    keys: int = 0
    actions: int = 0
    waited: float = 0.0

    def click(self, selector: str, wait: str = "explain predict case") -> None:
        """Click on something, and wait until some kinds of questions are answered."""
        self.clicks += 1
        self._act(wait, lambda: self._one(selector).click())

    def choose(self, selector: str, text: str) -> None:
        """Choose from a list."""
        self.clicks += 2
        self._act("explain", lambda: Select(self._one(selector)).select_by_visible_text(text))

    def type(self, selector: str, text: str) -> None:
        """Replace what stands in a field."""
        self.clicks += 1
        self.keys += len(text) + 1
        self._act(
            "explain", lambda: self._one(selector).send_keys(Keys.CONTROL, "a", Keys.NULL, text)
        )

    def see(self, selector: str) -> str:
        """Wait until something is shown, and return it."""
        before = time.perf_counter()
        self._until(lambda: self._one(selector).is_displayed())
        self.waited += time.perf_counter() - before
        return str(self._one(selector).text)

    @property
    def seconds(self) -> float:
        """The seconds that all of it takes a person."""
        return CLICK * self.clicks + KEY * self.keys + THINK * self.actions + self.waited

    def _act(self, wait: str, act: Callable[[], Any]) -> None:
        self.actions += 1
        before = time.perf_counter()
        act()
        time.sleep(0.02)  # the page notes what is asked after the event
        script = "return document.body.dataset.busy"
        kinds = set(wait.split())
        self._until(lambda: not kinds & set(self.driver.execute_script(script).split()))
        self.waited += time.perf_counter() - before

    def _one(self, selector: str) -> Any:
        found = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
        return found

    def _until(self, holds: Callable[[], Any]) -> None:
        wait = WebDriverWait(
            self.driver, PATIENCE, poll_frequency=0.02, ignored_exceptions=[Exception]
        )
        wait.until(lambda _: holds())


def advisor(walk: Walk) -> None:
    walk.click("#new")
    walk.type("#value-credit_amount", "9000")
    walk.type("#value-duration", "48")
    walk.choose("#value-checking_status", "Below 0 DM")
    walk.click("#form-hard")
    walk.click('input[aria-label="Time in the present job: 5 of 5"]')
    walk.click('input[aria-label="Savings: 4 of 5"]')
    walk.click('[aria-label="Try option 1"]')
    walk.see("#trial .yes")
    walk.click('[aria-label="Keep option 1"]')
    walk.click('[aria-label="Keep option 2"]')
    walk.click("#report", wait="report")


def officer(walk: Walk) -> None:
    walk.see(".lead strong")
    walk.click("#strip-nearest button:nth-child(4)")
    walk.see("#person .beside")


def scientist(walk: Walk) -> None:
    walk.type("#value-credit_amount", "20000")
    walk.see("#decision .flag")
    walk.click('[aria-label="Not option 2"]')
    walk.click("#picture-map", wait="map")
    walk.see(".map svg")
    for _ in range(3):
        walk.click("#undo")


PEOPLE = {"advisor": advisor, "officer": officer, "data scientist": scientist}


@contextmanager
def serving() -> Iterator[str]:
    """Serve the bundled loans, and yield the address."""
    command = [sys.executable, "-m", "counterset", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None, "the server says where it is"
            yield address[0]
        finally:
            server.terminate()


def open_page(address: str) -> Chrome:
    """Open the page in a fresh browser, until the options are there."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.get(address)
    ready = ".option:not(.empty)"
    WebDriverWait(driver, PATIENCE, poll_frequency=0.05).until(
        lambda _: driver.find_elements(By.CSS_SELECTOR, ready)
    )
    return driver


def walk_all(address: str, people: dict[str, Callable[[Walk], None]]) -> None:
    """Print what each person did."""
    print("| person | clicks | keys | waiting, s | in all, s |")
    print("|---|---|---|---|---|")
    for name, task in people.items():
        driver = open_page(address)
        walk = Walk(driver)
        task(walk)
        driver.quit()
        print(f"| {name} | {walk.clicks} | {walk.keys} | {walk.waited:.1f} | {walk.seconds:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address")
    address = parser.parse_args().address
    if address:
        walk_all(address, PEOPLE)
    else:
        with serving() as found:
            walk_all(found, PEOPLE)


if __name__ == "__main__":
    main()
