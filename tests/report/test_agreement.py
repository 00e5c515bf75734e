"""Letter, report, description and page say the same about one person, word for word."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.displays import LONG, mixed, wide
from support.literal_checker import Column
from support.page_text import lines_of
from support.sentences import Change, Reader

from counterset import Constraints, DiverseExplainer, Explanation, Nearest, Schema
from counterset.evaluation import stability
from counterset.words import Description

INCOME, TOWN = "الدخل الشهري", "miejscowość"


@cache
def arabic() -> tuple[pd.DataFrame, DiverseExplainer]:
    """Names and values in Arabic and Polish, units, and a code."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame({
        INCOME: rng.gamma(4, 900, 300).round(2),
        TOWN: rng.choice(["القاهرة", "Łódź", "Kraków"], 300),
        "months": np.where(rng.random(300) < 0.2, -9, rng.integers(1, 48, 300)),
    })  # fmt: skip

    def model(rows: pd.DataFrame) -> Any:
        score = rows[INCOME] / 3000 + (rows[TOWN] == "القاهرة") * 0.5 - (rows["months"] > 24) * 0.4
        return np.where(score > 1.3, "مقبول", "odrzucony")

    schema = Schema(special={"months": [-9]}, units={INCOME: "EUR", "months": "months"})
    explainer = DiverseExplainer(model, schema=schema, max_counterfactuals=3).fit(X)
    return X[model(X) == "odrzucony"], explainer


@cache
def nine_options() -> Explanation:
    """More options than a report shows."""
    X = np.random.default_rng(0).random((300, 9)).round(3)

    def model(rows: Any) -> Any:
        return rows.sum(axis=1) > 4.5

    explainer = DiverseExplainer.paper(model, max_counterfactuals=9).fit(X)
    explanation = explainer.explain(X[~model(X)][0])
    assert len(explanation) > 7
    return explanation


def of_arabic() -> Explanation:
    rows, explainer = arabic()
    (found,) = explainer.explain_many(rows.iloc[[1]], target="مقبول", if_none="ignore")
    assert len(found)
    return found


def with_missing_value() -> Explanation:
    explanation, _ = mixed()
    assert np.isnan(explanation.coded.input).any()
    return explanation


def with_unusual_options() -> Explanation:
    """The last two options go where it usually does not help."""
    explanation, _ = mixed()
    unusual = explanation.changed & (np.arange(len(explanation)) >= 2)[:, None]
    return replace(explanation, _unusual=unusual)


def with_margin_and_safe_option() -> Explanation:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 100, (400, 4)), columns=list("abcd"))
    model = LogisticRegression(max_iter=1000).fit(X, X.sum(axis=1) + rng.normal(0, 30, 400) > 220)
    explainer = DiverseExplainer(
        model, strategy=Nearest(safe=1), margin=0.03, max_counterfactuals=3
    ).fit(X)
    (found,) = explainer.explain_many(X[~model.predict(X)].iloc[[0]])
    assert 0 < sum(option.safe for option in found.options) < len(found)
    assert any(option.rooms for option in found.options)
    return found


def without_option(**goal: Any) -> Explanation:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    tight = Constraints(immutable=["age", "home", "debt", "score", LONG])
    (empty,) = explainer.explain_many(row, constraints=tight, if_none="ignore", skip=True, **goal)
    assert not len(empty)
    return empty


MADE: dict[str, Callable[[], Explanation]] = {
    "missing value": with_missing_value,
    "arabic": of_arabic,
    "unusual": with_unusual_options,
    "margin and safe": with_margin_and_safe_option,
    "no option": without_option,
    "many options": nine_options,
    "many changes": lambda: wide()[0],
    "reached": lambda: without_option(target="no"),
}
#: People whose explanations are compared.
PEOPLE = list(MADE)


def person(name: str) -> Explanation:
    """Return one of the explanations that are compared."""
    return MADE[name]()


def reader_of(explanation: Explanation) -> Reader:
    columns = [
        Column(str(feature.name), (str(feature.name),))
        for feature in explanation.coded.table.features
    ]
    return Reader(columns, units={INCOME: ["EUR"], "months": ["months", "month"]})


def without_isolates(text: str) -> str:
    return re.sub("[\u2066-\u2069]", "", text)


def values(reader: Reader, changes: list[Change]) -> list[tuple[str, Any, Any]]:
    """Return the feature and both values of each change, without units, in the order of names."""
    found = []
    for change in changes:
        texts = [change.before or "not stated", change.after]
        for unit in reader.units.get(change.column.name, ()):
            texts = [text.removesuffix(f" {unit}") for text in texts]
        found.append((change.column.name, texts[0], texts[1]))
    return sorted(found)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_report_has_the_sentences_of_the_description(name: str) -> None:
    explanation = person(name)
    described = Description.of(explanation, reasons=True)
    lines = lines_of(explanation.to_html())
    for option in described.options[:7]:
        first, *changes = option
        assert first in lines
        assert all(change.removeprefix("- ") in lines for change in changes)
    assert all(reason in lines for reason in described.reasons[1:])
    shown = explanation.nearest(7)
    assert all(line in lines for line in (*Description.of(shown).sure, *described.far))
    assert " ".join(described.kept) in [*lines, ""]
    assert " ".join(Description.of(shown).unusual) in [*lines, ""]
    assert " ".join(Description.of(shown).lasting) in [*lines, ""]
    assert bool(described.unusual) == (name == "unusual")
    assert bool(described.lasting) == (name == "margin and safe")
    title = next(line for line in lines if line.startswith("Input"))
    told = described.heading
    assert title.split(". ")[0] == told.split(". ")[0]
    if len(explanation) > 1:
        leads = title.split(". ")[1].removesuffix(".").replace(",", "")
        assert leads in told.replace(",", "")


@pytest.mark.parametrize("name", PEOPLE)
def test_each_option_stands_once_in_a_report_in_the_same_order(name: str) -> None:
    explanation = person(name)
    lines = lines_of(explanation.to_html())
    options = Description.of(explanation).options[:7]
    firsts = [option[0] for option in options]
    assert [line for line in lines if line in firsts] == firsts, "once, in the same order"
    for option in options:
        if len(option) == 1:
            sentence = option[0].split(". ", 1)[1].rpartition(" (")[0]
            assert sum(sentence in line for line in lines) == 1


@pytest.mark.parametrize("name", PEOPLE)
def test_letter_and_report_agree_on_reasons_numbers_and_values(name: str) -> None:
    explanation = person(name)
    report = lines_of(explanation.to_html())
    letter = explanation.letter(width=None)
    reasons = [line.strip() for line in letter.splitlines() if line.startswith("  ")]
    reasons = [line for line in reasons if not re.match(r"\d+\. With|- ", line)]
    told = [line for line in report if line in Description.of(explanation, reasons=True).reasons]
    assert len(reasons) == len(told) == len(explanation.reasons())
    for short, long in zip(reasons, told, strict=True):
        assert long.startswith(f"{short} (")
    reader = reader_of(explanation)
    in_letter = reader.options_in_letter(without_isolates(letter).replace(" (safer)", ""))
    described = explanation.describe(width=None)
    in_words = reader.options(without_isolates(described))
    assert len(in_letter) == len(in_words) == len(explanation)
    for first, second in zip(in_letter, in_words, strict=True):
        assert values(reader, first) == values(reader, second)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_letter_to_a_reviewer_has_the_same_sentences(name: str) -> None:
    explanation = person(name)
    described = Description.of(explanation, reasons=True)
    letter = explanation.letter("reviewer", width=None)
    for line in (*described.reasons[1:], *described.sure, *described.far):
        assert line in letter
    assert all(line in letter for option in described.options for line in option)
    report = lines_of(explanation.to_html())
    how = letter[letter.index("How it was made") : letter.index("This page states")]
    shown = [line.strip().removeprefix("- ") for line in how.splitlines()[1:] if line.strip()]
    assert len(shown) > 5
    assert [line for line in shown if line not in report] == []


@pytest.mark.parametrize("name", PEOPLE)
def test_the_page_has_the_sentences_of_the_report_under_the_same_numbers(name: str) -> None:
    explanation = person(name)
    report = lines_of(explanation.to_html())
    for option in explanation.to_dict(reasons=False)["options"][:7]:
        (line,) = (each for each in report if each.startswith(f"{option['rank']}. "))
        if len(option["lines"]) <= 5:
            assert line.startswith(f"{option['rank']}. {option['sentence']} (")
        else:
            assert all(each in report for each in option["lines"])


def test_stability_is_told_in_the_same_words() -> None:
    explanation, explainer = mixed()
    found = stability(explainer, explanation, repeats=3)
    lines = lines_of(explanation.to_html(stability=found))
    assert all(line in lines for line in Description.of(explanation, stability=found).sure)
