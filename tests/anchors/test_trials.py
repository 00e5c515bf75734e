"""Held-out rows, by which plans for anchors are judged."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from anchored_toys import acceptance_of, selector_of
from hypothesis import given
from hypothesis import strategies as st

from counterset import DiverseExplainer, LineSearch, metrics
from counterset._base.arrays import Matrix
from counterset.anchors.trials import (
    HELD_OUT_SHARE,
    LEAST_ROWS,
    MOST_HELD_OUT,
    MOST_IN_ALL,
    MOST_TRIALS,
    Trials,
    _splits,
    _Trial,
)
from counterset.anchors.workshop import Plan
from counterset.steps.choosers import PoolChooser
from counterset.steps.pipeline import Pipeline


@given(counts=st.lists(st.integers(1, 400), min_size=1, max_size=4))
def test_no_row_is_held_out_twice_and_every_class_keeps_some(counts: list[int]) -> None:
    codes = np.repeat(np.arange(len(counts)), counts)
    splits = _splits(codes)
    together = np.concatenate([*splits, np.empty(0, dtype=np.intp)])
    assert len(set(together)) == len(together)
    assert len(splits) <= MOST_TRIALS
    assert len(together) <= MOST_IN_ALL + MOST_TRIALS * len(counts)
    for split in splits:
        assert len(split) <= MOST_HELD_OUT + len(counts)
        held_out = np.bincount(codes[split], minlength=len(counts))
        for count, out in zip(counts, held_out, strict=True):
            assert out == 0 if count < LEAST_ROWS else 1 <= out <= max(1, HELD_OUT_SHARE * count)


def tools(X: Matrix, model: Any, search: LineSearch | None = None) -> tuple[Pipeline, Any]:
    """Return the paper's method, and what makes the acceptance of rows."""
    explainer = DiverseExplainer.paper(model, scale=None, search=search, max_counterfactuals=2).fit(
        X
    )
    pipeline = Pipeline(PoolChooser(selector_of(explainer)), search)
    return pipeline, partial(acceptance_of, explainer)


ISLAND = np.array([0.2, 0.2])


def with_an_island(rows: Any) -> Any:
    """Decide by a sum, and one row otherwise that was learnt by heart."""
    by_heart = np.abs(rows - ISLAND).max(axis=1) < 1e-3
    return (rows.sum(axis=1) > 1) ^ by_heart


@pytest.fixture
def rows() -> Matrix:
    X: Matrix = np.random.default_rng(0).random((200, 2))
    X[0] = ISLAND
    return X


def test_a_row_that_was_learnt_by_heart_does_not_count(rows: Matrix) -> None:
    pipeline, ask = tools(rows, with_an_island)
    matrix = pipeline.selector.pool.matrix
    island = np.flatnonzero((matrix == ISLAND).all(axis=1))
    others = np.flatnonzero(np.abs(matrix.sum(axis=1) - 1) > 0.2)[:10]
    trial = _Trial(pipeline, ask, np.union1d(island, others))
    assert not (trial.rows.inputs == ISLAND).all(axis=1).any()
    assert len(trial.rows.inputs) == len(np.setdiff1d(others, island))
    # If there is nothing else, it has to do.
    assert (_Trial(pipeline, ask, island).rows.inputs == ISLAND).all()


def test_figures_are_those_of_the_metrics(rows: Matrix) -> None:
    pipeline, ask = tools(rows, lambda X: X.sum(axis=1) > 1)
    trial = _Trial(pipeline, ask, np.arange(0, 200, 10))
    distances, diversities = trial.cost(None)
    found = pipeline.run(trial.rows).counterfactuals
    for i, x in enumerate(trial.rows.inputs):
        own = found.rows[found.owners == i]
        assert distances[i] == pytest.approx(metrics.k_distance(x, own))
        assert diversities[i] == pytest.approx(metrics.k_diversity(own))
    assert trial.copies is not None
    copies = pipeline.run(trial.copies).counterfactuals
    for i, (owner, largest, mean) in enumerate(zip(trial.owners, *trial.change(None), strict=True)):
        pair = found.rows[found.owners == owner], copies.rows[copies.owners == i]
        assert largest == pytest.approx(metrics.set_distance(*pair, how="max"))
        assert mean == pytest.approx(metrics.set_distance(*pair, how="mean"))


def test_a_constant_explainer_changes_nothing_and_is_far_away(rows: Matrix) -> None:
    trials = Trials.hold_out(*tools(rows, lambda X: X.sum(axis=1) > 1))
    assert trials is not None
    one, many = (Plan(count, closed_in=False) for count in (1, 64))
    assert trials.change(one) == 0 < trials.change(many)
    assert trials.cost(one)[0] > trials.cost(many)[0]
    assert trials.has(one)
    assert not trials.has(Plan(1000, closed_in=False))


def test_too_few_rows_are_not_held_out() -> None:
    X = np.array([[0.1, 0.1], [0.9, 0.9], [0.2, 0.1], [0.8, 0.9]])
    assert Trials.hold_out(*tools(X, lambda rows: rows.sum(axis=1) > 1)) is None
