"""No option is the row of one training person, unless that is asked for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanations,
    FewerCounterfactualsWarning,
    InvalidInputError,
    Nearest,
    NoCounterfactualError,
    Paper,
    Shared,
    metrics,
)
from counterset._base.row_counts import RowCounts
from counterset.strategies.anonymity import RareRows


def answers(seed: int = 0, rows: int = 300) -> pd.DataFrame:
    """Make a table of few categories, where an option is often the row of somebody."""
    random = np.random.default_rng(seed)
    return pd.DataFrame({
        f"q{i}": pd.Categorical(random.choice(list("abc"), rows, p=[0.5, 0.3, 0.2]), list("abc"))
        for i in range(6)
    })  # fmt: skip


def accept(rows: pd.DataFrame) -> Any:
    return np.where((rows == "a").sum(axis=1) > 3, "yes", "no")


def alike(option: Any, people: pd.DataFrame) -> int:
    """Count the people who have exactly the values of an option, one cell at a time."""
    return sum(
        all(row[name] == option[name] for name in people.columns) for _, row in people.iterrows()
    )


def explained(people: pd.DataFrame, **settings: Any) -> Explanations:
    explainer = DiverseExplainer(accept, **settings).fit(people)
    return explainer.explain_many(people[accept(people) == "no"][:8], if_none="ignore")


@pytest.mark.parametrize("strategy", [Nearest(), Shared(), Shared(own=0)])
@pytest.mark.parametrize("least", [2, 4])
def test_no_option_is_the_row_of_few_people(strategy: Any, least: int) -> None:
    people = answers()
    found = explained(people, strategy=strategy, anonymity=least)
    counts = [alike(option.row, people) for one in found for option in one.options]
    assert len(counts) > 4
    assert not [count for count in counts if 0 < count < least]
    assert max(counts) >= least  # what many people share is still offered


def test_it_is_asked_for_and_holds_for_every_strategy() -> None:
    people = answers()
    for strategy in (Nearest(), Shared(), Paper(search=None)):
        free = explained(people, strategy=strategy)
        assert metrics.disclosure(free, people, fewer_than=2) > 0
        asked = explained(people, strategy=strategy, anonymity=2)
        assert metrics.disclosure(asked, people, fewer_than=2) == 0
        assert asked.counts.sum() > 0
    assert metrics.disclosure(free, people) == 1  # training rows as they are


def test_another_option_takes_the_place_of_one_that_is_left_out() -> None:
    people = answers()
    free, kept = explained(people), explained(people, anonymity=2)
    assert metrics.disclosure(free, people, fewer_than=2) > 0.1
    lost = free.counts.sum() - kept.counts.sum()
    withheld = round(metrics.disclosure(free, people, fewer_than=2) * free.counts.sum())
    assert lost < withheld


@pytest.mark.parametrize("least", [1, 2])
def test_numbers_are_hardly_ever_equal_so_that_nothing_changes(least: int) -> None:
    X = np.random.default_rng(0).random((300, 4))
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 2, anonymity=least).fit(X)
    found = explainer.explain_many(X[X.sum(axis=1) < 2][:10], if_none="ignore")
    assert metrics.disclosure(found, X) == 0
    if least == 2:
        free = explainer.set_params(anonymity=1)
        again = free.explain_many(X[X.sum(axis=1) < 2][:10], if_none="ignore")
        assert np.array_equal(found.coded.matrix, again.coded.matrix)


def test_a_number_goes_a_little_farther_instead() -> None:
    X = np.random.default_rng(0).random((300, 2)).round(2)  # many of the nearest are somebody's
    explainer = DiverseExplainer(
        lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2, anonymity=2
    ).fit(X)
    inputs = X[X.sum(axis=1) < 0.9]
    kept = explainer.explain_many(inputs, if_none="ignore")
    free = explainer.set_params(anonymity=1).explain_many(inputs, if_none="ignore")
    assert metrics.disclosure(free, X, fewer_than=2) > 0.02
    assert metrics.disclosure(kept, X, fewer_than=2) == 0
    assert kept.counts.tolist() == free.counts.tolist()
    assert (kept.coded.matrix.sum(axis=1) > 1).all()
    farther = kept.coded.nearest - free.coded.nearest
    assert 0 < farther.max() < 0.1  # a few steps of 0.01


TWO = pd.DataFrame({"home": ["own"] + ["rent"] * 9})


def test_where_nothing_else_is_left_the_reason_is_said() -> None:
    explainer = DiverseExplainer(
        lambda rows: rows["home"] == "own", max_counterfactuals=1, anonymity=2
    ).fit(TWO)
    with pytest.raises(NoCounterfactualError, match=r"few people share\. anonymity=1 allows that"):
        explainer.explain({"home": "rent"})
    assert len(explainer.set_params(anonymity=1).explain({"home": "rent"})) == 1
    owners = pd.concat([TWO, TWO])
    assert len(explainer.set_params(anonymity=2).fit(owners).explain({"home": "rent"})) == 1


def test_a_constraint_is_still_named_where_it_is_the_reason() -> None:
    people = answers()
    explainer = DiverseExplainer(
        accept, constraints=Constraints(immutable=[f"q{i}" for i in range(6)])
    ).fit(people)
    (one,) = np.flatnonzero(accept(people) == "no")[:1]
    with pytest.raises(NoCounterfactualError, match="no feature may change"):
        explainer.explain(people.iloc[one])


def test_a_warning_of_few_options_says_that_some_were_left_out() -> None:
    people = answers()
    explainer = DiverseExplainer(accept, anonymity=30).fit(people)
    declined = people[accept(people) == "no"][:8]
    with pytest.warns(
        FewerCounterfactualsWarning, match="few people share were left out; anonymity"
    ):
        explainer.explain_many(declined, if_none="warn")
    with pytest.warns(FewerCounterfactualsWarning) as told:
        explainer.set_params(anonymity=1, max_counterfactuals=50).explain_many(declined)
    assert "left out" not in str(told[0].message)


def test_what_one_gets_does_not_depend_on_the_batch() -> None:
    people = answers()
    explainer = DiverseExplainer(accept).fit(people)
    declined = people[accept(people) == "no"][:8]
    together = explainer.explain_many(declined, if_none="ignore")
    parts = explainer.explain_many(declined, if_none="ignore", memory=1)
    backwards = explainer.explain_many(declined[::-1], if_none="ignore")
    assert np.array_equal(together.coded.matrix, parts.coded.matrix)
    for one, other in zip(together, reversed(list(backwards)), strict=True):
        assert np.array_equal(one.coded.matrix, other.coded.matrix)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
def test_anonymity_is_a_number_of_rows(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="anonymity must be a whole number of at least 1"):
        DiverseExplainer(accept, anonymity=wrong).fit(answers())


VALUES = st.sampled_from([0.0, -0.0, 1.0, float("nan"), -1.0, 1e300, 0.1])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=12), st.integers(2, 4))
def test_rows_are_counted_as_by_hand(rows: list[tuple[float, float]], least: int) -> None:
    def equal(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return all(x == y or np.isnan([x, y]).all() for x, y in zip(a, b, strict=True))

    every = list(itertools.product([0.0, 1.0, float("nan"), 7.0], repeat=2))
    by_hand = [sum(equal(a, b) for b in rows) for a in every]
    counts = RowCounts.of(np.array(rows))
    assert counts.at(np.array(every)).tolist() == by_hand
    rare = RareRows(counts, least).has(np.array(every))
    assert rare.tolist() == [0 < count < least for count in by_hand]


def test_hashes_of_rows_alike_do_not_collide() -> None:
    grid = np.array(list(itertools.product(range(7), repeat=6)), dtype=float)
    assert len(RowCounts.of(grid).hashes) == len(grid)
    assert len(RowCounts.of(grid[:, ::-1] / 10).hashes) == len(grid)
