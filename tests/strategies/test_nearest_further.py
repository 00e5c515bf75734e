"""Further ways: what leaves out a feature of every known way, and still leads to the goal."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.anchored_toys import acceptance_of
from support.mixed_toys import FRAME, explain, lend
from support.settings import explainer_by_steps

from counterset import Constraints, FeatureDiversity
from counterset.strategies.batch import Chosen
from counterset.strategies.nearest import MOST_CHOICES, further_ways, left_out

X = np.random.default_rng(0).random((300, 4))


def by_trying_all(ways: set[frozenset[int]]) -> set[frozenset[int]]:
    """Return the smallest sets that have a feature of every way, by trying all sets."""
    features = sorted(set().union(*ways))
    hitting = [
        frozenset(each)
        for size in range(len(features) + 1)
        for each in itertools.combinations(features, size)
        if all(set(each) & way for way in ways)
    ]
    return {each for each in hitting if not any(other < each for other in hitting)}


@given(st.sets(st.frozensets(st.integers(0, 5), min_size=1, max_size=3), max_size=4))
def test_what_to_leave_out_is_what_trying_all_finds(ways: set[frozenset[int]]) -> None:
    expected = by_trying_all(ways)
    found = left_out(ways)
    assert len(found) == min(len(expected), MOST_CHOICES)
    assert set(found) <= expected
    assert found == sorted(found, key=lambda each: (len(each), sorted(each)))


def points(rows: Any) -> Any:
    """Approve where one of these is high: the first feature, or the sum of the three others."""
    rows = np.asarray(rows)
    return np.where((rows[:, 0] > 0.8) | (rows[:, 1:].sum(axis=1) > 2.2), "yes", "no")


def changed_sets(explanation: Any) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(row).tolist()) for row in explanation.changed}


def test_all_ways_that_exist_are_offered() -> None:
    # Two of the last three features are never enough here, as 0.1 is left of the third.
    explainer = explainer_by_steps(points, diversity=FeatureDiversity()).fit(X)
    (few,) = explain(explainer, [[0.1, 0.1, 0.1, 0.1]])
    assert changed_sets(few) == {frozenset({0}), frozenset({1, 2, 3})}
    # With 0.4 left, two are enough, and there are three pairs.
    (more,) = explain(explainer, [[0.1, 0.4, 0.4, 0.4]])
    pairs = {frozenset(pair) for pair in itertools.combinations([1, 2, 3], 2)}
    assert changed_sets(more) == {frozenset({0})} | pairs


def test_ways_that_hardly_a_training_row_took_are_offered() -> None:
    # Of the ways that exist, 58 of 65 were offered before further ones were looked for.
    rows = np.random.default_rng(0).random((300, 5))

    def hard(rows: Any) -> Any:
        rows = np.asarray(rows)
        return np.where((rows[:, 0] > 0.8) | (rows[:, 1:].sum(axis=1) > 3.2), "yes", "no")

    explainer = explainer_by_steps(hard, diversity=FeatureDiversity(), max_counterfactuals=20)
    inputs, most = rows[hard(rows) == "no"][:20], rows.max(axis=0)
    total = offered = 0
    for x, explanation in zip(inputs, explain(explainer.fit(rows), inputs), strict=True):
        sets = [
            frozenset(each) for n in range(1, 5) for each in itertools.combinations(range(5), n)
        ]
        highest = [np.where(np.isin(np.arange(5), list(each)), most, x) for each in sets]
        exist = [each for each, row in zip(sets, highest, strict=True) if hard([row])[0] == "yes"]
        smallest = {each for each in exist if not any(other < each for other in exist)}
        total += len(smallest)
        offered += len(smallest & changed_sets(explanation))
    assert offered >= 0.94 * total


def test_a_mixed_table_gets_the_ways_that_trying_all_finds() -> None:
    explainer = explainer_by_steps(
        lend,
        diversity=FeatureDiversity(),
        max_counterfactuals=20,
        constraints=Constraints(immutable=["age"]),
    ).fit(FRAME)
    inputs = FRAME[lend(FRAME) == "no"].head(6)
    table = explainer.schema_
    values = [np.unique(column) for column in table.encode(FRAME)[0].T]
    total = offered = 0
    for x, explanation in zip(table.encode(inputs)[0], explain(explainer, inputs), strict=True):
        exist: set[frozenset[int]] = set()
        for size in (1, 2, 3):
            for features in itertools.combinations(range(1, 5), size):
                ends = [values[i][[0, -1]] if i < 3 else values[i] for i in features]
                rows = np.repeat(x[None], int(np.prod([len(each) for each in ends])), axis=0)
                rows[:, features] = list(itertools.product(*ends))
                if (lend(table.decode(rows)) == "yes").any():
                    exist.add(frozenset(features))
        smallest = {each for each in exist if not any(other < each for other in exist)}
        total += len(smallest)
        offered += len(smallest & changed_sets(explanation))
    assert total > 6
    assert offered >= 0.9 * total


def test_further_ways_leave_something_of_every_known_way_out() -> None:
    explainer = explainer_by_steps(points, diversity=FeatureDiversity()).fit(X)
    inputs = np.array([[0.1, 0.4, 0.4, 0.4], [0.2, 0.4, 0.3, 0.4]])
    batch = acceptance_of(explainer, inputs)
    rules = batch.requirements.rules
    ((_, _, recipes),) = explainer._recipes.groups(batch, rules)
    nothing = Chosen.empty(batch)
    row = inputs[0].copy()
    row[0] = 0.9
    known = Chosen(
        np.array([0]), np.array([0]), row[None], np.array([1]),
        batch.distance.embed(row[None]), np.array([0.8]), np.array([True]),
        nothing.n_candidates, nothing.farthest,
    )  # fmt: skip
    found = further_ways(known, recipes, batch, np.array([0]))
    assert found.owners.tolist() == [0]  # one choice: leave the first feature out
    assert found.rows[0, 0] == 0.1
    assert points(found.rows) == ["yes"]
    everything = further_ways(nothing, recipes, batch, np.array([0, 1]))
    assert everything.owners.tolist() == [0, 1]  # nothing is known, so nothing is left out


def test_nothing_is_left_where_every_feature_is_a_way() -> None:
    explainer = explainer_by_steps(
        lambda rows: np.asarray(rows).max(axis=1) > 0.8, diversity=FeatureDiversity()
    ).fit(X)
    (explanation,) = explain(explainer, [[0.1, 0.1, 0.1, 0.1]])
    assert changed_sets(explanation) == {frozenset({i}) for i in range(4)}


@pytest.mark.parametrize("anchors", [None, 2])
def test_each_gets_what_it_would_get_alone(anchors: int | None) -> None:
    explainer = explainer_by_steps(points, diversity=FeatureDiversity(), regions=anchors).fit(X)
    inputs = X[points(X) == "no"][:8]
    together = explain(explainer, inputs)
    for x, one in zip(inputs[::-1], reversed(list(together)), strict=True):
        (alone,) = explain(explainer, x[None])
        np.testing.assert_array_equal(alone.values, one.values)
