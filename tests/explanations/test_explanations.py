"""The explanations of many inputs: a sequence, and a tidy table."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.four_people import FRAME, explainer_of

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    Explanations,
    FewerCounterfactualsWarning,
)


@pytest.fixture
def explanation() -> Explanation:
    return explainer_of(FRAME).explain(FRAME.loc["ann"])


@pytest.fixture
def explanations() -> Explanations:
    return explainer_of(FRAME).explain_many(FRAME.iloc[:2])


def test_a_batch_says_how_many_and_how_far(explanations: Explanations) -> None:
    text = repr(explanations)
    assert text.startswith("Explanations of 2 inputs by 4 counterfactuals, median distance ")
    assert text.endswith("(asked the model 2 times, 6 rows)")


def test_to_frame_has_a_row_per_counterfactual(explanations: Explanations) -> None:
    tidy = explanations.to_frame()
    assert tidy.columns.tolist() == ["age", "income", "label", "distance", "status"]
    assert tidy.index.names == ["input", "rank"]
    assert tidy.index.tolist() == [("ann", 1), ("ann", 2), ("bob", 1), ("bob", 2)]
    assert tidy.loc[("ann", 1), "income"] == 3000
    assert tidy["label"].tolist() == ["yes"] * 4
    assert tidy["distance"].tolist()[:2] == explanations[0].distances.tolist()


def test_to_frame_keeps_the_name_of_the_index() -> None:
    named = FRAME.rename_axis("person")
    tidy = explainer_of(named).explain_many(named.iloc[:2]).to_frame()
    assert tidy.index.names == ["person", "rank"]


def test_to_frame_keeps_the_levels_of_a_multi_index() -> None:
    frame = FRAME.set_axis(
        pd.MultiIndex.from_tuples(
            [("x", 1), ("x", 2), ("y", 1), ("y", 2)], names=["branch", "number"]
        )
    )
    explanations = explainer_of(frame).explain_many(frame.iloc[:2])
    tidy = explanations.to_frame()
    assert tidy.index.names == ["branch", "number", "rank"]
    assert tidy.index.tolist() == [("x", 1, 1), ("x", 1, 2), ("x", 2, 1), ("x", 2, 2)]
    assert explanations[1].index == ("x", 2)
    assert "('x', 2)" in repr(explanations[1])


def test_a_repeated_index_is_kept() -> None:
    frame = FRAME.set_axis(["same"] * 4)
    tidy = explainer_of(frame).explain_many(frame.iloc[:2]).to_frame()
    assert tidy.index.tolist() == [("same", 1), ("same", 2), ("same", 1), ("same", 2)]


def test_to_frame_of_an_array_names_the_columns() -> None:
    tidy = explainer_of(FRAME.to_numpy()).explain_many(FRAME.to_numpy()[:2]).to_frame()
    assert tidy.columns.tolist() == ["x0", "x1", "label", "distance", "status"]
    assert tidy.index.tolist() == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_a_feature_named_label_or_distance_is_kept() -> None:
    frame = FRAME.set_axis(["label", "distance"], axis=1)
    tidy = explainer_of(frame).explain_many(frame.iloc[:1]).to_frame()
    assert tidy.columns.tolist() == [
        "label",
        "distance",
        "counterfactual_label",
        "counterfactual_distance",
        "status",
    ]
    assert tidy["label"].tolist() == [30, 50]
    assert tidy["counterfactual_label"].tolist() == ["yes", "yes"]


def test_no_feature_is_ever_overwritten_in_the_frame() -> None:
    frame = FRAME.set_axis(["label", "counterfactual_label"], axis=1)
    tidy = explainer_of(frame).explain_many(frame.iloc[:1]).to_frame()
    assert tidy["label"].tolist() == [30, 50]
    assert tidy["counterfactual_label"].tolist() == [3000.0, 4000.0]
    assert tidy.shape[1] == 5


def test_a_batch_is_a_sequence(explanations: Explanations) -> None:
    assert len(explanations) == 2
    assert [explanation.index for explanation in explanations] == ["ann", "bob"]
    assert explanations[-1].index == "bob"
    assert explanations[np.int64(1)].index == "bob"  # type: ignore[call-overload]
    assert [explanation.index for explanation in reversed(explanations)] == ["bob", "ann"]
    assert isinstance(explanations, Sequence)
    for beyond in (2, -3):
        with pytest.raises(IndexError):
            explanations[beyond]


def test_the_index_of_a_batch_holds_the_index_of_each(explanations: Explanations) -> None:
    assert explanations.index.equals(FRAME.index[:2])
    assert [each.index for each in explanations] == explanations.index.tolist()


def test_a_batch_as_codes_is_what_its_explanations_are(explanations: Explanations) -> None:
    coded = explanations.coded
    np.testing.assert_array_equal(coded.matrix, np.vstack([e.coded.matrix for e in explanations]))
    np.testing.assert_array_equal(coded.inputs, np.vstack([e.coded.input for e in explanations]))
    np.testing.assert_array_equal(coded.changed, np.vstack([e.changed for e in explanations]))
    assert coded.owners.tolist() == [0, 0, 1, 1]
    assert coded.nearest.tolist() == [each.distances[0] for each in explanations]
    for array in (coded.inputs, coded.matrix, coded.labels, coded.distances):
        assert not array.flags.writeable


def test_a_slice_is_a_batch_of_its_own() -> None:
    batch = explainer_of(FRAME.to_numpy()).explain_many(np.tile(FRAME.to_numpy()[:2], (3, 1)))
    for piece, places in (
        (batch[1:4], [1, 2, 3]),
        (batch[::-2], [5, 3, 1]),
        (batch[-2:], [4, 5]),
        (batch[3:3], []),
    ):
        assert isinstance(piece, Explanations)
        assert piece.index.tolist() == places
        assert [one.index for one in piece] == places
        for one, place in zip(piece, places, strict=True):
            np.testing.assert_array_equal(one.values, batch[place].values)
            np.testing.assert_array_equal(one.distances, batch[place].distances)
            np.testing.assert_array_equal(one.examples, batch[place].examples)
        assert len(piece.to_frame()) == np.maximum(piece.counts, 1).sum()
        assert repr(piece).startswith(f"Explanations of {len(places)} inputs")


def test_inputs_with_different_counts_keep_their_own() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    # For 0 and 2 there is one other class with one and two rows.
    explainer = explainer_of(X, lambda rows: rows[:, 0] > 1.5, max_counterfactuals=2)
    with pytest.warns(match="1 of 2 inputs have fewer than 2"):
        batch = explainer.explain_many([[0.0], [2.0]])
    assert batch.counts.tolist() == [1, 2]
    assert batch[0].values.tolist() == [[2.0]]
    assert batch[1].values.tolist() == [[1.0], [0.0]]
    assert batch[1:][0].values.tolist() == [[1.0], [0.0]]


def test_changing_what_was_handed_out_changes_no_explanation(explanations: Explanations) -> None:
    before = explanations.to_frame()
    rows = explanations[0].counterfactuals
    assert isinstance(rows, pd.DataFrame)
    rows.iloc[:, :] = 0
    tidy = explanations.to_frame()
    tidy.iloc[:, :2] = 0
    pd.testing.assert_frame_equal(explanations.to_frame(), before)
    values = explainer_of(FRAME.to_numpy()).explain_many(FRAME.to_numpy()[:1])
    values[0].values[:] = 0
    assert values[0].values.tolist() == [[30, 3000], [50, 4000]]


@pytest.mark.parametrize(
    ("columns", "index", "names"),
    [
        (["rank", "b"], None, ["input", "counterfactual_rank"]),
        (["rank", "counterfactual_rank"], None, ["input", "counterfactual_counterfactual_rank"]),
        (["input", "b"], None, ["input_input", "rank"]),
        (["age", "b"], "age", ["input_age", "rank"]),
        (["a", "b"], "rank", ["rank", "counterfactual_rank"]),
        (["a", "b"], "distance", ["input_distance", "rank"]),
        ([0, 1], 0, ["input_0", "rank"]),
    ],
)
def test_the_index_can_become_columns_whatever_the_features_are_called(
    columns: list[Any], index: Any, names: list[str]
) -> None:
    # A feature named "rank", or like the index, used to make reset_index fail.
    data = pd.DataFrame(np.random.default_rng(0).random((30, 2)), columns=columns)
    data.index.name = index
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1, diversity=None).fit(data)
    explanations = explainer.explain_many(data[:3])
    frame = explanations.to_frame()
    assert list(frame.index.names) == names
    assert frame.reset_index().shape == (15, 7)
    first = explanations[0].counterfactuals
    assert isinstance(first, pd.DataFrame)
    assert first.reset_index().shape == (5, 3)


def test_why_inputs_have_no_counterfactual_is_told_by_position() -> None:
    explainer = explainer_of(FRAME, constraints=Constraints(immutable=["income"]))
    with pytest.warns(FewerCounterfactualsWarning):
        found = explainer.explain_many(FRAME.iloc[[2, 0, 1]], target="yes", if_none="warn")
    assert found.status == ("already_reached", "none_found", "none_found")
    assert list(found.why_none) == [1, 2]
    assert "the constraint immutable 'income'" in found.why_none[1]
    assert found[1:].why_none == {0: found.why_none[1], 1: found.why_none[2]}
    assert found[:1].why_none == {}
    assert pickle.loads(pickle.dumps(found)).why_none == found.why_none


def test_where_all_have_counterfactuals_nothing_is_to_be_told(explanations: Explanations) -> None:
    assert explanations.why_none == {}
    assert explanations.context.explainer == "DiverseExplainer"
