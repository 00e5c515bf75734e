"""Who has no option, and how far options are, by group; and few options that help many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from counterset import Constraints, DiverseExplainer, Explanations, InvalidInputError, Shared
from counterset.evaluation import few_options, recourse
from counterset.evaluation.recourse import _median, _share

RANDOM = np.random.default_rng(0)
PEOPLE = pd.DataFrame({
    "income": RANDOM.random(300).round(2),
    "debt": RANDOM.random(300).round(2),
    "home": RANDOM.choice(["own", "rent", "ملك"], 300, p=[0.5, 0.47, 0.03]),
})  # fmt: skip


def approve(rows: pd.DataFrame) -> Any:
    bonus = 0.2 * (rows["home"] == "own")
    return np.where(rows["income"] - rows["debt"] / 2 + bonus > 0.6, "yes", "no")


def explained(**limits: Any) -> Explanations:
    kept = Constraints(immutable=["home", "debt"], **limits)
    explainer = DiverseExplainer(approve, constraints=kept, max_counterfactuals=2).fit(PEOPLE)
    return explainer.explain_many(PEOPLE, target="yes", if_none="ignore")


def test_people_are_counted_by_group() -> None:
    explanations = explained(max_increase={"income": 0.4})
    table: Any = recourse(explanations, by="home")
    assert table.index.name == "home"
    for home in ("own", "rent"):
        declined = PEOPLE[(PEOPLE["home"] == home) & (approve(PEOPLE) == "no")]
        needed = 0.6 + declined["debt"] / 2 - 0.2 * (home == "own") - declined["income"]
        cannot = (needed >= 0.4) | (declined["income"] + needed >= PEOPLE["income"].max())
        row = table.loc[home]
        assert row["people"] == len(declined)
        assert abs(row["without"] - cannot.sum()) <= 2  # what lies on the edge itself
        assert row["share_without"] == row["without"] / row["people"]
        assert row["share_without_low"] < row["share_without"] < row["share_without_high"]
        nearest = [
            one.distances[0] for one in explanations if len(one) and one.input["home"] == home
        ]
        assert row["distance"] == pytest.approx(np.median(nearest))
        assert row["distance_low"] <= row["distance"] <= row["distance_high"]
        assert row["options_low"] < row["options"] < row["options_high"]


def test_small_groups_are_not_shown() -> None:
    explanations = explained()
    table = recourse(explanations, by="home")
    assert table.loc["ملك"].isna().all()
    shown: Any = recourse(explanations, by="home", least=1)
    assert 0 < shown.loc["ملك", "people"] < 10


def test_groups_are_given_by_value_or_are_all() -> None:
    explanations = explained()
    region = pd.Series(np.where(np.arange(300) % 2, "north", "south"), name="region")
    by_value = recourse(explanations, by=region)
    assert by_value.index.name == "region"
    assert by_value.index.tolist() == ["north", "south"]
    whole = recourse(explanations)
    assert whole["people"].tolist() == [by_value["people"].sum()]
    assert whole["people"].iloc[0] == (approve(PEOPLE) == "no").sum()


def test_a_group_without_any_option_has_no_distance() -> None:
    table = recourse(explained(ranges={"income": (0, 0.01)}))
    assert (table["without"] == table["people"]).all()
    assert table["share_without_high"].tolist() == [1]
    assert table["distance"].isna().all()
    assert table["options"].tolist() == [0]


@given(st.integers(1, 60), st.data())
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(people: int, data: Any) -> None:
    count = data.draw(st.integers(0, people))
    low, high = _share(count, people)
    assert 0 <= low <= count / people <= high <= 1
    # At either end, what was seen or more extreme has a probability of 2.5 %.
    if count:
        assert binom.sf(count - 1, people, low) == pytest.approx(0.025)
    if count < people:
        assert binom.cdf(count, people, high) == pytest.approx(0.025)


def test_the_interval_of_a_median_holds_often_enough() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(600):
        low, high = _median(np.sort(random.exponential(size=25)))
        held += low <= np.log(2) <= high
    assert held >= 0.94 * 600
    assert np.isnan(_median(np.arange(4.0))).all()


def test_few_options_help_as_many_as_a_literal_choice() -> None:
    explainer = DiverseExplainer(approve, strategy=Shared(own=0)).fit(PEOPLE)
    table = few_options(explainer, PEOPLE, most=3, target="yes")
    declined = PEOPLE[approve(PEOPLE) == "no"]
    assert table.attrs["people"] == len(declined)
    assert table["together"].is_monotonic_increasing
    assert (table["together"].diff().dropna() > 0).all()
    assert table["people"].iloc[0] == table["people"].max()
    assert (table["works_for"] == table["people"] / len(declined)).all()
    assert table["together"].iloc[0] == table["works_for"].iloc[0]
    assert table["option"].is_unique
    one = few_options(explainer, PEOPLE, most=1, target="yes")
    pd.testing.assert_frame_equal(one, table[:1])


def test_few_options_keep_constraints() -> None:
    explainer = DiverseExplainer(approve, strategy=Shared(own=0)).fit(PEOPLE)
    kept = Constraints(immutable=["home", "income"])
    free, table = (
        few_options(explainer, PEOPLE, target="yes", constraints=each) for each in (None, kept)
    )
    # An option that asks for an income helps who has it already.
    assert 0 < table["together"].iloc[-1] < free["together"].iloc[-1]


def test_lists_are_a_table_that_can_be_checked_by_hand() -> None:
    explainer = DiverseExplainer(approve, strategy=Shared(support=5)).fit(PEOPLE)
    lists: Any = explainer.lists_
    assert set(lists["label"]) == {"yes", "no"}
    assert (lists["support"] >= 5).all()
    for _, one in lists.groupby("list"):
        assert one["rank"].tolist() == list(range(1, len(one) + 1))
        assert one["together"].is_monotonic_increasing
        assert one["together"].iloc[0] == one["works_for"].iloc[0]
    home = lists[lists["option"] == "home: own"]
    assert (home["support"] == (PEOPLE["home"] == "own").sum()).all()
    for text in lists["option"][lists["option"].str.match(r"income at least [0-9.]+$")][:3]:
        value = float(text.split()[-1])
        row = lists[lists["option"] == text].iloc[0]
        # The recipe itself may be finer than the step it is shown on.
        assert abs(row["support"] - (PEOPLE["income"] >= value).sum()) <= 5


def test_options_that_few_people_support_are_not_on_a_list() -> None:
    strict = DiverseExplainer(approve, strategy=Shared(support=100)).fit(PEOPLE)
    loose = strict.with_strategy(Shared(support=1))
    assert len(strict.lists_) < len(loose.lists_)
    assert loose.lists_["support"].min() < 100 <= strict.lists_["support"].min()


def test_only_shared_lists_can_be_shown() -> None:
    explainer = DiverseExplainer(approve).fit(PEOPLE)
    assert not hasattr(explainer, "lists_")
    with pytest.raises(InvalidInputError, match=r"Write explainer\.with_strategy"):
        few_options(explainer, PEOPLE)
    with pytest.raises(InvalidInputError, match="support must be a whole number"):
        Shared(support=0)


def test_nonsense_is_refused() -> None:
    explanations = explained()
    with pytest.raises(InvalidInputError, match="recourse takes explanations"):
        recourse(PEOPLE)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="by holds 2 values for 300 inputs"):
        recourse(explanations, by=["a", "b"])
    with pytest.raises(InvalidInputError, match="least must be"):
        recourse(explanations, least=0)
    with pytest.raises(InvalidInputError, match="nothing"):
        recourse(explanations, by="nothing")
