"""How many anchors "auto" takes."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from anchored_toys import following
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from toys import approve

from counterset import (
    DiverseExplainer,
    LineSearch,
    NearData,
    NearestCandidates,
    NoCounterfactualError,
    datasets,
    evaluate,
)
from counterset._base.progress import Progress
from counterset.anchors import search as anchor_search
from counterset.anchors.search import (
    CLOSENESS_POWER,
    COMFORTABLE,
    FIRST_COUNT,
    FIRST_WAY,
    WAYS,
)
from counterset.anchors.trials import MOST_DISTANCE
from counterset.anchors.workshop import PRICES, Plan

FIGURES = ["set_distance_max", "set_distance_mean", "k_distance", "k_diversity", "counterfactuals"]


def explainer_of(rows: Any, model: Any = approve, **parameters: Any) -> DiverseExplainer:
    return DiverseExplainer.paper(model, candidates=NearestCandidates(50), **parameters).fit(rows)


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


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
def test_rows_it_has_not_seen_stay_about_as_close() -> None:
    rng = np.random.default_rng(1)
    rows, unseen = rng.random((1500, 4)), rng.random((200, 4))

    def model(X: Any) -> Any:
        return np.asarray(X).sum(axis=1) > 2

    figures = {
        anchors: evaluate(
            explainer_of(rows, model, anchors=anchors, search=None, max_counterfactuals=4),
            unseen,
            repeats=1,
        )
        for anchors in (None, "auto")
    }
    k_distance = {a: table["k_distance"].mean() for a, table in figures.items()}
    assert k_distance["auto"] <= MOST_DISTANCE * k_distance[None]


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
def test_there_are_no_more_anchors_than_asked_for(search: Any) -> None:
    explainer = explainer_of(np.random.default_rng(2).random((300, 2)), anchors=30, search=search)
    assert all(15 < count <= 30 for count in counts(explainer))


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("closed_in", [False, True])
def test_options_are_valid_and_either_rows_or_at_the_boundary(closed_in: bool) -> None:
    with following(Plan(30, closed_in)):
        explainer = explainer_of(np.random.default_rng(2).random((300, 2)), anchors="auto")
    anchors = explainer.anchors_
    assert anchors is not None
    for code, numbers in zip(anchors.codes, anchors.sets, strict=True):
        own = anchors.options.take(numbers[numbers >= 0])
        assert (own.labels != explainer.classes_[code]).all()
        assert (approve(own.rows) == own.labels).all()
    are_rows = (anchors.options.rows == explainer.pool_.matrix[anchors.options.pool_index]).all(
        axis=1
    )
    assert are_rows.all() != closed_in
    if closed_in:
        assert np.abs(anchors.options.rows.sum(axis=1) - 1).max() <= 0.1
    rows = np.random.default_rng(5).random((40, 2))
    for explanation in explainer.explain_many(rows):
        assert (approve(explanation.values) == explanation.labels).all()
        assert (explanation.labels != explanation.label).all()


class Landscape:
    """Trials with figures as one likes; remembers the plans that were tried."""

    def __init__(self, right_count: int) -> None:
        self.right_count = right_count
        self.tried: list[Plan] = []

    def cost(self, plan: Plan) -> tuple[float, float]:
        """Many sets are close; a high price makes them farther away and more diverse."""
        self.tried.append(plan)
        away = (self.right_count / plan.count) ** (1 / CLOSENESS_POWER)
        return away * (0.9 + plan.price / 2), away * (1.1 - plan.price / 2)

    def change(self, plan: Plan) -> float:
        return plan.count / self.right_count * (1.1 + 0.1 * plan.way)

    def has(self, plan: Plan) -> bool:
        return True


def plan_in(landscape: Landscape, count: Any = "auto", search: Any = None) -> Plan:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("counterset.anchors.trials.Trials.hold_out", lambda *_: landscape)
        pipeline: Any = SimpleNamespace(search=search)
        with Progress(10, "", shown=False) as bar:
            return anchor_search._find_plan(count, pipeline, lambda _: None, bar)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("right", [4, 32, 256, 1024])
def test_the_number_of_anchors_is_found_from_wherever_it_starts(right: int) -> None:
    landscape = Landscape(right)
    assert plan_in(landscape).count == right
    assert len({plan.count for plan in landscape.tried}) <= 2 + abs(math.log2(right / FIRST_COUNT))


@pytest.mark.parametrize("right", [0.0, 0.1, 0.31, 0.45])
@pytest.mark.parametrize("first", [0, 7, 15, 30])
def test_the_best_price_is_found_from_wherever_it_starts(right: float, first: int) -> None:
    class Priced(Landscape):
        def cost(self, plan: Plan) -> tuple[float, float]:
            self.tried.append(plan)
            return 1 + plan.price - right, 1 + right - plan.price

    landscape = Priced(64)
    search = anchor_search._Search(landscape, [64])  # type: ignore[arg-type]
    found = search._try(Plan(64, closed_in=False, step=first)).plan
    assert abs(found.price - right) == min(abs(price - right) for price in PRICES)
    assert len(landscape.tried) <= 2 * math.log2(len(PRICES))
    near = abs(found.step - first) <= 2
    assert not near or len(landscape.tried) <= 4


def test_what_breaks_both_limits_is_gone_on_with_only_if_nothing_else_is_better() -> None:
    for hope in (True, False):

        def change(plan: Plan, hope: bool = hope) -> float:
            return 2.5 if plan.way and plan.closed_in else 0.9 if hope else 3.0

        landscape = Landscape(64)
        landscape.change = change  # type: ignore[method-assign]
        plan = plan_in(landscape, search=LineSearch(0.1))
        hopeless = {(p.count, p.way) for p in landscape.tried if p.way and p.closed_in}
        assert (hopeless == {(FIRST_COUNT, FIRST_WAY)}) == hope
        assert (plan.way > 0 and plan.closed_in) != hope


def test_sets_as_they_are_will_do_if_they_are_well_below_all_limits() -> None:
    for change, enough in ((0.9 * COMFORTABLE, True), (1.1 * COMFORTABLE, False)):
        landscape = Landscape(16)
        landscape.change = lambda plan, change=change: change  # type: ignore[method-assign, misc]
        plan_in(landscape, search=LineSearch(0.1))
        assert all(plan.closed_in and not plan.way for plan in landscape.tried) == enough


@pytest.mark.parametrize("right_way", WAYS)
@pytest.mark.parametrize("right", [8, 128])
def test_fewer_sets_that_give_way_more_are_found_and_the_other_way_round(
    right: int, right_way: float
) -> None:
    class Valley(Landscape):
        """What is best lies along a line: sets that give way more do with fewer of them."""

        def place(self, plan: Plan) -> tuple[float, float]:
            more, way = math.log2(plan.count / right), 5 * (plan.way - right_way)
            return more + way, abs(more - way)

        def cost(self, plan: Plan) -> tuple[float, float]:
            self.tried.append(plan)
            along, off = self.place(plan)
            rest = 1.5 + off / 20 if plan.way else 9.0
            return math.pow(rest * math.pow(1.5, -along), 1 / CLOSENESS_POWER), 0.0

        def change(self, plan: Plan) -> float:
            along, off = self.place(plan)
            return (1.5 + off / 20) * math.pow(1.5, along)

    plan = plan_in(Valley(right), search=LineSearch(0.1))
    assert (plan.count, plan.way) == (right, right_way)


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
def test_where_nothing_can_be_held_out_options_are_rows_that_give_way() -> None:
    rows = np.vstack([np.eye(3) * 0.4, 1 - np.eye(3) * 0.4])
    explainer = explainer_of(rows, lambda X: X.sum(axis=1) > 1, anchors="auto")
    anchors = explainer.anchors_
    assert anchors is not None
    assert anchors.way == FIRST_WAY
    assert np.array_equal(anchors.options.rows, explainer.pool_.matrix[anchors.options.pool_index])


def test_options_stay_rows_where_closing_in_would_cost_too_much() -> None:
    # Every input is right at the boundary, in a feature of its own: what one finds is no use to
    # the next.
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.random((60, 40)) < 0.5, rng.random((60, 40)) < 0.5]).astype(float)
    rows[:, 0] = np.repeat([0.49, 0.51], 60)
    explainer = explainer_of(rows, lambda X: np.asarray(X)[:, 0] > 0.5, anchors=3, diversity=None)
    anchors = explainer.anchors_
    assert anchors is not None
    assert np.array_equal(anchors.options.rows, explainer.pool_.matrix[anchors.options.pool_index])


def test_progress_is_shown_only_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(2).random((60, 2))
    explainer = explainer_of(rows, anchors="auto")
    assert capsys.readouterr() == ("", "")
    explainer.fit(rows, progress=True)
    out, bar = capsys.readouterr()
    assert out == ""
    done, total = bar.split("] ")[-1].split("/")
    assert int(done) == int(total)


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
            DiverseExplainer.paper(
                model, anchors=anchors, search=search, max_counterfactuals=3
            ).fit(rows[:200]),
            rows[600:700],
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
