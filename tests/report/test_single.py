"""The report of one explanation."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.displays import approve, mixed, wide
from support.page_text import lines_of

from counterset import (
    Constraints,
    DiverseExplainer,
    ExhaustiveExplainer,
    Explanation,
    InvalidInputError,
    Schema,
    evaluate,
)
from counterset.exact import Points
from counterset.report.page import read_record, seal_holds
from counterset.words import Description


def visible(page: str) -> str:
    """Return the text of a page that people see."""
    return " ".join(lines_of(page))


@cache
def nine_options() -> Explanation:
    """More options than a report shows."""
    X = np.random.default_rng(0).random((200, 3))
    exhaustive = ExhaustiveExplainer(lambda rows: rows.sum(axis=1) > 1.6, 0.2, "l1", Points(X))
    explanation = exhaustive.explain(X[0]).nearest(9)
    assert len(explanation) == 9
    return explanation


def test_it_says_reasons_options_what_stays_what_is_certain_and_how_it_was_made(
    tmp_path: Path,
) -> None:
    explanation, explainer = mixed()
    page = explanation.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    text = visible(page)
    parts = (
        "Main reasons", "Options", "What stays as it is", "What is proved, checked or measured",
        "Technical part", "How to check this report",
    )  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "The age may not change." in text
    assert explainer.training_.summary.value.hash in text
    assert "counterset verify" in text
    assert seal_holds(page)


def test_one_headline_says_the_decision_and_how_many_options_there_are() -> None:
    page = mixed()[0].to_html(outcomes={"no": "declined", "yes": "approved"})
    (headline,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert headline == (
        f"Input {mixed()[0].index} is classified as declined. 4 options lead to approved."
    )
    assert visible(page).count("is classified as declined") == 1
    assert f"<title>{headline}</title>" in page


def test_the_applicants_part_has_no_hashes_and_nothing_of_the_library() -> None:
    page = mixed()[0].with_model(mixed()[1].model).to_html()
    before = visible(page[: page.index("Technical part")] + "<script")
    assert not re.search(r"[0-9a-f]{16}|[{}\[\]_]|max_|None|Nearest\(", before)


def test_the_technical_part_begins_a_page_of_paper() -> None:
    page = mixed()[0].to_html()
    assert page.count('<section class="new-page">') == 1
    assert re.search(r'<section class="new-page">\s*<h2>Technical part', page)


def test_details_stand_in_the_head(tmp_path: Path) -> None:
    details = {
        "institution": "Example Bank", "address": "1 Main Street\nTown", "date": "1 May 2027",
        "case": 4711, "contact": "Jane Doe <jane@example.org>", "deadline": "1 June 2027",
        "signature": "not of a report",
    }  # fmt: skip
    page = mixed()[0].to_html(details=details)
    head = [line.strip("\u2068\u2069") for line in lines_of(page[: page.index("<h1>")] + "<script")]
    assert head == [
        "Example Bank", "1 Main Street", "Town", "Date: 1 May 2027", "Case: 4711",
        "Contact: Jane Doe <jane@example.org>", "Deadline for a review: 1 June 2027",
    ]  # fmt: skip
    assert "not of a report" not in page
    file = tmp_path / "details.json"
    file.write_text(json.dumps(details), encoding="utf-8")
    assert mixed()[0].to_html(details=file) == page
    assert "<header>" not in mixed()[0].to_html()
    with pytest.raises(InvalidInputError, match="no detail 'bank'"):
        mixed()[0].to_html(details={"bank": "Example"})


def test_chosen_options_keep_their_numbers() -> None:
    explanation = mixed()[0]
    page = explanation.to_html(options=[4, 2])
    described = Description.of(explanation).options
    lines = lines_of(page)
    assert [line for line in lines if line in {each[0] for each in described}] == [
        described[1][0], described[3][0],
    ]  # fmt: skip
    assert any(line.startswith("Options 2 and 4 of 4 are shown") for line in lines)
    assert "4 options lead to" in lines[0]
    record = read_record(page, "It")["explanation"]
    assert len(record["options"]) == 4
    drawn = re.findall(r"<text[^>]*>(\d+)</text>", page)
    assert set(drawn) <= {"2", "4"}
    assert len(drawn) > 0


def test_only_options_that_are_shown_are_called_unusual() -> None:
    explanation = mixed()[0]
    unusual = explanation.changed & (np.arange(len(explanation)) >= 2)[:, None]
    explanation = replace(explanation, _unusual=unusual)
    text = visible(explanation.to_html(options=[1, 4]))
    assert "Option 4 is unusual for this model" in text
    assert "Options 3" not in text
    assert "The nearest first, but unusual ones last; what is not named" in text
    assert "are unusual" not in visible(explanation.to_html(options=[1, 2]))


def test_one_chosen_option_is_told_as_one() -> None:
    text = visible(mixed()[0].to_html(options=(3,)))
    assert "Option 3 of 4 is shown, under the number that it has among all." in text
    assert "One option; what is not named stays as it is:" in text
    assert mixed()[0].to_html(options=range(1, 5)) == mixed()[0].to_html()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([5], "There is no option 5. There are from 1 to 4."),
        ([0], "There is no option 0"),
        ([True], "There is no option True"),
        ([1.0], "There is no option 1.0"),
        ([], "options is empty"),
        ("12", "options takes the numbers of the options"),
        (1, "options takes the numbers of the options"),
    ],
)
def test_options_that_are_not_there_are_refused(options: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        mixed()[0].to_html(options=options)


def test_headings_are_in_order() -> None:
    levels = [int(level) for level in re.findall(r"<h(\d)", mixed()[0].to_html())]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}


def test_values_with_html_in_them_are_escaped() -> None:
    explanation, _ = mixed()
    page = explanation.to_html(outcomes={"yes": "<script>yes</script>"})
    assert "&lt;script&gt;yes" in page
    assert "<script>yes" not in page


def test_names_of_columns_cannot_become_html() -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((100, 2)), columns=["<img src=a>", "a&b"])
    X["<i>"] = np.where(X["a&b"] > 0.5, "<u>x", "</td>")

    def model(rows: pd.DataFrame) -> Any:
        known = rows["<i>"] == "<u>x"
        return np.where(rows["<img src=a>"] + known > 1.2, "<s>", "</main>")

    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
    page = explainer.explain(X[model(X) == "</main>"].iloc[0]).to_html()
    assert not re.search(r"<(img|i|u|s)\b[^v>]*>", page)
    assert page.count("</main>") == 1
    assert "&lt;" in page


def test_it_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" in mixed()[0].to_html()


def test_the_same_explanation_gives_the_same_file() -> None:
    assert mixed()[0].to_html() == mixed()[0].to_html()


def test_stability_is_told_if_it_is_given() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    stability = evaluate(explainer, row, repeats=2)
    assert "of 2 slightly different inputs" in explanation.to_html(stability=stability)


def test_an_explanation_without_options_says_so() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    (empty,) = explainer.explain_many(row, target="no", skip=True)
    text = visible(empty.to_html())
    assert "This is already the result that was asked for." in text
    assert "What stays as it is" in text
    assert "These could change" not in text
    with pytest.raises(InvalidInputError, match="this explanation has no option"):
        empty.to_html(options=[1])


def test_nothing_is_folded_and_all_changes_are_there() -> None:
    page = wide()[0].to_html()
    assert "<details" not in page
    assert page.count("<li>reduce ") + page.count("<li>raise ") == wide()[0].changed.sum()


def test_of_many_options_the_nearest_are_shown_and_all_are_recorded() -> None:
    explanation = nine_options()
    page = explanation.to_html()
    text = visible(page)
    assert "9 options lead to True." in text
    assert "The first 7 of 9 options are shown." in text
    items = page[page.index('<ul class="options">') :]
    assert len(re.findall(r"<li><p>\d+\. ", items)) == 7
    assert len(read_record(page, "It")["explanation"]["options"]) == 9
    assert "Option 9 of 9 is shown" in visible(explanation.to_html(options=[9]))


def test_a_cross_is_explained_where_there_is_one() -> None:
    told = "A cross is a value that is missing or special."
    assert told in visible(mixed()[0].to_html())
    assert told not in visible(wide()[0].to_html())


def test_a_pattern_of_a_unit_is_filled_in() -> None:
    rates = pd.DataFrame({"rate": [12.0, 3.5, 20.0, 7.0] * 5, "age": list(range(20, 40))})
    explainer = DiverseExplainer(
        lambda rows: rows["rate"] < 10,
        schema=Schema(units={"rate": "{}%"}),
        constraints=Constraints(immutable=["age"]),
        max_counterfactuals=1,
    ).fit(rates)
    page = explainer.explain(rates.iloc[0]).to_html()
    assert "from 12% to " in visible(page)
    assert "<span>3.5%</span><span>20%</span>" in page, "the drawing has it too"
    # The record keeps the pattern; the page does not show it, as it used to.
    assert "{}" not in visible(page)


def test_costs_are_told_in_words() -> None:
    X: Any = mixed()[0].coded.table.decode(mixed()[1].training_.pool.matrix)
    costs = {"score": 2.5, "home": 10}
    explainer = DiverseExplainer(approve, max_counterfactuals=1, costs=costs).fit(X)
    text = visible(explainer.explain(X[approve(X) == "no"].iloc[0]).to_html())
    assert "A change of the score counts 2.5 times. A change of the home counts 10 times." in text
    assert "costs" not in text.replace("cost more to change", "")


def test_a_translated_report_has_no_english_sentence(tmp_path: Path) -> None:
    english = resources.files("counterset.words").joinpath("english.toml").read_text("utf-8")
    texts = re.compile(r'^(\w+ = )(".*")$', re.MULTILINE)
    words = re.compile(r"(?:\{\w+\})|([^{}]+)")

    def capitals(text: str) -> str:
        return words.sub(lambda part: part[1].upper() if part[1] else part[0], text)

    path = tmp_path / "capitals.toml"
    path.write_text(texts.sub(lambda line: line[1] + capitals(line[2]), english), encoding="utf-8")
    page = mixed()[0].to_html(templates=path, details={"case": "1"})
    assert '<html lang="EN">' in page
    text = visible(page).replace("--model", "")
    small = set(re.findall(r"\b(?:the|from|to|option|options|model|is|instead)\b", text))
    assert small == set()


def test_certified_options_keep_their_certificates() -> None:
    X = np.random.default_rng(0).random((200, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    explanation = explainer.certify(explainer.explain(X[0]), epsilon=0.5)
    one = explanation.nearest(1)
    assert one.certificate is not None
    assert explanation.certificate is not None
    assert explanation.certificate.safety is not None
    assert one.certificate.safety == explanation.certificate.safety[:1]
    assert "Proved: no option is nearer than" in visible(explanation.to_html())


def test_a_least_probability_is_told() -> None:
    X = np.random.default_rng(0).random((200, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
    low = X[X.sum(axis=1) < 0.6][0]
    explanation = explainer.explain(low, target=True, target_probability=0.75)
    text = visible(explanation.to_html())
    assert "Asked for: True with a probability of at least 75%." in text


def test_a_regression_tells_its_interval() -> None:
    X: Any = mixed()[0].coded.table.decode(mixed()[1].training_.pool.matrix)
    X = X[["score", "age"]]
    explainer = DiverseExplainer(
        lambda rows: rows["score"] + rows["age"] / 7, max_counterfactuals=1
    )
    explanation = explainer.fit(X).explain(X.iloc[0], interval=(700, 900))
    text = visible(explanation.to_html())
    assert "is predicted to be" in text
    assert "Asked for: a prediction between 700 and 900." in text


def test_an_explanation_without_its_model_cannot_be_reported() -> None:
    import pickle

    explanation, explainer = mixed()
    again = pickle.loads(pickle.dumps(explanation))
    with pytest.raises(InvalidInputError, match="with_model"):
        again.to_html()
    assert read_record(again.with_model(explainer.model).to_html(), "It")["kind"] == "explanation"
