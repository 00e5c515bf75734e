"""Chosen candidates: taken, sorted and put together without mixing them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.anchored_toys import acceptance_of

from counterset import DiverseExplainer
from counterset.strategies.batch import Chosen, QueryBatch

X = np.random.default_rng(0).random((40, 2))
EXPLAINER = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1, scale=[2.0, 1.0]).fit(X)


def chosen(batch: QueryBatch, owners: list[int], rows: Any) -> Chosen:
    """Return candidates whose code and pool index are their first value, times ten."""
    rows = np.array(rows, dtype=float)
    numbers = (10 * rows[:, 0]).astype(np.intp)
    embedded = batch.distance.embed(rows)
    index, n = np.array(owners), len(batch.inputs)
    return Chosen(
        index,
        numbers,
        rows,
        numbers,
        embedded,
        batch.lengths(embedded, index),
        np.zeros(len(rows), dtype=bool),
        np.full(n, 5),
        np.zeros(n),
    )


def check_whole(found: Chosen, batch: QueryBatch) -> None:
    """Check that all that belongs to a candidate is still its own."""
    assert found.pool_index.tolist() == found.codes.tolist()
    assert found.codes.tolist() == (10 * found.rows[:, 0]).astype(int).tolist()
    np.testing.assert_array_equal(found.embedded.coordinates, found.rows * [2.0, 1.0])
    x = batch.inputs[found.owners]
    np.testing.assert_allclose(found.lengths, np.abs((found.rows - x) * [2.0, 1.0]).sum(axis=1))


def test_taking_sorting_and_joining_keep_candidates_whole() -> None:
    batch = acceptance_of(EXPLAINER, X[:3])
    first = chosen(batch, [0, 0, 2], [[0.9, 0.8], [0.7, 0.6], [0.5, 0.9]])
    second = chosen(batch, [0, 1], [[0.8, 0.1], [0.6, 0.7]])
    both = Chosen.joined([first, second], np.array([7, 7, 7]), np.zeros(3))
    assert both.owners.tolist() == [0, 0, 0, 1, 2]
    assert both.counts.tolist() == [3, 1, 1]
    for found in (first, both, both.take(np.array([4, 0])), both.nearest_first(np.arange(99))):
        check_whole(found, batch)
    lengths = both.nearest_first(np.arange(99)).lengths[:3]
    assert (np.diff(lengths) >= 0).all()


def test_equally_far_candidates_are_sorted_by_training_row() -> None:
    batch = acceptance_of(EXPLAINER, np.zeros((1, 2)))
    # All at a distance of 1, since the first feature counts twice.
    found = chosen(batch, [0, 0, 0], [[0.5, 0.0], [0.25, 0.5], [0.0, 1.0]])
    training_index = np.array([8, 0, 6, 0, 0, 7])
    assert found.pool_index.tolist() == [5, 2, 0]
    assert found.nearest_first(training_index).pool_index.tolist() == [2, 5, 0]


def test_other_rows_bring_their_own_distances() -> None:
    batch = acceptance_of(EXPLAINER, X[:2])
    before = chosen(batch, [0, 1], [[0.9, 0.8], [0.7, 0.6]])
    rows = np.array([[0.4, 0.4], [0.2, 0.9]])
    after = before.with_rows(rows, np.array([1, 0]), batch)
    assert after.pool_index.tolist() == before.pool_index.tolist()
    assert after.codes.tolist() == [1, 0]
    np.testing.assert_array_equal(after.embedded.coordinates, rows * [2.0, 1.0])
    expected = np.abs((rows - X[:2]) * [2.0, 1.0]).sum(axis=1)
    np.testing.assert_allclose(after.lengths, expected)
