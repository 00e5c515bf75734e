"""Take the pictures of the explorer page that the guide shows.

Run as ``python docs/explorer_pictures.py docs``; needs the extras ``app`` and ``test-browser``, and
Debian's ``chromium`` and ``chromium-driver``.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

#: The server learns before it prints its address, which takes some seconds.
PATIENCE = 120


def main(folder: str) -> None:
    command = [sys.executable, "-m", "counterset", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None, "the server says where it is"
            desktop(address[0], Path(folder) / "explorer.png")
            person(address[0], Path(folder) / "explorer_person.png")
            phone(address[0], Path(folder) / "explorer_phone.png")
            all_cases(address[0], Path(folder) / "explorer_group.png")
        finally:
            server.terminate()


def desktop(address: str, file: Path) -> None:
    """The whole page, in the light, a little shaken."""
    driver = open_page(address, 1280, 900, "light")
    shake(driver, 8)
    height = driver.execute_script("return document.documentElement.scrollHeight")
    show_as(driver, 1280, height)
    driver.save_screenshot(str(file))
    driver.quit()


def person(address: str, file: Path) -> None:
    """One of the people almost alike whose best option is another one, beside the case."""
    driver = open_page(address, 1280, 900, "light")
    shake(driver, 8)
    without = driver.find_elements(By.CSS_SELECTOR, "#strip-nearest button.without")
    (without or driver.find_elements(By.CSS_SELECTOR, "#strip-nearest button"))[0].click()
    settle(driver)
    driver.find_element(By.ID, "alike").screenshot(str(file))
    driver.quit()


def shake(driver: Chrome, percent: int) -> None:
    """Move the numbers of the people almost alike by this much of their usual range."""
    driver.execute_script(
        "const slider = document.getElementById('noise'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'))",
        percent,
    )
    settle(driver)


def phone(address: str, file: Path) -> None:
    """The nearest option tried out, on a phone, in the dark."""
    driver = open_page(address, 390, 844, "dark")
    driver.find_element(By.CSS_SELECTOR, ".option .try").click()
    settle(driver)
    driver.execute_script("document.getElementById('options').scrollIntoView()")
    driver.execute_script("window.scrollBy(0, -62)")  # the badges stay above
    driver.save_screenshot(str(file))
    driver.quit()


def all_cases(address: str, file: Path) -> None:
    """All cases, with figures by age, as far as the first of the list."""
    driver = open_browser(1180, 900, "light")
    driver.get(f"{address}#{quote(json.dumps({'c': 2, 'm': 'group', 'b': 'age'}))}")
    WebDriverWait(driver, PATIENCE).until(
        lambda _: driver.find_elements(By.CSS_SELECTOR, "table.figures")
    )
    settle(driver)
    driver.save_screenshot(str(file))
    driver.quit()


def open_browser(width: int, height: int, scheme: str) -> Chrome:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    show_as(driver, width, height)
    return driver


def open_page(address: str, width: int, height: int, scheme: str) -> Chrome:
    driver = open_browser(width, height, scheme)
    driver.get(address)
    WebDriverWait(driver, PATIENCE).until(
        lambda _: len(driver.find_elements(By.CSS_SELECTOR, ".strip .cells button")) == 40
    )
    settle(driver)
    return driver


def show_as(driver: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def settle(driver: Chrome) -> None:
    """Wait until no question is open; one about people begins 0.6 s after the last answer."""
    time.sleep(1)
    WebDriverWait(driver, PATIENCE).until(
        lambda _: driver.execute_script("return document.body.dataset.busy === ''")
    )


if __name__ == "__main__":
    main(sys.argv[1])
