"""Ways to take steps 1 to 3."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import Constraints, DiverseExplainer


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
    explainer = DiverseExplainer.paper(
        lambda rows: rows.sum(axis=1) > 1.5,
        constraints=Constraints(ranges={"x0": (0.1, 0.9)}),
        diversity=None,
        max_counterfactuals=2,
        sparsify=sparsify,
    ).fit(X)
    assert explainer.explain_many(X[:20]).counts.tolist() == [2] * 20
