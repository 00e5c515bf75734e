"""The explorer page and the people before it: one after the other, typed in, almost alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from sklearn.ensemble import GradientBoostingClassifier
from support.served_loans import TRAINING, approve

from counterset import DiverseExplainer, Schema, datasets
from counterset.cli.demo import load_credit
from counterset.serve.served import Served

from .conftest import PHONE
from .explorer_page import Page, serving

#: What stands beside an option that is not on the list, and for a person who is not offered one.
NOT_LISTED, LOST = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


def type_into(page: Page, name: str, text: str) -> Page:
    """Replace what stands in a field."""
    field = page.one(f'[id="value-{name}"]')
    page.script("arguments[0].scrollIntoView({block: 'center'})", field)
    field.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE, text)
    return page.settle()


@contextmanager
def screen(page: Page, width: int, height: int = 800, scale: int = 1) -> Iterator[Page]:
    """Show the page on a screen of another size."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 700}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield page
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def offline(page: Page) -> Iterator[None]:
    """Take the server away."""
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", OFFLINE)
    yield
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", OFFLINE | {"offline": False})
    page.faults()  # the browser itself complains of being offline


def saved(page: Page, folder: Path, name: str) -> str:
    """Save the sheet, and return what it says."""
    behavior = {"behavior": "allow", "downloadPath": str(folder)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    file = folder / name
    page.click("#report")
    page.wait(lambda: file.exists() and file.stat().st_size > 0)
    return file.read_text(encoding="utf-8")


def focused(page: Page) -> str:
    """Return what has the focus: its id, or else its tag."""
    script = "return document.activeElement.id || document.activeElement.localName"
    return str(page.script(script))


# One person after the other


def test_the_next_applicant_starts_clean(page: Page) -> None:
    page.open()
    page.lock("savings_status")
    page.click('[data-name="duration"] .constraints > summary')
    page.click('[data-name="duration"] .choices input[value="4"]').settle()
    page.click(".option .keep").settle()
    page.click(".option:last-child .reject").settle()
    page.click(".option .try").settle()
    page.click("#after").settle()
    assert page.all(".kept") == page.all(".aside") == page.all("#trial") == []
    assert not page.one('[data-name="savings_status"] .lock input').is_selected()
    assert page.one('[data-name="age"] .lock input').is_selected(), "as the explainer has it"
    assert "hard:" not in page.one("#case").text
    constraints = page.script("return decodeURIComponent(location.hash)")
    assert all(f'"{key}"' not in constraints for key in "klwx")


def test_a_new_person_begins_with_an_empty_form(page: Page, tmp_path: Path) -> None:
    page.open()
    page.lock("savings_status")
    page.click("#new").settle()
    assert page.text("#case h2") == "A new person"
    assert page.text("#open").startswith("20 of 20 values are not filled in.")
    fields = page.all(".entry input[type=number]")
    assert len(fields) == 7
    assert {each.get_attribute("value") for each in fields} == {""}
    assert all(each.get_attribute("placeholder") for each in fields)
    assert not page.one('[data-name="savings_status"] .lock input').is_selected()
    page.script("document.querySelector('.rest').open = true")
    type_into(page, "credit_amount", "15000")
    type_into(page, "duration", "60")
    Select(page.one("#value-checking_status")).select_by_visible_text("Below 0 DM")
    page.settle()
    assert page.text("#open").startswith("17 of 20 values")
    assert page.text("#decision").startswith("New person\n✗ declined")
    assert len(page.options()) == 5
    type_into(page, "duration", "")
    assert page.text("#open").startswith("18 of 20 values"), "emptied, it is typical again"
    page.one("#person-name").send_keys("Łucja Żak")
    sheet = saved(page, tmp_path, "options-Łucja-Żak.html")
    assert "Łucja Żak" in sheet


def test_a_new_person_is_in_the_link(page: Page) -> None:
    page.open().click("#new").settle()
    type_into(page, "credit_amount", "15000")
    link = page.script("return location.hash")
    page.driver.get("about:blank")
    page.driver.get(page.address + link)
    page.wait(lambda: page.all("#open"))
    page.settle()
    assert page.text("#open").startswith("19 of 20 values")
    assert page.one("#value-credit_amount").get_attribute("value") == "15000"


def test_difficulties_of_all_features_are_set_at_once(page: Page) -> None:
    page.open().click("#form-hard")
    assert len(page.all("table.hard tbody tr")) == 20
    used = {name for option in page.options() for name in option}
    easy = {"duration", "age", "personal_status"}
    for name in sorted(used - easy):
        page.click(f'input[name="all hard {name}"]:nth-of-type(1)')
        page.click(f'table.hard input[name="all hard {name}"][aria-label$=": 5 of 5"]')
    page.settle()
    page.click("#form-values")
    for name in sorted(used - easy):
        assert "hard: 5 of 5" in page.text(f'[data-name="{name}"] .constraints > summary')
    assert "duration" in page.options()[0]


def test_undo_and_back_stay_inside_the_page(page: Page) -> None:
    page.open()
    assert not page.one("#undo").is_enabled()
    first, number = page.options(), page.one("#number").get_attribute("value")
    page.lock("savings_status")
    locked = page.options()
    type_into(page, "duration", "24")
    page.click(".option .keep").settle()
    page.click("#after").settle()
    page.driver.back()  # as the browser does it
    page.wait(lambda: page.one("#number").get_attribute("value") == number)
    page.settle()
    assert page.all(".kept")
    page.click("#undo").settle()
    page.wait(lambda: not page.all(".kept"))
    while page.one("#value-duration").get_attribute("value") != "42":
        before = page.script("return history.state.steps")
        page.click("#undo")
        page.wait(lambda: page.script("return history.state.steps") < before)  # noqa: B023
        page.settle()
    page.wait(lambda: page.options() == locked)
    # Two clicks, one right after the other: the second has no step left to take.
    page.script("const undo = document.getElementById('undo'); undo.click(); undo.click()")
    page.wait(lambda: page.settle().options() == first)
    assert not page.one('[data-name="savings_status"] .lock input').is_selected()
    assert not page.one("#undo").is_enabled()
    page.driver.forward()
    page.wait(lambda: page.one('[data-name="savings_status"] .lock input').is_selected())


# Answers that no longer belong to the fields


def test_an_empty_field_dims_the_old_answer_and_says_so(page: Page) -> None:
    page.open()
    page.one("#value-duration").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    page.wait(lambda: page.all("#options .old") and page.all("#decision.old"))
    assert page.text("[data-name=duration] .fault") == (
        "⚠ Type a value. The answer is for 42 months."
    )
    assert "Duration cannot be read" in page.text("#options .stale")
    assert "before your change" in page.text("#decision")
    assert not page.one("#report").is_enabled()
    type_into(page, "duration", "42")
    assert page.all("#options .old") == page.all(".stale") == page.all(".fault") == []


def test_the_text_of_a_pressed_button_can_be_read_below_the_mouse(page: Page) -> None:
    page.open().settle()
    page.click("#options .keep")
    button = page.one("#options .keep")
    ActionChains(page.driver).move_to_element(button).perform()
    colours = {button.value_of_css_property(each) for each in ("color", "background-color")}
    assert button.get_attribute("aria-pressed") == "true"
    assert len(colours) == 2


def test_an_answer_is_old_as_soon_as_a_value_changes(page: Page) -> None:
    page.open().settle()
    name = page.text("#decision .small")
    page.driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions", OFFLINE | {"offline": False, "latency": 2000}
    )
    page.click('[data-name="duration"] .lock input')
    page.wait(lambda: page.all("#options .old"))
    assert page.all("#decision.old")
    assert page.text("#decision .small") == name, "the number of faults, 0, stood behind it"
    assert page.all(".picture.old")
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", OFFLINE | {"offline": False})
    page.settle()
    assert page.all("#options .old") == []


def test_with_the_server_gone_the_old_answer_is_dimmed(page: Page) -> None:
    page.open().settle(with_nearby=True)
    with offline(page):
        page.click('[data-name="duration"] .lock input')
        page.wait(lambda: "cannot be reached" in page.text("#options .failure"))
        assert len(page.all("#options .old .option")) == 5
        assert "before your change" in page.text("#decision")
        assert "for the values before" in page.text("#options .stale")
        page.click("#after")
        page.wait(lambda: "cannot be reached" in page.text("#case .failure"))
    page.click("#case .failure button").settle()
    assert page.all("#case .failure") == []
    assert page.one("#number").get_attribute("value") != "986", "tried again, and now it is there"


@pytest.mark.parametrize(
    ("typed", "says"), [("-5", "; nothing there is below 0"), ("99999999", "")]
)
def test_values_outside_the_training_data_are_marked(page: Page, typed: str, says: str) -> None:
    amounts = load_credit().X_train["credit_amount"]
    page.open()
    type_into(page, "credit_amount", typed)
    expected = f"outside the training data: {amounts.min():,} to {amounts.max():,} DM{says}"
    assert page.text('[data-name="credit_amount"] .fault') == f"⚠ {expected}"
    assert "outside the training data" in page.text("#decision .flag")
    field = page.one("#value-credit_amount")
    assert field.get_attribute("aria-invalid") == "true"
    assert page.script("return arguments[0].scrollWidth <= arguments[0].clientWidth", field)
    assert page.all("#options .old") == [], "it is answered all the same"


def test_long_numbers_and_what_is_missing_are_shown_in_full(visitor: Any) -> None:
    X = pd.DataFrame({"depth": np.random.default_rng(0).normal(size=200), "n": range(200)})
    X.loc[::3, "n"] = np.nan
    explainer = DiverseExplainer(lambda rows: rows["depth"] > 0.3).fit(X)
    cases = X[X["n"].isna() & (X["depth"] < 0)]
    with serving(Served("toy", explainer, cases, goal={"target": True})) as found:
        page = Page(visitor, found)
        for width in (390, 900, 1280):
            with screen(page, width):
                page.open()
                assert len(page.one("#value-depth").get_attribute("value")) > 15
                for name in ("depth", "n"):
                    field = page.one(f"#value-{name}")
                    script = "return arguments[0].scrollWidth <= arguments[0].clientWidth"
                    assert page.script(script, field), (width, name)
                assert page.script("return document.documentElement.scrollWidth") <= width
        assert page.one("#value-n").get_attribute("placeholder") == "not stated"
        assert page.faults() == []


# Cases that cannot be read


def test_rows_that_cannot_be_read_are_named_and_skipped(visitor: Any) -> None:
    cases = TRAINING[:30].copy().astype({"income": object})
    cases.loc[0, "home"] = "boat"
    cases.loc[2, "income"] = "about 40"
    explainer = DiverseExplainer(approve, max_counterfactuals=3).fit(TRAINING)
    with serving(Served("loans", explainer, cases, goal={"target": "approved"})) as found:
        page = Page(visitor, found).open()
        assert "2 of 30 cases cannot be read, and are skipped" in page.text(".faults summary")
        page.click(".faults summary")
        assert "Row 0: home is 'boat', which the training data does not have." in page.text(
            ".faults ul"
        )
        number = page.one("#number")
        number.send_keys(Keys.CONTROL, "a", Keys.NULL, "1", Keys.ENTER)
        page.settle()
        assert not page.one("#before").is_enabled(), "there is no case before that can be read"
        page.click("#after").settle()
        assert page.one("#number").get_attribute("value") == "3"
        number = page.one("#number")
        number.send_keys(Keys.CONTROL, "a", Keys.NULL, "0", Keys.ENTER)
        page.wait(lambda: "Case 0 cannot be read: home is 'boat'" in page.text("#case .failure"))
        page.faults()  # the browser complains of the refused request


def test_without_any_case_that_can_be_read_a_person_can_be_typed_in(visitor: Any) -> None:
    explainer = DiverseExplainer(approve, max_counterfactuals=3).fit(TRAINING)
    cases = TRAINING[:3].assign(home="boat")
    with serving(Served("loans", explainer, cases, goal={"target": "approved"})) as found:
        page = Page(visitor, found)
        visitor.get(found)
        page.wait(lambda: page.all("#open"))
        page.settle()
        assert page.text("#decision").startswith("New person")
        assert "3 of 3 cases cannot be read" in page.text(".faults summary")
        assert page.faults() == []


def test_trying_again_at_the_start_works(visitor: Any, address: str) -> None:
    page = Page(visitor, address)
    command = "Network.setBlockedURLs"
    visitor.execute_cdp_cmd(command, {"urls": ["*explorer/start*"]})
    visitor.get("about:blank")
    visitor.get(address)
    page.wait(lambda: "cannot be reached" in page.text(".failure"))
    visitor.execute_cdp_cmd(command, {"urls": []})
    page.click(".failure button")
    page.wait(lambda: page.all("#options .option") and not page.all(".option.empty"))
    page.settle()
    page.faults()  # the browser complains of the request that was blocked


# Options


def test_what_is_tried_can_be_seen(page: Page) -> None:
    page.open()
    for option in range(1, 6):
        page.click(f'[aria-label="Try option {option}"]').settle()
        assert len(page.all(".option.tried")) == 1
        assert "tried in the what-if" in page.text(".option.tried")
        changed = page.options()[option - 1]
        for name in changed:
            assert page.one(f'[data-name="{name}"] .own').is_displayed()
        page.click(f'[aria-label="Try option {option}"]').settle()
        assert page.all("#trial") == [], "a second time, back to the case"


def test_used_features_come_first(page: Page) -> None:
    page.open()
    used = list(dict.fromkeys(name for option in page.options() for name in option))
    rows = [each.get_attribute("data-name") for each in page.all("#case .features > .feature")]
    assert rows[: len(used)] == used
    page.lock(used[0])
    new = {name for option in page.options() for name in option} - set(used)
    rows = [each.get_attribute("data-name") for each in page.all("#case .features > .feature")]
    assert new <= set(rows), "those that are used later are not folded"
    assert rows[: len(used)] == used, "nothing leaves its place"


def test_a_card_says_its_content_once(page: Page) -> None:
    page.open().settle(with_nearby=True)
    for card in page.all("#options ol > .option"):
        text = card.text
        value = card.find_element("css selector", "h3").text.split(" to ")[-1]
        assert text.count(value) == 1
        assert re.search(r"\d+% → \d+%", text)
        assert re.search(r"\d+ of 20 people alike are offered it too", text)
        assert "kept by" not in text
    probabilities = [
        [int(each) for each in re.findall(r"(\d+)%", item.text)[:2]]
        for item in page.all(".option .chance")
    ]
    assert all(now < 50 <= then for now, then in probabilities)
    assert len(page.all(".option .bar .needed")) == 5


def test_an_option_is_set_aside_and_another_one_is_asked_for(page: Page) -> None:
    page.open()
    before = page.options()
    page.click('[aria-label="Not option 2"]').settle()
    after = page.options()
    assert len(after) == 5
    assert before[1] not in after
    assert before[0] in after
    assert "Set aside:" in page.text(".aside")
    type_into(page, "credit_amount", "6290")
    kinds = [sorted(option) for option in page.options()]
    assert sorted(before[1]) not in kinds or len(before[1]) == 1, "nor after an edit"
    page.click("#bring-back").settle()
    assert page.all(".aside") == []
    type_into(page, "credit_amount", "6289")
    assert page.options() == before


def test_the_page_says_when_no_other_option_is_left(page: Page) -> None:
    page.open()
    Select(page.one("#count")).select_by_visible_text("10")
    page.settle()
    for _ in range(10):
        if page.all(".short-of"):
            break
        page.click(".option .reject").settle()
    assert page.all(".short-of")
    page.wait(lambda: "Looking for" not in page.text(".short-of"))
    shown = len(page.options())
    assert f"10 were asked for, and {shown}" in page.text(".short-of")


def test_the_sheet_has_the_kept_options_under_the_numbers_of_the_page(
    page: Page, tmp_path: Path
) -> None:
    page.open()
    for rank in (2, 4):
        page.click(f'[aria-label="Keep option {rank}"]').settle()
    kept = [each.text for each in page.all(".kept h3 > span:last-child")]
    others = [each.text for each in page.all("#options ol h3 > span:last-child")]
    numbers = [each.text for each in page.all(".kept .mark")]
    assert numbers == ["2", "4"]
    assert page.text("#report") == "Take home (2 kept)"
    sheet = saved(page, tmp_path, "options-986.html")
    assert "counterset-record" in sheet
    page.driver.get((tmp_path / "options-986.html").as_uri())
    shown = page.one("body").text
    assert "Case: 986" in shown
    for rank, sentence in zip(numbers, kept, strict=True):
        assert f"{rank}. {sentence}" in shown
    assert f"1. {others[0]}" not in shown
    page.asked()


def test_reasons_are_shown_when_somebody_asks(page: Page) -> None:
    page.open()
    page.asked()
    page.click("#why").settle()
    assert len(page.all(".reasons li")) >= 1
    assert page.text(".reasons p")
    page.click("#why").settle()
    assert page.all(".reasons") == []


# People almost alike


def test_people_alike_lead_the_page(page: Page) -> None:
    for width, height in ((1280, 800), (768, 1024), (390, 800)):
        with screen(page, width, height):
            page.open().settle(with_nearby=True)
            assert re.match(
                r"\d+ of 20 people almost like this one find their best option on this list\.",
                page.text(".lead"),
            )
            for selector in (".lead", "#strip-nearest button:last-child", "#strip-shared .cells"):
                bottom = page.script(
                    "return document.querySelector(arguments[0]).getBoundingClientRect().bottom",
                    selector,
                )
                assert bottom < height, (width, selector)


def test_one_of_them_is_compared_side_by_side(page: Page) -> None:
    page.open().settle(with_nearby=True)
    page.click("#strip-nearest button:nth-child(3)")
    assert page.text("#person h3") == "Person 3 of 20, beside Case 986"
    assert focused(page) == "person-heading"
    rows = page.all("#person tbody tr")
    assert rows
    for row in rows:
        _, own, other = (each.text for each in row.find_elements("css selector", "th, td"))
        assert own != other
    case, person = (each.text for each in page.all("#person .beside ol"))
    assert "Change" in case or "Reduce" in case or "Raise" in case
    is_offered = page.one("#strip-nearest button:nth-child(3)").text == "✓"
    best = page.one("#person .beside div:last-child li:first-child .mark").text
    assert is_offered == (best != NOT_LISTED)
    assert person
    ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    assert page.all("#person") == []
    label = page.script("return document.activeElement.getAttribute('aria-label')")
    assert label.startswith("Person 3:")
    ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
    label = page.script("return document.activeElement.getAttribute('aria-label')")
    assert label.startswith("Person 4:")


def test_the_share_counts_the_list_that_is_shown(page: Page) -> None:
    page.open().settle(with_nearby=True)
    page.click('[aria-label="Not option 1"]').settle(with_nearby=True)
    count = len(page.all("#strip-nearest button.with"))
    assert page.text(".lead strong") == f"{count} of 20"
    # Those whose best option is the one that is set aside do not find it any more.
    page.click("#strip-nearest button.without")
    assert page.one("#person .beside div:last-child li:first-child .mark").text == NOT_LISTED


def test_an_edit_drops_the_questions_about_people(page: Page) -> None:
    page.open().settle(with_nearby=True)
    page.script(
        "window.begun = window.dropped = 0; const ask = window.fetch;"
        "window.fetch = (path, how) => { if (path.endsWith('nearby')) { begun += 1;"
        "how.signal.addEventListener('abort', () => { dropped += 1; }); } return ask(path, how); }"
    )
    command = "Network.emulateNetworkConditions"
    page.driver.execute_cdp_cmd(command, OFFLINE | {"offline": False, "latency": 5000})
    page.click("#others")
    page.wait(lambda: page.script("return begun === 1"))
    page.click('[data-name="duration"] .lock input')
    page.wait(lambda: page.script("return dropped === 1"))
    page.driver.execute_cdp_cmd(command, OFFLINE | {"offline": False})
    page.settle(with_nearby=True)
    assert page.all("#alike .old") == []


# Screens, paper, hands and scripts


@pytest.mark.parametrize("width", [320, 390, 640, 701, 745, 768, 789, 850, 900, 1024, 1151, 1280])
def test_nothing_stands_out_of_the_page(page: Page, width: int) -> None:
    with screen(page, width):
        page.open().settle(with_nearby=True)
        page.click(".option .try").settle()
        page.click("#strip-nearest button")
        for picture in ("map", "menu", "changes"):
            page.click(f"#picture-{picture}").settle()
            page.script("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
            assert page.script("return document.documentElement.scrollWidth") <= width
        page.click("#form-hard")
        assert page.script("return document.documentElement.scrollWidth") <= width


def test_no_select_cuts_its_text_off(page: Page) -> None:
    script = """
        const pen = document.createElement("canvas").getContext("2d");
        return [...document.querySelectorAll("select")].filter((each) => {
            const style = getComputedStyle(each);
            pen.font = `${style.fontSize} ${style.fontFamily}`;
            const room = each.clientWidth - parseFloat(style.paddingLeft) - 18;
            const text = each.selectedOptions[0].text;
            return each.offsetParent && pen.measureText(text).width > room;
        }).map((each) => each.id || each.ariaLabel);
    """
    for width in (390, 768, 1280):
        with screen(page, width):
            page.open()
            page.script("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
            assert page.script(script) == [], width


def test_at_200_percent_the_badge_and_the_people_are_on_the_first_screen(page: Page) -> None:
    with screen(page, 640, 450, scale=2):
        page.open().settle(with_nearby=True)
        for selector in ("#decision", ".lead", "#strip-nearest .cells"):
            bottom = page.script(
                "return document.querySelector(arguments[0]).getBoundingClientRect().bottom",
                selector,
            )
            assert bottom < 450, selector
        assert page.axe() == []


def test_the_focus_is_never_lost(page: Page) -> None:
    page.open().settle(with_nearby=True)
    steps = [
        ("#try", "take"), ("#back", "try"), ("#try", "take"), ("#take", "try"),
        (".option .keep", "button"), ('[aria-label="Drop kept option 1"]', "h2"),
        (".option .reject", "h2"), ("#bring-back", "h2"),
        ("#strip-nearest button", "person-heading"), ("#close-person", "button"),
        ("#undo", "undo"),
    ]  # fmt: skip
    for selector, then in steps:
        page.one(selector).send_keys(Keys.ENTER)
        page.settle(with_nearby=True)
        assert focused(page) == then, selector


def test_the_first_tab_skips_to_the_options(page: Page) -> None:
    page.open()
    page.script("document.activeElement.blur()")
    before = page.script("return location.hash")
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert focused(page) == "skip"
    ActionChains(page.driver).send_keys(Keys.ENTER).perform()
    assert page.script("return document.activeElement.closest('section').id") == "options"
    assert page.script("return location.hash") == before
    ActionChains(page.driver).send_keys(Keys.TAB).perform()
    assert page.script("return document.activeElement.closest('section').id") == "options"


def test_on_paper_all_cells_are_there(page: Page) -> None:
    page.open().settle(with_nearby=True)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    with screen(page, 720):
        cells = page.script(
            "return [...document.querySelectorAll('#alike .cells > *, #shake .cells > *')]"
            ".map((each) => [each.textContent, each.getBoundingClientRect().right,"
            " getComputedStyle(each).printColorAdjust])"
        )
        assert len(cells) == 2 * 20 + 2 * 5 * 20
        assert {text for text, _, _ in cells} <= {"✓", LOST}
        assert {adjust for _, _, adjust in cells} == {"exact"}
        assert max(right for _, right, _ in cells) <= 720
        assert (
            page.script("return getComputedStyle(document.getElementById('header')).position")
            == "static"
        )
        hidden = page.script(
            "return [...document.querySelectorAll('.option .try')]"
            ".filter((each) => each.offsetParent).length"
        )
        assert hidden == 0
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_names_from_right_to_left_do_not_turn_the_arrow_round(visitor: Any) -> None:
    income, town, far = "الدخل", "المدينة", "القاهرة"
    random = np.random.default_rng(0)
    X = pd.DataFrame({
        income: random.integers(1, 100, 200), town: random.choice([far, "Łódź", "חיפה"], 200)
    })  # fmt: skip

    def classify(rows: pd.DataFrame) -> Any:
        return np.where(rows[income] + 20 * (rows[town] == far) > 60, "مقبول", "مرفوض")

    explainer = DiverseExplainer(classify, schema=Schema(units={income: "جنيه"})).fit(X)
    with serving(Served("toy", explainer, X, goal={"target": "مقبول"})) as found:
        page = Page(visitor, found).open().settle(with_nearby=True)
        # What stands before an arrow is to its left, and what stands behind it to its right.
        turned = page.script("""
            const wrong = [];
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            const box = (node, from, to) => {
                const range = document.createRange();
                range.setStart(node, from); range.setEnd(node, to);
                return range.getBoundingClientRect();
            };
            while (walker.nextNode()) {
                const node = walker.currentNode;
                const at = node.data.indexOf("→");
                const cell = node.parentElement;
                if (at < 0 || !cell.offsetParent) continue;
                const arrow = box(node, at, at + 1);
                const before = node.previousSibling, after = node.nextSibling;
                for (const [each, side] of [[before, -1], [after, 1]]) {
                    if (!each || each.nodeType !== 1) continue;
                    const other = each.getBoundingClientRect();
                    if (other.top > arrow.bottom || other.bottom < arrow.top) continue;
                    if (side * (other.left - arrow.left) < 0) wrong.push(cell.textContent);
                }
            }
            return wrong;
        """)
        assert turned == []
        page.click(".option .try").settle()
        page.click("#picture-menu").settle()
        page.click("#strip-nearest button")
        assert page.script("return document.documentElement.scrollWidth <= innerWidth")
        assert page.axe() == []
        assert page.faults() == []


def test_a_phone_shows_a_person_and_the_form(phone: Page) -> None:
    phone.open().settle(with_nearby=True)
    phone.click("#strip-nearest button:nth-child(20)")
    assert phone.text("#person h3").startswith("Person 20 of 20")
    phone.click("#form-hard")
    assert phone.script("return document.documentElement.scrollWidth") <= PHONE["width"]
    assert phone.axe() == []


def test_ranges_and_margins_are_shown(visitor: Any) -> None:
    explainer = DiverseExplainer(approve, margin=0.05).fit(TRAINING)
    cases = TRAINING[approve(TRAINING) != "approved"].iloc[[0]]
    (found,) = explainer.explain_many(cases, target="approved", if_none="ignore")
    with serving(Served("loans", explainer, cases, goal={"target": "approved"})) as address:
        page = Page(visitor, address).open().settle(with_nearby=True)
        before = [each.text for each in page.all("#options .option")]
        assert len(before) == len(found)
        rooms = re.findall(r"Option \d still leads to [^.]*\.", found.describe(width=None))
        assert rooms
        assert all(any(room in text for text in before) for room in rooms)
        page.click("#ranges").settle()
        assert page.one("#ranges").get_attribute("aria-pressed") == "true"
        after = [each.text for each in page.all("#options .option")]
        told = explainer.with_ranges(found)
        for option, text in zip(told.options, after, strict=True):
            assert option.sentence in text
        assert any(option.ranges for option in told.options)
        page.click("#undo").settle(with_nearby=True)
        assert [each.text for each in page.all("#options .option")] == before
        assert page.axe() == []


def test_an_option_against_the_usual_direction_says_so(visitor: Any) -> None:
    data = datasets.load("diabetes")
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(data.X, data.y)
    explainer = DiverseExplainer(model, schema=data.schema).fit(data.X)
    ill = data.X[model.predict(data.X) == 1]
    found = explainer.explain_many(ill, target=0, if_none="ignore")
    unusual = [i for i, each in enumerate(found) if any(each.unusual for each in each.options)]
    cases = ill.iloc[[unusual[0]]]
    with serving(Served("diabetes", explainer, cases, goal={"target": 0})) as address:
        page = Page(visitor, address).open()
        shown = [each.text for each in page.all("#options .option")]
    options = found[unusual[0]].options
    assert len(shown) == len(options)
    for option, text in zip(options, shown, strict=True):
        assert ("unusual for this model" in text) == bool(option.unusual)
        assert option.unusual_text is None or option.unusual_text in text
