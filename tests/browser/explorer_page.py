"""A server of the explorer page, and the page as a person uses it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

import uvicorn
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from counterset.serve.app import create_app
from counterset.serve.served import Served

#: On a busy machine an answer may take long; a test waits up to 90 s, and no longer than needed.
PATIENCE = 90


@contextmanager
def serving(served: Served, token: str | None = None, *, is_ready: bool = True) -> Iterator[str]:
    """Serve the page on a free port of this machine, and yield its address.

    Parameters
    ----------
    is_ready
        Whether to learn first what requests will need.
    """
    if is_ready:
        served.warm_up()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(create_app(served, token=token), log_config=None, access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


class Page:
    """The explorer page in a browser."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, link: str = "", *, scheme: str = "light") -> Page:
        """Open the page anew, and wait until everything is shown."""
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        self.driver.get("about:blank")  # an address that differs after its # is no new page
        self.driver.get(self.address + link)
        self.wait(lambda: self.all("#options .option") and not self.all(".option.empty"))
        return self.settle()

    def wait(self, holds: Callable[[], Any]) -> None:
        """Wait until something holds."""
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: holds())

    def settle(self, *, with_nearby: bool = False) -> Page:
        """Wait until no question is open.

        Parameters
        ----------
        with_nearby
            Also wait for the people almost like this one: explaining 40 of them takes longest.
        """
        passed = [] if with_nearby else ["nearest", "shared"]
        script = (
            "return document.body.dataset.busy.split(' ')"
            ".every((each) => each === '' || arguments[0].includes(each))"
        )
        self.wait(lambda: self.script(script, passed))
        return self

    def script(self, text: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(text, *arguments)

    def all(self, selector: str) -> list[Any]:
        """Return the elements of a selector."""
        found: list[Any] = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return found

    def one(self, selector: str) -> Any:
        """Return the first element of a selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> Page:
        """Click on an element, after scrolling to it."""
        element = self.one(selector)
        self.script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()
        return self

    def text(self, selector: str) -> str:
        """Return the text of an element; empty if it is not there."""
        return next((str(each.text) for each in self.all(selector)), "")

    def options(self) -> list[dict[str, Any]]:
        """Return what each option changes."""
        items = self.all("#options ol.options > .option")
        return [json.loads(each.get_attribute("data-option")) for each in items]

    def lock(self, name: str) -> Page:
        """Lock a feature, or unlock it."""
        self.script("document.querySelectorAll('.rest').forEach((each) => { each.open = true; })")
        return self.click(f'[data-name="{name}"] .lock input').settle()

    def faults(self) -> list[str]:
        """Return what the console complains about since it was last read."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] not in ("INFO", "DEBUG")
        ]

    def asked(self) -> list[str]:
        """Return the addresses that were asked for since they were last read."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        return [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]

    def axe(self) -> list[tuple[str, str, list[str]]]:
        """Return what axe-core finds wrong."""
        axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.script(axe)
        found = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        assert len(found["passes"]) > 10
        return [
            (each["id"], each["impact"], [node["html"] for node in each["nodes"]][:3])
            for each in found["violations"]
        ]
