"""Letters to applicants and reviewers."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import explainer_by_steps
from support.worded import by_hand

from counterset import Constraints, DiverseExplainer, Explanation, InvalidInputError, Schema
from counterset._base.lazy import Lazy
from counterset.explanations.context import TrainingSummary
from counterset.models.goals import InInterval


class Tree(HTMLParser):
    """Collects the tags and the texts of the body, and fails if a tag is not closed."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "body" in self.open:
            self.texts.append(data)


FRAME = pd.DataFrame(
    {
        "<b>amount": [5951.0, 3200.0, 400.0, 9000.0] * 5,
        "home": ["own & pay", "<rent>", "own & pay", "<rent>"] * 5,
        "age": list(range(20, 40)),
    }
)


DETAILS = {
    "institution": "Example & Bank",
    "address": "12 High Street\n  00000  Anytown",
    "contact": "Ms Lee\n555-0100",
    "date": "18 November 2026",
    "case": 4711,
    "deadline": "18 December 2026",
    "signature": "Jane Lee\nHead of credit",
}


def lend(rows: pd.DataFrame) -> Any:
    return ["<i>good" if amount < 4000 else "<i>bad" for amount in rows["<b>amount"]]


@pytest.fixture
def explanation() -> Explanation:
    explainer = DiverseExplainer(
        lend,
        max_counterfactuals=1,
        constraints=Constraints(immutable=["age"]),
        schema=Schema(units={"<b>amount": "<DM>"}),
    )
    return explainer.fit(FRAME).explain(FRAME.iloc[0])


def test_an_applicant_gets_reasons_options_and_a_contact(explanation: Explanation) -> None:
    letter = explanation.letter(contact="Ms Lee, 555-0100", width=None)
    assert "Its result is '<i>bad'." in letter
    assert "The main reason for this result:\n  <b>amount: 5,951 <DM>" in letter
    assert re.search(
        r"  1\. With <b>amount being [\d,.]+ <DM> instead of 5,951 <DM>\.|"
        r"  1\. With the <b>amount being [\d,.]+ <DM> instead of 5,951 <DM>\.",
        letter,
    )
    assert "promise nothing about a future decision" in letter
    assert "ask for a person to review this decision" in letter
    assert letter.endswith("Ms Lee, 555-0100")
    assert "distance" not in letter
    assert len(letter.splitlines()) < 20


def test_a_contact_that_is_not_given_leaves_a_place(explanation: Explanation) -> None:
    assert "[name, address, telephone and e-mail" in explanation.letter()


def test_a_reviewer_gets_all_figures(explanation: Explanation) -> None:
    letter = explanation.letter("reviewer", width=None)
    for part in (
        "Explanation of input 0, for review",
        "Main reasons",
        "takes away '<i>good' in 100% of the comparisons, standard error 0 percentage points",
        "The age may not change.",
        "(distance ",
        "Checked: the model was asked",
        "- max_counterfactuals: 1",
        "Training data: 20 rows, SHA-256 ",
        "'<i>bad' 10, '<i>good' 10",
        "Model: function, SHA-256",
        "numpy ",
        "is for its reader to judge",
    ):
        assert part in letter, part


@pytest.mark.parametrize("audience", ["applicant", "reviewer"])
def test_html_is_well_formed_escaped_and_without_scripts(
    explanation: Explanation, audience: Any
) -> None:
    shown = explanation.letter(audience, format="html", contact="<script>alert(1)</script>")
    tree = Tree(shown)
    page = {"html", "head", "meta", "title", "style", "body", "main", "header"}
    usual = {"section", "h1", "h2", "p", "ol", "ul", "li", "bdi"}
    assert set(tree.tags) <= page | usual | {"details", "summary"}
    assert ("details" in tree.tags) == (audience == "applicant")
    assert any("<b>amount" in text for text in tree.texts)
    assert shown.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not re.search(r"https?:|url\(|@import", shown)


def test_html_numbers_the_options_once() -> None:
    shown = by_hand([1, 3]).letter("reviewer", format="html")
    assert shown.count("<ol>") == 1
    assert "<li>1. " not in shown
    assert "<li>- " not in shown


@pytest.mark.parametrize("details", [None, DETAILS])
def test_html_says_what_the_text_says(explanation: Explanation, details: Any) -> None:
    text = explanation.letter(width=None, details=details).replace("  1. ", "")
    shown = Tree(explanation.letter(format="html", details=details)).texts
    assert " ".join(" ".join(shown).split()).startswith(" ".join(text.split()))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"audience": "judge"}, "audience must be 'applicant' or 'reviewer', got 'judge'"),
        ({"format": "pdf"}, "format must be 'text' or 'html', got 'pdf'"),
        ({"contact": 5}, "contact must be a text"),
        ({"contact": "a", "details": {"contact": "b"}}, "two contacts: 'b' in details, and .*'a'"),
        ({"details": 5}, "details takes a mapping, or the path of a .toml or .json file, with"),
        ({"details": {"dead_line": "soon"}}, "no detail 'dead_line', .* There are institution, "),
        ({"details": {"case": True}}, "case of details must be a text, got True"),
        ({"details": {"address": ["a", "b"]}}, r"address of details must be a text, got \['a'"),
        ({"details": "no.toml"}, "There is no file no.toml"),
    ],
)
def test_wrong_parameters_are_told(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        by_hand().letter(**parameters)


def test_details_stand_in_the_head_below_the_contact_and_at_the_end() -> None:
    letter = by_hand().letter(details=DETAILS, width=None)
    assert letter.startswith(
        "Example & Bank\n12 High Street\n00000 Anytown\n\n"
        "Date: 18 November 2026\nCase: 4711\n\nAbout the decision on your case\n\n"
    )
    assert letter.endswith(
        "Please contact: Ms Lee, 555-0100\nThe deadline for this is 18 December 2026.\n\n"
        "Jane Lee\nHead of credit"
    )
    assert "[" not in letter


def test_a_reviewer_gets_all_details_above_the_title() -> None:
    letter = by_hand().letter("reviewer", details=DETAILS)
    assert letter.startswith(
        "Example & Bank\n12 High Street\n00000 Anytown\n\nDate: 18 November 2026\nCase: 4711\n"
        "Contact: Ms Lee, 555-0100\nDeadline for a review: 18 December 2026\n\nExplanation of input"
    )
    assert letter.endswith("Jane Lee\nHead of credit")


def test_a_detail_that_is_missing_is_left_out_or_leaves_a_place() -> None:
    blank = {"case": " ", "deadline": "", "signature": None}
    for details in ({}, blank):
        letter = by_hand().letter(details=details)
        assert letter.startswith("[institution]\n\nDate: [date]\n\nAbout the decision")
        assert letter.endswith("e-mail of the person who answers]")
        # Nobody fills in what a reviewer gets.
        assert by_hand().letter("reviewer", details=details).startswith("Explanation of input")
    assert by_hand().letter().startswith("About the decision")


@pytest.mark.parametrize("name", ["letter.toml", "letter.json"])
def test_details_are_read_from_a_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    toml = 'institution = "Bank"\ndate = 2026-11-18\ncase = 4711\n'
    as_json = '{"institution": "Bank", "date": "2026-11-18", "case": "4711"}'
    file.write_text(toml if name.endswith("toml") else as_json, encoding="utf-8")
    details = {"institution": "Bank", "date": "2026-11-18", "case": "4711"}
    expected = by_hand().letter(details=details)
    assert "Date: 2026-11-18\nCase: 4711\n" in expected
    assert by_hand().letter(details=file) == by_hand().letter(details=str(file)) == expected


def test_a_file_with_an_unknown_detail_is_named(tmp_path: Path) -> None:
    (file := tmp_path / "letter.toml").write_text('bank = "Bank"')
    with pytest.raises(InvalidInputError, match=r"no detail 'bank', which .*letter\.toml has"):
        by_hand().letter(details=file)


def test_details_are_escaped_and_isolated_in_html() -> None:
    hebrew = DETAILS | {"institution": "\u05d0\u05d1", "signature": "<script>"}
    shown = by_hand().letter(format="html", details=hebrew)
    lines = ["<bdi>\u05d0\u05d1</bdi>", "12 High Street", "00000 Anytown"]
    assert "<br>\n".join(f"<bdi>{line}</bdi>" for line in lines) in shown
    assert '<p class="signature"><bdi>&lt;script&gt;</bdi></p>' in shown
    assert "script" not in Tree(shown).tags


def test_long_letters_have_smaller_letters_on_paper() -> None:
    assert 'class="dense"' not in by_hand([3]).letter(format="html", details=DETAILS)
    long = by_hand([1, 2, 1, 2])  # each of them has a line for each of its changes
    assert 'class="dense"' in long.letter(format="html", details=DETAILS)


def test_a_letter_without_options_says_so() -> None:
    none = by_hand(rows=[])
    letter = none.letter(width=None)
    assert "No option was found that would have led to 'good'." in letter
    assert "reason" not in letter
    assert "None." in none.letter("reviewer")
    reached = explainer_by_steps(lend, diversity=None).fit(FRAME)
    already = reached.explain_many(FRAME.iloc[[1]], target="<i>good", skip=True)[0]
    assert "already the result that was asked for" in already.letter(width=None)


def test_a_regression_is_predicted_in_letters() -> None:
    regression = by_hand(
        classes=(0.5, 12.41, 175.9),
        label=175.9,
        labels=[12.41],
        goal=InInterval(0, 15),
        model=lambda rows: np.where(rows["duration"] > 30, 175.9, 12.41),
        training=Lazy(lambda: TrainingSummary(4, None, 0.5, 175.9, "0" * 64)),
    )
    letter = regression.letter(width=None)
    assert "It predicts 175.9." in letter
    assert "The result would have been between 0 and 15 with this option" in letter
    review = regression.letter("reviewer", width=None)
    assert (
        "Duration: 48 months (moves the prediction away by 160, standard error 0; typical of a "
        "prediction between 0 and 15: 12 months)"
    ) in review
    assert "The model's predictions for them: 0.5 to 175.9." in review


def test_options_say_what_they_lead_to_where_results_differ() -> None:
    frame = pd.DataFrame({"income": range(100), "debt": [5, 50] * 50})
    classes = np.array(["none", "some", "much"])
    explainer = DiverseExplainer(
        lambda rows: classes[(rows["income"] > 50).astype(int) + (rows["debt"] < 20)],
        max_counterfactuals=2,
    ).fit(frame)
    found = explainer.explain({"income": 60, "debt": 50})  # some
    assert {*found.labels} == {"none", "much"}
    letter = found.letter(width=None, outcomes={"none": "no loan"})
    for option in found.options:
        result = "no loan" if option.label == "none" else "'much'"
        assert re.search(rf"  {option.rank}\. With .* \(classified as {result}\)\.", letter)
    # One result stands above the options.
    assert "classified" not in explainer.explain({"income": 10, "debt": 50}, target="some").letter()


def test_many_changes_are_listed() -> None:
    letter = by_hand([1]).letter(width=None)
    assert "1. With these 10 changes:" in letter
    assert "\n     - the duration being 24 instead of 48 months" in letter
    shown = by_hand([1]).letter(format="html")
    assert "<li>the duration being 24 instead of 48 months</li>" in shown
    Tree(shown)
