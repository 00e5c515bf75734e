"""Choosing with anchors."""

from __future__ import annotations

import numpy as np
from anchored_toys import acceptance_of, selector_of

from counterset import DiverseExplainer, LineSearch
from counterset.anchors.chooser import CLOSING_IN, AnchorChooser, anchored, closed_in
from counterset.steps.choosers import MovedChooser, PoolChooser, pick_diverse
from counterset.steps.pipeline import Pipeline

X = np.random.default_rng(0).random((80, 2))
EXPLAINER = DiverseExplainer.paper(
    lambda rows: rows.sum(axis=1) > 1, anchors=3, max_counterfactuals=2, search=None
).fit(X)


def test_inputs_of_one_anchor_share_their_candidates() -> None:
    anchors = EXPLAINER.anchors_
    assert anchors is not None
    paper = Pipeline(PoolChooser(selector_of(EXPLAINER)), None)
    acceptance = acceptance_of(EXPLAINER, X)
    chosen = anchored(paper, anchors, sets_are_kept=True).chooser.choose(acceptance)
    assert chosen.settled.all()
    nearest = anchors.nearest(acceptance.embedded, acceptance.input_codes)
    for anchor in np.unique(nearest):
        sets = {
            tuple(chosen.pool_index[chosen.owners == i]) for i in np.flatnonzero(nearest == anchor)
        }
        assert len(sets) == 1


def test_without_kept_sets_the_candidates_are_those_seen_from_the_anchor() -> None:
    anchors = EXPLAINER.anchors_
    assert anchors is not None
    paper = Pipeline(PoolChooser(selector_of(EXPLAINER)), None)
    acceptance = acceptance_of(EXPLAINER, X[:20])
    found = anchored(paper, anchors, sets_are_kept=False).chooser.choose(acceptance)
    nearest = anchors.nearest(acceptance.embedded, acceptance.input_codes)
    space = EXPLAINER.distance_.space
    rows = anchors.points.coordinates[nearest] / space.factor + space.offset
    expected = paper.chooser.choose(acceptance_of(EXPLAINER, rows))
    for i in range(20):
        own = found.pool_index[found.owners == i].tolist()
        assert own == expected.pool_index[expected.owners == i].tolist()


def test_candidates_that_are_moved_are_only_ranked_from_the_anchor() -> None:
    anchors = EXPLAINER.anchors_
    assert anchors is not None
    paper = Pipeline(MovedChooser(selector_of(EXPLAINER), pick_diverse), None)
    chooser = anchored(paper, anchors, sets_are_kept=True).chooser
    assert isinstance(chooser, MovedChooser)
    assert not isinstance(chooser, AnchorChooser)


def test_a_line_search_is_refined_and_any_other_search_is_left_alone() -> None:
    fine = closed_in(LineSearch(0.1), first_crossing=True)
    assert fine == LineSearch(0.1 / CLOSING_IN, first_crossing=True)
    assert closed_in(None) is None
