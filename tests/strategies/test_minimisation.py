"""Step 4 over chosen candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.anchored_toys import acceptance_of, selector_of

from counterset import DiverseExplainer, LineSearch
from counterset.strategies.candidates import PoolChooser
from counterset.strategies.line_search import minimise

X = np.random.default_rng(0).random((60, 2))
EXPLAINER = DiverseExplainer.paper(
    lambda rows: rows.sum(axis=1) > 1, scale=None, max_counterfactuals=2, diversity=None
).fit(X)
SEARCH = LineSearch(0.01)


def test_candidates_end_just_past_the_boundary() -> None:
    batch = acceptance_of(EXPLAINER, np.array([[0.2, 0.3], [0.1, 0.1]]))
    chosen = PoolChooser(selector_of(EXPLAINER)).choose(batch)
    found = minimise(chosen, SEARCH, batch)
    sums = found.rows.sum(axis=1)
    assert (sums > 1).all()
    assert (sums < 1.01).all()
    assert (found.lengths < chosen.lengths).all()


def test_settled_candidates_stay_where_they_are() -> None:
    batch = acceptance_of(EXPLAINER, np.array([[0.2, 0.3]]))
    chosen = PoolChooser(selector_of(EXPLAINER)).choose(batch)
    half = minimise(replace(chosen, settled=np.array([True, False])), SEARCH, batch)
    moved = minimise(chosen, SEARCH, batch)
    np.testing.assert_array_equal(half.rows, [chosen.rows[0], moved.rows[1]])
    settled = replace(chosen, settled=np.array([True, True]))
    assert minimise(settled, SEARCH, batch) is settled


def test_nothing_is_searched_without_candidates() -> None:
    batch = acceptance_of(EXPLAINER, np.array([[0.2, 0.3]]))
    chosen = PoolChooser(selector_of(EXPLAINER)).choose(batch).take(np.array([], dtype=int))
    assert len(minimise(chosen, SEARCH, batch).rows) == 0
    assert batch.model.calls == 1
