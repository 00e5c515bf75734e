"""The report of one explanation."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.displays import mixed, wide

from counterset import DiverseExplainer, ExhaustiveExplainer, InvalidInputError, evaluate
from counterset.exact import Points
from counterset.report.page import read_record, seal_holds


def visible(page: str) -> str:
    """Return the text of a page that people see."""
    body = page[page.index("<body>") : page.index("<script")]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def test_it_holds_the_words_the_table_and_how_it_was_made(tmp_path: Path) -> None:
    explanation, explainer = mixed()
    page = explanation.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    text = visible(page)
    told = " ".join(explanation.describe(width=None).split())
    for line in explanation.describe(width=None).splitlines():
        assert all(part in text for part in filter(None, line.split(" (")[0].split(". "))), told
    for part in ("Reasons", "What is certain", "constraints immutable", "counterset verify"):
        assert part in text
    training = explainer.training_.summary.value
    assert training.hash in text
    assert seal_holds(page)


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
    assert page.count("<td") == page.count("</td>")
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
    assert "All options side by side" not in text


def test_wide_tables_are_cut_and_their_options_folded() -> None:
    page = wide()[0].to_html()
    assert page.count("<details>") == len(wide()[0])
    assert "30 more features change" in visible(page)
    assert "47 more features change" in visible(page)


def test_of_many_options_the_nearest_are_shown_and_all_are_recorded() -> None:
    X = np.random.default_rng(0).random((200, 3))
    exhaustive = ExhaustiveExplainer(lambda rows: rows.sum(axis=1) > 1.6, 0.2, "l1", Points(X))
    explanation = exhaustive.explain(X[0])
    assert len(explanation) > 7
    page = explanation.to_html()
    assert f"The 7 nearest of {len(explanation)} options are shown" in visible(page)
    assert page.count('scope="col"') == 8
    record = read_record(page, "It")["explanation"]
    assert len(record["options"]) == len(explanation)


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
    assert "asked for True with a probability of at least 75%" in text


def test_a_regression_tells_its_interval() -> None:
    X: Any = mixed()[0].coded.table.decode(mixed()[1].training_.pool.matrix)
    X = X[["score", "age"]]
    explainer = DiverseExplainer(
        lambda rows: rows["score"] + rows["age"] / 7, max_counterfactuals=1
    )
    explanation = explainer.fit(X).explain(X.iloc[0], interval=(700, 900))
    text = visible(explanation.to_html())
    assert "is predicted to be" in text
    assert "asked for between 700 and 900" in text


def test_an_explanation_without_its_model_cannot_be_reported() -> None:
    import pickle

    explanation, explainer = mixed()
    again = pickle.loads(pickle.dumps(explanation))
    with pytest.raises(InvalidInputError, match="with_model"):
        again.to_html()
    assert read_record(again.with_model(explainer.model).to_html(), "It")["kind"] == "explanation"
