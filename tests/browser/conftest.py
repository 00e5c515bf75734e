"""A headless browser, and the pages that it opens."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.displays import mixed, wide

from counterset import Constraints, DiverseExplainer, datasets, evaluate
from counterset.cli.demo import OUTCOMES, load_credit
from counterset.serve.served import Served

from .explorer_page import Page, serving

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1000,1400",
)  # fmt: skip

DETAILS = {
    "institution": "Example Bank", "address": "1 Main Street\n12345 Example Town",
    "date": "18 November 2026", "case": "4711",
    "contact": "Jane Doe, +49 30 123456, review@example.org",
}  # fmt: skip


PHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}


def start_browser(profile: Path) -> Any:
    """Start a Chromium whose files stand in a folder, and that logs what it asks for."""
    options = ChromeOptions()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(_program("chromedriver")))
    driver.execute_cdp_cmd("Network.enable", {})
    return driver


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a network."""
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium that reaches servers."""
    driver = start_browser(tmp_path_factory.mktemp("visitor"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The bundled loan applications, served."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        credit = load_credit()
        served = Served(
            "german_credit",
            credit.explainer,
            cases=credit.X_test,
            goal={"target": "good"},
            outcomes=OUTCOMES,
        )
        with serving(served) as found:
            yield found


@pytest.fixture
def page(visitor: Any, address: str) -> Iterator[Page]:
    """The page of the loan applications; there is no complaint on the console at the end."""
    made = Page(visitor, address)
    made.faults(), made.asked()
    yield made
    assert made.faults() == []
    assert [
        each for each in made.asked() if not each.startswith((address, "about:", "blob:"))
    ] == []


@pytest.fixture
def phone(page: Page) -> Iterator[Page]:
    """The same page at the size of a phone."""
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    yield page
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _program(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail(f"{names[0]} is not installed; on Debian: apt-get install chromium-driver")
    return found


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of every kind: the German credit data, 5 and 50 features, no option, many inputs."""
    folder = tmp_path_factory.mktemp("reports")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _write(folder)
    return {file.stem: file for file in sorted(folder.glob("*.html"))}


def _write(folder: Path) -> None:
    credit = datasets.load("german_credit")
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="category")), remainder="passthrough"
    )
    model = make_pipeline(encode, GradientBoostingClassifier(random_state=0))
    model.fit(credit.X, credit.y)
    limits = Constraints(immutable=["age", "personal_status"])
    explainer = DiverseExplainer(model, schema=credit.schema, constraints=limits).fit(credit.X)
    declined = credit.X[model.predict(credit.X) == "bad"]
    explanation = explainer.explain(declined.iloc[0], target="good")
    stability = evaluate(explainer, declined.iloc[:3], repeats=2)
    explanation.to_html(folder / "credit.html", stability=stability, details=DETAILS)
    mixed()[0].to_html(folder / "mixed.html", options=[2, 4])
    _arabic(folder)
    wide()[0].to_html(folder / "wide.html")
    tight = Constraints(immutable=[name for name in credit.X if name != "credit_amount"])
    many = explainer.explain_many(declined.iloc[:60], constraints=tight, if_none="warn")
    many.to_html(folder / "many.html", groups="personal_status", stability=stability)
    free = explainer.explain_many(declined, target="good", if_none="warn")
    named: Any = {"title": "Declined loans", "author": "Jane Doe", "date": "18 November 2026"}
    free.to_html(folder / "annex.html", groups="age", annex=True, **named)
    row = mixed()[0]._table.decode(mixed()[0]._input[None, :])
    (nothing,) = mixed()[1].explain_many(row, target="no", skip=True)
    nothing.to_html(folder / "nothing.html")
    _sixty(folder)


def _arabic(folder: Path) -> None:
    """Names and values from right to left, and a name as long as those of forms."""
    rng = np.random.default_rng(8)
    long = "the_answer_to_the_question_whether_anybody_else_in_the_household_has_an_income"
    X = pd.DataFrame({
        "الدخل الشهري": rng.gamma(4, 900, 300).round(2),
        "المدينة": rng.choice(["القاهرة", "Łódź", "Kraków"], 300),
        long: rng.integers(0, 9, 300),
    })  # fmt: skip

    def classify(rows: pd.DataFrame) -> Any:
        town = (rows["المدينة"] == "القاهرة") * 0.5
        return np.where(rows["الدخل الشهري"] / 3000 + town + rows[long] / 9 > 1.9, "مقبول", "مرفوض")

    explainer = DiverseExplainer(classify).fit(X)
    declined = X[classify(X) == "مرفوض"]
    details = {"institution": "بنك المثال", "case": "٤٧١١", "contact": "Anna Żółć"}
    explainer.explain(declined.iloc[0]).to_html(folder / "arabic.html", details=details)


def _sixty(folder: Path) -> None:
    """60 features with long names, half of them categories."""
    rng = np.random.default_rng(0)
    held: dict[str, Any] = {}
    for i in range(30):
        held[f"a_measured_quantity_with_number_{i}"] = rng.normal(size=400).round(3)
        held[f"the_kind_of_the_thing_{i}"] = rng.choice(["first kind", "second kind", "other"], 400)
    X = pd.DataFrame(held)
    numbers = X.select_dtypes("number").columns

    def classify(rows: pd.DataFrame) -> Any:
        kinds = (rows.drop(columns=numbers) == "first kind").sum(axis=1)
        return np.where(rows[numbers].sum(axis=1) + kinds > 11, "accepted", "refused")

    explainer = DiverseExplainer.paper(classify).fit(X)
    explainer.explain(X[classify(X) == "refused"].iloc[0]).to_html(folder / "sixty.html")
