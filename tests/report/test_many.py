"""The report of many explanations."""

from __future__ import annotations

import html
import re
import warnings
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.displays import approve, mixed
from support.page_text import lines_of

from counterset import Constraints, DiverseExplainer, Explanations, InvalidInputError, evaluate
from counterset.explanations.why_none import WhyNone
from counterset.report.page import read_record, seal_holds


@cache
def many() -> tuple[Explanations, Any]:
    """Sixty people, some of whom have no way, because next to nothing may change."""
    _, explainer = mixed()
    X: Any = explainer.training_.table.decode(explainer.training_.pool.matrix)
    rows = X.iloc[:60]
    tight = Constraints(immutable=["age", "home", "debt"], max_increase={"score": 30})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = explainer.explain_many(rows, target="yes", constraints=tight, if_none="warn")
    return found, rows


def figures(**options: Any) -> dict[str, Any]:
    held: dict[str, Any] = read_record(many()[0].to_html(**options), "It")["figures"]
    return held


def test_the_figures_are_those_of_the_explanations() -> None:
    explanations, _ = many()
    frame = explanations.to_frame()
    told = figures()
    assert len(frame) > 20
    moved = np.concatenate([each.changed for each in explanations if len(each)])
    for i, share in enumerate(told["features"].values()):
        assert share == pytest.approx(moved[:, i].mean())
    counts = [len(each) for each in explanations if each.status != "already_reached"]
    assert {int(k): n for k, n in told["options"].items()} == {
        k: counts.count(k) for k in sorted(set(counts))
    }


def test_who_has_none_is_counted_at_what_stands_in_the_way_in_words() -> None:
    explanations, _ = many()
    nobody = [i for i, status in enumerate(explanations.status) if status == "none_found"]
    assert len(nobody) > 0
    told = figures()["without"]
    assert told["people"] == len(nobody)
    ways = [why for why in explanations.why_none.values() if why.cause == "constraint"]
    assert sum(told["obstacles"].values()) == sum(len(why.constraints) for why in ways) + (
        len(nobody) - len(ways)
    )
    text = " ".join(lines_of(explanations.to_html()))
    assert "Who has no option, and what stands in the way" in text
    for sentence, count in told["obstacles"].items():
        assert f"{sentence} {count}" in text
    assert "The debt may not change." in told["obstacles"]


def test_nothing_of_the_library_is_a_reason() -> None:
    explanations, _ = many()
    page = explanations.to_html(groups="age", annex=True)
    before = " ".join(lines_of(page[: page.index("Technical part")] + "<script"))
    assert not re.search(r"immutable|max_increase|Loosen|[\[\]{}_=]|'score'", before)


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (WhyNone("no rows", "no_example"), "There is no example to follow"),
        (WhyNone("stopped", "stopped"), "The search was ended before an option was found."),
        (WhyNone("x", "several"), "No single constraint: several would have to be lifted."),
        (WhyNone("x", "implausible"), "Nothing that leads there is plausible enough."),
        (WhyNone("x", "contradiction"), "The model gives equal people different results."),
        (
            WhyNone("x", "anonymity"),
            "All that leads there is the row of another person in the training data.",
        ),
        (WhyNone("x", "constraint", ["not there"]), "Another constraint."),
    ],
)
def test_every_cause_has_a_sentence(why: WhyNone, sentence: str) -> None:
    explanations, _ = many()
    nobody = [i for i, status in enumerate(explanations.status) if status == "none_found"]
    same = replace(explanations, _why_none=dict.fromkeys(nobody, why))
    text = " ".join(lines_of(same.to_html()))
    assert sentence in text
    unknown = " ".join(lines_of(replace(explanations, _why_none={}).to_html()))
    assert "What stands in the way is not known." in unknown


def test_no_case_is_named_unless_the_annex_is_asked_for() -> None:
    explanations, _ = many()
    assert "Annex" not in explanations.to_html()
    page = explanations.to_html(annex=True)
    annex = page[page.index("Annex: the cases") :]
    cells = re.findall(r'<tr><th scope="row">(\d+)</th>', annex)
    assert cells == [str(index) for index in explanations.index]
    for explanation in explanations:
        if explanation.options:
            sentence = html.escape(explanation.options[0].sentence)
            assert f">{sentence}.</td>" in annex
    assert annex.count("Has that result already.") == explanations.status.count("already_reached")
    assert annex.count("No option was found.") == explanations.status.count("none_found")
    assert '<section class="new-page">\n<h2>Annex' in page


def test_title_author_and_date_stand_above_it() -> None:
    explanations, _ = many()
    given: dict[str, Any] = {"title": "Declined <b>", "author": "الكاتب", "date": date(2027, 1, 2)}
    lines = lines_of(explanations.to_html(**given))
    assert [line.translate({0x2068: None, 0x2069: None}) for line in lines[:3]] == [
        "Author: الكاتب", "Date: 2027-01-02", "Declined <b>",
    ]  # fmt: skip
    assert (
        lines_of(explanations.to_html())[0] == "What would lead to another decision, for 60 people"
    )
    with pytest.raises(InvalidInputError, match="title must be a text"):
        explanations.to_html(title=["a"])  # type: ignore[arg-type]


def test_it_says_what_people_call_the_outcomes() -> None:
    explanations, _ = many()
    lines = lines_of(explanations.to_html(outcomes={"yes": "approved"}))
    assert "option that leads to approved." in lines[1]
    with pytest.raises(InvalidInputError, match="outcomes names 'maybe'"):
        explanations.to_html(outcomes={"maybe": "perhaps"})


def test_groups_are_those_of_a_feature_or_of_each_input() -> None:
    explanations, rows = many()
    told = figures(groups="home")["groups"]
    assert told["by"] == "home"
    open_ = np.array([status != "already_reached" for status in explanations.status])
    for value, mine in told["figures"].items():
        members = open_ & (rows["home"] == value).to_numpy()
        if mine is None:
            assert members.sum() < told["least"]
            continue
        assert mine["people"] == members.sum()
        assert mine["mean_options"] == pytest.approx(explanations.counts[members].mean())
    assert any(told["figures"].values())
    given = figures(groups=rows["home"].tolist())["groups"]["figures"]
    assert given == told["figures"]


def test_no_figure_is_shown_or_recorded_of_fewer_than_10_people() -> None:
    explanations, _ = many()
    open_ = [status != "already_reached" for status in explanations.status]
    small = np.array(["many"] * len(explanations), dtype=object)
    small[np.flatnonzero(open_)[:9]] = "nine"
    page = explanations.to_html(groups=small.tolist())
    lines = lines_of(page)
    assert lines[lines.index("nine") + 1] == "fewer than 10 people"
    assert read_record(page, "It")["figures"]["groups"]["figures"]["nine"] is None
    small[np.flatnonzero(open_)[9]] = "nine"
    lines = lines_of(explanations.to_html(groups=small.tolist()))
    assert lines[lines.index("nine") + 1] == "10"


def test_numbers_are_grouped_in_bands() -> None:
    explanations, rows = many()
    told = figures(groups="age")["groups"]["figures"]
    bands = [tuple(map(int, re.findall(r"\d+", text))) for text in told]
    assert 1 < len(bands) <= 4
    assert all(before[1] < after[0] for before, after in pairwise(bands))
    open_ = np.array([status != "already_reached" for status in explanations.status])
    ages = rows["age"].to_numpy()
    for (low, high), mine in zip(bands, told.values(), strict=True):
        assert mine["people"] == (open_ & (ages >= low) & (ages <= high)).sum()
    assert sum(mine["people"] for mine in told.values()) == open_.sum()
    assert figures(groups=rows["age"])["groups"]["figures"] == told


def test_the_wrong_number_of_groups_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 values for 60 inputs"):
        many()[0].to_html(groups=["a", "b"])
    with pytest.raises(InvalidInputError, match="no feature 'sex'"):
        many()[0].to_html(groups="sex")


def test_stability_is_told_if_it_is_given() -> None:
    _, rows = many()
    _, explainer = mixed()
    declined = rows[approve(rows) == "no"].iloc[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = evaluate(explainer, declined, repeats=2)
    told = figures(stability=table)["stability"]
    assert told["copies"] == 4
    assert told["set_distance_max"] == pytest.approx(table["set_distance_max"].max())


def test_it_is_sealed_and_holds_no_row_of_anybody(tmp_path: Any) -> None:
    page = many()[0].to_html(tmp_path / "many.html")
    assert seal_holds(page)
    assert (tmp_path / "many.html").read_text(encoding="utf-8") == page
    assert "counterfactuals" not in read_record(page, "It")
    inputs = [set(map(str, row)) for row in many()[1].to_numpy().tolist()]
    for case, row in zip(read_record(page, "It")["cases"], inputs, strict=True):
        held = {str(value) for option in case["options"] for value in option["changes"].values()}
        assert not row <= held


def test_without_anybody_left_out_it_says_so() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    lines = lines_of(explainer.explain_many(row).to_html())
    assert "Everybody has at least one option." in lines
    (reached,) = [explainer.explain_many(row, target="no", skip=True)]
    assert "Nobody was to be explained." in lines_of(reached.to_html())


def test_part_of_the_explanations_keeps_its_reasons() -> None:
    explanations, _ = many()
    first = next(iter(explanations.why_none))
    part = explanations[first : first + 3]
    assert part.why_none[0] == explanations.why_none[first]


def test_the_median_of_few_people_is_not_given() -> None:
    explanations, rows = many()
    told = figures(groups="home")["groups"]["figures"]
    assert any(told.values())
    for value, mine in told.items():
        members = (rows["home"] == value).to_numpy()
        with_option = int((explanations.counts[members] > 0).sum())
        if mine is not None:
            assert (mine["median_distance"] is None) == (with_option < 10)


def test_of_many_small_groups_the_number_is_shown() -> None:
    explanations, _ = many()
    lines = lines_of(explanations.to_html(groups=[f"name {i}" for i in range(len(explanations))]))
    (at,) = (i for i, line in enumerate(lines) if re.fullmatch(r"\d+ small groups", line))
    assert lines[at + 1] == "fewer than 10 people each"
    assert not any(line.startswith("name ") for line in lines)


def test_constraints_of_each_person_are_not_told_as_those_of_all() -> None:
    _, explainer = mixed()
    rows = many()[1].iloc[:2]
    own = [Constraints(immutable=["age"]), Constraints(immutable=["score"])]
    found = explainer.explain_many(rows, constraints=own, if_none="ignore", skip=True)
    assert "Constraints that were kept: They differ from person to person." in lines_of(
        found.to_html()
    )
    same = explainer.explain_many(rows, constraints=own[1:] * 2, if_none="ignore", skip=True)
    assert "Constraints that were kept: The score may not change." in lines_of(same.to_html())


def test_a_regression_says_its_range() -> None:
    X = np.random.default_rng(0).random((100, 2)).round(3)
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1), max_counterfactuals=1).fit(X)
    found = explainer.explain_many(X[:3], interval=(1.9, float("inf")), if_none="ignore", skip=True)
    assert "leads to a prediction of at least 1.9." in " ".join(lines_of(found.to_html()))


def test_a_report_about_nobody_says_so() -> None:
    lines = lines_of(many()[0][:0].to_html(annex=True))
    assert "Nobody was to be explained." in lines
    assert "Everybody has at least one option." not in lines
