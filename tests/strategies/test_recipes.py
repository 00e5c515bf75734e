"""Recipes: how they are told apart, and what applying them does."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_recipes import recipes_of
from support.mixed_toys import FRAME, lend
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, FewerCounterfactualsWarning, LineSearch
from counterset.models.goals import OneOf
from counterset.strategies import recipes as learning
from counterset.strategies import recipes as module
from counterset.strategies import recipes as recipe
from counterset.strategies.batch import REFUSED
from counterset.strategies.recipes import (
    ROWS_IN_A_CALL,
    RUNGS,
    Recipes,
    first_accepted,
    first_of_equal,
    in_parts,
    learn_recipes,
)
from counterset.tables.table import Table

HOMES = ["own", "rent", "free"]


def table() -> Table:
    frame = pd.DataFrame({"age": [20.0, 60.0, 40.0], "home": HOMES, "debt": [0.0, 9.0, 5.0]})
    return Table.learn(frame)[0]


def test_equal_recipes_are_kept_once_with_the_row_they_were_first_learned_from() -> None:
    starts = np.array([[1.0, 2.0], [5.0, 2.0], [1.0, 2.0]])
    ends = np.array([[1.0, 7.0], [5.0, 7.0], [3.0, 7.0]])
    recipes = Recipes.distinct(starts, ends, np.array([4, 5, 6]), np.sign(ends - starts))
    assert recipes.features.tolist() == [[False, True], [True, True]]
    assert recipes.values.tolist() == [[0.0, 7.0], [3.0, 7.0]]
    assert recipes.pool_index.tolist() == [4, 6]


def test_of_too_many_recipes_every_set_of_features_keeps_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recipe, "MOST", 3)
    starts = np.zeros((5, 2))
    ends = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    recipes = Recipes.distinct(starts, ends, np.arange(5), np.sign(ends - starts))
    assert recipes.pool_index.tolist() == [0, 1, 4]


def test_a_recipe_sets_its_features_and_a_number_also_twice_as_far() -> None:
    recipes = recipes_of(
        [[True, False, False], [False, True, False]], [[30.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    )
    rows, owners, which = recipes.apply(np.array([[40.0, 0.0, 1.0]]), table())
    assert rows.tolist() == [[30.0, 0.0, 1.0], [40.0, 2.0, 1.0], [20.0, 0.0, 1.0]]
    assert owners.tolist() == [0, 0, 0]
    assert which.tolist() == [0, 1, 0]


def test_nothing_is_set_beyond_the_training_range() -> None:
    recipes = recipes_of([[True, False, False]], [[60.0, 0, 0]])
    rows, _, _ = recipes.apply(np.array([[30.0, 0.0, 1.0]]), table())
    assert rows[:, 0].tolist() == [60.0, 60.0]


def test_a_missing_number_is_filled_in_on_every_rung() -> None:
    recipes = recipes_of([[True, False, False]], [[50.0, 0, 0]])
    rows, _, _ = recipes.apply(np.array([[np.nan, 0.0, 1.0]]), table())
    assert rows[:, 0].tolist() == [50.0, 50.0]


VALUES = st.sampled_from([20.0, 30.0, 40.0, 60.0])


@given(
    st.lists(st.tuples(VALUES, st.integers(0, 2), VALUES), min_size=1, max_size=4),
    st.lists(
        st.tuples(st.booleans(), st.booleans(), VALUES, st.integers(0, 2)), min_size=1, max_size=5
    ),
)
def test_applying_follows_the_literal_definition(
    people: list[tuple[float, int, float]], plans: list[tuple[bool, bool, float, int]]
) -> None:
    features = np.array([[a, h, False] for a, h, _, _ in plans])
    values = np.array([[age * a, float(home) * h, 0.0] for a, h, age, home in plans])
    x = np.array(people, dtype=float)
    rows, owners, which = recipes_of(features, values).apply(x, table())
    expected = set()
    for person, (age, home, debt) in enumerate(people):
        for number, (sets_age, sets_home, new_age, new_home) in enumerate(plans):
            for rung in RUNGS if sets_age else (1.0,):
                moved = min(max(age + rung * (new_age - age), 20.0), 60.0) if sets_age else age
                row = (moved, float(new_home if sets_home else home), debt)
                expected.add((person, number, row))
    found = [
        (int(owner), int(number), tuple(map(float, row)))
        for owner, number, row in zip(owners, which, rows, strict=True)
    ]
    assert set(found) == expected
    assert (np.diff(owners) >= 0).all()


def test_rows_with_the_same_missing_values_are_equal_and_zero_has_no_sign() -> None:
    rows = np.array([[np.nan, 0.0], [np.nan, -0.0], [1.0, 0.0], [np.nan, 0.0]])
    assert first_of_equal(rows).tolist() == [0, 2]
    assert first_of_equal(rows[:0]).tolist() == []


def test_it_is_counted_how_often_each_feature_was_raised_and_lowered() -> None:
    starts = np.array([[20.0, 0, 5], [30.0, 1, 5], [40.0, 0, 5], [50.0, 0, 5]])
    ends = np.array([[30.0, 0, 5], [40.0, 0, 5], [50.0, 0, 5], [40.0, 1, 5]])
    recipes = Recipes.distinct(starts, ends, np.arange(4), table().moves(starts, ends))
    assert recipes.raised.tolist() == [3, 0, 0]
    assert recipes.lowered.tolist() == [1, 0, 0]
    part = recipes.take(np.array([0]))
    assert part.raised.tolist() == [3, 0, 0]


def test_inputs_are_looked_at_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "NUMBERS_AT_ONCE", 2 * 36)
    assert [part.tolist() for part in in_parts(np.arange(5), 36)] == [[0, 1], [2, 3], [4]]
    assert len(list(in_parts(np.arange(5), 10**9))) == 5
    assert list(in_parts(np.arange(0), 36)) == []


# Where recipes come from, and that everyone gets the same ones ------------------------------------


LABELS = np.array(["no", "yes"])


def sparse(model: Any = lend, data: Any = FRAME, **parameters: Any) -> DiverseExplainer:
    settings: dict[str, Any] = {"sparse": True, "search": LineSearch(0.01), **parameters}
    return explainer_by_steps(model, **settings).fit(data)


def learned(explainer: DiverseExplainer) -> list[Recipes]:
    return explainer._recipes._learned.values()


def equal(a: list[Recipes], b: list[Recipes]) -> bool:
    return len(a) == len(b) > 0 and all(
        np.array_equal(one.features, other.features)
        and np.array_equal(one.values, other.values)
        and np.array_equal(one.pool_index, other.pool_index)
        for one, other in zip(a, b, strict=True)
    )


def declined() -> Any:
    return FRAME[lend(FRAME) == "no"]


def explain(explainer: DiverseExplainer, data: Any, **wanted: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return explainer.explain_many(data, **wanted)


def test_fit_learns_the_recipes_of_every_class_and_explaining_learns_no_more() -> None:
    explainer = sparse()
    assert len(learned(explainer)) == 2
    explain(explainer, declined().head(2))
    explain(explainer, declined().head(2), target="yes")
    assert len(learned(explainer)) == 2


def test_another_goal_is_learned_when_it_is_first_asked_for_or_ahead_of_time() -> None:
    grades = np.linspace(0, 1, 90)[:, None]

    def grade(rows: Any) -> Any:
        return np.digitize(np.asarray(rows)[:, 0], [0.3, 0.6])

    on_demand, prepared = sparse(grade, grades), sparse(grade, grades).prepare(target=2)
    assert len(learned(on_demand)) == 3
    expected = explain(on_demand, grades[:3], target=2).to_frame()
    assert len(learned(on_demand)) == 4
    before = len(learned(prepared))
    assert before == 5  # from the two other classes
    assert explain(prepared, grades[:3], target=2).to_frame().equals(expected)
    assert len(learned(prepared)) == before


def test_dense_answers_learn_no_recipes() -> None:
    explainer = sparse(sparse=False)
    explain(explainer, declined().head(2))
    assert learned(explainer) == []


def test_each_recipe_works_for_a_row_of_the_class_within_the_constraints() -> None:
    explainer = sparse(constraints=Constraints(immutable=["age"]))
    training, rules = explainer.training_, explainer.training_.rules(explainer.constraints)
    no = training.classes.labels == "no"
    recipes = learn_recipes(training, no, OneOf(LABELS[1:]), rules)
    rows = training.pool.matrix[no[training.pool.codes]]
    assert len(recipes)
    assert not recipes.features[:, training.table.position("age")].any()
    for features, values in zip(recipes.features, recipes.values, strict=True):
        changed = training.table.decode(np.where(features, values, rows))
        assert (lend(changed) == "yes").any()


def test_fitting_twice_and_asking_in_another_order_give_the_same_recipes() -> None:
    one, other = sparse(), sparse()
    explain(one, declined().head(2))
    explain(other, declined().tail(3), target="yes")
    assert equal(learned(one), learned(other))


def test_threads_share_what_is_learned() -> None:
    alone, shared = sparse(), sparse()
    explain(alone, declined().head(1))
    people = [declined().iloc[[i]] for i in range(4)]
    # warnings.catch_warnings is not for threads: these people have all the options they ask for.
    shared.set_params(max_counterfactuals=1)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(shared.explain_many, people))
    assert equal(learned(alone), learned(shared))


def test_a_pickle_keeps_what_was_learned_and_explains_alike() -> None:
    explainer = sparse()
    expected = explain(explainer, declined().head(5)).to_frame()
    copy = pickle.loads(pickle.dumps(explainer))
    assert equal(learned(explainer), learned(copy))
    assert explain(copy, declined().head(5)).to_frame().equals(expected)


def test_constraints_set_after_fit_get_recipes_of_their_own() -> None:
    explainer = sparse()
    explain(explainer, declined().head(2))
    explainer.set_params(constraints=Constraints(immutable=["income"]))
    after = explain(explainer, declined().head(10), if_none="warn").to_frame()
    fresh = sparse(constraints=Constraints(immutable=["income"]))
    assert after.equals(explain(fresh, declined().head(10), if_none="warn").to_frame())
    assert len(learned(explainer)) == 3  # of the class that was asked about
    assert equal(learned(explainer)[2:], learned(fresh)[:1])


def test_only_the_recipes_of_the_last_goals_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MOST_LEARNED", 1)
    explainer = sparse()
    first = explain(explainer, declined().head(3)).to_frame()
    explain(explainer, FRAME[lend(FRAME) == "yes"].head(1))
    assert len(learned(explainer)) == 1
    assert explain(explainer, declined().head(3)).to_frame().equals(first)


def test_a_class_with_a_single_row_has_its_recipes() -> None:
    X = np.concatenate([np.linspace(0, 1, 30), [9.0]])[:, None]
    explainer = sparse(lambda rows: np.asarray(rows)[:, 0] > 5, X, max_counterfactuals=1)
    for x, label in ((8.0, True), (0.5, False)):
        explanation = explainer.explain([x])
        assert explanation.label == label
        assert (explanation.values[0, 0] > 5) != label


def test_an_interval_has_recipes_from_outside_to_inside() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    explainer = sparse(lambda rows: np.asarray(rows) @ [1.0, 2.0, 4.0], X)
    found = explain(explainer, X[:10] / 4, interval=(3.0, 4.0))
    for explanation in found:
        predicted = explanation.values @ [1.0, 2.0, 4.0]
        assert ((predicted >= 3) & (predicted <= 4)).all()
    (recipes,) = learned(explainer)
    assert len(recipes) > 20


def test_a_target_beyond_the_nearest_class_has_recipes_of_its_own() -> None:
    # From class 0 the nearest other class is 1; the rows of class 2 are far.
    X = np.concatenate([np.linspace(0, 1, 40), np.linspace(10, 11, 5)])[:, None]
    explainer = sparse(
        lambda rows: np.digitize(np.asarray(rows)[:, 0], [0.5, 5.0]), X, max_counterfactuals=1
    )
    assert explainer.explain([0.2], target=2).values[0, 0] >= 5
    assert 0.5 <= explainer.explain([0.2]).values[0, 0] < 5


# The first acceptable row of each group, against asking about every row ---------------------------


class Asked:
    """Accepts rows above zero, with the row's own number as the class code."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def __call__(self, rows: Any, owners: Any) -> Any:
        assert (rows[:, 1] == owners).all()
        self.rows.append(rows[:, 2].astype(int).tolist())
        return np.where(rows[:, 0] > 0, rows[:, 2].astype(np.intp), REFUSED)


def answers_of(owners: Any, accepted: Any) -> Any:
    return np.column_stack([accepted, owners, np.arange(len(owners))]).astype(float)


def literal(owners: Any, groups: Any, accepted: Any, most: int | None) -> list[int]:
    seen, found = set[int](), list[int]()
    for i, (owner, group) in enumerate(zip(owners, groups, strict=True)):
        if accepted[i] and group not in seen:
            seen.add(group)
            if most is None or sum(owners[j] == owner for j in found) < most:
                found.append(i)
    return found


@given(st.data())
def test_what_is_found_is_what_asking_about_every_row_finds(data: Any) -> None:
    count = data.draw(st.integers(0, 60))
    draw = st.lists(st.integers(0, 7), min_size=count, max_size=count)
    owners = np.sort(np.array(data.draw(draw), dtype=np.intp))
    groups = owners * 8 + np.array(data.draw(draw), dtype=np.intp)
    accepted = np.array(data.draw(draw)) > data.draw(st.integers(0, 7))
    most, ask = data.draw(st.sampled_from([None, 1, 2, 5])), Asked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_IN_A_CALL", data.draw(st.sampled_from([1, 4, ROWS_IN_A_CALL])))
        first, codes = first_accepted(ask, answers_of(owners, accepted), owners, groups, most)
    assert first.tolist() == codes.tolist() == literal(owners, groups, accepted, most)
    together = [row for rows in ask.rows for row in rows]
    assert len(set(together)) == len(together), "no row is asked about twice"


def test_a_group_that_has_an_acceptable_row_is_asked_about_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS_IN_A_CALL", 1)
    owners, nth = np.divmod(np.arange(40), 8)
    ask = Asked()
    first_accepted(ask, answers_of(owners, (owners > 0) | (nth == 1)), owners, owners)
    assert ask.rows == [[0, 8, 16, 24, 32], [1, 2]]


def test_what_comes_after_enough_groups_is_asked_about_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS_IN_A_CALL", 1)
    groups, ask = np.array([0, 0, 1, 2, 2, 2]), Asked()
    accepted = np.array([False, True, True, False, True, True])
    first, _ = first_accepted(ask, answers_of(groups * 0, accepted), groups * 0, groups, most=2)
    assert first.tolist() == [1, 2]
    # The third group comes after two others, of which only the first was refused.
    assert ask.rows == [[0, 2], [1, 3]]
    ask = Asked()
    first, _ = first_accepted(ask, answers_of(groups * 0, accepted), groups * 0, groups, most=1)
    assert first.tolist() == [1]
    assert ask.rows == [[0], [1, 2]]


def test_far_groups_are_not_asked_about_where_near_ones_are_enough() -> None:
    # Of 100 inputs, the first row of each of 40 groups was asked about, and 2 are enough.
    owners, nth = np.divmod(np.arange(100 * 40), 40)
    ask, groups = Asked(), owners * 40 + nth
    first, _ = first_accepted(ask, answers_of(owners, nth >= 0), owners, groups, most=2)
    assert first.tolist() == np.flatnonzero(nth < 2).tolist()
    assert sum(map(len, ask.rows)) <= ROWS_IN_A_CALL


def test_few_rows_take_one_call() -> None:
    owners, nth = np.divmod(np.arange(64), 8)
    ask = Asked()
    first, _ = first_accepted(ask, answers_of(owners, nth == 7), owners, owners)
    assert len(ask.rows) == 1
    assert first.tolist() == np.flatnonzero(nth == 7).tolist()
