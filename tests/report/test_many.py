"""The report of many explanations."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.displays import approve, mixed

from counterset import Constraints, Explanations, InvalidInputError, evaluate
from counterset.report.many import _by_group
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


def test_who_has_none_is_named_with_the_constraint_that_stands_in_the_way() -> None:
    explanations, _ = many()
    blocked = figures()["blocked"]
    nobody = [
        str(index)
        for index, status in zip(explanations.index, explanations.status, strict=True)
        if status == "none_found"
    ]
    assert sorted(name for names in blocked.values() for name in names) == sorted(nobody)
    assert len(nobody) > 0
    named = re.compile(
        "(the constraint|each of the constraints) [a-z]|no single constraint rules it out"
    )
    assert all(named.match(reason) for reason in blocked)
    page = explanations.to_html()
    assert "Who has none, and why" in page
    assert nobody[0] in page


def test_groups_are_those_of_a_feature_or_of_each_input() -> None:
    explanations, rows = many()
    told = figures(groups="home")["groups"]
    assert told["by"] == "home"
    open_ = np.array([status != "already_reached" for status in explanations.status])
    for value, mine in told["figures"].items():
        members = open_ & (rows["home"] == value).to_numpy()
        assert mine["inputs"] == members.sum()
        assert mine["mean_options"] == pytest.approx(explanations.counts[members].mean())
        nearest = [each.distances[0] for each, m in zip(explanations, members, strict=True)
                   if m and len(each)]  # fmt: skip
        assert mine["median_cost"] == pytest.approx(np.median(nearest))
    given = figures(groups=rows["home"].tolist())["groups"]["figures"]
    assert given == told["figures"]


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


def test_without_anybody_left_out_it_says_so() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    page = explainer.explain_many(row).to_html()
    assert "has at least one option" in page


def test_part_of_the_explanations_keeps_its_reasons() -> None:
    explanations, _ = many()
    first = next(iter(explanations.why_none))
    part = explanations[first : first + 3]
    assert part.why_none[0] == explanations.why_none[first]


def test_shares_are_0_or_100_percent_only_if_they_are() -> None:
    told = {"inputs": 1000, "with_an_option": 0.999, "mean_options": 1.0, "median_cost": 0.5}
    body = _by_group("sex", {"m": told, "f": told | {"with_an_option": 1.0}}).body
    assert "more than 99%" in body  # it used to be 100%
    assert "100%" in body
