"""Ways to take steps 1 to 3."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.settings import paper_by_steps

from counterset import (
    AngleDiversity,
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
)


def test_a_candidate_is_moved_onto_the_constraints_before_it_is_compared() -> None:
    frame = pd.DataFrame({"a": [0.0, 4.0, 4.0, 0.0], "b": [0.0, 9.0, 1.0, 9.0]})
    explainer = DiverseExplainer.paper(
        lambda rows: rows["a"] > 2, max_counterfactuals=1, search=None
    ).fit(frame)
    found = explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["b"]))
    assert found.values.tolist() == [[4, 0]]
    assert found.examples.tolist() == [1]  # in what can change both rows are as far: the first


@pytest.mark.parametrize("sparsify", [False, True])
def test_moved_candidates_are_no_more_than_asked_for(sparsify: bool) -> None:
    X = np.random.default_rng(0).random((80, 3))
    explainer = paper_by_steps(
        lambda rows: rows.sum(axis=1) > 1.5,
        constraints=Constraints(ranges={"x0": (0.1, 0.9)}),
        diversity=None,
        max_counterfactuals=2,
        sparse=sparsify,
    ).fit(X)
    assert explainer.explain_many(X[:20]).counts.tolist() == [2] * 20


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), limit=st.integers(1, 6), beta=st.sampled_from([0.0, 0.5, 1.0]))
def test_with_missing_values_the_nearest_are_chosen_as_among_all(
    seed: int, limit: int, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (300, 3)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    explainer = DiverseExplainer.paper(
        lambda rows: np.nan_to_num(rows, nan=2.5).sum(axis=1) > 7.5,
        diversity=AngleDiversity(beta),
        max_counterfactuals=limit,
    ).fit(X)
    # A range that all values lie in changes nothing, but then all candidates are moved onto it.
    literal = Constraints(ranges={"x0": (-10, 10)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        fast = explainer.explain_many(X[:12])
        slow = explainer.explain_many(X[:12], constraints=literal)
    pd.testing.assert_frame_equal(fast.to_frame(), slow.to_frame())


def test_missing_values_in_training_hardly_ask_the_model_more() -> None:
    """One missing cell used to make the model answer about every candidate again."""
    X = np.random.default_rng(0).random((500, 4))
    gaps = X.copy()
    gaps[:5, 0] = np.nan

    def model(rows: Any) -> Any:
        return np.nan_to_num(rows, nan=0.5).sum(axis=1) > 2

    whole, with_gaps = (
        DiverseExplainer.paper(model, diversity=None).fit(rows).explain_many(X[100:120])
        for rows in (X, gaps)
    )
    assert with_gaps.model_rows <= whole.model_rows + 20 * 5
