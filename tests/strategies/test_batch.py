"""One batch: rows that have what is wanted, rows without counterfactuals, and all others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.batches import batch_of
from support.settings import explainer_by_steps
from support.toys import FRAME, Recorder, X, approve, fitted

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
    LineSearch,
    NoCounterfactualError,
)
from counterset.strategies.batch import Chosen, QueryBatch

REACHED = np.flatnonzero(approve(X) == "yes")[:2]
OPEN = np.flatnonzero(approve(X) == "no")[:2]
STUCK = Constraints(immutable=["age", "income"])
EXPLAINED, NONE, ALREADY = "explained", "none_found", "already_reached"


def explain(
    explainer: DiverseExplainer, which: list[int], **options: Any
) -> tuple[tuple[str, ...], list[str]]:
    """Return the status of each row, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = explainer.explain_many(FRAME.iloc[which], target="yes", **options)
    assert all(one.category is FewerCounterfactualsWarning for one in caught)
    assert {one.filename for one in caught} <= {__file__}
    assert [len(one) > 0 for one in found] == [status == EXPLAINED for status in found.status]
    return tuple(found.status), [str(one.message) for one in caught]


@pytest.mark.parametrize("if_none", ["raise", "warn"])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("reached", [True, False])
@pytest.mark.parametrize("stuck", [True, False])
def test_every_combination(if_none: str, skip: bool, reached: bool, stuck: bool) -> None:
    which = [OPEN[0], *([REACHED[0]] if reached else []), OPEN[1]]
    constraints = [None] * (len(which) - 1) + [STUCK if stuck else None]
    options: dict[str, Any] = {"if_none": if_none, "skip": skip, "constraints": constraints}
    explainer = fitted(FRAME, max_counterfactuals=1)
    if if_none == "raise" and reached and not skip:
        with pytest.raises(InvalidInputError, match=r"for 1 of 3 inputs .*or pass skip=True"):
            explain(explainer, which, **options)
        return
    if if_none == "raise" and stuck:
        match = rf"for 1 of 2 inputs \(first at position {len(which) - 1}\)"
        with pytest.raises(NoCounterfactualError, match=match):
            explain(explainer, which, **options)
        return
    status, told = explain(explainer, which, **options)
    middle = (ALREADY,) if reached else ()
    assert status == (EXPLAINED, *middle, NONE if stuck else EXPLAINED)
    assert len(told) == ((reached and not skip) or stuck)
    assert any("already predicts" in one for one in told) == (reached and not skip)
    assert any("No counterfactual for" in one for one in told) == stuck


def test_a_batch_of_which_all_is_skipped_is_empty() -> None:
    explainer = fitted(FRAME)
    for constraints in (None, STUCK, lambda row: STUCK, [STUCK, None]):
        status, told = explain(explainer, list(REACHED), skip=True, constraints=constraints)
        assert (status, told) == ((ALREADY, ALREADY), [])


def test_rows_that_are_not_skipped_are_as_without_skip() -> None:
    explainer = fitted(FRAME)
    rows = FRAME.iloc[[*OPEN]]
    expected = explainer.explain_many(rows, target="yes").to_frame()
    mixed = FRAME.iloc[[REACHED[0], OPEN[0], REACHED[1], OPEN[1]]]
    found = explainer.explain_many(mixed, target="yes", skip=True).to_frame()
    found = found[found["status"] == "explained"]
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_index_type=False)
    pd.testing.assert_frame_equal(
        explainer.explain_many(rows, target="yes", skip=True).to_frame(), expected
    )


# Which rows count as counterfactuals, and the labels that come back -------------------------------


def test_a_label_longer_than_those_of_the_training_rows_is_not_cut() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0]})

    def model(rows: pd.DataFrame) -> np.ndarray:
        return np.array(["not" if a > 5 else "no" if a > 1.5 else "si" for a in rows["a"]])

    explainer = DiverseExplainer.paper(model, max_counterfactuals=1, search=None).fit(frame)
    assert explainer.explain([9.0]).labels.tolist() == ["no"]


@pytest.mark.parametrize("labels", [("a", "b", "longer"), (0, 1, 2), (0, 1, "two"), (0.5, 1.5, 2)])
def test_a_class_that_no_training_row_has_comes_back_as_it_is(labels: tuple[Any, ...]) -> None:
    # Between the two classes of the training rows lies a third one, where the search ends.
    low, high, between = labels
    data = np.concatenate([np.linspace(0, 0.3, 5), np.linspace(0.7, 1, 5)])[:, None]

    def model(rows: Any) -> Any:
        kinds = np.where(rows[:, 0] < 0.4, 0, np.where(rows[:, 0] > 0.6, 1, 2))
        return pd.Series([(low, high, between)[k] for k in kinds]).to_numpy()

    explainer = DiverseExplainer.paper(model, search=LineSearch(0.01), max_counterfactuals=1).fit(
        data
    )
    if labels == (0.5, 1.5, 2):
        explanation = explainer.explain([0.1], interval=(1, 2))
    else:
        explanation = explainer.explain([0.1])
    assert explanation.labels.tolist() == [between]


def test_several_classes_that_no_training_row_has_are_told_apart() -> None:
    data = np.concatenate([np.full((5, 2), 0.5), [[0.9, 0.9]]]) + np.arange(6)[:, None] / 1000

    def model(rows: Any) -> Any:
        right, up = rows[:, 0] > 0.6, rows[:, 1] > 0.6
        return np.select([right & up, right, up], ["both", "right", "up"], "neither")

    explainer = DiverseExplainer.paper(model, max_counterfactuals=1, scale=None).fit(data)
    # The way to "both" leads through "up" from the one input, through "right" from the other.
    inputs = np.array([[0.5, 0.59], [0.59, 0.5]])
    assert [e.labels.tolist() for e in explainer.explain_many(inputs)] == [["up"], ["right"]]


class TestRowLimit:
    """What is asked on behalf of one input is limited."""

    X = np.random.default_rng(0).random((300, 6)).round(3)

    def explainer(self, **parameters: Any) -> tuple[DiverseExplainer, Recorder]:
        model = Recorder(lambda rows: rows.sum(axis=1) > 3)
        return explainer_by_steps(model, **parameters).fit(self.X), model

    @pytest.mark.parametrize("most", [1, 50, 400])
    @pytest.mark.parametrize("sparsify", [True, False])
    def test_the_model_is_asked_about_no_more_rows_and_answers_stay_valid(
        self, most: int, sparsify: bool
    ) -> None:
        explainer, model = self.explainer(max_model_rows=most, sparse=sparsify)
        inputs = self.X[self.X.sum(axis=1) < 2.8][:8]
        explainer.explain_many(inputs, if_none="ignore")  # what is learned once is not counted
        model.asked.clear()
        found = explainer.explain_many(inputs, if_none="ignore")
        returned = int(found.counts.sum())
        # The inputs themselves, and what is returned, are asked about in any case.
        assert model.rows <= len(inputs) * (most + 1) + returned
        for one in found:
            assert (one.values.sum(axis=1) > 3).all()

    def test_that_it_was_reached_is_said(self) -> None:
        # A search that ends so early finds training rows.
        explainer, _ = self.explainer(max_model_rows=40, anonymity=1)
        x = self.X[self.X.sum(axis=1) < 2.8][0]
        told = "For 1 of 1 inputs the search ended at max_model_rows=40: they may have fewer"
        with pytest.warns(FewerCounterfactualsWarning, match=told):
            explainer.explain(x)
        stuck = Constraints(immutable=[f"x{i}" for i in range(5)], ranges={"x5": (0, 0.1)})
        with pytest.raises(NoCounterfactualError, match=r"ended at max_model_rows=40\. Allow"):
            explainer.explain(x, constraints=stuck)
        found = explainer.explain_many(x[None, :], constraints=stuck, if_none="ignore")
        assert found.why_none[0].cause == "stopped"

    def test_a_limit_that_is_not_reached_changes_nothing(self) -> None:
        free, limited = self.explainer()[0], self.explainer(max_model_rows=10**6)[0]
        inputs = self.X[:20]
        one = free.explain_many(inputs, if_none="ignore")
        other = limited.explain_many(inputs, if_none="ignore", memory=1)  # one row a block
        np.testing.assert_array_equal(one.to_frame(), other.to_frame())

    @pytest.mark.parametrize("most", [0, 2.5, "many"])
    def test_what_is_no_number_of_rows_is_refused(self, most: Any) -> None:
        with pytest.raises(InvalidInputError, match="max_model_rows"):
            self.explainer(max_model_rows=most)


# Chosen candidates: taken, sorted and put together without mixing them up -------------------------


POINTS = np.random.default_rng(0).random((40, 2))
EXPLAINER = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1, scale=[2.0, 1.0]).fit(POINTS)


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
    batch = batch_of(EXPLAINER, POINTS[:3])
    first = chosen(batch, [0, 0, 2], [[0.9, 0.8], [0.7, 0.6], [0.5, 0.9]])
    second = chosen(batch, [0, 1], [[0.8, 0.1], [0.6, 0.7]])
    both = Chosen.joined([first, second], np.array([7, 7, 7]), np.zeros(3))
    assert both.owners.tolist() == [0, 0, 0, 1, 2]
    assert both.counts.tolist() == [3, 1, 1]
    for found in (
        first,
        both,
        both.take(np.array([4, 0])),
        both.nearest_first(batch, np.arange(99)),
    ):
        check_whole(found, batch)
    lengths = both.nearest_first(batch, np.arange(99)).lengths[:3]
    assert (np.diff(lengths) >= 0).all()


def test_equally_far_candidates_are_sorted_by_training_row() -> None:
    batch = batch_of(EXPLAINER, np.zeros((1, 2)))
    # All at a distance of 1, since the first feature counts twice.
    found = chosen(batch, [0, 0, 0], [[0.5, 0.0], [0.25, 0.5], [0.0, 1.0]])
    training_index = np.array([8, 0, 6, 0, 0, 7])
    assert found.pool_index.tolist() == [5, 2, 0]
    assert found.nearest_first(batch, training_index).pool_index.tolist() == [2, 5, 0]


def test_candidates_against_the_more_frequent_direction_count_as_farther() -> None:
    batch = batch_of(EXPLAINER, np.full((1, 2), 0.5))
    # At distances of 0.4, 0.42 and 0.52.
    found = chosen(batch, [0, 0, 0], [[0.7, 0.5], [0.29, 0.5], [0.5, 1.02]])
    assert found.nearest_first(batch).lengths.round(2).tolist() == [0.4, 0.42, 0.52]
    down = batch.with_directions(np.array([[-1, 0]], dtype=np.int8))
    assert found.nearest_first(down).lengths.round(2).tolist() == [0.42, 0.4, 0.52]
    usually_down = batch.with_directions(np.array([[-2, 0]], dtype=np.int8))
    assert found.nearest_first(usually_down).lengths.round(2).tolist() == [0.42, 0.4, 0.52]
    assert not batch.unusual(found.rows, found.owners).any()
    assert not down.unusual(found.rows, found.owners).any()
    assert usually_down.unusual(found.rows, found.owners)[:, 0].tolist() == [True, False, False]


def test_other_rows_bring_their_own_distances() -> None:
    batch = batch_of(EXPLAINER, POINTS[:2])
    before = chosen(batch, [0, 1], [[0.9, 0.8], [0.7, 0.6]])
    rows = np.array([[0.4, 0.4], [0.2, 0.9]])
    after = before.with_rows(rows, np.array([1, 0]), batch)
    assert after.pool_index.tolist() == before.pool_index.tolist()
    assert after.codes.tolist() == [1, 0]
    np.testing.assert_array_equal(after.embedded.coordinates, rows * [2.0, 1.0])
    expected = np.abs((rows - POINTS[:2]) * [2.0, 1.0]).sum(axis=1)
    np.testing.assert_allclose(after.lengths, expected)
