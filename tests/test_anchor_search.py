"""How many anchors "auto" takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from toys import approve

from counterset import (
    AngleDiversity,
    DiverseExplainer,
    LineSearch,
    NearData,
    NearestCandidates,
    NoCounterfactualError,
    datasets,
    evaluate,
)
from counterset.anchor_search import MOST_DISTANCE

FIGURES = ["set_distance_max", "set_distance_mean", "k_distance", "k_diversity", "counterfactuals"]


def explainer_of(rows: Any, model: Any = approve, **parameters: Any) -> DiverseExplainer:
    return DiverseExplainer(model, candidates=NearestCandidates(50), **parameters).fit(rows)


def counts(explainer: DiverseExplainer) -> list[int]:
    assert explainer.anchors_ is not None
    return [int(count) for count in np.bincount(explainer.anchors_.codes)]


def test_one_dense_place_needs_few_anchors_and_many_places_need_more() -> None:
    rng = np.random.default_rng(0)
    dense = 0.45 + 0.1 * rng.random((400, 4))
    far = rng.random((40, 4)) + np.array([1.0, 0.0, 0.0, 0.0])
    settings: dict[str, Any] = {"anchors": "auto", "search": None}
    together = explainer_of(np.vstack([dense, far]), lambda X: X[:, 0] > 0.9, **settings)
    places = rng.random((60, 4)) * 20
    apart = np.vstack([p + rng.normal(0, 0.05, (14, 4)) for p in places])
    spread = explainer_of(apart, lambda X: X.sum(axis=1).astype(int) % 2 == 0, **settings)
    assert counts(together)[0] < min(counts(spread))


def test_rows_it_has_not_seen_stay_about_as_close() -> None:
    rng = np.random.default_rng(1)
    rows, unseen = rng.random((1500, 3)), rng.random((200, 3))

    def model(X: Any) -> Any:
        return np.asarray(X).sum(axis=1) > 1.5

    settings: dict[str, Any] = {"diversity": AngleDiversity(0.1), "max_counterfactuals": 3}
    figures = {
        anchors: evaluate(
            explainer_of(rows, model, anchors=anchors, search=None, **settings),
            unseen,
            repeats=1,
        )
        for anchors in (None, "auto")
    }
    k_distance = {a: table["k_distance"].mean() for a, table in figures.items()}
    assert k_distance["auto"] <= (MOST_DISTANCE + 0.05) * k_distance[None]


@pytest.mark.parametrize("size", range(1, 9))
def test_tiny_classes_have_as_many_anchors_as_there_is_room_for(size: int) -> None:
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.random((30, 2)) * 0.4, 0.6 + rng.random((size, 2)) * 0.4])
    found = counts(explainer_of(rows, anchors="auto", max_counterfactuals=1))[1]
    assert 1 <= found <= size


def test_rows_that_are_all_equal_have_one_anchor() -> None:
    rows = np.vstack([np.full((30, 2), 0.2), np.full((30, 2), 0.9)])
    assert counts(explainer_of(rows, anchors="auto", max_counterfactuals=1)) == [1, 1]


@pytest.mark.parametrize("search", [None, LineSearch(0.1)])
def test_there_are_no_more_anchors_than_asked_for_and_their_options_are_valid(search: Any) -> None:
    explainer = explainer_of(np.random.default_rng(2).random((300, 2)), anchors=30, search=search)
    anchors = explainer.anchors_
    assert anchors is not None
    assert all(15 < count <= 30 for count in counts(explainer))
    for code, chosen in zip(anchors.codes, anchors.sets, strict=True):
        own = anchors.options.take(chosen[chosen >= 0])
        assert (own.labels != explainer.classes_[code]).all()
        assert (approve(own.rows) == own.labels).all()
    closed_in = 0
    for code in (0, 1):
        used = np.unique(anchors.sets[anchors.codes == code])
        own = anchors.options.take(used[used >= 0])
        are_rows = np.array_equal(own.rows, explainer.pool_.matrix[own.places])
        assert are_rows or np.abs(own.rows.sum(axis=1) - 1).max() <= 0.1
        closed_in += not are_rows
    assert (closed_in > 0) == (search is not None)


def test_options_stay_rows_where_closing_in_would_cost_too_much() -> None:
    # Every input is right at the boundary, in a feature of its own: what one finds is no use to
    # the next.
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.random((60, 40)) < 0.5, rng.random((60, 40)) < 0.5]).astype(float)
    rows[:, 0] = np.repeat([0.49, 0.51], 60)
    explainer = explainer_of(rows, lambda X: np.asarray(X)[:, 0] > 0.5, anchors=3, diversity=None)
    anchors = explainer.anchors_
    assert anchors is not None
    assert np.array_equal(anchors.options.rows, explainer.pool_.matrix[anchors.options.places])


def test_nothing_plausible_to_choose_from_is_an_error_of_its_own() -> None:
    class Nowhere(NearData):
        def learn(self, places: Any, distance: Any) -> Any:
            support = super().learn(places, distance)
            return replace(support, limit=-1.0)

    rows = np.random.default_rng(0).random((60, 2))
    explainer = explainer_of(rows, anchors="auto", plausibility=Nowhere())
    with pytest.raises(NoCounterfactualError):
        explainer.explain([0.2, 0.3])


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("search", [None, LineSearch(0.1)])
def test_the_promise_is_kept_on_bundled_data_it_has_not_seen(search: Any) -> None:
    data = datasets.load("diabetes")
    rows = data.X.astype(float)
    model = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(rows[:600], data.y[:600])
    paper, auto = (
        evaluate(
            DiverseExplainer(model, anchors=anchors, search=search).fit(rows[:600]),
            rows[600:],
            repeats=1,
        )
        for anchors in (None, "auto")
    )
    shares = {figure: auto[figure].mean() / paper[figure].mean() for figure in FIGURES}
    assert shares["set_distance_max"] <= 0.5
    assert shares["set_distance_mean"] <= 0.6
    assert shares["k_distance"] <= 1.1
    assert shares["k_diversity"] >= 0.9
    assert shares["counterfactuals"] >= 0.95
    assert (auto["validity"] == 1).all()
