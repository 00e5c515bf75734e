"""The order of a region's list."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.anchored_toys import selector_of
from support.mixed_toys import FRAME, lend
from support.toys import fitted

from counterset import AngleDiversity, DiverseExplainer
from counterset.models.goals import OneOf
from counterset.strategies.batch import Requirements
from counterset.strategies.recipes import learn_recipes
from counterset.strategies.shared import (
    LENGTH,
    POWER,
    ROWS,
    RUNGS,
    OptionList,
    in_order,
    in_sets,
    learn_list,
)

ANGLE = AngleDiversity(0.5)


@given(
    st.lists(
        st.lists(st.sampled_from([0.5, 1.0, 2.0, np.inf]), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    )
)
def test_the_order_is_by_mean_distance_over_the_root_of_the_share(rows: list[list[float]]) -> None:
    scores = {}
    for option in range(3):
        works = [row[option] for row in rows if np.isfinite(row[option])]
        if works:
            share = len(works) / len(rows)
            scores[option] = np.mean(works) / share**POWER
    expected = sorted(scores, key=lambda option: scores[option])
    assert in_order(np.array(rows)).tolist() == expected


def test_what_works_for_no_row_is_not_on_the_list() -> None:
    assert in_order(np.array([[np.inf, 1.0]])).tolist() == [1]
    assert in_order(np.empty((0, 2))).tolist() == []


def learned(rows: int = 40) -> tuple[OptionList, DiverseExplainer, Requirements]:
    """Return the list of the first rows that are declined."""
    explainer = fitted(FRAME, lend, sparse=True, max_counterfactuals=3, diversity=ANGLE)
    training = explainer._training
    no, yes = training.classes.labels == "no", OneOf(np.array(["yes"]))
    recipes = learn_recipes(training, no, yes, training.no_rules)
    wanted = Requirements(yes, None, training.no_rules, None)
    there = np.flatnonzero(no[training.pool.codes])
    selector = selector_of(explainer)
    options = learn_list(recipes, there[:rows], there[[7]], wanted, training, selector)
    return options, explainer, wanted


def test_every_recipe_of_a_learned_list_works_for_a_row_that_it_was_learned_from() -> None:
    options, explainer, _ = learned()
    pool, table = explainer.pool_, explainer.schema_
    rows = np.flatnonzero(pool.codes == pool.codes[0])[:40]
    drawn = rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]]
    tried = options.apply(pool.matrix[drawn], table)
    assert 0 < len(options) <= LENGTH
    for i in range(len(options)):
        rungs = tried[:, i * len(RUNGS) : (i + 1) * len(RUNGS)].reshape(-1, tried.shape[2])
        assert (lend(table.decode(table.snap(rungs))) == "yes").any()


def test_no_row_to_learn_from_leaves_an_empty_list() -> None:
    assert len(learned(rows=0)[0]) == 0


def test_a_list_begins_with_recipes_that_differ_as_seen_from_the_centre() -> None:
    options, explainer, wanted = learned()
    training, limit = explainer._training, explainer.max_counterfactuals
    there = np.flatnonzero(training.pool.codes == training.pool.codes[0])
    centre = training.batch(there[[7]], wanted)
    rows = options.apply(centre.inputs, training.table)[0, RUNGS.index(1.0) :: len(RUNGS)]
    rows = training.table.snap(rows[:limit], centre.inputs)
    directions = training.distance.embed(rows).directions - centre.embedded.directions
    for one, other in itertools.combinations(directions, 2):
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert 1 - cosine >= ANGLE.beta


def test_sets_hold_every_recipe_once_and_keep_the_order_where_nothing_differs() -> None:
    options, explainer, wanted = learned()
    training = explainer._training
    there = np.flatnonzero(training.pool.codes == training.pool.codes[0])
    centre = training.batch(there[[7]], wanted)
    selector = replace(selector_of(explainer), diversity=None, limit=len(options))
    for each in (selector, replace(selector, limit=2)):
        order = in_sets(options, centre, each)
        assert sorted(order) == list(range(len(options)))
