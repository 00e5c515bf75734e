"""All cases, two cases side by side, and the least probability, on the explorer page."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from support.served_loans import TRAINING, approve

from counterset import Constraints, DiverseExplainer
from counterset.cli.demo import OUTCOMES, load_credit
from counterset.serve.served import Served

from .explorer_page import Page, serving

PHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
TABLET = {"width": 768, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture(scope="module")
def credit() -> Served:
    """The bundled loan applications."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loans = load_credit()
    goal = {"target": "good"}
    return Served("german_credit", loans.explainer, loans.X_test, goal=goal, outcomes=OUTCOMES)


@pytest.fixture(scope="module")
def address(credit: Served) -> Iterator[str]:
    with serving(credit) as found:
        yield found


@pytest.fixture
def page(visitor: Any, address: str) -> Iterator[Page]:
    """The page of the loan applications; there is no complaint on the console at the end."""
    made = Page(visitor, address)
    made.faults()
    yield made
    assert made.faults() == []


@pytest.fixture(params=[PHONE, TABLET], ids=["phone", "768 px"])
def small(page: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", request.param)
    yield page
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def view(page: Page, name: str, scheme: str = "light", **held: Any) -> Page:
    """Open one of the views, and wait until all is shown."""
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    page.driver.get("about:blank")
    page.driver.get(page.address + "#" + quote(json.dumps({"c": 0, "m": name} | held)))
    page.wait(lambda: page.all(f"#{name} h2") and page.text(f"#{name}").count("\n") > 2)
    return page.settle()


def declined(credit: Served) -> list[int]:
    labels = credit.explainer.model.predict(credit.cases)
    return np.flatnonzero(labels != "good").tolist()


def test_all_declined_cases_are_there(page: Page, credit: Served) -> None:
    view(page, "group")
    count = len(declined(credit))
    assert page.text("#group .lead") == f"{count} of 200 cases are not approved."
    assert not page.all("#group progress")
    assert page.one(".survey svg").get_attribute("aria-label").count(f"of {count} cases are up to")
    seen: list[str] = []
    while True:
        seen += [each.text for each in page.all(".cases .open")]
        if page.one("#page-after").get_attribute("disabled"):
            break
        page.click("#page-after")
    assert sorted(seen) == sorted(str(credit.cases.index[at]) for at in declined(credit))
    # One case stands by itself elsewhere.
    assert not page.one("#case").is_displayed()


def test_the_list_is_sorted_as_chosen(page: Page) -> None:
    view(page, "group")

    def distances() -> list[float]:
        return [float(each.text.split()[-1]) for each in page.all(".cases .far")]

    assert distances() == sorted(distances(), reverse=True)
    Select(page.one("#sort")).select_by_value("near")
    page.wait(lambda: distances() == sorted(distances()))


def test_a_click_opens_the_case(page: Page, credit: Served) -> None:
    view(page, "group")
    number = page.text(".cases .open")
    page.click(".cases .open").settle()
    page.wait(lambda: page.all("#options .option"))
    assert page.one("#number").get_attribute("value") == number
    assert not page.one("#group").is_displayed()
    # The browser's Back leads to all cases again.
    page.click("#undo").settle()
    page.wait(lambda: page.one("#group").is_displayed())
    page.click(".survey svg").settle()
    page.wait(lambda: page.one("#case").is_displayed())
    indices = [str(each) for each in credit.cases.index[declined(credit)]]
    assert page.one("#number").get_attribute("value") in indices


def test_groups_have_figures_and_small_ones_none(page: Page, credit: Served) -> None:
    view(page, "group")
    Select(page.one("#by")).select_by_value("purpose")
    page.settle()
    page.wait(lambda: page.all("table.figures"))
    purposes = credit.cases["purpose"].iloc[declined(credit)].value_counts()
    assert len(page.all("table.figures tbody tr")) == (purposes >= 10).sum()
    note = page.text("#group section .note:last-child") + page.text("#group")
    assert f"({purposes[purposes < 10].sum()} together)" in note
    assert page.script("return decodeURIComponent(location.hash)").count('"b":"purpose"')
    Select(page.one("#by")).select_by_value("age")
    page.wait(lambda: "years" in page.text("table.figures tbody th"))


def test_two_cases_stand_side_by_side(page: Page, credit: Served) -> None:
    first, second = declined(credit)[:2]
    view(page, "compare", c=first, o=second)
    rows = [each.text for each in page.all(".differs tbody th")]
    assert rows[0] == "Decision"
    values = credit.cases.iloc[[first, second]]
    assert len(rows) - 1 == (values.iloc[0] != values.iloc[1]).sum()
    heads = [each.text for each in page.all("#compare .differs thead th")]
    assert heads[1:] == [f"Case {each}" for each in values.index]
    offered = page.all("#compare .beside > div")
    assert len(offered) == 2
    assert all(each.find_elements("css selector", "li") for each in offered)
    shared = page.text("#shared")
    if shared[0].isdigit():
        marked = page.all("#compare .beside > div:first-child .both")
        assert len(marked) == int(shared.split()[0])


def test_a_second_case_is_leafed_to_or_typed(page: Page, credit: Served) -> None:
    first, second = declined(credit)[:2]
    view(page, "compare", c=first, o=second)
    page.click("#other-after").settle()
    page.wait(lambda: page.one("#other").get_attribute("value") != str(credit.cases.index[second]))
    field, number = page.one("#other"), str(credit.cases.index[first])
    field.clear()
    field.send_keys(number, Keys.ENTER)
    page.settle()
    page.wait(lambda: "They have the same values." in page.text("#compare"))


def test_compare_in_the_list_puts_a_case_beside_the_picked_one(page: Page) -> None:
    view(page, "group")
    number = page.text(".cases li:has(.compare) .open")
    page.click(".cases .compare").settle()
    page.wait(lambda: page.all("#compare .beside"))
    assert page.one("#other").get_attribute("value") == number
    assert page.script("return document.activeElement.tagName") == "H2"


def test_a_least_probability_is_kept_by_all_options(page: Page) -> None:
    page.open()
    page.script(
        "const s = document.getElementById('threshold'); s.value = 80;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.settle()
    assert page.text(".threshold output") == "≥ 80%"
    chances = [each.text for each in page.all("#options .options .chance strong")]
    assert chances
    assert all(int(each.rstrip("%")) >= 80 for each in chances)
    page.driver.refresh()
    page.wait(lambda: page.all("#options .option") and not page.all(".option.empty"))
    assert page.text(".threshold output") == "≥ 80%"
    page.script(
        "const s = document.getElementById('threshold'); s.value = s.min;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.settle()
    assert page.text(".threshold output") == "any"


def test_all_cases_follow_the_least_probability(page: Page, credit: Served) -> None:
    view(page, "group", a=0.7)
    model = credit.explainer.model
    probable = model.predict_proba(credit.cases)[:, list(model.classes_).index("good")]
    expected = f"{(probable < 0.7).sum()} of 200 cases are not approved with a probability of at"
    assert page.text("#group .lead").startswith(expected)


def test_a_model_without_probabilities_has_no_slider(visitor: Any) -> None:
    served = Served("loans", DiverseExplainer(approve).fit(TRAINING), TRAINING)
    with serving(served) as address:
        page = Page(visitor, address).open()
        assert page.all("#threshold") == []


def test_who_has_no_option_is_told_why(visitor: Any) -> None:
    tight = Constraints(immutable=["home", "town", "income"], ranges={"debt": (30, None)})
    explainer = DiverseExplainer(approve, constraints=tight).fit(TRAINING)
    served = Served("loans", explainer, TRAINING, goal={"target": "approved"})
    with serving(served) as address:
        page = view(Page(visitor, address), "group")
        reasons = [each.text for each in page.all(".whys li")]
        assert reasons
        assert all("constraint" in each for each in reasons)
        count = int(reasons[0].split()[0])
        page.click(".whys button")
        page.wait(lambda: len(page.all(".cases li")) == min(25, count))
        assert all("no option" in each.text for each in page.all(".cases li"))
        Select(page.one("#which")).select_by_value("some")
        page.wait(lambda: not page.all(".cases .why"))
        assert "Hatched: no option." in page.text(".survey figcaption")


def test_nothing_is_asked_when_nobody_looks(page: Page) -> None:
    many = pd.concat([TRAINING] * 8, ignore_index=True)
    served = Served(
        "loans", DiverseExplainer(approve).fit(TRAINING), many, goal={"target": "approved"}
    )
    with serving(served) as address:
        other = Page(page.driver, address)
        other.driver.get("about:blank")
        other.driver.get(address + "#" + quote(json.dumps({"c": 0, "m": "group"})))
        other.wait(lambda: other.all("#show-case"))
        other.click("#show-case").settle(with_nearby=True)
        other.asked()
        other.script("return new Promise((done) => setTimeout(done, 300))")
        assert [each for each in other.asked() if each.endswith("/group")] == []
        other.click("#show-group").settle()
        other.wait(lambda: other.all(".survey") and not other.all("#group progress"))
        count = int((approve(many) == "declined").sum())
        assert other.text("#group .lead strong") == str(count)


def test_a_server_that_is_gone_is_said_and_all_goes_on_when_it_is_back(page: Page) -> None:
    view(page, "group")
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": True})
    try:
        Select(page.one("#by")).select_by_value("job")
        page.wait(lambda: "cannot be reached" in page.text("#group .failure"))
    finally:
        page.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions", offline | {"offline": False}
        )
    page.click("#group .failure button").settle()
    page.wait(lambda: page.all("table.figures"))
    assert page.all("#group .failure") == []
    page.faults()  # the browser complains about the network


def test_the_keyboard_is_enough(page: Page) -> None:
    view(page, "group")
    page.script("document.getElementById('show-group').focus()")
    reached = set()
    for _ in range(40):
        page.script("return document.activeElement").send_keys(Keys.TAB)
        active = page.script(
            "const e = document.activeElement;"
            "return [e.id, e.className, getComputedStyle(e).outlineStyle]"
        )
        reached |= {active[0], active[1]}
        if active[1] == "open":
            assert active[2] != "none"
            break
    assert {"target", "threshold", "by", "which", "sort", "open"} <= reached
    page.script("return document.activeElement").send_keys(Keys.ENTER)
    page.settle()
    page.wait(lambda: page.one("#case").is_displayed())
    assert page.script("return document.activeElement.closest('#options') !== null")


@pytest.mark.parametrize("name", ["group", "compare"])
def test_it_fits_a_small_screen(small: Page, credit: Served, name: str) -> None:
    first, second = declined(credit)[:2]
    view(small, name, c=first, o=second, b="age")
    width = small.script("return document.documentElement.clientWidth")
    assert small.script("return document.documentElement.scrollWidth") <= width
    assert small.axe() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["group", "compare"])
def test_axe_finds_no_fault(page: Page, credit: Served, name: str, scheme: str) -> None:
    first, second = declined(credit)[:2]
    view(page, name, scheme, c=first, o=second, b="age")
    assert page.axe() == []


def test_names_and_values_are_never_read_as_html(visitor: Any) -> None:
    mark = "<img src=x onerror=alert(1)>"
    rows = TRAINING.rename(columns={"home": mark}).assign(town="Ulm")
    rows.index = pd.Index([f"{mark}{at}" for at in range(len(rows))])

    def model(table: pd.DataFrame) -> Any:
        return approve(table.rename(columns={mark: "home"}))

    served = Served("loans", DiverseExplainer(model).fit(rows), rows, goal={"target": "approved"})
    with serving(served) as address:
        page = view(Page(visitor, address), "group", b=mark)
        page.wait(lambda: page.all("table.figures"))
        assert mark in page.text(".cases .open")
        page.click(".cases .compare").settle()
        page.wait(lambda: page.all("#compare .beside"))
        assert page.all("img") == []
