"""The explorer page in a browser: what people do on it, and what must not happen."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from counterset import DiverseExplainer, Schema
from counterset.serve.served import Served

from .conftest import PHONE, start_browser
from .explorer_page import Page, serving

#: The page, with all that it loads, weighs less than 100 kB.
MOST_BYTES = 100_000


def test_five_options_are_there_at_once(page: Page) -> None:
    page.open().settle(with_nearby=True)
    assert page.text("#decision").startswith("Case 986\n✗ declined")
    assert page.text("#options h2") == "5 options that lead to approved"
    assert len(page.options()) == 5
    assert page.text(".option .stability").endswith("of 20 people alike are offered it too")
    assert "nearest" in page.text(".option .facts")


def test_it_weighs_little(page: Page) -> None:
    page.open()
    sizes = page.script(
        "return performance.getEntries().filter((each) => each.encodedBodySize)"
        ".map((each) => each.encodedBodySize)"
    )
    assert len(sizes) > 10
    assert sum(sizes) < MOST_BYTES


def test_a_case_is_picked_by_its_number_or_leafed_to(page: Page) -> None:
    page.open()
    first = page.one("#number").get_attribute("value")
    page.click("#after").settle()
    second = page.one("#number").get_attribute("value")
    assert second != first
    page.click("#before").settle()
    field = page.one("#number")
    assert field.get_attribute("value") == first
    field.clear()
    field.send_keys(second, Keys.ENTER)
    page.settle()
    page.wait(lambda: page.script("return location.hash").startswith("#%7B%22c%22%3A"))
    Select(page.one("#filter")).select_by_index(1)
    page.settle()
    assert "declined" in page.text("#decision")


def test_locked_features_stay_in_all_options(page: Page) -> None:
    page.open()
    used = next(iter(page.options()[0]))
    page.lock(used)
    assert len(page.options()) >= 1
    assert all(used not in option for option in page.options())


def test_what_is_typed_is_explained_and_marked(page: Page) -> None:
    page.open()
    field = page.one("#value-duration")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("12")
    page.settle()
    assert page.script("return document.activeElement.id") == "value-duration"
    assert page.one("#value-duration").get_attribute("value") == "12"
    assert "12" in page.script("return decodeURIComponent(location.hash)")
    page.click("#reset").settle()
    assert page.one("#value-duration").get_attribute("value") == "42"


def test_a_field_that_is_no_number_yet_is_marked_and_not_asked_about(page: Page) -> None:
    page.open().settle(with_nearby=True)
    page.asked()
    page.one("#value-duration").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    assert page.one("#value-duration").get_attribute("aria-invalid") == "true"
    page.settle()
    assert page.asked() == []


def test_directions_ranges_and_difficulties_restrict_the_options(page: Page) -> None:
    page.open()
    row = '[data-name="credit_amount"]'
    own = 6289
    assert any(option.get("credit_amount", own) < own for option in page.options())
    page.click(f"{row} .constraints > summary")
    page.click(f'{row} .choices input[value="up"]').settle()
    assert all(option.get("credit_amount", own) >= own for option in page.options())
    most = page.one(f'{row} .ends input[aria-label$="to"]')
    most.send_keys("7000")
    page.settle()
    assert all(own <= option.get("credit_amount", own) <= 7000 for option in page.options())
    page.click(f'{row} .choices input[value="5"]').settle()
    assert page.text(f"{row} .constraints > summary") == "only up · at most 7,000 DM · hard: 5 of 5"


def test_a_nudge_shows_two_columns(page: Page) -> None:
    page.open().settle(with_nearby=True)
    for view in ("nearest", "shared"):
        assert len(page.all(f"#view-{view} .line")) == 5
        assert len(page.all(f"#view-{view} .line:first-child i")) == 20
        assert len(page.all(f"#strip-{view} button")) == 20
        found = len(page.all(f"#strip-{view} button.with"))
        assert page.text(f"#strip-{view} .count") == f"{found}/20"
    before = page.text("#view-nearest .grid")
    page.script(
        "const s = document.getElementById('noise'); s.value = 15;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.settle(with_nearby=True)
    assert page.text("#view-nearest .grid") != before
    assert "15%" in page.text(".controls output")


def test_taking_an_option_over_changes_the_badge(page: Page) -> None:
    page.open()
    options = page.options()
    page.click(".option .try").settle()
    assert page.text("#trial").startswith("What if\n✓ approved")
    assert page.text("#decision").startswith("Case 986\n✗ declined")
    assert page.text("#case h2") == "What if"
    assert page.text(".feature .own").startswith("in the case:")
    assert page.options() == options
    page.click("#back").settle()
    assert page.all("#trial") == []
    page.click(".option .try").settle()
    page.click("#take").settle()
    assert page.text("#decision").startswith("Case 986\n✓ approved")
    assert page.text("#options h2") == "Nothing to change"


def test_a_link_shows_the_same_page(page: Page) -> None:
    page.open()
    page.lock("savings_status")
    page.click(".option .keep").settle()
    page.click("#picture-menu")
    kept, options = page.text(".kept h3"), page.options()
    assert page.one(".option .keep").get_attribute("aria-pressed") == "true"
    link = page.script("return location.hash")
    page.open(link)
    assert page.text(".kept h3") == kept
    # Options keep their place while a person works; a page that is opened has the nearest first.
    assert sorted(map(str, page.options())) == sorted(map(str, options))
    assert page.one('[data-name="savings_status"] .lock input').is_selected()
    assert page.all("table.menu")
    page.click(".kept .option button:last-child").settle()
    assert page.all(".kept") == []


def test_a_broken_link_starts_anew(page: Page) -> None:
    page.open("#%7Bbroken")
    assert len(page.options()) == 5


def test_the_pictures_show_every_option(page: Page) -> None:
    page.open()
    assert len(page.all(".dumbbells li")) == sum(len(option) for option in page.options())
    page.click("#picture-map").settle()
    page.wait(lambda: page.all(".map svg"))
    assert len(page.all(".map g.mark")) == 5
    page.click("#picture-menu")
    assert len(page.all(".menu td.changed")) == sum(len(option) for option in page.options())


def test_the_report_is_saved(page: Page, tmp_path: Path) -> None:
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.open()
    page.click("#report")
    file = tmp_path / "options-986.html"
    page.wait(lambda: file.exists() and file.stat().st_size > 0)
    assert "counterset-record" in file.read_text(encoding="utf-8")


def test_the_constraint_that_prevents_options_is_named_and_lifted(page: Page) -> None:
    page.open()
    Select(page.one("#count")).select_by_visible_text("10")
    page.settle()
    for name in ("savings_status", "credit_amount", "duration", "checking_status", "employment"):
        page.lock(name)
        if page.all(".short-of"):
            break
    assert page.all(".short-of")
    page.wait(lambda: page.all("#lift") or "not the reason" in page.text(".short-of"))
    before = len(page.options())
    if page.all("#lift"):
        page.click("#lift").settle()
        assert len(page.options()) > before


def test_a_server_that_is_gone_is_reported_and_asked_again(page: Page) -> None:
    page.open()
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    command = "Network.emulateNetworkConditions"
    page.driver.execute_cdp_cmd(command, {"offline": True, **network})
    page.click('[data-name="duration"] .lock input')
    page.wait(lambda: "cannot be reached" in page.text("#options .failure"))
    assert len(page.options()) == 5, "the old answer stays"
    page.driver.execute_cdp_cmd(command, {"offline": False, **network})
    page.faults()  # the browser itself complains of being offline
    page.click("#options .failure button").settle()
    assert page.all("#options .failure") == []
    assert all("duration" not in option for option in page.options())


def test_a_slow_server_is_waited_for_in_words(page: Page) -> None:
    page.open()
    command = "Network.emulateNetworkConditions"
    network = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    page.driver.execute_cdp_cmd(command, {"latency": 4000, **network})
    page.click('[data-name="duration"] .lock input')
    page.wait(lambda: "Looking for options" in page.text("#options .waiting"))
    assert len(page.all("#options .old .option")) == 5
    page.driver.execute_cdp_cmd(command, {"latency": 0, **network})
    page.settle()
    assert page.all("#options .waiting") == []


def test_numbers_and_times_are_written_as_people_write_them(page: Page) -> None:
    page.open()
    written = page.driver.execute_async_script(
        """
        const done = arguments[arguments.length - 1];
        import("./format.js").then(({number, percent, codeText, readMoment, moment}) => {
            const noon = 1704110400000000, day = {is_time: true, step: 86400000000};
            const hour = {is_time: true, step: 3600000000};
            done([number(0.1 + 0.2), number(1234567.5), percent(0.996), codeText(day, noon),
                codeText(hour, noon), readMoment(hour, moment(hour, noon)) === noon]);
        });
        """
    )
    assert written == [
        "0.3",
        "1,234,567.5",
        "more than 99%",
        "2024-01-01",
        "2024-01-01 12:00:00",
        True,
    ]


def test_values_become_numbers_and_come_back(page: Page) -> None:
    page.open()
    values = page.driver.execute_async_script(
        """
        const done = arguments[arguments.length - 1];
        import("./format.js").then(({codeOf, valueOf}) => {
            const time = (example) => ({is_time: true, choices: null, example});
            const each = [
                [{choices: null}, 1.5],
                [{choices: [{value: "a"}, {value: {type: "date", value: "2024-02-29"}}]},
                    {type: "date", value: "2024-02-29"}],
                [{choices: [{value: false}, {value: true}]}, true],
                [time({type: "date", value: "2020-01-01"}), {type: "date", value: "2024-02-29"}],
                [time({type: "time", value: "2020-01-01T00:00:00"}),
                    {type: "time", value: "2024-02-29T12:00:01"}],
                [time({type: "time", value: "2020-01-01T00:00:00+01:00", zone: "Europe/Berlin"}),
                    {type: "time", value: "2024-02-29T12:00:01+00:00", zone: "Europe/Berlin"}],
                [{choices: null}, null],
            ];
            done(each.map(([feature, value]) => [value, valueOf(feature, codeOf(feature, value))]));
        });
        """
    )
    assert len(values) == 7
    for value, again in values:
        assert value == again


def test_a_case_with_times_is_edited(visitor: Any) -> None:
    X = pd.DataFrame({"since": pd.date_range("2020-01-01", periods=200), "n": range(200)})
    explainer = DiverseExplainer(lambda rows: rows["since"] > "2020-04-01").fit(X)
    with serving(Served("toy", explainer, X, goal={"target": True})) as found:
        page = Page(visitor, found).open()
        assert page.one("#value-since").get_attribute("value") == "2020-01-01"
        assert page.text("#options h3").endswith("to 2020-04-02")
        page.script(
            "const s = document.querySelector('[data-name=since] input[type=range]');"
            "s.value = Date.parse('2020-05-01') * 1000; s.dispatchEvent(new Event('input'))"
        )
        page.settle()
        assert page.text("#decision").startswith("Case 0\n✓ True")
        assert page.text(".feature .own") == "as picked: 2020-01-01"
        assert page.faults() == []


def test_the_keyboard_is_enough(page: Page) -> None:
    page.open()
    page.script("document.activeElement.blur()")
    seen: list[str] = []
    for _ in range(80):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        focus = page.script(
            "const each = document.activeElement;"
            "const box = each.matches('.choices input') ? each.nextElementSibling : each;"
            "return [each.className, each.getAttribute('aria-label') || each.id,"
            " getComputedStyle(box).outlineStyle]"
        )
        assert focus[2] != "none", focus
        seen.append(focus[1])
        if focus[0] == "try":
            break
    assert seen[-1] == "Try option 1"
    # The order of tabs follows the eye: the head, the case, the options.
    places = [seen.index(each) for each in ("target", "number", "value-duration", "Try option 1")]
    assert places == sorted(places)
    ActionChains(page.driver).send_keys(Keys.ENTER).perform()
    page.settle()
    assert page.text("#trial").startswith("What if\n✓ approved")
    page.one('[aria-label="Lock: Duration"]').send_keys(Keys.SPACE)
    page.settle()
    assert all("duration" not in option for option in page.options())
    assert page.text("#announce") == "" or page.one("#announce").get_attribute("aria-live")


def test_changes_are_announced(page: Page) -> None:
    page.open()
    notice = page.script("return document.getElementById('announce').textContent")
    assert notice == "declined. 5 options that lead to approved."


def test_it_fits_a_phone_with_the_badge_in_sight(phone: Page) -> None:
    phone.open()
    for picture in ("changes", "map", "menu"):
        phone.click(f"#picture-{picture}").settle()
        assert phone.script("return document.documentElement.scrollWidth") <= PHONE["width"]
    phone.script("window.scrollTo(0, document.body.scrollHeight)")
    top, bottom = phone.script(
        "const box = document.getElementById('decision').getBoundingClientRect();"
        "return [box.top, box.bottom]"
    )
    assert 0 <= top < bottom < 120


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(page: Page, scheme: str) -> None:
    page.open(scheme=scheme).settle(with_nearby=True)
    page.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.axe() == []
    page.click(".option .try").settle()
    page.click(".option .keep").settle()
    for picture in ("map", "menu"):
        page.click(f"#picture-{picture}").settle(with_nearby=True)
        assert page.axe() == []


def test_axe_finds_no_fault_on_a_phone(phone: Page) -> None:
    phone.open().settle(with_nearby=True)
    assert phone.axe() == []


def test_the_colours_follow_the_reader(page: Page) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    seen = [page.open(scheme=each).script(script) for each in ("light", "dark")]
    assert seen == ["rgb(255, 255, 255)", "rgb(20, 23, 27)"]


def test_two_people_with_different_locks_see_their_own_options(
    page: Page, address: str, tmp_path: Path
) -> None:
    driver = start_browser(tmp_path)
    try:
        other = Page(driver, address).open()
        page.open()
        page.click('[data-name="savings_status"] .lock input')
        other.click('[data-name="credit_amount"] .lock input')
        page.settle(), other.settle()
        assert all("savings_status" not in option for option in page.options())
        assert any("credit_amount" in option for option in page.options())
        assert all("credit_amount" not in option for option in other.options())
        assert any("savings_status" in option for option in other.options())
    finally:
        driver.quit()


def test_names_and_values_are_never_read_as_html(visitor: Any) -> None:
    evil = "<img src=x onerror=document.title='evil'>"
    random = np.random.default_rng(0)
    X = pd.DataFrame({evil: random.random(200), "kind": random.choice([evil, "b"], 200)})

    def classify(rows: pd.DataFrame) -> Any:
        return np.where(rows[evil] + (rows["kind"] == "b") > 1, evil, "no")

    explainer = DiverseExplainer(classify, schema=Schema(labels={"kind": evil})).fit(X)
    served = Served("toy", explainer, X, goal={"target": evil}, title=evil)
    with serving(served) as found:
        page = Page(visitor, found).open()
        page.click(".option .keep").settle()
        for picture in ("map", "menu"):
            page.click(f"#picture-{picture}").settle()
        assert evil in page.text("#options h2")
        assert page.all("img") == []
        assert page.driver.title == "counterset explorer"


def test_a_server_with_a_token_asks_for_it(visitor: Any) -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((200, 2)), columns=["a", "b"])
    explainer = DiverseExplainer(lambda rows: (rows.sum(axis=1) > 1).to_numpy()).fit(X)
    with serving(Served("toy", explainer, X, goal={"target": True}), token="secret") as found:
        page = Page(visitor, found)
        visitor.get(found)
        page.wait(lambda: page.all(".token input"))
        assert "token" in page.text(".failure")
        page.one(".token input").send_keys("secret", Keys.ENTER)
        page.wait(lambda: page.all(".option") and not page.all(".option.empty"))
        assert page.text("#options h2").endswith("to True")
        page.script("sessionStorage.clear()")
    page.faults()  # the browser complains of the first, refused, request


def test_a_page_that_is_opened_while_the_server_learns_waits_for_it(visitor: Any) -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((200, 2)), columns=["a", "b"])
    may_learn = Event()
    may_learn.set()

    def model(rows: pd.DataFrame) -> Any:
        assert may_learn.wait(60)
        return (rows.sum(axis=1) > 1).to_numpy()

    served = Served("toy", DiverseExplainer(model).fit(X), X, goal={"target": True})
    may_learn.clear()
    with serving(served, is_ready=False) as found:
        page = Page(visitor, found)
        visitor.get(found)
        page.wait(lambda: "still learning" in page.text(".failure"))
        may_learn.set()
        page.wait(lambda: page.all("#options .option") and not page.all(".option.empty"))
        assert page.all(".failure") == []
    page.faults()  # the browser complains of the requests that were refused
