"""The order of a region's list."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mixed_toys import FRAME, lend
from toys import fitted

from counterset.anchors.learning import LENGTH, POWER, ROWS, in_order, learn_list
from counterset.models.goals import OneOf
from counterset.recipes.learning import learn_recipes


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


def test_every_option_of_a_learned_list_works_for_a_row_that_it_was_learned_from() -> None:
    training = fitted(FRAME, lend, sparsify=True)._training
    pool, labels = training.pool, training.classes.labels
    no, yes = labels == "no", OneOf(np.array(["yes"]))
    recipes = learn_recipes(training, no, yes, training.no_rules)
    rows = np.flatnonzero(no[pool.codes])[:40]
    options = learn_list(recipes, rows, yes, training.no_rules, training)
    drawn = rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]]
    changed = options.apply(pool.matrix[drawn], training.table)
    assert 0 < len(options) <= LENGTH
    for i in range(len(options)):
        rows_of_option = training.table.decode(training.table.snap(changed[:, i]))
        assert (lend(rows_of_option) == "yes").any()


def test_no_row_to_learn_from_leaves_an_empty_list() -> None:
    training = fitted(FRAME, lend, sparsify=True)._training
    yes = OneOf(np.array(["yes"]))
    recipes = learn_recipes(training, training.classes.labels == "no", yes, training.no_rules)
    nobody = np.empty(0, dtype=np.intp)
    assert len(learn_list(recipes, nobody, yes, training.no_rules, training)) == 0
