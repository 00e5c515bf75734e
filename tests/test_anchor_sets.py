"""Sets of anchors, put together from the options of rows around them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import swap_literally

from counterset import AngleDiversity, DistanceDiversity, DiverseExplainer, metrics
from counterset.anchor_sets import Neighbourhoods, Regions, agree
from counterset.arrays import Codes
from counterset.selection import NONE_LEFT, Selector
from counterset.space import Points

LIMIT = 3


class Setting:
    """Some anchors on one side of a line, and options on the other."""

    def __init__(self, seed: int, diversity: Any, distance: str = "l1", anchors: int = 6) -> None:
        rng = np.random.default_rng(seed)
        X = rng.random((60, 2))
        explainer = DiverseExplainer(
            lambda rows: rows.sum(axis=1) > 1,
            distance=distance,
            diversity=diversity,
            scale=None,
            search=None,
            max_counterfactuals=LIMIT,
        ).fit(X)
        pool = explainer.pool_
        self.selector: Selector = explainer._selector()
        self.places: Codes = np.flatnonzero(pool.codes == 0)[:anchors]
        self.members: Codes = np.flatnonzero(pool.codes == 0)
        chosen = self.selector.select(pool.points.take(self.places), pool.codes == 1).places
        used, numbers = np.unique(chosen[chosen != NONE_LEFT], return_inverse=True)
        self.own = chosen.copy()
        self.own[chosen != NONE_LEFT] = numbers
        self.options: Points = pool.points.take(used)
        self.regions = Regions.around(self.places, self.members, pool)
        anchors_ = pool.points.take(self.places)
        self.near = Neighbourhoods.around(
            anchors_, self.regions.rows, anchors_, self.own, self.options, self.selector
        )

    def sets(self, price: float) -> Codes:
        near = self.near
        return near.numbers(near.improve(near.positions(self.own), price))


DIVERSITIES = [None, AngleDiversity(0.3), DistanceDiversity(0.2)]


@pytest.mark.parametrize("diversity", DIVERSITIES)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@given(seed=st.integers(0, 10**6), price=st.floats(0, 0.45))
def test_swaps_are_those_of_the_literal_descent(
    diversity: Any, distance: str, seed: int, price: float
) -> None:
    setting = Setting(seed, diversity, distance)
    found = setting.sets(price)
    pool, measure = setting.selector.pool, setting.near.view.distance
    for i, place in enumerate(setting.places):
        expected = swap_literally(
            pool.points.places[place],
            pool.points.places[setting.regions.rows[i]],
            setting.options.places,
            list(setting.own[i][setting.own[i] != NONE_LEFT]),
            price,
            measure,
            diversity,
        )
        assert sorted(found[i][found[i] != NONE_LEFT]) == sorted(expected)


@pytest.mark.parametrize("diversity", DIVERSITIES[1:])
@given(seed=st.integers(0, 10**6))
def test_seen_from_the_anchor_any_two_options_differ_enough(diversity: Any, seed: int) -> None:
    setting = Setting(seed, diversity)
    view = setting.near.view
    for i, chosen in enumerate(setting.sets(0.3)):
        for a, b in itertools.combinations(chosen[chosen != NONE_LEFT], 2):
            here = view.of(np.array([i]))
            assert setting.selector.differ(here, np.array([a]), np.array([b])).all()


def test_a_set_keeps_its_size_and_gains_what_is_paid_for() -> None:
    free, dear = Setting(1, None).sets(0.0), Setting(1, None).sets(0.45)
    setting = Setting(1, None)
    sizes = (setting.own != NONE_LEFT).sum(axis=1)

    def figures(sets: Codes) -> tuple[float, float]:
        rows, places = setting.selector.pool.points.places, setting.options.places
        closeness = [
            metrics.k_distance(row, places[chosen[chosen != NONE_LEFT]])
            for chosen, region in zip(sets, setting.regions.rows, strict=True)
            for row in rows[region]
        ]
        diversity = [metrics.k_diversity(places[c[c != NONE_LEFT]]) for c in sets]
        return float(np.mean(closeness)), float(np.mean(diversity))

    for sets in (free, dear):
        assert ((sets != NONE_LEFT).sum(axis=1) == sizes).all()
    assert figures(free)[0] < figures(dear)[0]
    assert figures(free)[1] < figures(dear)[1]


def test_neighbours_agree_more_after_they_looked_at_each_other() -> None:
    before: list[float] = []
    after: list[float] = []
    for seed in range(12):
        setting = Setting(seed, None, anchors=20)
        alone = setting.sets(0.2)
        batches = [(np.arange(len(alone)), setting.near)]
        together = agree(batches, setting.regions, alone, 0.2)
        for sets, sums in ((alone, before), (together, after)):
            for i, (others, weights) in enumerate(
                zip(setting.regions.neighbours, setting.regions.weights, strict=True)
            ):
                for other, weight in zip(others, weights, strict=True):
                    pair = [setting.options.places[sets[j]] for j in (i, other)]
                    sums.append(weight * metrics.set_distance(*pair))
    assert sum(after) < 0.9 * sum(before)


def test_an_anchor_without_options_stays_without() -> None:
    setting = Setting(0, None)
    nothing = np.full_like(setting.own, NONE_LEFT)
    anchors = setting.selector.pool.points.take(setting.places)
    none = setting.options.take(np.empty(0, dtype=np.intp))
    near = Neighbourhoods.around(
        anchors, setting.regions.rows, anchors, nothing, none, setting.selector
    )
    assert (near.numbers(near.improve(near.positions(nothing), 0.2)) == NONE_LEFT).all()


def test_regions_hold_the_rows_that_are_nearest() -> None:
    setting = Setting(3, None)
    pool = setting.selector.pool
    for i, rows in enumerate(setting.regions.rows):
        away = pool.distance.in_space.pairwise(
            pool.points.places[rows], pool.points.places[setting.places]
        )
        assert (away.argmin(axis=1) == i).all()
    assert np.allclose(setting.regions.weights.sum(axis=1), 1)


def test_a_single_anchor_has_no_neighbours() -> None:
    setting = Setting(3, None, anchors=1)
    assert not setting.regions.weights.any()
    alone = setting.sets(0.2)
    assert np.array_equal(
        agree([(np.array([0]), setting.near)], setting.regions, alone, 0.2), alone
    )
