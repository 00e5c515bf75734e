"""Groups of people."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer, Explanations, Schema
from counterset.report.groups import LEAST, Group, group_people

COUNT = 60


@cache
def people() -> Explanations:
    """Sixty people with features of several kinds, most of whom were declined."""
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 900, COUNT), unit="D")
    X = pd.DataFrame({
        "income": rng.gamma(4, 900, COUNT).round(2),
        "months": np.where(rng.random(COUNT) < 0.3, -9, rng.integers(1, 48, COUNT)),
        "since": pd.Timestamp("2020-01-01") + days,
        "savings": rng.choice(["much", "little", "some"], COUNT),
        "score": np.where(rng.random(COUNT) < 0.4, np.nan, rng.random(COUNT)),
        "near": 1 + np.arange(COUNT) * 1e-7,
    })  # fmt: skip
    schema = Schema(
        special={"months": [-9]},
        texts={"months": {-9: "no record"}},
        units={"income": "EUR"},
        ordinal={"savings": ["little", "some", "much"]},
    )
    explainer = DiverseExplainer(
        lambda rows: rows["income"] > 4500, schema=schema, max_counterfactuals=1
    ).fit(X)
    return explainer.explain_many(X, target=True, skip=True, if_none="ignore")


def grouped(by: Any) -> list[Group]:
    everybody = np.ones(COUNT, dtype=bool)
    groups = group_people(people(), by, everybody)[1]
    assert (np.sum([group.members for group in groups], axis=0) == 1).all(), "each in one group"
    assert len({group.text for group in groups}) == len(groups)
    return groups


@pytest.mark.parametrize("name", ["income", "since", "near"])
def test_numbers_and_times_are_cut_into_bands_of_about_equally_many(name: str) -> None:
    groups = grouped(name)
    assert len(groups) == 4
    assert all(COUNT / 4 - 2 <= group.members.sum() <= COUNT / 4 + 2 for group in groups)
    assert all(" to " in group.text for group in groups)


def test_a_band_has_its_unit() -> None:
    assert all(group.text.endswith(" EUR") for group in grouped("income"))


def test_values_in_an_order_stand_in_it() -> None:
    assert [group.text for group in grouped("savings")] == ["little", "some", "much"]
    given = pd.Series(pd.Categorical(["hi", "lo", "mid"] * 20, ["lo", "mid", "hi"], ordered=True))
    assert [group.text for group in grouped(given)] == ["lo", "mid", "hi"]


def test_codes_and_missing_values_are_groups_of_their_own_and_stand_last() -> None:
    *_, last = grouped("months")
    assert last.text == "no record"
    *_, missing = grouped("score")
    assert missing.text == "not stated"
    *_, none = grouped([None, *range(1, COUNT)])
    assert (none.text, int(none.members.sum())) == ("not stated", 1)


def test_few_people_are_not_cut_into_small_bands() -> None:
    among = np.arange(COUNT) < 2 * LEAST + 5
    groups = group_people(people(), "income", among)[1]
    assert len(groups) == 2
    assert all((group.members & among).sum() >= LEAST for group in groups)


def test_few_values_are_groups_of_their_own() -> None:
    assert [group.text for group in grouped([1, 2, 10] * 20)] == ["1", "2", "10"]
    assert [group.text for group in grouped([True, False] * 30)] == ["False", "True"]


def test_values_that_read_alike_are_one_group() -> None:
    groups = grouped([1, "1", "a"] * 20)
    assert [(group.text, int(group.members.sum())) for group in groups] == [("1", 40), ("a", 20)]


@pytest.mark.parametrize("zone", [None, "Europe/Warsaw"])
def test_times_beside_the_features_are_cut_into_days(zone: str | None) -> None:
    when = pd.Series(pd.date_range("2026-01-01", periods=COUNT, tz=zone), name="when")
    name, groups = group_people(people(), when, np.ones(COUNT, dtype=bool))
    assert name == "when"
    assert groups[0].text == "2026-01-01 to 2026-01-15"
    assert len(grouped(when)) == 4


def test_a_group_without_anybody_who_counts_is_left_out() -> None:
    among = np.arange(COUNT) % 2 == 0
    groups = group_people(people(), ["a", "b"] * (COUNT // 2), among)[1]
    assert [group.text for group in groups] == ["a"]
