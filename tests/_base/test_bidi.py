"""Texts that run from right to left turn nothing round."""

from __future__ import annotations

import re
from importlib.resources import files

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.settings import explainer_by_steps

from counterset import Constraints, Explanation
from counterset._base.bidi import isolated, to_html

INCOME, HOME, OWN, RENT = "הכנסה", "السكن", "ملك خاص", "إيجار"


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    frame = pd.DataFrame({INCOME: [1.0, 2.0, 3.0, 4.0] * 5, HOME: [RENT, OWN] * 10, "n": range(20)})
    explainer = explainer_by_steps(
        lambda rows: [
            "כן" if income + (home == OWN) > 2 else "לא"
            for income, home in zip(rows[INCOME], rows[HOME], strict=True)
        ],
        max_counterfactuals=2,
        diversity=None,
        constraints=Constraints(immutable=["n"]),
    ).fit(frame)
    return explainer.explain(frame.iloc[0])


@given(st.text())
def test_a_text_stays_as_it_is_but_for_the_signs_around_it(text: str) -> None:
    assert re.sub("[\u2066-\u2069]", "", isolated(text)) == re.sub("[\u2066-\u2069]", "", text)


@given(st.text(alphabet="a<&אب1\u2066\u2068\u2069 "))
def test_tags_are_closed_whatever_signs_a_text_has(text: str) -> None:
    for made in (to_html(text), to_html(f"from {isolated(text)} to {isolated(text)}")):
        assert re.sub(r"<bdi>[^<]*</bdi>", "", made).count("<") == 0


def unmarked(page: str) -> str:
    """Return what a page shows outside of bdi, without its record, attributes and drawings.

    A title can hold no bdi: signs isolate what stands in it.
    """
    page = page.split('<script type="application/json"', maxsplit=1)[0]
    title = re.search(r"<title>.*?</title>", page, flags=re.DOTALL)
    if title:
        page = page.replace(title[0], re.sub("\u2068[^\u2069]*\u2069", "", title[0]))
    page = re.sub(r"<svg.*?</svg>|<bdi>[^<]*</bdi>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", page)


def test_names_and_values_are_isolated_in_every_page(explanation: Explanation) -> None:
    for page in (
        explanation.to_html(),
        explanation.letter(format="html"),
        explanation.letter("reviewer", format="html"),
        explanation._repr_html_(),
    ):
        assert f"<bdi>{INCOME}</bdi>" in page or f"<bdi>{HOME}</bdi>" in page
        # What makes an explanation is told as code: settings, and the constraints.
        rest = unmarked(page).split("constraints")[0]
        assert not re.search("[\u0590-\u06ff]", rest), re.findall(".*[\u0590-\u06ff].*", rest)


def test_no_drawing_of_a_report_has_an_arrow_that_could_turn_round(
    explanation: Explanation,
) -> None:
    page = explanation.to_html()
    assert "</svg>" in page
    assert not [each for each in re.findall(r"<text[^>]*>[^<]*", page) if "→" in each]


def test_sentences_isolate_names_and_values(explanation: Explanation) -> None:
    told = explanation.describe(width=None)
    assert f"the \u2068{HOME}\u2069 from \u2068{RENT}\u2069 to \u2068{OWN}\u2069" in told


def test_the_page_puts_no_name_or_value_beside_an_arrow_without_isolating_it() -> None:
    scripts = files("counterset.serve").joinpath("static").iterdir()
    for script in scripts:
        if script.name.endswith(".js"):
            text = script.read_text(encoding="utf-8")
            assert not re.search(r"\.(label|before_text|after_text)\}[^`]*[→↑↓]", text), script.name
            assert not re.search(r"[(,] (each|change)\.(label|before_text|after_text)[,)]", text), (
                script.name
            )
