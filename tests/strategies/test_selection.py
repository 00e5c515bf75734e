"""Steps 1 to 3, composed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.batches import batch_of, selector_of
from support.settings import paper_by_steps

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    NearData,
    NearestCandidates,
)
from counterset.strategies import ranking as nearest
from counterset.strategies import selection
from counterset.strategies.selection import NONE_LEFT, Selection

X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [1.0, 0.0], [-4.0, 0.0]])


def fitted(**parameters: Any) -> DiverseExplainer:
    return paper_by_steps(
        lambda rows: np.abs(rows).sum(axis=1) > 0.5,
        scale=None,
        **parameters,
    ).fit(X)


def test_the_nearest_in_each_direction_is_chosen() -> None:
    explainer = fitted(diversity=AngleDiversity(0.5), max_counterfactuals=5)
    selector, batch = selector_of(explainer), batch_of(explainer, X[:1])
    ((members, eligible),) = selector.eligible(batch)
    assert members.tolist() == [0]
    assert eligible.tolist() == [False, True, True, True, True, True]  # the pool is by class
    found = selector.select(batch.embedded.take(members), eligible)
    # To the right, up, and to the left; rows 2 and 4 lie in the direction of row 1.
    chosen = found.pool_index[0]
    rows = explainer.training_.pool.training_index[chosen[chosen != NONE_LEFT]]
    assert rows.tolist() == [1, 3, 5]
    assert found.n_candidates.tolist() == [5]
    assert found.farthest.tolist() == [0.0]


def test_a_copy_of_a_chosen_candidate_is_never_chosen() -> None:
    explainer = fitted(diversity=None, max_counterfactuals=4, search=None)
    assert explainer.explain(X[0] + 0.1, target=True).examples.tolist() == [1, 2, 3, 5]


def test_the_farthest_candidate_is_looked_for_only_if_it_is_needed() -> None:
    explainer = fitted(search=LineSearch(0.1, halvings="farthest"), max_counterfactuals=1)
    found = explainer.explain(X[0])
    # The farthest is 4 away: six halvings of a way of 1 lead to 33/64, the first past the border.
    assert np.abs(found.values).sum() == 33 / 64


def test_batches_do_not_change_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((100, 3))
    explainer = DiverseExplainer.paper(
        lambda r: r.sum(axis=1) > 1.5, max_counterfactuals=3, diversity=None
    ).fit(rows)
    together = explainer.explain_many(rows).to_frame()
    assert len(rows) > selection.LEAST_BATCH
    monkeypatch.setattr(selection, "BATCH_DISTANCES", 1)
    assert explainer.explain_many(rows).to_frame().equals(together)
    monkeypatch.setattr(selection, "MOST_DISTANCES", 1)
    assert explainer.explain_many(rows).to_frame().equals(together)


def test_more_counterfactuals_than_there_are_rows_take_no_more_memory() -> None:
    # A billion places were kept for every input: 22.8 GB on iris.
    explainer = fitted(diversity=None, max_counterfactuals=10**9, search=None)
    assert selector_of(explainer).capacity == len(X)
    with pytest.warns(FewerCounterfactualsWarning, match="fewer than 1000000000"):
        assert len(explainer.explain(X[0])) == 4


def test_selections_of_parts_are_put_together_in_the_order_of_the_inputs() -> None:
    last = Selection(np.array([[7]]), np.array([3]), np.array([0.5]))
    first_two = Selection(np.array([[4, 5], [6, NONE_LEFT]]), np.array([9, 8]), np.array([2.0, 1]))
    joined = Selection.joined([(np.array([3]), last), (np.array([0, 1]), first_two)], 4)
    none = [NONE_LEFT] * 2
    assert joined.pool_index.tolist() == [[4, 5], [6, NONE_LEFT], none, [7, NONE_LEFT]]
    assert joined.n_candidates.tolist() == [9, 8, 0, 3]
    assert joined.farthest.tolist() == [2.0, 1.0, 0.0, 0.5]
    assert Selection.joined([], 2).pool_index.shape == (2, 0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"distance": "l2"},
        {"distance": "l1", "diversity": None},
        {"distance": "l2", "plausibility": NearData(neighbours=1, share=0.5)},
        {"sparse": True, "constraints": Constraints(immutable=["x1"])},
        {"search": LineSearch(0.1, halvings="farthest")},
        {"candidates": CandidatesWithin(0.5)},
    ],
    ids=str,
)
@pytest.mark.parametrize("has_tree", [True, False])
def test_looking_for_the_nearest_first_does_not_change_the_choice(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], has_tree: bool
) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.random((300, 3)), rng.integers(0, 4, (300, 3)) / 3])
    inputs = np.concatenate([rng.random((60, 3)), rows[-5:]])

    def explained() -> list[Any]:
        explainer = paper_by_steps(
            lambda rows: rows.sum(axis=1) > 1.5, **{"candidates": NearestCandidates(20)} | settings
        ).fit(rows)
        found = explainer.explain_many(inputs, if_none="ignore")
        return [(each.values.tolist(), each.examples.tolist()) for each in found]

    ranked = explained()
    monkeypatch.setattr(nearest, "VERY_MANY", 1)
    monkeypatch.setattr(nearest, "LARGEST_BLOCK", 50)
    monkeypatch.setattr(nearest, "LEVELS_EACH", 0 if has_tree else np.inf)
    assert explained() == ranked
