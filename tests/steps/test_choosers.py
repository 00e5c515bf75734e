"""Ways to take steps 1 to 3."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import Constraints, DiverseExplainer, LineSearch


def test_a_candidate_is_moved_onto_the_constraints_before_it_is_compared() -> None:
    frame = pd.DataFrame({"a": [0.0, 4.0, 4.0, 0.0], "b": [0.0, 9.0, 1.0, 9.0]})
    explainer = DiverseExplainer(
        lambda rows: rows["a"] > 2, max_counterfactuals=1, search=None
    ).fit(frame)
    found = explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["b"]))
    assert found.values.tolist() == [[4, 0]]
    assert found.examples.tolist() == [1]  # in what can change both rows are as far: the first


@pytest.mark.parametrize("sparsify", [False, True])
def test_moved_candidates_are_no_more_than_asked_for(sparsify: bool) -> None:
    X = np.random.default_rng(0).random((80, 3))
    explainer = DiverseExplainer(
        lambda rows: rows.sum(axis=1) > 1.5,
        constraints=Constraints(ranges={"x0": (0.1, 0.9)}),
        diversity=None,
        max_counterfactuals=2,
        sparsify=sparsify,
    ).fit(X)
    assert explainer.explain_many(X[:20]).counts.tolist() == [2] * 20


def test_a_group_of_one_feature_moves_as_if_alone() -> None:
    X = np.random.default_rng(0).random((80, 2))
    explainer = DiverseExplainer(
        lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=1, search=LineSearch(0.001)
    ).fit(X)
    alone = explainer.explain([0.2, 0.3])
    grouped = explainer.explain([0.2, 0.3], constraints=Constraints(together=[["x0"]]))
    assert alone.values.sum() < 1.01
    assert grouped.distances[0] <= 2 * alone.distances[0]
