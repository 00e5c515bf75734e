"""Undoing what is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.batches import batch_of, selector_of
from support.mixed_toys import FRAME, explain, lend
from support.toys import Recorder, fitted

from counterset import Constraints, DiverseExplainer
from counterset.strategies.batch import REFUSED
from counterset.strategies.candidates import choose_rows
from counterset.strategies.sparsity import (
    LANDMARK_STRIDE,
    MANY_CHANGES,
    NEAREST,
    _first_ones,
    partly_undone,
    undo,
    undo_needless_changes,
)


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=6),
    st.lists(st.integers(-2, 3), min_size=4, max_size=4),
    st.integers(0, 5),
)
def test_no_single_change_of_a_sparse_candidate_can_be_undone(
    candidates: list[list[int]], weights: list[int], cut: int
) -> None:
    ends = np.array(candidates, dtype=float)
    ends = ends[ends @ np.array(weights) > cut]
    starts, units = np.zeros_like(ends), [np.array([i]) for i in range(4)]

    def ask(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.where(rows @ np.array(weights) > cut, 7, REFUSED)

    answers = np.full(len(ends), 3)
    found, told = undo_needless_changes(starts, ends, answers, units, ends, ask)
    assert ((found == ends) | (found == 0)).all()
    assert (found @ np.array(weights) > cut).all()
    np.testing.assert_array_equal(told == 7, (found != ends).any(axis=1))
    for row in found:
        for i in np.flatnonzero(row):
            undone = np.where(np.arange(4) == i, 0, row)
            assert undone @ np.array(weights) <= cut or np.count_nonzero(row) == 1


def test_units_are_undone_whole_and_the_dearest_first() -> None:
    starts, ends = np.zeros((1, 3)), np.ones((1, 3))
    units = [np.array([0, 1]), np.array([2])]

    def ask(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.where(rows.any(axis=1), 1, REFUSED)

    found, _ = undo_needless_changes(
        starts, ends, np.array([0]), units, np.array([[2.0, 1.0]]), ask
    )
    assert found.tolist() == [[0, 0, 1]]


@given(st.integers(0, 2**32 - 1), st.integers(MANY_CHANGES + 1, 90), st.sampled_from([1, 2, 7]))
def test_no_single_one_of_many_changes_can_be_undone(seed: int, width: int, group: int) -> None:
    # By halves, against a model for which some changes help, some harm, and some only together.
    random = np.random.default_rng(seed)
    ends = random.integers(0, 3, (12, width)).astype(float)
    weights, cut = random.integers(-2, 4, width), random.integers(0, 3 * width // 4)
    pair = random.integers(0, width, 2)

    def accepts(rows: np.ndarray) -> np.ndarray:
        return np.asarray((rows @ weights > cut) ^ rows[:, pair].all(axis=1))

    ends = ends[accepts(ends) & ends.any(axis=1)]
    starts = np.zeros_like(ends)
    units = [np.arange(i, min(i + group, width)) for i in range(0, width, group)]
    costs = np.column_stack([ends[:, unit].sum(axis=1) for unit in units])

    def ask(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.where(rows.any(axis=1) & accepts(rows), 7, REFUSED)

    found, told = undo_needless_changes(starts, ends, np.full(len(ends), 3), units, costs, ask)
    assert ((found == ends) | (found == 0)).all()
    np.testing.assert_array_equal(told == 7, (found != ends).any(axis=1))
    for row in found:
        assert accepts(row[None])[0]
        for unit in [*units, *np.arange(width)[:, None]]:
            undone = np.where(np.isin(np.arange(width), unit), 0, row)
            untouched = (undone == row).all()
            assert untouched or not undone.any() or not accepts(undone[None])[0]


def test_undoing_asks_rows_by_what_is_needed_and_not_by_how_much_changed() -> None:
    # It used to ask about every change of every candidate in every round.
    needed, asked = [3, 500, 901], []

    def ask(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return np.where(rows[:, needed].all(axis=1), 7, REFUSED)

    starts, ends = np.zeros((1, 1000)), np.ones((1, 1000))
    units = [np.array([i]) for i in range(1000)]
    found, _ = undo_needless_changes(starts, ends, np.array([7]), units, ends, ask)
    assert np.flatnonzero(found[0]).tolist() == needed
    assert sum(asked) <= 4 * len(needed) * np.log2(1000)
    assert len(asked) <= 2 * np.log2(1000) + 1


def test_members_of_a_group_are_undone_alone_where_what_is_left_may_be() -> None:
    # Groups were undone whole or not at all: "no single change can be undone" was not true in them.
    starts, ends = np.zeros((2, 3)), np.array([[1.0, 1, 0], [1, 1, 1]])
    units = [np.array([0, 1]), np.array([2])]

    def ask(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.where(rows[:, 1] > 0, 7, REFUSED)

    found, told = undo_needless_changes(
        starts, ends, np.array([3, 3]), units, np.array([[2.0, 0.0], [2.0, 1.0]]), ask
    )
    assert found.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert told.tolist() == [7, 7]


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=4),
    st.integers(0, 4),
    st.lists(st.integers(-2, 3), min_size=4, max_size=4),
)
def test_all_that_undoing_may_ask_is_listed_before(
    candidates: list[list[int]], most: int, weights: list[int]
) -> None:
    ends = np.array(candidates, dtype=float)
    ends = ends[ends.any(axis=1)]
    starts, units = np.zeros_like(ends), [np.array([0, 1]), np.array([2]), np.array([3])]
    rows, which = partly_undone(starts, ends, most)
    listed = set(zip(which.tolist(), map(tuple, rows), strict=True))
    assert len(listed) == len(rows)
    changes = ends.astype(bool).sum(axis=1)
    asked: set[tuple[int, tuple[float, ...]]] = set()

    def ask(tried: np.ndarray, owners: np.ndarray) -> np.ndarray:
        asked.update(zip(owners.tolist(), map(tuple, tried), strict=True))
        return np.where(tried @ np.array(weights) > 0, 7, REFUSED)

    undo_needless_changes(
        starts, ends, np.zeros(len(ends), dtype=int), units, np.ones((len(ends), 3)), ask
    )
    # The input itself is never a counterfactual, so the model is not asked about it.
    wanted = {(i, row) for i, row in asked if changes[i] <= most and any(row)}
    assert wanted <= listed
    assert len(rows) == sum(2**n - 2 for n in changes if 0 < n <= most)


# Step 3 for answers that change few features ------------------------------------------------------


def test_sparse_answers_start_from_the_nearest_and_from_landmarks() -> None:
    many = NEAREST + 5
    owners = np.array([0] * many + [2] * many)
    places = np.ones(2 * many, dtype=np.intp)
    places[[many - 2, 2 * many - 1]] = 3 * LANDMARK_STRIDE  # one far landmark for each
    landmark, open_ = places % LANDMARK_STRIDE == 0, np.ones(2 * many, dtype=bool)
    picked = _first_ones(owners, landmark, open_, 1).tolist()
    assert picked == [*range(NEAREST), many - 2, *range(many, many + NEAREST), 2 * many - 1]
    open_[0] = False  # refused: the next one takes its place
    picked = _first_ones(owners, landmark, open_, 1).tolist()
    assert picked[:NEAREST] == [*range(1, NEAREST + 1)]
    assert _first_ones(owners[:0], landmark[:0], open_[:0], 1).tolist() == []


def test_one_input_is_undone_in_one_call_and_gets_what_it_gets_in_a_batch() -> None:
    # It used to be two calls for each round of undoing.
    explainer = fitted(FRAME, lend, max_counterfactuals=4)
    matrix, _ = explainer.training_.table.encode(FRAME[lend(FRAME) == "no"].head(12))
    everyone = batch_of(explainer, matrix)
    chosen = choose_rows(selector_of(explainer), everyone)
    together = undo(chosen, everyone)
    assert (together.rows != chosen.rows).any()
    for i in range(len(matrix)):
        own = chosen.owners == i
        alone = batch_of(explainer, matrix[[i]])
        calls = alone.model.calls
        found = undo(choose_rows(selector_of(explainer), alone), alone)
        assert alone.model.calls - calls == 1
        np.testing.assert_array_equal(found.rows, together.rows[own])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_single_member_of_a_group_can_be_undone_either(seed: int) -> None:
    # A group was undone whole or not at all, although part of it may be a known combination.
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.integers(0, 3, (300, 5)) * [1, 1, 1, 10, 10], columns=list("abcde"), dtype=float
    )
    weights = rng.integers(-1, 4, 5) / [1, 1, 1, 10, 10]

    def accept(rows: pd.DataFrame) -> Any:
        return rows.to_numpy() @ weights > weights.clip(0) @ frame.mean().to_numpy()

    group = ["a", "b", "c"]
    known = set(map(tuple, frame[group].to_numpy()))
    explainer = fitted(
        frame, accept, sparse=True, constraints=Constraints(together=[group], immutable=["d"])
    )
    inputs = frame[~accept(frame)][:40]
    checked = 0
    for one in explain(explainer, inputs):
        x = inputs.loc[one.index]
        for row in pd.DataFrame(one.counterfactuals).to_dict("records"):
            for name in frame:
                undone = row | {name: x[name]}
                combination = tuple(undone[each] for each in group)
                is_kept = combination == tuple(x[group]) or combination in known
                if row[name] == x[name] or undone == x.to_dict() or not is_kept:
                    continue
                checked += 1
                assert not accept(pd.DataFrame([undone]))[0]
    assert checked > 0


def test_the_rows_asked_do_not_grow_with_the_square_of_the_features() -> None:
    # 150 features took 1.4 million rows for one explanation, and 500 did not end in minutes.
    asked = {}
    for width in (20, 200):
        random = np.random.default_rng(0)
        data, weights = random.normal(size=(500, width)), random.normal(size=width)
        model = Recorder(lambda rows, weights=weights: rows @ weights > 0)
        explainer = DiverseExplainer(model).fit(data)
        model.asked.clear()
        (one,) = explainer.explain_many(data[data @ weights < 0][:1], if_none="ignore")
        assert len(one) == 5
        asked[width] = model.rows
    assert asked[200] <= asked[20]
