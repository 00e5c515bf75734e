"""What is learned from the training rows."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import Constraints, DiverseExplainer, NearData, NoCounterfactualError, distances
from counterset.models.goals import AnyOther
from counterset.strategies.batch import REFUSED, Requirements
from counterset.strategies.training import CandidatePool, TrainingData
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

X = np.random.default_rng(0).random((50, 2))


class Sure:
    """A model that is surer the farther a row is from the boundary."""

    classes_ = np.array([False, True])

    def __init__(self) -> None:
        self.asked: list[int] = []

    def predict(self, rows: Any) -> Any:
        self.asked.append(len(rows))
        return rows.sum(axis=1) > 1

    def predict_proba(self, rows: Any) -> Any:
        above = 1 / (1 + np.exp(-10 * (rows.sum(axis=1) - 1)))
        return np.column_stack([1 - above, above])


def learn(model: Any, plausibility: NearData | None = None) -> TrainingData:
    return TrainingData.learn(
        X, model, schema=Schema(step=0), distance="l1", scale=None, plausibility=plausibility
    )


def test_each_row_is_asked_about_once() -> None:
    model = Sure()
    training = learn(model)
    assert model.asked == [50]
    assert training.classes.labels.tolist() == [False, True]
    np.testing.assert_array_equal(training.pool.matrix, X[training.pool.training_index])


def test_probabilities_are_asked_for_when_they_are_first_needed() -> None:
    model = Sure()
    training = learn(model)
    assert training.usable(None) is None
    usable = [training.usable(least) for least in (0.9, 0.6)]
    assert model.asked == [50, 50]
    sure = np.abs(training.pool.matrix.sum(axis=1) - 1)
    for mask, least in zip(usable, (0.9, 0.6), strict=True):
        assert mask is not None
        assert mask.tolist() == (sure >= np.log(least / (1 - least)) / 10).tolist()


def test_what_is_usable_is_plausible_and_probable() -> None:
    training = learn(Sure(), NearData(share=0.5))
    plausible, probable = training.usable(None), learn(Sure()).usable(0.8)
    both = training.usable(0.8)
    assert plausible is not None
    assert probable is not None
    assert both is not None
    assert 0 < plausible.sum() < len(X)
    assert both.tolist() == (plausible & probable).tolist()


def test_no_constraints_are_no_rules() -> None:
    training = learn(Sure())
    assert not training.rules(None)
    assert len(training.rules(Constraints(immutable=["x0"])).rules) == 1


def test_a_model_of_one_class_is_refused() -> None:
    with pytest.raises(NoCounterfactualError, match="predicts 3 for all 50 training rows"):
        learn(lambda rows: np.full(len(rows), 3))


def test_rows_of_the_pool_are_judged_as_inputs() -> None:
    training = learn(Sure())
    requirements = Requirements(AnyOther(), None, training.no_rules, None)
    batch = training.batch(np.array([0, len(X) - 1]), requirements)
    np.testing.assert_array_equal(batch.inputs, training.pool.matrix[[0, -1]])
    assert batch.input_labels.tolist() == [False, True]
    other = training.pool.matrix[[-1, -1]]
    assert (batch.ask(other, np.array([0, 1])) != REFUSED).tolist() == [True, False]


def test_a_large_table_is_held_no_more_than_twice_at_a_time() -> None:
    rows = np.random.default_rng(0).random((300_000, 10), dtype=np.float32)
    explainer = DiverseExplainer.paper(lambda rows: rows[:, 0] > 0.5)
    tracemalloc.start()
    try:
        explainer.fit(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    in_double_precision = 8 * rows.size
    # What is held besides is made of one block of rows, or is one number for each row.
    assert peak < 2.75 * in_double_precision


# The pool of candidates ---------------------------------------------------------------------------


def pool_of(codes: NDArray[np.intp]) -> CandidatePool:
    matrix = np.column_stack([np.arange(len(codes), dtype=float), codes])
    table, _ = Table.learn(matrix)
    space = Space.learn(matrix, table, [2.0, 1.0])
    return CandidatePool.build(matrix, codes, TableDistance(table, space, distances.get("l1")))


@given(hnp.arrays(np.intp, st.integers(1, 30), elements=st.integers(0, 3)))
def test_the_pool_is_sorted_by_class_then_by_training_row(codes: NDArray[np.intp]) -> None:
    pool = pool_of(codes)
    assert len(pool) == len(codes)
    assert pool.codes.tolist() == sorted(codes.tolist())
    assert (codes[pool.training_index] == pool.codes).all()
    assert (pool.matrix[:, 0] == pool.training_index).all()
    for code in range(4):
        assert (
            pool.training_index[pool.codes == code].tolist()
            == np.flatnonzero(codes == code).tolist()
        )


def test_the_points_are_the_scaled_rows() -> None:
    pool = pool_of(np.array([1, 0, 1]))
    assert pool.training_index.tolist() == [1, 0, 2]
    assert pool.embedded.coordinates.tolist() == [[2.0, 0.0], [0.0, 1.0], [4.0, 1.0]]


def test_a_pickle_holds_the_rows_and_not_the_points() -> None:
    pool = pool_of(np.arange(5000) % 2)
    pool.distance.embed(pool.matrix[:1])  # what the space is like is worked out now, and kept
    before = len(pickle.dumps(pool))
    coordinates = pool.embedded.coordinates
    assert len(pickle.dumps(pool)) == before
    again = pickle.loads(pickle.dumps(pool))
    np.testing.assert_array_equal(again.embedded.coordinates, coordinates)
    np.testing.assert_array_equal(again.training_index, pool.training_index)


@pytest.mark.parametrize("which", list(itertools.product([False, True], repeat=4)))
def test_the_rows_of_some_classes_are_those_with_their_codes(which: tuple[bool, ...]) -> None:
    pool = pool_of(np.array([2, 0, 3, 0, 1, 3, 3]))
    assert pool.of_classes(np.array(which)).tolist() == np.array(which)[pool.codes].tolist()
